#!/usr/bin/env python3
"""The leader of a cluster of three etcd is cut off from the two others, and sidecars reach it: it
is not believed, and whoever reaches one of the others goes on by that one.

usage: store_partition_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import re
import unittest

from harness import now_ns, wait_until
from namespaces import Hosts, can_make_namespaces
from store_group import LEASE_S, OfEtcd, StoreGuardCase
from store_relay import Relay
from store_servers import Etcd, EtcdMember, cluster_of, has_etcd
from system_case import main

CLIENT_PORT, PEER_PORT = 2379, 2380
# What this etcd answers, and whose words those are.
TOLD = "says .*no leader"
# So long that a request in vain, and the machine standing still for a while, do not cost it.
LONG = 'lease = "20s"\nrenew_interval = "500ms"\n'


class EtcdOnHosts(Etcd):
    """Each member on a host of its own: its clients come by loopback, through a door."""

    def __init__(self, hosts, relay):
        super().__init__(0)
        peers = [f"http://{address}:{PEER_PORT}" for address in hosts.addresses]
        self.members = [
            EtcdMember(self.folder.name, f"n{number}", CLIENT_PORT, peer, cluster_of(peers),
                       prefix=hosts.command_prefix(number)) for number, peer in enumerate(peers)]
        for member, host in zip(self.members, hosts.names):
            door = relay.door(CLIENT_PORT, beyond=host)
            member.url = f"http://127.0.0.1:{door.port}"

    def lead_by(self, chosen):
        """Makes this one the cluster's leader."""
        if self.leader() is not chosen:
            target = chosen.post("/v3/maintenance/status", {})["header"]["member_id"]
            self.leader().post("/v3/maintenance/transfer-leadership", {"targetID": target})
        wait_until("it leads the cluster", chosen.is_leader)


def transactions(member):
    return member.handled("Txn")


class CutOff(StoreGuardCase):
    """Etcd's own leader is; it goes on leading until it notices."""

    @classmethod
    def setUpClass(cls):
        if not has_etcd():
            raise unittest.SkipTest("there is no etcd, or no etcdctl")
        if not can_make_namespaces():
            raise unittest.SkipTest("network namespaces cannot be made here")
        cls.hosts = cls.enterClassContext(Hosts(3))
        relay = cls.enterClassContext(Relay())
        cls.server = cls.enterClassContext(EtcdOnHosts(cls.hosts, relay))
        cls.store = OfEtcd(cls.server)

    def setUp(self):
        self.cut_off, *self.others = self.server.members
        self.server.lead_by(self.cut_off)  # it is the first that a sidecar asks

    @contextlib.contextmanager
    def partition(self):
        try:
            self.hosts.partition([0], [1, 2])
            yield now_ns()
        finally:
            self.hosts.heal()
            wait_until("etcd is healthy", lambda: all(
                member.is_healthy() for member in self.server.members))

    def leave_only_the_one_that_is_cut_off(self, guarded, sidecars):
        for sidecar in sidecars:
            for door in guarded.doors[sidecar.name][1:]:
                door.refuse()

    def await_told(self, sidecar):
        def status():  # its trouble may be another one by the next request
            text = self.run_program("status", "--config", sidecar.config_file).stdout
            return " ".join(text.split())
        wait_until(f"{sidecar.name} tells what etcd says", lambda: re.search(TOLD, status()))

    def test_whoever_reaches_another_one_goes_on_by_it(self):
        with self.led_group() as guarded:
            group, leader = guarded.group, guarded.group.sidecars[-1]
            for sidecar in group.sidecars:
                sidecar.stop()
            group.extra = "[election]\n" + LONG  # it was released: nobody waits for its end
            for sidecar in group.sidecars:
                sidecar.write_config(group.config_of(sidecar))
                sidecar.start()
            group.await_leader(leader)
            epoch = leader.epoch()
            before = [transactions(member) for member in self.others]
            wait_until("it renews by the first", lambda first=transactions(self.cut_off):
                       transactions(self.cut_off) > first + 2)
            self.assertEqual([transactions(member) for member in self.others], before)
            with self.partition() as cut_ns:
                wait_until("others lead the cluster", lambda: any(
                    member.is_leader() for member in self.others))
                wait_until("it renews by another one", lambda: sum(
                    transactions(member) for member in self.others) > sum(before) + 2)
                self.assertIs(group.await_leader(leader), leader)
            self.assertIs(group.await_leader(leader), leader)
            self.assertEqual(leader.epoch(), epoch)
            self.assertIsNone(group.observer.first(guarded.flag_of(leader), False, cut_ns))

    def test_a_leader_that_reaches_it_alone_gives_way(self):
        with self.led_group() as guarded:
            group, leader = guarded.group, guarded.group.sidecars[-1]
            epoch = leader.epoch()
            with self.partition() as cut_ns:
                self.leave_only_the_one_that_is_cut_off(guarded, [leader])
                guarded.await_off(leader, cut_ns)
                self.await_told(leader)
                _, successor = guarded.await_new_reign(epoch)
                self.assertIsNot(successor, leader)
                # Not always that one: a higher one whose cluster had no leader comes later.
                self.assertIsNot(group.await_leader(), leader)
            for door in guarded.doors_of(leader):
                door.heal()
            group.await_leader(leader)

    def test_followers_that_reach_it_alone_do_not_lead(self):
        with self.led_group() as guarded:
            group, leader = guarded.group, guarded.group.sidecars[-1]
            followers, epoch = group.sidecars[:-1], leader.epoch()
            with self.partition():
                self.leave_only_the_one_that_is_cut_off(guarded, followers)
                wait_until("it says that it has no leader", lambda: (
                    self.cut_off.is_leader() is False))
                group.await_leader(leader)
                leader.kill()
                killed_ns = now_ns()
                for sidecar in followers:
                    self.await_told(sidecar)
                wait_until("longer than a lease has passed",
                           lambda: now_ns() > killed_ns + 1.5 * LEASE_S * 1e9)
                self.assertIsNone(group.observer.first_on(killed_ns))
            guarded.await_new_reign(epoch)
            group.await_leader(followers[-1])


if __name__ == "__main__":
    main()
