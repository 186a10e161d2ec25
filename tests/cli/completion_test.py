#!/usr/bin/env python3
"""Completion in bash, run as bash runs it but without a terminal: what it offers is what the
program takes.

usage: completion_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import pathlib
import re
import subprocess

from command_line import USAGE, CommandLine, main
from fake_sidecar import MEMBERS, TcpFake, UnixFake, member

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "sidecar/cli/completion/bellwether.bash"
# Completes its first argument, with the function that the script has registered.
DRIVER = """
source "$1"
function_name=$(complete -p bellwether | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
COMP_LINE=$2 COMP_POINT=${3:-${#2}} COMP_TYPE=9 COMP_KEY=9
read -r -a COMP_WORDS <<<"${COMP_LINE}"
"${function_name}" "${COMP_WORDS[0]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""
ASKING = ("status", "explain", "watch", "step-down", "transfer", "elect", "reload", "forget")


class Bash(CommandLine):
    def complete(self, line, point=""):
        """What is offered where `line` ends, or at `point`."""
        result = subprocess.run(
            ["bash", "--norc", "-c", DRIVER, "driver", SCRIPT,
             line.replace("bellwether", self.program, 1), str(point)],
            cwd=self.folder, text=True, capture_output=True, check=False, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return [word for word in result.stdout.split("\n") if word]


class Completion(Bash):
    def commands(self):
        text = self.succeed("--help").split("Subcommands:")[1].split("Examples:")[0]
        return re.findall(r"^  ([a-z-]+) ", text, re.MULTILINE)

    def help_of(self, command):
        return self.succeed(command, "--help").split("\nOptions:\n")[1].split("\nExample")[0]

    def test_commands(self):
        self.assertEqual(self.complete("bellwether "), self.commands())
        self.assertEqual(self.complete("bellwether st"), ["status", "step-down"])
        self.assertEqual(self.complete("bellwether nonsense"), [])

    def test_options_of_the_program(self):
        self.assertEqual(self.complete("bellwether --"), ["--help", "--version"])

    def test_options_of_every_command(self):
        for command in self.commands():
            options = re.findall(r"^  (?:-\w,)?(--[a-z-]+)", self.help_of(command), re.MULTILINE)
            self.assertEqual(self.complete(f"bellwether {command} -"), options, command)
            self.assertIn("--help", options)
        self.assertEqual(self.complete("bellwether watch --o"), ["--once"])

    def test_every_option_with_few_values_offers_those_that_the_program_takes(self):
        """The program names them when it refuses another."""
        judged = 0
        for command in self.commands():
            for option in re.findall(r"^  (--[a-z-]+) [A-Z]", self.help_of(command), re.MULTILINE):
                result = self.run_program(command, option, "nonsense")
                known = re.search(rf"{option} is one of (.*), not \"nonsense\"", result.stderr)
                if known:
                    self.assertEqual(result.returncode, USAGE)
                    values = known[1].split(", ")
                    self.assertEqual(self.complete(f"bellwether {command} {option} "), values)
                    self.assertEqual(self.complete(f"bellwether {command} {option}="), values)
                    judged += 1
        self.assertGreaterEqual(judged, 3)

    def test_every_variant_that_is_offered_exists(self):
        *variants, every = self.complete("bellwether simulate --variant ")
        self.assertEqual(every, "all")
        known = self.fail_with(USAGE, "simulate", "--variant", "nonsense").split("it has ")[1]
        self.assertEqual(variants, known.split(", "))
        self.succeed("simulate", "--processes", "4", "--variant", every)

    def test_every_duration_that_is_offered_is_taken(self):
        sidecar = TcpFake().start()
        self.addCleanup(sidecar.stop)
        for option in ("--hold", "--wait"):
            durations = self.complete(f"bellwether step-down {option} ")
            self.assertTrue(durations)
            for duration in durations:
                wait = duration if option == "--wait" else "30s"
                sidecar.answers[f"/v1/step-down?wait={wait}"] = (
                    200, {"result": "stepped down", "hold": "as asked"})
                self.succeed("step-down", option, duration, "--api", sidecar.url)

    def test_no_words_for_numbers(self):
        (self.folder / "1").touch()
        for option in ("--seed", "--jobs", "--processes", "--fault-seeds",
                       "--at-least-elections"):
            self.assertEqual(self.complete(f"bellwether simulate {option} "), [])

    def test_files_and_folders(self):
        (self.folder / "orders folder").mkdir()
        (self.folder / "orders.toml").touch()
        both = ["orders folder", "orders.toml"]
        for line in ("check ", "check --json ord", "simulate ord", "simulate --trace x ",
                     "simulate --plot ord", "run --config ", "run --config=ord",
                     *(f"{command} --config ord" for command in ASKING)):
            self.assertEqual(sorted(self.complete(f"bellwether {line}")), both, line)
        self.assertEqual(self.complete("bellwether simulate --plugin-dir ord"), ["orders folder"])
        self.assertEqual(self.complete("bellwether simulate --plugin b"), ["bully"])

    def test_users(self):
        self.assertEqual(self.complete("bellwether check --user roo"), ["root"])

    def test_only_what_stands_before_the_cursor_counts(self):
        line = "bellwether st --once"
        point = len(line.replace("bellwether", self.program, 1)) - len(" --once")
        self.assertEqual(self.complete(line, point), ["status", "step-down"])


class Members(Bash):
    """Whom a command can name, as a running sidecar says."""

    def test_those_that_are_gone_can_be_forgotten(self):
        sidecar = TcpFake().start()
        self.addCleanup(sidecar.stop)
        gone = [member(3 + i, state=state) for i, state in enumerate(("suspect", "down", "left"))]
        sidecar.answers["/v1/members"] = (200, {"members": [*MEMBERS["members"], *gone]})
        line = f"bellwether forget --api {sidecar.url} "
        self.assertEqual(self.complete(line), ["orders-3", "orders-4", "orders-5"])
        self.assertEqual(self.complete(line + "orders-1"), [])

    def test_the_living_others_are_offered(self):
        sidecar = TcpFake().start()
        self.addCleanup(sidecar.stop)
        dead = member(3, state="down")
        sidecar.answers["/v1/members"] = (200, {"members": [dead, *MEMBERS["members"]]})
        for where in (f"--api {sidecar.url}", f"--api={sidecar.url}"):
            line = f"bellwether transfer {where} "
            self.assertEqual(self.complete(line), ["orders-2", "orders-1"])
            self.assertEqual(self.complete(line + "orders-1"), ["orders-1"])

    def test_the_sidecar_is_found_by_its_configuration(self):
        path = self.folder / "api.sock"
        sidecar = UnixFake(str(path)).start()
        self.addCleanup(sidecar.stop)
        config = self.write("b.toml", '[group]\nname = "orders"\n[membership]\npeers = ["a:1"]\n'
                                      f'[api]\nlisten = ""\nsocket = "{path}"\n')
        self.assertEqual(self.complete(f"bellwether transfer --config {config} "),
                         ["orders-2", "orders-1"])

    def test_a_name_that_the_shell_would_run_is_not_offered(self):
        sidecar = TcpFake().start()
        self.addCleanup(sidecar.stop)
        named = member(1) | {"name": "$(touch harm)"}
        sidecar.answers["/v1/members"] = (200, {"members": [named, member(2)]})
        self.assertEqual(self.complete(f"bellwether transfer --api {sidecar.url} "), ["orders-2"])
        self.assertFalse((self.folder / "harm").exists())

    def test_nobody_is_offered_when_no_sidecar_answers(self):
        self.assertEqual(self.complete(f"bellwether transfer --api {self.folder}/none "), [])


if __name__ == "__main__":
    main()
