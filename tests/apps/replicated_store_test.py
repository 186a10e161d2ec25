#!/usr/bin/env python3
"""The replicated store beside real sidecars: when its leader is killed, the replica leads that has
the most, and nothing that was acknowledged is lost.

usage: replicated_store_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import contextlib
import http.client
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import languages
from harness import CALM, PATIENCE_S, Group, free_ports, wait_until

PROGRAM = ""
REPLICA = languages.APPS / "replicated_store/replica.py"
SETTINGS = "[election]\n" + CALM + "[application]\nattach = true\nscore_margin = 1\n"
RARELY = ("--pull-every", "3600")  # and whenever another one leads
AHEAD = 20  # entries, by which one that pulls rarely must be behind before anybody is killed
ROUNDS = 4


class Replica:
    """One beside its sidecar."""

    def __init__(self, sidecar, port, others, log):
        self.sidecar, self.port, self.log = sidecar, port, log
        self.others = [f"127.0.0.1:{other}" for other in others]

    def start(self, *options):
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [sys.executable, REPLICA, self.sidecar.flag_file, self.sidecar.socket_file, self.log,
             f"127.0.0.1:{self.port}", *self.others, *options], stdout=subprocess.DEVNULL)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, method, path, body=None):
        """(status, answer); (0, None): it does not answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            with contextlib.closing(connection):
                connection.request(method, path, body)
                response = connection.getresponse()
                return response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException):
            return 0, None

    def status(self):
        return self.ask("GET", "/status")[1] or {"leads": False, "position": -1,
                                                 "is_in_sync": False}


class Writer:
    """Writes n0, n1, ... to whoever takes them, and notes what was acknowledged."""

    def __init__(self, replicas):
        self.replicas, self.acknowledged, self.is_over = replicas, [], False
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.is_over = True
        self.thread.join()

    def run(self):
        number = 0
        while not self.is_over:
            for replica in self.replicas:
                if replica.ask("PUT", f"/n{number}", f"value {number}")[0] == 200:
                    self.acknowledged.append(number)
            number += 1


class ReplicatedStore(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bellwether-replicas."))
        self.addCleanup(shutil.rmtree, self.folder)

    def replicas_of(self, group):
        ports = free_ports(3)
        for sidecar in group.sidecars:
            wait_until("it is served", sidecar.socket_file.exists)
        replicas = [Replica(sidecar, port, [other for other in ports if other != port],
                            self.folder / sidecar.name)
                    for sidecar, port in zip(group.sidecars, ports)]
        for replica in replicas:
            replica.start()
            self.addCleanup(replica.kill)
        return replicas

    @staticmethod
    def await_leader(replicas):
        return wait_until("one replica leads", lambda: next(
            (replica for replica in replicas if replica.status()["leads"]), None))

    @staticmethod
    def restart(replica, *options):
        replica.kill()
        replica.start(*options)
        wait_until("it follows", lambda: replica.status()["is_in_sync"])

    def await_lag(self, group, fast, slow):
        """Until the one is far ahead of the other, and all sidecars know that."""
        def scores():
            for sidecar in group.sidecars:
                known = {member["name"]: member["score"] for member in
                         sidecar.get("/v1/members")["members"]}
                yield known[fast.sidecar.name] - known[slow.sidecar.name]
        wait_until("the one is ahead", lambda: min(scores()) >= AHEAD)

    def check_that_the_freshest_leads(self, **options):
        with Group(PROGRAM, 3, SETTINGS, priorities=[100] * 3, **options) as group:
            group.start()
            replicas = self.replicas_of(group)
            with Writer(replicas) as writer:
                for _ in range(ROUNDS):
                    leader = self.await_leader(replicas)
                    fast, slow = (replica for replica in replicas if replica != leader)
                    self.restart(fast)
                    self.restart(slow, *RARELY)
                    self.await_lag(group, fast, slow)
                    acknowledged = list(writer.acknowledged)
                    leader.kill()
                    self.assertEqual(self.await_leader([fast, slow]), fast)
                    for number in acknowledged:
                        status, answer = fast.ask("GET", f"/n{number}")
                        self.assertEqual((status, answer), (200, {"value": f"value {number}"}))
                    leader.start()
            self.check_that_all_agree(replicas, writer.acknowledged)

    def check_that_all_agree(self, replicas, acknowledged):
        for replica in replicas:
            self.restart(replica) if not replica.status()["leads"] else None
        leader = self.await_leader(replicas)
        wait_until("all have come as far", lambda: len(
            {replica.status()["position"] for replica in replicas}) == 1)
        logs = {replica.log.read_bytes() for replica in replicas}
        self.assertEqual(len(logs), 1)
        self.assertGreater(len(acknowledged), ROUNDS * AHEAD)
        for number in acknowledged:
            self.assertEqual(leader.ask("GET", f"/n{number}")[0], 200)

    def test_the_freshest_leads_after_each_kill(self):
        self.check_that_the_freshest_leads()

    def test_the_freshest_of_voters_leads_after_each_kill(self):
        self.check_that_the_freshest_leads(voters=3)


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    languages.main(sys.argv[2:])
