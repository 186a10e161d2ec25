#!/usr/bin/env python3
"""The manual pages: they describe every command, option and key that the program has, and no other.

usage: manual_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import gzip
import itertools
import pathlib
import re
import shutil
import subprocess
import tomllib

from command_line import CommandLine, main

VALID, DOUBTFUL = 0, 4
HELP_OPTION = re.compile(r"^  (?:-\w,)?(--[a-z-]+)", re.MULTILINE)
PAGE_OPTION = re.compile(r"\bFl -([a-z-]+)")
# Those that every command has stand once, before the commands.
FOR_ALL = {"--help"}


class Manual(CommandLine):
    """The pages as the build has made them, beside the program."""

    def setUp(self):
        super().setUp()
        self.folder_of_pages = pathlib.Path(self.program).parents[1] / "share/man"

    def page(self, name):
        path = self.folder_of_pages / f"man{name[-1]}" / f"{name}.gz"
        return gzip.decompress(path.read_bytes()).decode()

    def section(self, name, title):
        """The lines of a section, without its heading."""
        lines = self.page(name).splitlines()
        start = lines.index(f".Sh {title}") + 1
        return list(itertools.takewhile(lambda line: not line.startswith(".Sh "), lines[start:]))

    def commands_of_the_page(self):
        """Each command with the lines about it."""
        described = {}
        for line in self.section("bellwether.1", "COMMANDS"):
            if line.startswith(".Ss "):
                command = line.removeprefix(".Ss ")
                described[command] = []
            elif described:
                described[command].append(line)
        return described

    def commands_of_the_program(self):
        text = self.succeed("--help").split("Subcommands:")[1].split("Examples:")[0]
        return re.findall(r"^  ([a-z-]+) ", text, re.MULTILINE)

    def options_of_the_program(self, command):
        text = self.succeed(command, "--help")
        options = text.split("\nOptions:\n")[1].split("\nExample")[0]
        return set(HELP_OPTION.findall(options)) - FOR_ALL

    def test_every_command_has_a_section_in_the_order_of_the_help(self):
        self.assertEqual(list(self.commands_of_the_page()), self.commands_of_the_program())

    def test_every_option_of_every_command_is_described_and_none_besides(self):
        common = self.section("bellwether.1", "OPTIONS")
        sharing = {word for line in common[:common.index(".Bl -tag -width Ds")]
                   for word in re.findall(r"^\.Cm ([a-z-]+)", line)}
        described_once = items(common)
        self.assertTrue(sharing)
        for command, lines in self.commands_of_the_page().items():
            own = items(lines)
            self.assertEqual(len(own), len(set(own)), command)
            described = {*own, *(described_once if command in sharing else [])}
            self.assertEqual(described, self.options_of_the_program(command), command)

    def test_the_synopsis_names_every_option_of_every_command_and_none_besides(self):
        named = {}
        command = None
        for line in self.section("bellwether.1", "SYNOPSIS"):
            if line == ".Nm":
                command = None
            elif match := re.fullmatch(r"\.Cm ([a-z-]+)", line):
                command = match[1]
                named.setdefault(command, set())
            elif command:
                named[command].update("--" + option for option in PAGE_OPTION.findall(line))
        self.assertEqual(list(named), self.commands_of_the_program())
        for command, options in named.items():
            self.assertEqual(options, self.options_of_the_program(command), command)

    def test_every_example_uses_a_command_and_options_that_exist(self):
        examples = [line.split()[1:] for line in self.section("bellwether.1", "EXAMPLES")
                    if line.startswith(".Dl ")]
        self.assertTrue(examples)
        for program, command, *rest in examples:
            self.assertEqual(program, "bellwether")
            options = {word for word in rest if word.startswith("--")}
            self.assertLessEqual(options, self.options_of_the_program(command), command)

    def test_every_exit_status_of_the_help_is_described_and_none_besides(self):
        helped = set()
        for command in self.commands_of_the_program():
            _, is_there, text = self.succeed(command, "--help").partition("Exit status:")
            if is_there:
                helped.update(re.findall(r"(?:^|;)\s(\d) ", text))
        described = re.findall(r"^\.It (\d)$", "\n".join(
            self.section("bellwether.1", "EXIT STATUS")), re.MULTILINE)
        self.assertEqual(described, sorted(helped))

    def test_every_key_is_described_and_none_besides(self):
        described = []
        table = None
        for line in self.section("bellwether.toml.5", "KEYS"):
            if match := re.fullmatch(r"\.Ss \[+(\w+)\]+", line):
                table = match[1]
            elif match := re.fullmatch(r"\.It Li (\w+)", line):
                described.append(f"{table}.{match[1]}")
        keys = re.findall(r"^(\w+\.\w+)$", self.succeed("check", "--keys"), re.MULTILINE)
        self.assertEqual(described, keys)
        self.assertIn(".Ss [voters]", self.section("bellwether.toml.5", "KEYS"))

    def test_the_profiles_are_those_that_are_in_force(self):
        rows = [re.split(" (?:Ta )?", line)[1:]
                for line in self.section("bellwether.toml.5", "PROFILES")
                if line.startswith(".It ")]
        head, *profiles = rows
        described = [name for name, *_ in profiles]
        taken = re.search(r"^election\.profile\n.*\n    takes (.*)$",
                          self.succeed("check", "--keys"), re.MULTILINE)[1]
        self.assertEqual({*described, "textbook"}, set(re.findall(r'"(\w+)"', taken)))
        for name, *timers in profiles:
            config = self.effective(f'[group]\nname = "a"\n[election]\nprofile = "{name}"\n'
                                    '[membership]\npeers = ["b:1"]\n')
            values = config["election"] | config["failure_detector"]
            self.assertEqual(timers, [values[key] for key in head[1:]], name)

    def test_the_examples_of_configurations_are_valid(self):
        text = "\n".join(self.section("bellwether.toml.5", "EXAMPLES"))
        examples = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed$", text, re.MULTILINE | re.DOTALL)
        self.assertEqual(len(examples), text.count(".Bd"))
        for example in examples:
            self.assertEqual(self.effective(example)["group"]["name"], "orders")

    def effective(self, text):
        result = self.run_program("check", self.write("b.toml", text))
        self.assertIn(result.returncode, (VALID, DOUBTFUL), result.stderr)
        return tomllib.loads(result.stdout)

    def test_the_pages_have_no_mistakes(self):
        """What the pages refer to is not looked for: it may not be installed."""
        judges = [judge for judge in (["man", "--warnings", "--local-file", "-Tutf8", "-Z"],
                                      ["mandoc", "-T", "lint", "-W", "warning"])
                  if shutil.which(judge[0])]
        if not judges:
            self.skipTest("there is neither man nor mandoc")
        for name in ("bellwether.1", "bellwether.toml.5"):
            path = self.write(name, self.page(name))
            for judge in judges:
                result = subprocess.run([*judge, path], text=True, capture_output=True, check=False)
                complaints = result.stderr + (result.stdout if judge[0] == "mandoc" else "")
                self.assertEqual((result.returncode, complaints), (0, ""), judge[0])


def items(lines):
    """The options that have an item of their own in a list."""
    return ["--" + option for line in lines if line.startswith(".It ")
            for option in PAGE_OPTION.findall(line)]


if __name__ == "__main__":
    main()
