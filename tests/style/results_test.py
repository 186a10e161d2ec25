#!/usr/bin/env python3
"""What results.py says of runs of ctest that ended in every way that a test can end.

usage: results_test.py RESULTS_PY
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

# What ctest runs without being configured.
TESTS = """
add_test(good true)
add_test(bad sh -c "seq 100; echo 'why <it>'; exit 3")
add_test(silent false)
add_test(slow sh -c "echo begun; sleep 60")
set_tests_properties(slow PROPERTIES TIMEOUT 1)
add_test(killed sh -c "kill -SEGV $$")
add_test(missing /nonexistent)
add_test(skipped sh -c "exit 77")
set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)
"""
WHY = ["OSError: [Errno 39] n0", "harness.Unreachable: n0", "a/b.cc(7): error: in c",
       "unknown location(0): fatal error: in d", "WARNING: ThreadSanitizer: data race (pid=7)",
       "==7==ERROR: AddressSanitizer: heap-use-after-free"]
ENDS = ["bad: why <it>", "silent: ", "slow: begun", "killed: ",
        "missing: Unable to find executable: /nonexistent"]


def without_times(lines):
    return [re.sub(r" after \d+ s:", ":", line) for line in lines]


class Results(unittest.TestCase):
    program = ""

    def report(self, tests):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        preset = pathlib.Path(folder.name, "some-preset")
        preset.mkdir()
        (preset / "CTestTestfile.cmake").write_text(tests)
        subprocess.run(["ctest", "--output-junit", "report.xml"], cwd=preset, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return preset / "report.xml"

    def results(self, *arguments):
        """(exit status, lines)"""
        result = subprocess.run([self.program, *arguments], stdout=subprocess.PIPE, text=True,
                                check=False)
        return result.returncode, result.stdout.splitlines()

    def test_what_failed_comes_last_and_is_counted(self):
        status, lines = self.results(self.report(TESTS))
        self.assertEqual(status, 1)
        self.assertEqual(lines[-1], "2 passed, 5 failed")
        self.assertEqual(without_times(lines[-6:-1]),
                         [f"FAILED: some-preset: {end}" for end in ENDS])
        self.assertEqual(lines[-7], "skipped, which counts as passed: some-preset: skipped")

    def test_a_failed_tests_last_lines_are_shown(self):
        _, lines = self.results(self.report(TESTS))
        begin = lines.index("== some-preset: bad printed")
        end = lines.index("== some-preset: silent printed")
        self.assertEqual(lines[begin + 1:end], ["…", *map(str, range(77, 101)), "why <it>"])

    def test_what_tells_why_is_in_the_line_of_the_failure(self):
        _, lines = self.results(self.report(
            "\n".join(f"add_test(t{number} sh -c \"echo '{why}'; echo 'then it ended'; false\")"
                      for number, why in enumerate(WHY))))
        self.assertEqual(without_times(lines[-len(WHY) - 1:-1]),
                         [f"FAILED: some-preset: t{number}: {why}"
                          for number, why in enumerate(WHY)])

    def test_of_many_failures_all_names_are_shown_and_the_first_outputs(self):
        many = "\n".join(f"add_test(t{i} false)" for i in range(30))
        _, lines = self.results(self.report(many))
        self.assertEqual(sum(line.startswith("==") for line in lines), 6)
        self.assertEqual(sum(line.startswith("FAILED: ") for line in lines), 30)

    def test_without_a_failure_all_is_well(self):
        good = self.report("add_test(a true)\nadd_test(b true)")
        self.assertEqual(self.results(good), (0, ["", "2 passed, 0 failed"]))

    def test_reports_add_up(self):
        good = self.report("add_test(a true)")
        bad = self.report("add_test(a false)")
        status, lines = self.results(good, bad)
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed"))

    def test_the_cases_of_a_suite_are_counted(self):
        suites = self.report("add_test(a sh -c \"echo 'Running 7 test cases...'\")\n"
                             "add_test(b sh -c \"echo 'Running 3 test cases...'; false\")\n"
                             "add_test(c sh -c \"echo 'Running 1 test case...'\")")
        _, lines = self.results(suites)
        self.assertEqual(lines[-1], "8 passed, 1 failed")

    def test_a_phase_that_failed_is_one_failed_test(self):
        good = self.report("add_test(a true)")
        status, lines = self.results("--failed", "asan: build", good)
        self.assertEqual((status, lines[-2:]), (1, ["FAILED: asan: build", "1 passed, 1 failed"]))


if __name__ == "__main__":
    Results.program = sys.argv.pop(1)
    unittest.main()
