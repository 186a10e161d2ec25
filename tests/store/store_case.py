"""What the tests of stores have in common: a client that is led by lines (store_driver.cc), and a
main function.

usage: X_test.py STORE_DRIVER [CASE...]; a case is Class.test_name
"""

import json
import os
import queue
import subprocess
import sys
import threading
import unittest

# What CTest takes for "skipped" (SKIP_RETURN_CODE).
SKIPPED = 77
A_WHILE = 20000  # ms of patience, where no timeout is meant
ID = "11111111-1111-4111-8111-111111111111"
OTHER_ID = "21111111-1111-4111-8111-111111111112"
NOBODY = {"holder": "unknown", "id": "00000000-0000-0000-0000-000000000000", "name": "", "epoch": 0}


class Driver:
    """A client that is led by lines; a context manager."""

    program = ""

    def __init__(self, kind, **settings):
        self.process = subprocess.Popen(
            [self.program, kind, *(f"{key}={value}" for key, value in settings.items())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.told = queue.Queue()
        self.watched = queue.Queue()  # by the watch, which may be faster than an answer
        self.reports = []
        self.reader = threading.Thread(target=self.read_lines, daemon=True)
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()

    def read_lines(self):
        for line in self.process.stdout:
            told = json.loads(line)
            if "request" in told:
                self.reports.append(told)
            else:
                is_watched = told.get("seen", told.get("failed")) == 0
                (self.watched if is_watched else self.told).put(told)

    def say(self, line):
        self.process.stdin.write(line + "\n")

    def next(self):
        return self.told.get(timeout=60)

    def ask(self, line):
        self.say(line)
        return self.next()

    def read(self, patience_ms=A_WHILE):
        return self.ask(f"read {patience_ms}")

    def create(self, lease_ms=2500):
        return self.ask(f"write {A_WHILE} - unknown 0 {lease_ms}")

    def write(self, version, holder, epoch, name="orders-0", member=ID, patience_ms=A_WHILE):
        return self.ask(f"write {patience_ms} {version} {holder} {epoch} 2500 {name} {member}")

    def failed(self):
        """The next failure of a watch."""
        while True:
            told = self.watched.get(timeout=60)
            if "failed" in told:
                return told

    def seen(self, holder=None, version=None):
        """The next sight of a watch that is that; sights between may be left out."""
        while True:
            told = self.watched.get(timeout=60)
            record = told.get("record") or {}
            if "seen" in told and holder in (None, record.get("holder")) and version in (
                    None, record.get("version")):
                return told["record"]


class StoreCase(unittest.TestCase):
    def written(self, answer):
        self.assertIn("written", answer)
        return answer["version"]

    def assert_failed(self, answer, why, *parts):
        self.assertEqual(answer.get("why"), why, answer)
        for part in parts:
            self.assertIn(part, answer["trouble"])


def main():
    """Runs the cases named on the command line, after the program."""
    Driver.program = os.path.abspath(sys.argv[1])
    result = unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[2:]], exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    is_all_skipped = result.skipped and len(result.skipped) >= result.testsRun
    sys.exit(SKIPPED if is_all_skipped else 0)

