#!/usr/bin/env python3
"""Says how test runs ended, from the reports that ctest wrote (--output-junit).

What failed comes last, with the end of what each such test printed, and once more in a line each:
where only the end of a log is kept, that is what has to be seen.
"""

import argparse
import pathlib
import re
import sys
import typing
import xml.etree.ElementTree

LONGEST_OUTPUT = 25  # lines of a failed test
LONGEST_REASON = 160  # characters
MOST_OUTPUTS = 6  # failed tests of which more than the name is shown

# What Boost.Test says first.
CASES = re.compile(r"^Running (\d+) test cases?\.\.\.$", re.MULTILINE)
# How Python, Boost.Test and the sanitizers begin to say why.
REASON = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*[a-z]: |[\w.]*Error\b"
                    r"|(?:unknown location|\S+)\(\d+\): (?:fatal )?error"
                    r"|.*\b(?:WARNING|ERROR): \w+Sanitizer")

EPILOG = """The last line is `N passed, N failed`: a suite that was run as one test counts as many
as it has cases, and one that failed as one; what was skipped, for the machine lacks what it needs,
counts as passed.  Exit status: 0 when nothing failed, otherwise 1."""


class Test(typing.NamedTuple):
    preset: str
    name: str
    output: str
    has_failed: bool
    was_skipped: bool
    seconds: float

    def reason(self):
        """The line of its output that tells most, or the last one."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        telling = [line for line in lines if REASON.match(line)] or lines or [""]
        return telling[-1][:LONGEST_REASON]

    def cases(self):
        said = CASES.search(self.output)
        return int(said[1]) if said else 1


def read_report(file):
    """The tests of one report, build/PRESET/FILE; one that could not be run has failed, too."""
    for case in xml.etree.ElementTree.parse(file).iter("testcase"):
        skipped = case.find("skipped")
        was_skipped = skipped is not None and skipped.get("message", "").startswith("SKIP_")
        yield Test(preset=file.parent.name, name=case.get("name"),
                   output=case.findtext("system-out", default=""),
                   has_failed=case.get("status") != "run" and not was_skipped,
                   was_skipped=was_skipped,
                   seconds=float(case.get("time", "0")))


def end_of(output):
    lines = output.rstrip().splitlines()
    return ["…", *lines[-LONGEST_OUTPUT:]] if len(lines) > LONGEST_OUTPUT else lines


def describe(tests, failed_phases):
    """The lines to print."""
    skipped = [test for test in tests if test.was_skipped]
    failed = [test for test in tests if test.has_failed]
    for test in failed[:MOST_OUTPUTS]:
        yield f"== {test.preset}: {test.name} printed"
        yield from end_of(test.output)
    yield ""
    for test in skipped:
        yield f"skipped, which counts as passed: {test.preset}: {test.name}"
    for phase in failed_phases:
        yield f"FAILED: {phase}"
    for test in failed:
        yield f"FAILED: {test.preset}: {test.name} after {test.seconds:.0f} s: {test.reason()}"
    failures = len(failed) + len(failed_phases)
    passed = sum(test.cases() for test in tests if not test.has_failed)
    yield f"{passed} passed, {failures} failed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], epilog=EPILOG)
    parser.add_argument("--failed", metavar="PHASE", action="append", default=[],
                        help="something else that failed; may be repeated")
    parser.add_argument("reports", metavar="FILE", nargs="*", type=pathlib.Path,
                        help="a report, in the build folder of its preset")
    arguments = parser.parse_args()
    tests = [test for report in arguments.reports for test in read_report(report)]
    print("\n".join(describe(tests, arguments.failed)))
    return 1 if arguments.failed or any(test.has_failed for test in tests) else 0


if __name__ == "__main__":
    sys.exit(main())
