"""What the system tests have in common: the programs, groups, and a main function.

usage: X_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import os
import subprocess
import sys
import unittest

from harness import CALM, PATIENCE_S, Group, wait_until

# What CTest takes for "skipped" (SKIP_RETURN_CODE).
SKIPPED = 77

# As calm, and nobody gives up waiting for an answer, that of a successor neither.
PATIENT = 'answer_timeout = "1s"\n' + CALM

LOG_NS = 1_000_000  # how exactly a line of the log says when it was

# A sanitizer's bookkeeping is not the sidecar's memory.
IS_SANITIZED = bool(os.environ.get("BELLWETHER_TEST_SANITIZE"))
IS_THREAD_SANITIZED = os.environ.get("BELLWETHER_TEST_SANITIZE") == "thread"


class SystemCase(unittest.TestCase):
    """What all cases need."""

    program = observer = ""

    def group(self, size=3, variant=None, extra="", **options):
        """`extra` goes on where table [election] is open."""
        election = "[election]\n" + (f'variant = "{variant}"\n' if variant else "")
        return Group(self.program, size, election + extra, **options)

    def await_able(self, leader, *others):
        """Waits until this leader knows that these may lead.  One that has just led itself, or held
        another election, says so with the next heartbeat."""
        for other in others:
            wait_until(f"{leader.name} knows that {other.name} may lead",
                       lambda each=other: leader.members()[each.name]["may_lead"])

    def check_off_before_others_know(self, group, leader, began_ns):
        """The leader's flag goes off before the others know of its end; they log at level debug."""
        number = group.sidecars.index(leader)
        off_ns = wait_until("its flag is off",
                            lambda: group.observer.first(number, False, began_ns))
        for other in group.sidecars:
            if other is leader:
                continue
            ends_ns = wait_until("its connection ends", lambda seen_by=other: [
                at_ns for at_ns in seen_by.logged_at_ns(f"connection lost peer={leader.name}")
                if at_ns > began_ns])
            self.assertLess(off_ns, ends_ns[0] + LOG_NS, f"{other.name} knew of it earlier")
        if group.voters:
            self.assertEqual(group.observer.doubles_since(began_ns), [])

    def run_program(self, *arguments):
        """`bellwether ...`, to its end."""
        return subprocess.run([self.program, *map(str, arguments)], text=True, check=False,
                              capture_output=True, timeout=PATIENCE_S)

    def require_other_user(self, user):
        """Skips where `user` may not run the program: without root, or from a closed folder."""
        if os.geteuid() != 0:
            self.skipTest("only root can be another user")
        try:
            subprocess.run([self.program, "--version"], user=user, extra_groups=[], cwd="/",
                           check=True, capture_output=True)
        except PermissionError:
            self.skipTest(f"user {user} may not enter the folder of {self.program}; "
                          "build in a folder that others may enter, to run this test")


def main():
    """Runs the cases named on the command line, after the programs."""
    SystemCase.program, SystemCase.observer = map(os.path.abspath, sys.argv[1:3])
    result = unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[3:]], exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    # A class that is skipped as a whole counts as one, of none that has run.
    sys.exit(SKIPPED if result.skipped and len(result.skipped) >= result.testsRun else 0)
