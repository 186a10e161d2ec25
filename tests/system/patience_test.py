#!/usr/bin/env python3
"""What the configuration is patient with, no connection is impatient with: distance, and stalls.

usage: patience_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import itertools

from harness import now_ns, wait_until
from namespaces import Hosts, can_make_namespaces
from slow_network import SlowNetwork
from system_case import SystemCase, main

STALL_S = 3
FAR_S = 0.5  # each way
LONG_S = 90  # a round trip takes a second, and a start many


class Patience(SystemCase):
    def setUp(self):
        if not can_make_namespaces():
            self.skipTest("cannot make network namespaces")

    def await_alive(self, group):
        for sidecar, other in itertools.permutations(group.running, 2):
            wait_until(f"{sidecar.name} sees {other.name} alive",
                       lambda s=sidecar, o=other: s.state_of(o.name) == "alive", LONG_S)

    def test_a_stall_that_is_not_suspicious_changes_nothing(self):
        settings = ('lease = "10s"\n[failure_detector]\nsuspect_after = "8s"\n'
                    '[log]\nlevel = "debug"\n')
        for voters in (3, 0):
            with self.subTest(voters=voters), Hosts(3) as hosts, \
                    self.group(3, extra=settings, hosts=hosts, voters=voters) as group:
                group.start(*(["--bootstrap"] if voters else [])).observe(self.observer)
                leader = group.await_leader(group.sidecars[-1])
                self.await_alive(group)
                before = leader.get("/v1/leader")
                stalled_ns = now_ns()
                hosts.partition([0], [1], [2])
                wait_until("the stall has lasted", lambda: now_ns() > stalled_ns + STALL_S * 1e9)
                hosts.heal()
                wait_until("all is well again", lambda: hosts.are_all_joined() and all(
                    each.metrics()["bellwether_leader_known"] for each in group.sidecars))
                self.assertEqual(group.await_leader(), leader)
                self.assertEqual(leader.get("/v1/leader")["epoch"], before["epoch"])
                self.assertEqual(group.observer.doubles_since(stalled_ns), [])
                self.assertIsNone(group.observer.first(2, False, stalled_ns))
                for sidecar in group.sidecars:
                    self.assertNotIn("evidence=timeout", sidecar.log())

    def test_round_trips_of_a_second_in_profile_wan(self):
        settings = 'profile = "wan"\npreempt_delay = "1s"\n'
        for voters in (3, 0):
            with self.subTest(voters=voters), Hosts(3) as hosts, SlowNetwork(hosts, FAR_S), \
                    self.group(3, extra=settings, hosts=hosts, voters=voters) as group:
                group.start(*(["--bootstrap"] if voters else [])).observe(self.observer)
                _, successor, leader = group.sidecars
                group.await_leader(leader, LONG_S)
                self.await_alive(group)
                led_ns = now_ns()
                leader.kill()
                group.await_leader(successor, LONG_S)
                self.assertEqual(group.observer.doubles_since(led_ns), [])
                leader.start()
                group.await_leader(leader, LONG_S)
                self.await_alive(group)
                if voters:
                    self.assertEqual(group.observer.doubles_since(0), [])


if __name__ == "__main__":
    main()
