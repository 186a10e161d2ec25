#!/usr/bin/env python3
"""The same worker in each language, beside real sidecars: it works while its replica leads, and
stops when its sidecar is killed, when another replica takes over, and when it is asked to end.

usage: worker_test.py LANGUAGE FOLDER_OF_PROGRAMS BELLWETHER [CASE...]; a case is Class.test_name
"""

import contextlib
import pathlib
import re
import subprocess
import sys
import unittest

import languages
from harness import PATIENCE_S, Group, wait_until

LANGUAGE, PROGRAMS, PROGRAM = "", "", ""
PAUSES = re.compile(r"^voluntary_ctxt_switches:\s*(\d+)", re.MULTILINE)
LINE = re.compile(r"\d+ (\S+) (works|stopped) token=(\d+) pieces=(\d+)")


class Worker:
    """A worker and what it says; a context manager."""

    command = None

    def __init__(self, sidecar):
        self.name, self.output = sidecar.name, sidecar.folder / f"{sidecar.name}.work"
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                [*self.command, sidecar.flag_file, sidecar.name], stdout=output)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.process.kill()
        self.process.wait()

    def events(self):
        """(works or stopped, token, pieces), in order."""
        found = LINE.findall(self.output.read_text())
        assert {name for name, *_ in found} <= {self.name}
        return [(what, int(token), int(pieces)) for _, what, token, pieces in found]

    def await_last(self, what, beyond=0):
        """Waits until its last word is that, with a token beyond the given; returns the event."""
        def found():
            last = self.events()[-1:]
            return last and last[0][0] == what and last[0][1] > beyond and last[0]
        return wait_until(f"{self.name} {what}", found)

    def pauses(self):
        """How often it has gone to sleep; it does so in each piece of work."""
        count = 0
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
                count += int(PAUSES.search((task / "status").read_text())[1])
        return count

    def await_work(self):
        """Some pieces, that is: on a machine that does other things a moment may bring none."""
        before = self.pauses()
        wait_until(f"{self.name} does its work", lambda: self.pauses() > before + 10)

    def stop(self):
        """SIGTERM; returns the exit code."""
        self.process.terminate()
        return self.process.wait(PATIENCE_S)


def setUpModule():  # pylint: disable=invalid-name
    Worker.command = languages.or_skip(languages.worker, LANGUAGE, PROGRAMS)


class Working(unittest.TestCase):
    def test_works_on_the_leader_only(self):
        with contextlib.ExitStack() as stack:
            group = stack.enter_context(Group(PROGRAM, 2))
            lower, higher = group.sidecars
            # Before there is a flag.
            workers = [stack.enter_context(Worker(sidecar)) for sidecar in group.sidecars]
            group.start().await_leader(higher)
            _, first, _ = workers[1].await_last("works")
            workers[1].await_work()

            higher.kill()
            _, token, pieces = workers[1].await_last("stopped")
            self.assertEqual(token, first)
            self.assertGreater(pieces, 0)
            _, second, _ = workers[0].await_last("works", beyond=first)

            higher.start()
            group.await_leader(higher)
            workers[0].await_last("stopped", beyond=first)
            workers[1].await_last("works", beyond=second)
            self.assertTrue(lower.is_running)

            self.assertEqual([worker.stop() for worker in workers], [0, 0])
            self.assertEqual([worker.events()[-1][0] for worker in workers], ["stopped"] * 2)

    def test_goes_on_when_the_flags_file_was_removed_and_made_anew(self):
        """As it is where a stop of the sidecar removes its shared memory."""
        with Group(PROGRAM, 1) as group, Worker(group.sidecars[0]) as worker:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            _, token, _ = worker.await_last("works")
            self.assertEqual(sidecar.stop(), 0)
            worker.await_last("stopped")
            sidecar.flag_file.unlink()
            group.start().await_leader(sidecar)
            worker.await_last("works", beyond=token)

    def test_ends_when_it_is_asked_to_before_there_is_a_flag(self):
        with Group(PROGRAM, 1) as group, Worker(group.sidecars[0]) as worker:
            self.assertIn(worker.stop(), (0, -15))  # it may not have come so far
            self.assertEqual(worker.events(), [])

    def test_the_name_of_a_user_is_no_id(self):
        ended = subprocess.run([*Worker.command, "/nowhere", "orders-0", "nobody"], check=False,
                               capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("FLAG_FILE NAME [UID]", ended.stderr)
        self.assertNotIn("Traceback", ended.stderr)


if __name__ == "__main__":
    LANGUAGE, PROGRAMS, PROGRAM = sys.argv[1:4]
    languages.main(sys.argv[4:])
