#!/usr/bin/env python3
"""The attached worker in each language, beside real sidecars that lead only while it is there: it
works while its replica leads, another one does when it is killed, and it attaches again to a new
sidecar.

usage: attached_test.py LANGUAGE FOLDER_OF_PROGRAMS BELLWETHER [CASE...]; a case is Class.test_name
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import unittest

import languages
from harness import CALM, Group, Unreachable, wait_until

LANGUAGE, PROGRAMS, PROGRAM = "", "", ""
LINE = re.compile(r"\d+ (\S+) (works|stopped) token=(\d+) pieces=(\d+)")
UNIT = re.compile(r"(\d+) (\S+) (works|stopped) token=(\d+) pieces=(\d+) cut=(\d+)")
ATTACH = "[election]\n" + CALM + "[application]\nattach = true\nscore_margin = 5\n"


class WorkerCase(unittest.TestCase):
    """Each worker is named as its sidecar."""

    command = None

    @classmethod
    def setUpClass(cls):
        cls.command = languages.or_skip(languages.attached_worker, LANGUAGE, PROGRAMS)

    def worker(self, sidecar, *score, place=None, **environment):
        with open(sidecar.folder / f"{sidecar.name}.work", "ab") as output:
            process = subprocess.Popen(  # pylint: disable=consider-using-with
                [*self.command, sidecar.flag_file, place or sidecar.socket_file, sidecar.name,
                 *score], stdout=output, env={**os.environ, **environment})

        def end():
            process.kill()
            process.wait()
        self.addCleanup(end)
        return process

    @staticmethod
    def last(sidecar):
        """(works or stopped, token) of its worker's last line; None: it has said nothing."""
        found = LINE.findall((sidecar.folder / f"{sidecar.name}.work").read_text())
        assert {name for name, *_ in found} <= {sidecar.name}
        return (found[-1][1], int(found[-1][2])) if found else None

    def await_work(self, sidecar, beyond=0):
        def token():
            last = self.last(sidecar)
            return last[1] if last and last[0] == "works" and last[1] > beyond else None
        return wait_until(f"the worker of {sidecar.name} works", token)


class Attached(WorkerCase):
    def check_that_work_goes_on(self, **options):
        with Group(PROGRAM, 3, ATTACH, **options) as group:
            sidecars = group.start().sidecars
            workers = [self.worker(sidecar) for sidecar in sidecars]
            token = self.await_work(sidecars[2])
            workers[2].kill()
            token = self.await_work(sidecars[1], token)
            workers[2] = self.worker(sidecars[2])
            token = self.await_work(sidecars[2], token)
            workers[2].terminate()
            self.assertEqual(workers[2].wait(), 0)
            self.await_work(sidecars[1], token)

    def test_work_goes_on_where_a_worker_lives(self):
        self.check_that_work_goes_on()

    def test_work_goes_on_where_a_worker_of_voters_lives(self):
        self.check_that_work_goes_on(voters=3)

    def test_a_new_sidecar_is_attached_to(self):
        with Group(PROGRAM, 1, ATTACH) as group:
            sidecar, = group.start().sidecars
            self.worker(sidecar)
            self.await_work(sidecar)
            sidecar.kill()
            wait_until("it has stopped", lambda: self.last(sidecar)[0] == "stopped")
            sidecar.start()
            self.await_work(sidecar)  # perhaps in the same epoch: the disk need not have had it

    def test_what_was_begun_is_finished_when_the_worker_is_asked_to_end(self):
        with Group(PROGRAM, 1, ATTACH) as group:
            sidecar, = group.start().sidecars
            worker = self.worker(sidecar, "0", "2000")
            self.await_work(sidecar)
            worker.terminate()  # in its first unit, or one of the next where this test is slow
            self.assertEqual(worker.wait(), 0)
            (begin, _, _), (end, pieces, cut) = [
                (int(at), int(pieces), int(cut)) for at, _, _, _, pieces, cut in UNIT.findall(
                    (sidecar.folder / f"{sidecar.name}.work").read_text())]
            self.assertGreater(pieces, 0)
            self.assertEqual(cut, 0)
            self.assertGreater(end - begin, pieces * 1_990_000)

    def test_the_flags_owner_is_named_by_its_id(self):
        with Group(PROGRAM, 1, ATTACH) as group:
            sidecar, = group.start().sidecars
            self.worker(sidecar, "0", "1", str(os.geteuid()))
            self.await_work(sidecar)

    def test_the_name_of_a_user_is_no_id(self):
        ended = subprocess.run([*self.command, "/nowhere", "/nowhere.sock", "worker", "0", "1",
                                "nobody"], check=False, capture_output=True, text=True, timeout=60)
        self.assertNotEqual(ended.returncode, 0)
        self.assertNotIn("Traceback", ended.stderr)

    def test_the_best_works(self):
        with Group(PROGRAM, 3, ATTACH, priorities=[100] * 3) as group:
            sidecars = group.start().sidecars
            for sidecar, score in zip(sidecars, ("7", "50", "-3")):
                self.worker(sidecar, score)
            group.await_leader(sidecars[1])
            self.await_work(sidecars[1])

    def test_who_may_not_attach_says_so_and_ends(self):
        with Group(PROGRAM, 1, ATTACH) as group:
            sidecar, = group.start().sidecars
            wait_until("it is served", sidecar.socket_file.exists)
            sidecar.name = "not/a name"
            result = subprocess.run([*self.command, sidecar.flag_file, sidecar.socket_file,
                                     "not/a name"], text=True, check=False, capture_output=True,
                                    timeout=60)
            self.assertNotEqual(result.returncode, 0)
            self.assertNotEqual(result.stderr, "")


class ByToken(WorkerCase):
    """Over TCP, where the API asks for a token, which is replaced."""

    def setUp(self):
        self.tokens = [os.urandom(16).hex() for _ in range(2)]
        self.group = self.enterContext(Group(PROGRAM, 2, ATTACH + 'drain_timeout = "600s"\n'))
        self.file = self.group.folder / "tokens"  # of sidecars and workers
        self.put(self.tokens[0])
        for sidecar in self.group.sidecars:
            sidecar.write_config(self.group.config_of(sidecar).replace(
                "[metrics]", f'token_file = "{self.file}"\n[metrics]'))
        self.group.start()

    def put(self, *tokens):
        new = self.file.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text("# of the group\n\n" + "".join(f"  {text} \n" for text in tokens))
        new.rename(self.file)

    def is_known(self, token):
        """To all, also to one that has only just started."""
        with contextlib.suppress(Unreachable):
            return all(sidecar.request("POST", "/v1/reload", headers={
                "Authorization": f"Bearer {token}"})[0] == 200 for sidecar in self.group.sidecars)
        return False

    @staticmethod
    def place(sidecar):
        return f"127.0.0.1:{sidecar.api_port}"

    def by_token(self, sidecar):
        return self.worker(sidecar, "7", place=self.place(sidecar),
                           BELLWETHER_TOKEN_FILE=str(self.file))

    def refusal(self, sidecar, **environment):
        """Why it ends."""
        ended = subprocess.run(
            [*self.command, sidecar.flag_file, self.place(sidecar), sidecar.name], text=True,
            check=False, capture_output=True, timeout=60, env={**os.environ, **environment})
        self.assertNotEqual(ended.returncode, 0)
        return ended.stderr

    def test_it_attaches_and_drains_by_the_token_and_by_the_one_after_it(self):
        low, high = self.group.sidecars
        self.by_token(low)
        self.by_token(high)
        token = self.await_work(high)
        self.put(*self.tokens)
        wait_until("all sidecars know the new one", lambda: self.is_known(self.tokens[1]))
        self.put(self.tokens[1])  # who is attached by the old one is sent away
        wait_until("it has stopped", lambda: self.last(high)[0] == "stopped" or
                   self.last(high)[1] > token)
        self.await_work(high, token)
        high.send_signal(signal.SIGTERM)
        self.assertEqual(high.await_exit(), 0)  # long before the end of drain_timeout
        self.await_work(low)

    def test_without_a_token_or_by_another_one_it_is_refused(self):
        sidecar = self.group.sidecars[0]
        wait_until("it is served", sidecar.socket_file.exists)
        self.assertIn("401", self.refusal(sidecar))
        other = self.group.folder / "others"
        other.write_text(self.tokens[1])
        said = self.refusal(sidecar, BELLWETHER_TOKEN_FILE=str(other))
        self.assertIn("401", said)
        self.assertNotIn(self.tokens[1], said)

    def test_what_is_no_token_is_not_sent_and_not_said(self):
        sidecar = self.group.sidecars[0]
        wait_until("it is served", sidecar.socket_file.exists)
        file = self.group.folder / "flawed"
        for text in ("", "# nothing\n", "half and half\n", "h\x01lf\n", "h\xe4lf\n", 1025 * "h"):
            file.write_text(text)
            said = self.refusal(sidecar, BELLWETHER_TOKEN_FILE=str(file))
            self.assertNotEqual(said, "")
            self.assertNotIn("401", said)
            self.assertNotRegex(said, "h.lf")
            self.assertNotIn("hhhh", said)
        said = self.refusal(sidecar, BELLWETHER_TOKEN_FILE="/nowhere/token")
        self.assertNotIn("401", said)


class Drained(WorkerCase):
    """Pods are restarted one after the other, and each job takes 2 s: none is cut off, no two run
    together."""

    DRAIN = ("[election]\npreempt = \"never\"\n" + CALM +
             "[application]\nattach = true\ndrain_timeout = \"60s\"\n")
    JOB_MS = "2000"

    def shifts(self, sidecars):
        """(begin, end, jobs, jobs that were cut off, name) of each time of work that is over, in
        microseconds, in order."""
        shifts = []
        for sidecar in sidecars:
            begin, pieces_before, cut_before = None, 0, 0
            text = (sidecar.folder / f"{sidecar.name}.work").read_text()
            for at, name, what, _, pieces, cut in UNIT.findall(text):
                if what == "works" and begin is None:
                    begin, pieces_before, cut_before = int(at), int(pieces), int(cut)
                elif what == "stopped":
                    shifts.append((begin, int(at), int(pieces) - pieces_before,
                                   int(cut) - cut_before, name))
                    begin = None
        return sorted(shifts)

    def check_a_rolling_restart(self, **options):
        with Group(PROGRAM, 3, self.DRAIN, priorities=[100] * 3, **options) as group:
            sidecars = group.start().sidecars
            for sidecar in sidecars:
                self.worker(sidecar, "0", self.JOB_MS)
            worked = set()
            for _ in range(3):
                leader = wait_until("somebody works", lambda: next(
                    (s for s in group.running if (self.last(s) or ("", 0))[0] == "works"), None))
                worked.add(leader.name)
                leader.send_signal(signal.SIGTERM)
                self.assertEqual(leader.await_exit(), 0)
                leader.start()
                # A voter that has just started makes others wait for what it may have promised.
                wait_until("it may lead", lambda leader=leader: (
                    leader.get("/v1/status") or {"may_lead": False})["may_lead"])
            wait_until("the next works", lambda: len(self.shifts(sidecars)) == 3)
            shifts = self.shifts(sidecars)
            self.assertGreater(len(worked), 1)
            self.assertEqual(sum(cut for *_, cut, _ in shifts), 0, shifts)
            self.assertTrue(all(jobs > 0 for _, _, jobs, _, _ in shifts), shifts)
            for one, other in zip(shifts, shifts[1:]):
                self.assertLess(one[1], other[0], shifts)
                print(f"from the last job on {one[-1]} to the first on {other[-1]}: "
                      f"{(other[0] - one[1]) / 1000} ms")

    def test_no_job_is_cut_off_in_a_rolling_restart(self):
        self.check_a_rolling_restart()

    def test_no_job_is_cut_off_in_a_rolling_restart_of_voters(self):
        self.check_a_rolling_restart(voters=3)


if __name__ == "__main__":
    LANGUAGE, PROGRAMS, PROGRAM = sys.argv[1:4]
    languages.main(sys.argv[4:])
