#!/usr/bin/env python3
"""The guarded store, the cron that writes to it, and the webhook receiver, beside real sidecars.

usage: store_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import languages
from harness import CALM, PATIENCE_S, Group, wait_until

PROGRAM = ""
STORE = languages.APPS / "guarded_store/store.py"
CRON = languages.APPS / "guarded_store/leader_cron.py"
RECEIVER = languages.APPS / "python/webhook_receiver.py"


class Script:
    """A Python program and what it prints; a context manager."""

    def __init__(self, script, *arguments, output):
        self.output = output
        with open(output, "ab") as file:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                [sys.executable, script, *map(str, arguments)], stdout=file)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()

    def lines(self):
        return self.output.read_text().splitlines()

    def await_line(self, beginning):
        """The first line that begins so."""
        def found():
            return [line for line in self.lines() if line.startswith(beginning)][:1]
        return wait_until(f"{self.output.name} says {beginning}", found)[0]

    def stop(self):
        """Returns when it stands still."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)


class Server(Script):
    """A script that says on which port it listens."""

    def __enter__(self):
        self.port = int(self.await_line("listens on port ").split()[-1])
        return self

    def request(self, method, path, body=None, **headers):
        """(status, headers, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        with contextlib.closing(connection):
            connection.request(method, path, body,
                               {name.replace("_", "-"): text for name, text in headers.items()})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read().decode()

    def put(self, token, leader="n1", value="v", name="/report"):
        """The status."""
        return self.request("PUT", name, value, X_Fencing_Token=str(token), X_Leader=leader)[0]

    def value(self, name="/report"):
        """(value, token), or None."""
        status, headers, body = self.request("GET", name)
        return (body, int(headers["X-Fencing-Token"])) if status == 200 else None


class ScratchCase(unittest.TestCase):
    """What all cases need: a folder."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bellwether-test.", dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, self.folder)

    def store(self):
        """A started one, with the same database each time."""
        return Server(STORE, self.folder / "database", 0, output=self.folder / "store.out")


class Guarded(ScratchCase):
    def test_a_lower_token_is_refused_whatever_it_writes_to(self):
        with self.store() as store:
            self.assertEqual(store.put(7, value="seven"), 204)
            self.assertEqual(store.put(7, value="seven again"), 204)
            self.assertEqual(store.put(9, leader="n2", value="nine"), 204)
            self.assertEqual(store.put(8, value="late"), 409)
            self.assertEqual(store.put(8, value="late", name="/another"), 409)
            self.assertEqual(store.value(), ("nine", 9))
            self.assertIsNone(store.value("/another"))

    def test_of_two_leaders_with_one_token_the_first_wins(self):
        with self.store() as store:
            self.assertEqual(store.put(7, leader="n1", value="first"), 204)
            self.assertEqual(store.put(7, leader="n2", value="second"), 409)
            self.assertEqual(store.put(7, leader="n1", value="third"), 204)
            self.assertEqual(store.value(), ("third", 7))

    def test_a_restart_forgets_no_token(self):
        with self.store() as store:
            self.assertEqual(store.put(9), 204)
        (self.folder / "store.out").unlink()
        with self.store() as store:
            self.assertEqual(store.put(8), 409)
            self.assertEqual(store.value(), ("v", 9))

    def test_a_write_without_a_token_is_refused(self):
        with self.store() as store:
            for token in ("", "no number", "0", "-1", str(2**63)):
                self.assertEqual(store.put(token), 400, token)
            self.assertEqual(store.put(1, leader=""), 400)
            self.assertEqual(store.request("PUT", "/report", "v")[0], 400)
            self.assertIsNone(store.value())


class Late(ScratchCase):
    def test_the_late_write_of_a_leader_that_was_paused_is_refused(self):
        self.check_late_write(2, voters=0)

    def test_the_late_write_of_a_guarded_leader_is_refused(self):
        """The guard makes flags exclusive; an application that was paused it cannot stop."""
        self.check_late_write(3, voters=3)

    def check_late_write(self, size, voters):
        with contextlib.ExitStack() as stack:
            group = stack.enter_context(Group(PROGRAM, size, voters=voters))
            store = stack.enter_context(self.store())
            *_, lower, higher = group.start(*["--bootstrap"] if voters else []).sidecars
            group.await_leader(higher)

            # The former leader's job is under way: it has its token, and its result is to come.
            pipe = self.folder / "pipe"
            os.mkfifo(pipe)
            former = stack.enter_context(self.cron(higher, store, "cat", pipe))
            token = int(former.await_line(f"{higher.name} begins token=").split("=")[1])
            former.stop()
            higher.kill()

            successor = stack.enter_context(self.cron(lower, store, "echo", "new"))
            line = successor.await_line(f"{lower.name} written token=")
            newer = int(line.split("=")[1])
            self.assertGreater(newer, token)
            self.assertEqual(store.value(), ("new\n", newer))

            former.process.send_signal(signal.SIGCONT)
            pipe.write_text("old\n")
            former.await_line(f"{higher.name} refused token={token}")
            self.assertEqual(store.value()[0], "new\n")

    def test_only_the_leader_runs_the_command(self):
        with contextlib.ExitStack() as stack:
            group = stack.enter_context(Group(PROGRAM, 2, "[election]\n" + CALM))
            store = stack.enter_context(self.store())
            group.start().await_leader(group.sidecars[1])
            crons = [stack.enter_context(self.cron(sidecar, store, "echo", sidecar.name))
                     for sidecar in group.sidecars]
            for _ in range(2):  # again and again
                before = len(crons[1].lines())
                wait_until("another turn", lambda: len(crons[1].lines()) >= before + 4)
            self.assertEqual(crons[0].lines(), [])
            self.assertEqual(store.value()[0], "n1\n")

    def cron(self, sidecar, store, *command):
        return Script(CRON, sidecar.flag_file, sidecar.name, f"http://127.0.0.1:{store.port}/report",
                      "0.1", *command, output=self.folder / f"{sidecar.name}.cron")


class Told(ScratchCase):
    def receiver(self):
        return Server(RECEIVER, 0, output=self.folder / "receiver.out")

    def test_the_receiver_of_a_webhook_hears_who_leads(self):
        with contextlib.ExitStack() as stack:
            receiver = stack.enter_context(self.receiver())
            group = stack.enter_context(Group(PROGRAM, 2))
            lower, higher = group.sidecars
            hook = f'[[hook]]\nurl = "http://127.0.0.1:{receiver.port}/leadership"\n'
            lower.write_config(group.config_of(lower, extra=hook))
            group.start().await_leader(higher)
            receiver.await_line("n1 leads, epoch ")
            higher.kill()
            receiver.await_line("this replica leads, epoch ")

    def test_an_event_that_comes_twice_counts_once(self):
        event = {"specversion": "1.0", "id": "b-1", "type": "io.bellwether.leader.elected",
                 "data": {"leader": {"name": "n1"}, "epoch": 3, "is_leader": False}}
        with self.receiver() as receiver:
            def tell(event, kind="application/cloudevents+json", path="/leadership"):
                return receiver.request("POST", path, json.dumps(event), Content_Type=kind)[0]
            self.assertEqual([tell(event), tell(event)], [204, 204])
            self.assertEqual([tell(event, kind="text/plain"), tell([]), tell({})], [400] * 3)
            self.assertEqual(tell(event, path="/"), 404)
            lost = {**event, "id": "b-2", "data": {**event["data"], "leader": None}}
            self.assertEqual(tell(lost), 204)
            self.assertEqual(receiver.lines()[1:], ["n1 leads, epoch 3", "nobody leads"])


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    languages.main(sys.argv[2:])
