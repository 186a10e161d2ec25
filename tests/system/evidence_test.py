#!/usr/bin/env python3
"""What a broken network proves of a peer: each sidecar on a host of its own (namespaces.py).

usage: evidence_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name

A connection over which nothing comes back ends when that is suspicious, whether the network is
silent about it or says why; that is a timeout, and the peer is suspect.  No network proves that a
process is down.
"""

import contextlib

from harness import now_ns, wait_until
from namespaces import Hosts, can_make_namespaces
from system_case import SystemCase, main

PATIENT = 'lease = "3s"\n[failure_detector]\nsuspect_after = "2s"\n[log]\nlevel = "debug"\n'
SEVERAL = 4


class Evidence(SystemCase):
    def setUp(self):
        if not can_make_namespaces():
            self.skipTest("cannot make network namespaces")

    @contextlib.contextmanager
    def spread_group(self, size=3):
        """A group whose members are all connected, and its hosts."""
        with Hosts(size) as hosts, self.group(size, extra=PATIENT, hosts=hosts) as group:
            group.start().await_leader(group.sidecars[-1])
            self.await_alive(group)
            # While they find each other, connections come double, and one of each two is closed.
            self.known_ns = now_ns()
            yield group, hosts

    def await_alive(self, group):
        for sidecar in group.sidecars:
            for member in group.sidecars:
                sidecar.await_state_of(member, "alive")

    def await_timeout(self, sidecar, peer):
        """Its connection to the peer has ended, for want of an answer."""
        sidecar.await_log(self.line_of(peer, "timeout"))
        wait_until("it is no longer alive", lambda: sidecar.state_of(peer.name) != "alive")

    def line_of(self, peer, evidence):
        return f"connection lost peer={peer.name} evidence={evidence}"

    def expect_no_proof(self, sidecar, peer):
        """The peer is suspect, and nothing else was ever said of it."""
        self.assertEqual(sidecar.state_of(peer.name), "suspect")
        for evidence in ("refused", "closed"):
            proofs_ns = sidecar.logged_at_ns(self.line_of(peer, evidence))
            self.assertEqual([at_ns for at_ns in proofs_ns if at_ns > self.known_ns], [])

    def test_a_leader_of_whom_nothing_comes(self):
        with self.spread_group() as (group, hosts):
            lowest, middle, leader = group.sidecars
            hosts.partition([0, 1], [2])
            for follower in (lowest, middle):
                self.await_timeout(follower, leader)
            wait_until("the next one leads", lambda: lowest.leader() == middle.name)
            self.expect_no_proof(lowest, leader)
            hosts.heal()
            group.await_leader(leader)
            self.await_alive(group)

    def test_two_followers_who_say_nothing_to_each_other(self):
        """Their connection is idle: only the kernel's probes can tell."""
        with self.spread_group() as (group, hosts):
            lowest, middle, leader = group.sidecars
            before = leader.get("/v1/leader")
            hosts.partition([0], [1])
            self.await_timeout(lowest, middle)
            self.await_timeout(middle, lowest)
            self.assertEqual(leader.get("/v1/leader"), before)
            self.assertEqual(lowest.leader(), leader.name)

    def expect_timeout_when_rejected(self, answer):
        with self.spread_group() as (group, hosts):
            lowest, _, leader = group.sidecars
            hosts.reject(0, 2, answer)
            self.await_timeout(lowest, leader)
            count = hosts.rejected(2)
            wait_until("it has dialled again and again",
                       lambda: hosts.rejected(2) >= count + SEVERAL)
            self.expect_no_proof(lowest, leader)
            hosts.heal()
            group.await_leader(leader)

    def test_a_host_that_is_reported_as_unreachable(self):
        self.expect_timeout_when_rejected("host-unreachable")

    def test_a_network_that_is_reported_as_unreachable(self):
        self.expect_timeout_when_rejected("net-unreachable")

    def test_a_firewall_that_rejects(self):
        """Its usual answer reads as a refusal, but no host whose process has ended gives it."""
        self.expect_timeout_when_rejected("port-unreachable")

    def test_a_route_that_is_gone(self):
        """What is sent to it still arrives, also the reset of who gives up first."""
        with self.spread_group() as (group, hosts):
            lowest, middle, leader = group.sidecars
            hosts.remove_route(0)
            for peer in (middle, leader):
                self.await_timeout(peer, lowest)
                self.expect_no_proof(peer, lowest)
                lowest.await_state_of(peer, "suspect")
                self.assertNotIn(self.line_of(peer, "refused"), lowest.log())
            hosts.restore_route(0)
            group.await_leader(leader)

    def test_connecting_to_where_nothing_answers(self):
        """A try is over after 300 ms, before the kernel repeats it: each has a new socket."""
        with Hosts(2) as hosts, self.group(2, extra=PATIENT, hosts=hosts) as group:
            hosts.drop_connecting(0, 1)
            hosts.drop_connecting(1, 0)
            group.start()
            for other, sidecar in zip((1, 0), group.sidecars):
                wait_until("it dials on and on", lambda i=other: hosts.tries(i).count(1) >= SEVERAL)
                wait_until("it leads alone", sidecar.is_leader)
                self.assertEqual(sidecar.count("bellwether_timeouts_total", phase="join"), 1)
            hosts.heal()
            group.await_leader(group.sidecars[-1])


if __name__ == "__main__":
    main()
