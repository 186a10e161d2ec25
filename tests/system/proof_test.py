#!/usr/bin/env python3
"""Voters on one host: what the kernel says proves a death, and nothing else does.

usage: proof_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import math
import os

from harness import wait_until
from namespaces import Hosts, SharedHost, can_make_namespaces
from system_case import SystemCase, main

SETTINGS = '[log]\nlevel = "debug"\n'
VOTERS = 3
DOUBTS = "bellwether_death_proofs_doubted_total"
SILENT = {"LD_PRELOAD": os.environ["BELLWETHER_TEST_FAULTY_CALLS"], "SILENT_KERNEL": "1"}


class Proof(SystemCase):
    @contextlib.contextmanager
    def led_group(self, hosts=None, environment=None):
        """A group of voters that its last one leads.  It is there first, so the others dial it; all
        flags are watched, to the end."""
        shared = SharedHost(hosts, VOTERS) if hosts else None
        with self.group(VOTERS, extra=SETTINGS, voters=VOTERS, hosts=shared) as group:
            leader = group.sidecars[-1].start("--bootstrap", environment=environment)
            wait_until("its API answers", lambda: leader.get("/v1/status"))
            for sidecar in group.sidecars[:-1]:
                sidecar.start("--bootstrap", environment=environment)
            group.observe(self.observer)
            group.await_leader(leader)
            for sidecar in group.sidecars[:-1]:
                sidecar.await_state_of(leader, "alive")
            yield group

    def reset(self, hosts, group):
        """The rule: whoever comes to the port of the leader is answered in its name."""
        leader = group.sidecars[-1]
        while self.dialled_ports(hosts, group).count(leader.peer_port) < VOTERS - 1:
            # Two dialled each other at the same moment, and the leader's connection remained.
            for sidecar in group.sidecars[:-1]:
                sidecar.stop()
                sidecar.start().await_state_of(leader, "alive")
        hosts.reset_port(0, leader.peer_port)

    def dialled_ports(self, hosts, group):
        """The port that each connection between two of them was dialled at, once none is left of
        those that crossed."""
        ports = {sidecar.peer_port for sidecar in group.sidecars}

        def dialled():
            lines = hosts.enter(0, "ss", "--no-header", "--tcp", "--numeric", "state",
                                "established").splitlines()
            far_ports = [int(line.split()[-1].rpartition(":")[2]) for line in lines]
            found = [port for port in far_ports if port in ports]
            return found if len(found) == math.comb(VOTERS, 2) else None

        return wait_until("each two share one connection", dialled)

    def await_successor(self, group):
        """One of those who followed the last one leads."""
        followers = group.sidecars[:-1]
        return wait_until("another one leads", lambda: next(
            (sidecar for sidecar in followers if sidecar.is_leader()), None))

    def test_a_firewall_that_resets_in_the_name_of_a_leader_proves_nothing(self):
        """One rule, on loopback, on the leader's port: its connections end by a reset, and from
        then on they are refused, by the right pair of sockets."""
        if not can_make_namespaces():
            self.skipTest("cannot make network namespaces")
        with Hosts(1) as hosts, self.led_group(hosts) as group:
            leader = group.sidecars[-1]
            self.reset(hosts, group)
            for sidecar in group.sidecars[:-1]:
                sidecar.await_log(f"connection lost peer={leader.name} evidence=refused")
            self.await_successor(group)
            self.assertEqual(group.observer.doubles_since(0), [])
            for sidecar in group.sidecars[:-1]:
                self.assertNotIn("proof of death", sidecar.log())
                self.assertEqual(sidecar.count(DOUBTS, reason="listening"), 1)
            hosts.heal()
            group.await_leader()
            self.assertEqual(group.observer.doubles_since(0), [])

    def test_the_end_of_a_leader_is_proven_whatever_a_firewall_does(self):
        if not can_make_namespaces():
            self.skipTest("cannot make network namespaces")
        with Hosts(1) as hosts, self.led_group(hosts) as group:
            leader = group.sidecars[-1]
            self.reset(hosts, group)
            leader.kill()
            self.await_successor(group)
            for sidecar in group.sidecars[:-1]:
                sidecar.await_log(f'peer={leader.name} evidence="proof of death"')
            self.assertEqual(group.observer.doubles_since(0), [])

    def test_a_kernel_that_is_silent_proves_nothing_and_that_is_said_once(self):
        with self.led_group(environment=SILENT) as group:
            leader = group.sidecars[-1]
            for sidecar in group.sidecars[:-1]:
                sidecar.await_log("the kernel does not tell")
            leader.kill()
            self.await_successor(group)
            for sidecar in group.sidecars[:-1]:
                self.assertNotIn("proof of death", sidecar.log())
                self.assertLessEqual(sidecar.count(DOUBTS, reason="silent"), VOTERS - 1)
                lines = [line for line in sidecar.log().splitlines()
                         if "the kernel does not tell" in line and f"peer={leader.name}" in line]
                self.assertEqual(len(lines), 1)


if __name__ == "__main__":
    main()
