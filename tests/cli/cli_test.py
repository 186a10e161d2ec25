#!/usr/bin/env python3
"""The command line as a user meets it: what it prints, what it refuses, how it exits.

usage: cli_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import csv
import io
import json
import os
import pathlib
import re
import resource
import subprocess
import unittest
import xml.etree.ElementTree

from command_line import (ELECTS, FAILURE, IDLE, LOWEST, OK, OTHER_MAJOR, PLUGIN_REFUSED, USAGE,
                          CommandLine, main)

HERE = pathlib.Path(__file__).resolve().parent
USUAL_CONFIG = pathlib.Path("/etc/bellwether/bellwether.toml")


class Help(CommandLine):
    def test_program(self):
        text = self.succeed("--help")
        for word in ("simulate", "version", "Examples:"):
            self.assertIn(word, text)

    def test_simulate(self):
        text = self.succeed("simulate", "--help")
        self.assertIn("Usage: bellwether simulate [OPTIONS] [FILES...]", text)
        self.assertIn("Exit status:", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_every_example_in_the_help_of_simulate_uses_only_options_that_exist(self):
        text = self.succeed("simulate", "--help")
        options, examples = text.split("Examples:")
        used = [word for word in examples.split() if word.startswith("--")]
        self.assertTrue(used)
        for option in used:
            self.assertIn(f"  {option} ", options)

    def test_version(self):
        text = self.succeed("version", "--help")
        self.assertIn("Usage: bellwether version", text)


class Version(CommandLine):
    def test_subcommand_and_option_say_the_same(self):
        text = self.succeed("version")
        self.assertRegex(text, r"\Abellwether \d+\.\d+\.\d+\nplugin ABI \d+\.\d+\n\Z")
        self.assertEqual(self.succeed("--version"), text)
        said = json.loads(self.succeed("version", "--json"))
        self.assertEqual(text, f"bellwether {said['version']}\nplugin ABI {said['plugin_abi']}\n")


class Usage(CommandLine):
    def test_no_subcommand(self):
        self.assertIn("--help", self.fail_with(USAGE))

    def test_unknown_subcommand(self):
        self.assertIn("nonsense is not a subcommand", self.fail_with(USAGE, "nonsense"))
        for arguments in (("stauts",), ("stauts", "--help"), ("--help", "stauts")):
            self.assertEqual(self.fail_with(USAGE, *arguments),
                             "stauts is not a subcommand; did you mean status? "
                             "See 'bellwether --help'")

    @unittest.skipIf(USUAL_CONFIG.exists(), "this machine has one")
    def test_a_usual_configuration_that_is_missing(self):
        for command in ("run", "check"):
            self.assertEqual(self.fail_with(FAILURE, command),
                             f"cannot read {USUAL_CONFIG}: No such file or directory; give the "
                             "file with --config")
            self.assertEqual(self.fail_with(FAILURE, command, "--config", "none.toml"),
                             "cannot read none.toml: No such file or directory")

    def test_unknown_option(self):
        line = self.fail_with(USAGE, "simulate", "--nonsense")
        self.assertIn("--nonsense", line)
        self.assertIn("'bellwether simulate --help'", line)

    def test_sizes_out_of_range(self):
        for sizes in ("1", "4,1001", "0..5", "99999999999999999999"):
            line = self.fail_with(USAGE, "simulate", "--processes", sizes)
            self.assertRegex(line, r"--processes: \d+ is out of range; give numbers from 2 to 1000")

    def test_sizes_that_are_no_numbers(self):
        for sizes in ("x", "4,", "", "4 6", "-4", "4..", "4...6", "4.5", "0x10"):
            line = self.fail_with(USAGE, "simulate", f"--processes={sizes}")
            self.assertIn("--processes", line)

    def test_range_upside_down(self):
        line = self.fail_with(USAGE, "simulate", "--fault-seeds", "9..4")
        self.assertIn('--fault-seeds: "9..4" is empty', line)

    def test_words_out_of_a_list(self):
        line = self.fail_with(USAGE, "simulate", "--format", "xml")
        self.assertEqual(line, '--format is one of table, csv, json, not "xml"')
        line = self.fail_with(USAGE, "simulate", "--initiator", "me")
        self.assertEqual(line, '--initiator is one of lowest, highest, all, not "me"')

    def test_unknown_variant(self):
        line = self.fail_with(USAGE, "simulate", "--variant", "clasic")
        self.assertIn('has no variant "clasic"; it has classic, modified', line)

    def test_options_that_do_not_belong_together(self):
        scenario = self.write("elects.txt", ELECTS)
        for arguments in (["--rewrite"], ["--trace"], ["--jobs", "2"],
                          ["--at-least-elections", "2"],
                          [scenario, "--plot", "a.svg"], [scenario, "--format", "csv"],
                          [scenario, "--processes", "4"],
                          [scenario, "--fault-seeds", "1"], ["--fault-seeds", "1", "--seed", "2"],
                          ["--verbs", "--format", "csv"], ["--verbs", scenario]):
            with self.subTest(arguments=arguments):
                self.assertIn(" is for ", self.fail_with(USAGE, "simulate", *arguments))


class Table(CommandLine):
    def test_csv_is_the_published_table(self):
        expected = (HERE / "published_table.csv").read_text("utf-8")
        self.assertEqual(self.succeed("simulate", "--format", "csv"), expected)

    def test_rows_come_in_the_order_given(self):
        rows = csv.DictReader(io.StringIO(
            self.succeed("simulate", "--format", "csv", "--processes", "10,4..6")))
        self.assertEqual([(row["variant"], row["processes"]) for row in rows],
                         [("classic", "10"), ("classic", "4"), ("classic", "5"), ("classic", "6"),
                          ("modified", "10"), ("modified", "4"), ("modified", "5"),
                          ("modified", "6")])

    def test_one_variant(self):
        text = self.succeed("simulate", "--variant", "modified", "--processes", "4",
                            "--format", "csv")
        self.assertEqual(text.splitlines()[1:], ["modified,4,3,2,1,2,8,8"])

    def test_without_a_closed_form_expected_is_empty_in_csv_and_null_in_json(self):
        arguments = ["simulate", "--initiator", "all", "--processes", "6", "--format"]
        self.assertEqual(self.succeed(*arguments, "csv").splitlines()[1:],
                         ["classic,6,15,10,0,4,29,", "modified,6,15,10,0,4,29,"])
        self.assertEqual([row["expected"] for row in json.loads(self.succeed(*arguments, "json"))],
                         [None, None])

    def test_json_is_the_csv(self):
        rows = json.loads(self.succeed("simulate", "--format", "json"))
        lines = csv.DictReader((HERE / "published_table.csv").open(encoding="utf-8"))
        self.assertEqual([{key: str(value) for key, value in row.items()} for row in rows],
                         list(lines))

    def test_people_see_groups_with_the_closed_form_over_its_column(self):
        lines = self.succeed("simulate").splitlines()
        heads = [line for line in lines if "coordinator" in line]
        self.assertEqual([head.split()[-1] for head in heads], ["formula", "formula"])
        aligned = {len(line) for line in lines if line[:1] == " "}
        self.assertEqual(len(aligned), 1, "the columns are not aligned")
        self.assertLess(lines.index("classic"), lines.index("modified"))

    def test_the_seed_changes_nothing_that_is_counted(self):
        expected = (HERE / "published_table.csv").read_text("utf-8")
        self.assertEqual(self.succeed("simulate", "--seed", "77", "--format", "csv"), expected)

    def test_output_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([self.program, "simulate"], stdout=full, text=True,
                                    stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.returncode, FAILURE)
        self.assertIn("cannot write the output", result.stderr)

    def test_a_long_run_rewrites_one_line_of_the_terminal_and_removes_it(self):
        leader, follower = os.openpty()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(leader, "rb", buffering=0) as terminal:
            with open(follower, "wb", buffering=0) as stderr:
                result = subprocess.run(
                    [self.program, "simulate", "--processes", "160..163", "--variant", "classic",
                     "--format", "csv"], stdout=subprocess.PIPE, stderr=stderr, text=True,
                    check=False)
                os.set_blocking(leader, False)
                shown = (terminal.read() or b"").decode()
        self.assertEqual(result.returncode, OK)
        self.assertEqual(len(result.stdout.splitlines()), 5)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        if shown or used.ru_utime - before.ru_utime > 2:  # nothing is shown in the first second
            self.assertRegex(shown, r"\A(\r\x1b\[Kclassic, 16\d processes: [a-z, ]+)+\r\x1b\[K\Z")


class Plot(CommandLine):
    def test_is_written_besides_the_table(self):
        text = self.succeed("simulate", "--format", "csv", "--plot", "figure.svg")
        self.assertEqual(text, (HERE / "published_table.csv").read_text("utf-8"))
        root = xml.etree.ElementTree.parse(self.folder / "figure.svg").getroot()
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertEqual(len(root.findall(".//{http://www.w3.org/2000/svg}polyline")), 2)
        self.assertEqual(os.listdir(self.folder), ["figure.svg"])

    def test_replaces_an_old_figure(self):
        self.write("figure.svg", "old")
        self.succeed("simulate", "--processes", "4", "--plot", "figure.svg")
        self.assertIn("<svg", (self.folder / "figure.svg").read_text("utf-8"))

    def test_in_a_folder_that_does_not_exist(self):
        line = self.fail_with(FAILURE, "simulate", "--processes", "4", "--plot", "no/figure.svg")
        self.assertEqual(line, "cannot write no/figure.svg: No such file or directory")


class Plugin(CommandLine):
    def test_unknown_name(self):
        line = self.fail_with(PLUGIN_REFUSED, "simulate", "--plugin", "nosuch")
        self.assertRegex(line, r"^plugin /.*/bellwether-nosuch\.so does not exist; install it")

    def test_other_folder(self):
        line = self.fail_with(PLUGIN_REFUSED, "simulate", "--plugin-dir", self.folder)
        self.assertIn(f"plugin {self.folder}/bellwether-bully.so does not exist", line)

    def test_other_major_version(self):
        line = self.fail_with(PLUGIN_REFUSED, "simulate", "--plugin", OTHER_MAJOR)
        self.assertIn("of the plugin ABI, this host has", line)

    def test_by_name_in_a_folder_of_ones_own(self):
        os.symlink(LOWEST, self.folder / "bellwether-mine.so")
        self.write("elects.txt", ELECTS.replace("leader 3", "leader 1"))
        text = self.succeed("simulate", "--plugin", "mine", "--plugin-dir", ".", "elects.txt")
        self.assertIn("1 passed, 0 failed", text)

    def test_its_only_variant_is_the_default_and_has_no_closed_form(self):
        self.write("elects.txt", ELECTS.replace("leader 3", "leader 1"))
        text = self.succeed("simulate", "--plugin", LOWEST, "elects.txt")
        self.assertIn("ok      elects.txt (lowest)\n1 passed, 0 failed\n", text)

    def test_a_variant_that_only_another_plugin_has(self):
        line = self.fail_with(USAGE, "simulate", "--plugin", LOWEST, "--variant", "classic")
        self.assertIn('has no variant "classic"; it has lowest', line)


class Faults(CommandLine):
    def test_each_variant_is_summed_up_in_a_line(self):
        text = self.succeed("simulate", "--fault-seeds", "1..20", "--jobs", "2")
        lines = text.splitlines()
        self.assertEqual(len(lines), 2, text)
        for variant, line in zip(("classic", "modified"), lines):
            self.assertRegex(line, rf"^{variant}: 20 schedules, \d+ elections, \d+ faults, "
                                   r".* of virtual time, 0 failed, in \d+\.\d s; less than "
                                   r"1 failure in \d+ elections \(95 % confidence\)$")

    def test_too_few_elections_are_a_failure_where_a_number_is_demanded(self):
        seeds = ("simulate", "--variant", "classic", "--fault-seeds", "1..20")
        held = int(re.search(r"(\d+) elections", self.succeed(*seeds))[1])
        self.succeed(*seeds, "--at-least-elections", str(held))
        result = self.run_program(*seeds, "--at-least-elections", str(held + 1))
        self.assertEqual(result.returncode, FAILURE)
        self.assertIn(f"FAILED  classic: fewer elections than {held + 1}\n", result.stdout)

    def test_a_single_seed_gives_the_same_run_every_time(self):
        runs = {self.succeed("simulate", "--variant", "classic", "--fault-seeds", "7")
                .rpartition(", in ")[0] for _ in range(3)}
        self.assertEqual(len(runs), 1, runs)
        self.assertIn("classic: 1 schedules", runs.pop())

    def test_a_failure_shows_itself_as_a_scenario_file_and_how_to_run_it_again(self):
        result = self.run_program("simulate", "--plugin", IDLE, "--variant", "plain",
                                  "--fault-seeds", "3..5")
        self.assertEqual((result.returncode, result.stderr), (FAILURE, ""))
        self.assertIn("FAILED  plain, seed 3\nseed 3:", result.stdout)
        self.assertIn(f"bellwether simulate --plugin {IDLE} --variant plain --fault-seeds 3\n",
                      result.stdout)
        saved = re.search("^# ---- 8<.*^# ---- 8<[^\n]*\n", result.stdout, re.DOTALL | re.MULTILINE)
        name = re.search(f"bellwether simulate --plugin {IDLE} (seed_3_plain.txt)\n", result.stdout)
        self.write(name.group(1), saved.group())
        again = self.run_program("simulate", "--plugin", IDLE, name.group(1))
        self.assertEqual(again.returncode, FAILURE, again.stdout)
        self.assertIn("FAILED  seed_3_plain.txt (plain)\n", again.stdout)


if __name__ == "__main__":
    main()
