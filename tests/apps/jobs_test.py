#!/usr/bin/env python3
"""A rolling restart of pods whose jobs are numbered: sidecar and worker of one end and start
together, and every number has begun once and ended once, in order.

usage: jobs_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import os
import signal
import subprocess
import sys
import unittest

import languages
from harness import CALM, Group, wait_until

PROGRAM = ""
JOB_MS = "300"
ROUNDS = 6
DRAIN = ('[election]\npreempt = "never"\n' + CALM +
         '[application]\nattach = true\ndrain_timeout = "60s"\n')


class Jobs(unittest.TestCase):
    def start_worker(self, sidecar):
        worker = subprocess.Popen(  # pylint: disable=consider-using-with
            [sys.executable, languages.HERE / "job_worker.py", sidecar.flag_file,
             sidecar.socket_file, sidecar.name, self.journal, JOB_MS])

        def end():
            worker.kill()
            worker.wait()
        self.addCleanup(end)
        self.workers[sidecar.name] = worker

    def lines(self):
        """(name and process, began or ended or cut, number, token) in order."""
        found = [line.split() for line in self.journal.read_text().splitlines()]
        return [(who, what, int(number), int(token)) for who, what, number, token in found]

    def restart(self, sidecar, is_worker_first):
        """As a pod is: the kubelet ends a native sidecar after the application, others together."""
        worker = self.workers[sidecar.name]
        if is_worker_first:
            worker.terminate()
            self.assertEqual(worker.wait(60), 0)
        sidecar.send_signal(signal.SIGTERM)
        self.assertEqual(sidecar.await_exit(), 0)
        if not is_worker_first:
            worker.terminate()
            self.assertEqual(worker.wait(60), 0)
        sidecar.start()
        self.start_worker(sidecar)
        wait_until("it may lead", lambda: (
            sidecar.get("/v1/status") or {"may_lead": False})["may_lead"])

    def check(self, **options):
        with Group(PROGRAM, 3, DRAIN, priorities=[100] * 3, **options) as group:
            self.journal, self.workers = group.folder / "journal", {}
            self.journal.touch()
            for sidecar in group.start().sidecars:
                self.start_worker(sidecar)
            for round_number in range(ROUNDS):
                count = len(self.lines())
                wait_until("jobs are done", lambda count=count: len(self.lines()) > count + 3)
                name = self.lines()[-1][0].split(".")[0]
                self.restart(next(s for s in group.sidecars if s.name == name),
                             round_number % 2 == 0)
            for worker in self.workers.values():
                worker.terminate()
            for worker in self.workers.values():
                self.assertEqual(worker.wait(60), 0)
            self.check_the_journal()

    def check_the_journal(self):
        lines = self.lines()
        count = len(lines) // 2
        self.assertEqual([(what, number) for _, what, number, _ in lines],
                         [(what, number) for number in range(1, count + 1)
                          for what in ("began", "ended")], lines)
        for began, ended in zip(lines[::2], lines[1::2]):  # by one process, in one epoch
            self.assertEqual((began[0], began[3]), (ended[0], ended[3]))
        tokens = [token for *_, token in lines]
        self.assertEqual(tokens, sorted(tokens))
        self.assertGreater(len({who for who, *_ in lines}), ROUNDS // 2, lines)

    def test_each_number_has_run_once_and_to_its_end(self):
        self.check()

    def test_each_number_of_voters_has_run_once_and_to_its_end(self):
        self.check(voters=3)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    languages.main(sys.argv[2:])
