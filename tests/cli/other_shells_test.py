#!/usr/bin/env python3
"""Completion in zsh and fish, as users have it: what they offer is what the script for bash says,
which completion_test.py compares with the program.

usage: other_shells_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

from command_line import CommandLine, main
from terminal import resize

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "sidecar/cli/completion"
PATIENCE = 30  # seconds
INSTALLED = {"bellwether.bash": "bash-completion/completions/bellwether",
             "_bellwether": "zsh/vendor-completions/_bellwether",
             "bellwether.fish": "fish/vendor_completions.d/bellwether.fish"}


class Shell(CommandLine):
    def setUp(self):
        super().setUp()
        for name, place in INSTALLED.items():
            target = self.folder / "share" / place
            target.parent.mkdir(parents=True)
            shutil.copy(SCRIPTS / name, target)
        self.work = self.folder / "work"
        (self.work / "orders folder").mkdir(parents=True)
        (self.work / "orders.toml").touch()
        self.environment = os.environ | {
            "PATH": f"{pathlib.Path(self.program).resolve().parent}:{os.environ['PATH']}",
            "HOME": str(self.folder), "TERM": "xterm"}

    def commands(self):
        text = self.succeed("--help").split("Subcommands:")[1].split("Examples:")[0]
        return re.findall(r"^  ([a-z-]+) ", text, re.MULTILINE)

    def options(self, command):
        text = self.succeed(command, "--help").split("\nOptions:\n")[1].split("\nExample")[0]
        return re.findall(r"^  (?:-\w,)?(--[a-z-]+)", text, re.MULTILINE)


@unittest.skipUnless(shutil.which("fish"), "there is no fish here")
class Fish(Shell):
    def complete(self, line):
        """What is offered where the line ends, in fish's order."""
        script = self.folder / "share" / INSTALLED["bellwether.fish"]
        result = subprocess.run(
            ["fish", "--no-config", "--command", f"source {script}; complete --do-complete $argv",
             line], cwd=self.work, env=self.environment, text=True, capture_output=True,
            check=False, timeout=PATIENCE)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return [offer.split("\t")[0] for offer in result.stdout.splitlines()]

    def test_every_command_and_every_option_is_offered(self):
        self.assertEqual(sorted(self.complete("bellwether ")), sorted(self.commands()))
        self.assertEqual(self.complete("bellwether st"), ["status", "step-down"])
        for command in self.commands():
            self.assertEqual(sorted(self.complete(f"bellwether {command} -")),
                             sorted(self.options(command)), command)

    def test_values_of_options_are_offered(self):
        self.assertEqual(self.complete("bellwether simulate --initiator "),
                         ["all", "highest", "lowest"])
        self.assertEqual(self.complete("bellwether simulate --initiator=lo"),
                         ["--initiator=lowest"])
        self.assertEqual(self.complete("bellwether simulate --seed "), [])

    def test_files_and_folders_are_offered(self):
        self.assertEqual(self.complete("bellwether check ord"), ["orders folder/", "orders.toml"])
        self.assertEqual(self.complete("bellwether run --config=orders."),
                         ["--config=orders.toml"])
        self.assertEqual(self.complete("bellwether simulate --plugin-dir ord"), ["orders folder/"])


@unittest.skipUnless(shutil.which("zsh"), "there is no zsh here")
class Zsh(Shell):
    """On a terminal: zsh completes nowhere else."""

    END, PROMPT = "that was all", "next> "

    def setUp(self):
        super().setUp()
        process, self.terminal = pty.fork()
        if process == 0:
            os.chdir(self.work)
            os.execvpe("zsh", ["zsh", "-f", "-i"], self.environment)
        self.addCleanup(os.waitpid, process, 0)
        self.addCleanup(os.close, self.terminal)
        resize(self.terminal, 200, 1000)
        folder = (self.folder / "share" / INSTALLED["_bellwether"]).parent
        # Lists at the first press, does not ask whether it may, and goes on below the list.
        self.type(f"PS1='{self.PROMPT}'; LISTMAX=10000; fpath+=({folder}); "
                  "unsetopt beep always_last_prompt list_ambiguous; "
                  "autoload -U compinit; compinit -D -u\n")
        self.shown()

    def type(self, text):
        os.write(self.terminal, text.encode())

    def shown(self):
        """All that came on the screen until now, without what moves the cursor; zsh is ready for
        more when this returns."""
        self.type(f"\x15print -r '{self.END[:4]}''{self.END[4:]}'\n")
        seen, end = "", time.monotonic() + PATIENCE
        while self.PROMPT not in seen.rpartition(self.END)[2] or self.END not in seen:
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            self.assertTrue(ready, seen)
            seen += os.read(self.terminal, 65536).decode()
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\r|\x07", "", seen)

    def complete(self, line):
        """The words of the list that is shown where the line ends."""
        self.type(f"{line}\t")
        listed = self.shown().split(line, 1)[1].split("\n", 1)[1].split(self.PROMPT)[0]
        return listed.split()

    def test_every_command_and_every_option_is_offered(self):
        self.assertEqual(sorted(self.complete("bellwether ")), sorted(self.commands()))
        self.assertEqual(self.complete("bellwether st"), ["status", "step-down"])
        for command in self.commands():
            if len(self.options(command)) > 1:  # the only one is not listed, but typed
                self.assertEqual(sorted(self.complete(f"bellwether {command} --")),
                                 sorted(self.options(command)), command)

    def test_values_of_options_are_offered(self):
        words = ["all", "highest", "lowest"]
        self.assertEqual(self.complete("bellwether simulate --initiator "), words)
        self.assertEqual(self.complete("bellwether simulate --initiator="), words)

    def test_files_and_folders_are_offered(self):
        self.assertEqual(self.complete("bellwether check ord"),
                         ["orders\\", "folder/", "orders.toml"])
        self.type("bellwether simulate --plugin-dir ord\t")
        self.assertIn(r"--plugin-dir orders\ folder/", self.shown())


if __name__ == "__main__":
    main()
