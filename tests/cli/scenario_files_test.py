#!/usr/bin/env python3
"""`bellwether simulate FILES`: what is run, what is printed, and what --rewrite writes.

usage: scenario_files_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import os
import stat

from command_line import ELECTS, FAILURE, USAGE, CommandLine, main

DISAGREES = ELECTS.replace("leader 3", "leader 2")

# A trace that is the same with both variants, and one that is not.
SAME_TRACE = """# The leader of two dies.
nodes 1..2 detector=script
start 1..2
settle
expect leader 2

kill 2
----
an outdated line
"""
OTHER_TRACE = """# Four nodes, the lowest notices.
nodes 1..4 profile=textbook detector=script
start 1..4
settle

kill 4
detect 1 sees 4 down
settle
expect leader 3
----
an outdated line
"""


class Scenarios(CommandLine):
    def test_a_file_is_run_with_each_variant_and_prints_its_traces(self):
        self.write("elects.txt", ELECTS)
        lines = self.succeed("simulate", "elects.txt").splitlines()
        self.assertEqual([line for line in lines if not line.startswith(" ")],
                         ["== elects.txt (classic)", "ok      elects.txt (classic)",
                          "== elects.txt (modified)", "ok      elects.txt (modified)",
                          "2 passed, 0 failed"])
        self.assertEqual(len([line for line in lines if "3 LEADS epoch 1" in line]), 2)

    def test_one_variant(self):
        self.write("elects.txt", ELECTS)
        text = self.succeed("simulate", "--variant", "classic", "elects.txt")
        self.assertNotIn("modified", text)
        self.assertTrue(text.endswith("1 passed, 0 failed\n"))

    def test_a_file_that_names_its_variant_is_run_once(self):
        self.write("elects.txt", ELECTS.replace("nodes 1..3", "  nodes 1..3 variant=modified"))
        for arguments in ([], ["--variant", "all"], ["--variant", "classic"]):
            text = self.succeed("simulate", *arguments, "elects.txt")
            self.assertTrue(text.endswith("ok      elects.txt (modified)\n1 passed, 0 failed\n"))

    def test_a_file_that_names_a_variant_the_plugin_does_not_have(self):
        self.write("elects.txt", ELECTS.replace("nodes 1..3", "nodes 1..3 variant=none"))
        result = self.run_program("simulate", "elects.txt")
        self.assertEqual(result.returncode, FAILURE)
        self.assertIn('\nelects.txt:2: plugin bully has no variant "none"; it has classic, ',
                      result.stdout)

    def test_a_variant_in_a_comment_is_not_named(self):
        self.write("elects.txt", ELECTS.replace("nodes 1..3", "nodes 1..3  # not variant=classic"))
        self.assertIn("2 passed, 0 failed", self.succeed("simulate", "elects.txt"))

    def test_several_files_give_a_line_each_unless_traces_are_asked_for(self):
        self.write("a.txt", ELECTS)
        self.write("b.txt", ELECTS)
        arguments = ["simulate", "--variant", "classic", "a.txt", "b.txt"]
        self.assertEqual(self.succeed(*arguments), "ok      a.txt (classic)\n"
                         "ok      b.txt (classic)\n2 passed, 0 failed\n")
        self.assertEqual(self.succeed(*arguments, "--trace").count("3 LEADS epoch 1"), 2)

    def test_a_failure_names_file_and_line_and_does_not_stop_the_others(self):
        self.write("bad.txt", DISAGREES)
        self.write("good.txt", ELECTS)
        result = self.run_program("simulate", "--variant", "classic", "bad.txt", "good.txt")
        self.assertEqual((result.returncode, result.stderr), (FAILURE, ""))
        self.assertRegex(result.stdout, r"\AFAILED  bad.txt \(classic\)\nbad.txt:5: expected .*2")
        self.assertTrue(result.stdout.endswith("ok      good.txt (classic)\n1 passed, 1 failed\n"))

    def test_a_file_that_cannot_be_understood_fails_with_file_and_line(self):
        self.write("bad.txt", ELECTS.replace("settle", "setle"))
        result = self.run_program("simulate", "--variant", "classic", "bad.txt")
        self.assertEqual(result.returncode, FAILURE)
        self.assertIn("\nbad.txt:4: unknown command 'setle'", result.stdout)
        self.assertTrue(result.stdout.endswith("0 passed, 1 failed\n"))

    def test_a_file_that_does_not_exist(self):
        self.write("good.txt", ELECTS)
        line = self.fail_with(USAGE, "simulate", "good.txt", "none.txt")
        self.assertIn("cannot read none.txt: No such file or directory", line)

    def test_a_folder(self):
        self.assertIn("Is a directory", self.fail_with(USAGE, "simulate", "."))

    def test_the_same_seed_gives_the_same_trace(self):
        self.write("elects.txt", ELECTS.replace("start", "link jitter=9ms\nstart"))
        runs = {self.succeed("simulate", "--seed", seed, "elects.txt") for seed in "1212"}
        self.assertEqual(len(runs), 2)


class Rewrite(CommandLine):
    def test_a_trace_is_brought_up_to_date_and_passes_then(self):
        path = self.write("dies.txt", SAME_TRACE)
        os.chmod(path, 0o640)
        result = self.run_program("simulate", "dies.txt")
        self.assertEqual(result.returncode, FAILURE)
        self.assertIn("dies.txt:9: expected 'an outdated line'", result.stdout)

        self.assertIn("rewritten: dies.txt\n", self.succeed("simulate", "--rewrite", "dies.txt"))
        text = path.read_text("utf-8")
        head, _, trace = text.partition("----\n")
        self.assertEqual(head, SAME_TRACE.partition("----\n")[0])
        self.assertIn("2 is killed", trace)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)
        self.assertEqual(os.listdir(self.folder), ["dies.txt"])

        self.assertNotIn("rewritten", self.succeed("simulate", "--rewrite", "dies.txt"))
        self.assertEqual(path.read_text("utf-8"), text)

    def test_a_file_without_a_trace_is_not_touched(self):
        path = self.write("elects.txt", "\n\n" + ELECTS + "\n\n")
        self.assertNotIn("rewritten", self.succeed("simulate", "--rewrite", "elects.txt"))
        self.assertEqual(path.read_text("utf-8"), "\n\n" + ELECTS + "\n\n")

    def test_variants_with_different_traces_are_refused_together_but_not_alone(self):
        path = self.write("four.txt", OTHER_TRACE)
        result = self.run_program("simulate", "--rewrite", "four.txt")
        self.assertEqual(result.returncode, FAILURE)
        self.assertIn("classic and modified give different traces; name one", result.stdout)
        self.assertEqual(path.read_text("utf-8"), OTHER_TRACE)

        text = self.succeed("simulate", "--rewrite", "--variant", "modified", "four.txt")
        self.assertIn("rewritten: four.txt\n1 passed, 0 failed\n", text)
        self.assertIn("HANDOVER", path.read_text("utf-8"))

    def test_a_file_that_fails_for_another_reason_stays_as_it_is(self):
        wrong = SAME_TRACE.replace("leader 2", "leader 1")
        path = self.write("dies.txt", wrong)
        result = self.run_program("simulate", "--rewrite", "dies.txt")
        self.assertEqual(result.returncode, FAILURE)
        self.assertIn("dies.txt:5: expected", result.stdout)
        self.assertEqual(path.read_text("utf-8"), wrong)

    def test_a_symbolic_link_stays_one(self):
        path = self.write("dies.txt", SAME_TRACE)
        os.symlink(path, self.folder / "link.txt")
        self.succeed("simulate", "--rewrite", "link.txt")
        self.assertTrue((self.folder / "link.txt").is_symlink())
        self.assertIn("2 is killed", path.read_text("utf-8"))


class Verbs(CommandLine):
    def test_are_listed_with_their_help(self):
        text = self.succeed("simulate", "--verbs")
        for verb in ("nodes", "start", "kill", "partition", "settle", "expect"):
            self.assertRegex(text, rf"(?m)^{verb}\b")


if __name__ == "__main__":
    main()
