"""What the tests of the command line have in common: the program, its exit codes, a folder."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

OK, FAILURE, USAGE, PLUGIN_REFUSED = 0, 1, 2, 5

ELECTS = """# Three nodes find a leader.
nodes 1..3
start 1..3
settle
expect leader 3
"""

# What a run of more than a second tells those who wait, on a machine that is busy.
PROGRESS = re.compile(r"^\w+(, \d+ processes: .*|: \d+ of \d+ schedules, \d+ failed)\n",
                      re.MULTILINE)

# Plugins that are not ours: the lowest rank leads, nobody ever leads, another major version.
LOWEST = os.environ.get("BELLWETHER_TEST_LOWEST", "")
IDLE = os.environ.get("BELLWETHER_TEST_IDLE", "")
OTHER_MAJOR = os.environ.get("BELLWETHER_TEST_OTHER_MAJOR", "")


class CommandLine(unittest.TestCase):
    """What all cases need: the program, and a folder of their own."""

    program = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments, **options):
        result = subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, text=True,
                                capture_output=True, check=False, **options)
        result.stderr = PROGRESS.sub("", result.stderr)
        return result

    def succeed(self, *arguments):
        """Runs it, demands success in silence, and returns what it printed."""
        result = self.run_program(*arguments)
        self.assertEqual((result.returncode, result.stderr), (OK, ""), result.stdout)
        return result.stdout

    def fail_with(self, code, *arguments):
        """Runs it, demands one line of complaint and this code; returns the line."""
        result = self.run_program(*arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("bellwether: "), lines[0])
        return lines[0].removeprefix("bellwether: ")

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, "utf-8")
        return path


def main():
    """Runs the cases that are named on the command line of a test script, after the program."""
    CommandLine.program = os.path.abspath(sys.argv[1])
    unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[2:]])
