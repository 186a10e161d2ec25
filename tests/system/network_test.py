#!/usr/bin/env python3
"""Networks that are cut, lossy one way, or slow: each sidecar on a host of its own (namespaces.py).

usage: network_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name

All under guard none: while the network is cut in two, each side has a leader (a victory counts when
it is announced, as in the papers).  What is promised is that they become one again.
"""

import contextlib

from harness import VARIANTS, wait_until
from namespaces import Hosts, can_make_namespaces
from system_case import CALM, SystemCase, main

SIZES = (3, 5)
SOON_S = 30


class Network(SystemCase):
    def setUp(self):
        if not can_make_namespaces():
            self.skipTest("cannot make network namespaces")

    @contextlib.contextmanager
    def spread_group(self, size, **options):
        """A group that follows its highest member, and its hosts; the epochs never fall."""
        with Hosts(size) as hosts, self.group(size, hosts=hosts, **options) as group:
            self.epochs = {}
            group.start().await_leader(group.sidecars[-1])
            self.watch_epochs(group)
            yield group, hosts
            self.watch_epochs(group)

    def watch_epochs(self, group):
        for sidecar in group.running:
            epoch = sidecar.get("/v1/status")["highest_epoch"]
            self.assertGreaterEqual(epoch, self.epochs.get(sidecar.name, 0), sidecar.name)
            self.epochs[sidecar.name] = epoch

    def await_leader_of(self, side):
        """All on this side follow its highest member."""
        names = {sidecar.name for sidecar in side}
        wait_until(f"{side[-1].name} leads {names}", lambda: side[-1].is_leader() and
                   all(sidecar.leader() == side[-1].name for sidecar in side))

    def test_two_sides_become_one_again(self):
        for size in SIZES:
            for variant in VARIANTS:
                with self.subTest(size=size, variant=variant):
                    with self.spread_group(size, variant=variant) as (group, hosts):
                        middle = size // 2
                        hosts.partition(range(middle + 1), range(middle + 1, size))
                        self.await_leader_of(group.sidecars[:middle + 1])
                        self.await_leader_of(group.sidecars[middle + 1:])
                        self.watch_epochs(group)
                        hosts.heal()
                        group.await_leader(group.sidecars[-1])

    def test_every_host_is_cut_off_once(self):
        with self.spread_group(5) as (group, hosts):
            for index, alone in enumerate(group.sidecars):
                others = [sidecar for sidecar in group.sidecars if sidecar is not alone]
                hosts.partition([index], [i for i in range(5) if i != index])
                self.await_leader_of([alone])
                self.await_leader_of(others)
                self.watch_epochs(group)
                hosts.heal()
                group.await_leader(group.sidecars[-1])

    def test_a_leader_that_nobody_hears(self):
        """It hears the others, they don't hear it."""
        for size in SIZES:
            with self.subTest(size=size), self.spread_group(size) as (group, hosts):
                for index in range(size - 1):
                    hosts.cut((size - 1, index))
                self.await_leader_of(group.sidecars[:-1])
                self.watch_epochs(group)
                hosts.heal()
                group.await_leader(group.sidecars[-1])

    def test_a_leader_that_hears_nobody(self):
        """Its beats arrive until its connections break for want of acknowledgements."""
        for size in SIZES:
            with self.subTest(size=size), self.spread_group(size) as (group, hosts):
                for index in range(size - 1):
                    hosts.cut((index, size - 1))
                self.await_leader_of(group.sidecars[:-1])
                self.watch_epochs(group)
                hosts.heal()
                group.await_leader(group.sidecars[-1])

    def test_a_follower_that_does_not_hear_the_leader(self):
        """One link, one way: the follower takes over or comes back; in the end one leads."""
        for size in SIZES:
            with self.subTest(size=size), self.spread_group(size) as (group, hosts):
                follower, *_, leader = group.sidecars
                hosts.cut((size - 1, 0))
                wait_until("it has lost the leader", lambda: follower.leader() != leader.name)
                hosts.heal()
                group.await_leader(leader)

    def test_a_slow_link_deposes_nobody(self):
        for size in SIZES:
            with self.subTest(size=size), self.spread_group(size, extra=CALM) as (group, hosts):
                lowest, *_, leader = group.sidecars
                before = leader.get("/v1/leader")
                beats = lowest.count("bellwether_messages_total", type="HEARTBEAT")
                hosts.slow_down(size - 1, f"{10 * (size - 1)}kbit")
                wait_until("the link is slow", lambda: (leader.members()["n0"]["rtt_ms"] or 0) > 10)
                # More beats than any suspicion waits for.
                wait_until("beats arrive slowly", lambda: lowest.count(
                    "bellwether_messages_total", type="HEARTBEAT") > beats + 20)
                hosts.speed_up(size - 1)
                self.assertEqual(leader.get("/v1/leader"), before)
                self.assertIs(group.await_leader(), leader)

    def test_an_address_that_was_this_hosts_own_is_soon_asked_again(self):
        """As one that keepalived moves; only the host that had it has been told of it."""
        with Hosts(2) as hosts, self.group(2, hosts=hosts) as group:
            former, newcomer = group.sidecars
            newcomer.peer_port = port = former.peer_port
            text = group.config_of(former, peers=[newcomer])
            listen = f'listen = "{former.address}:{port}"'
            self.assertIn(listen, text)
            former.write_config(text.replace(listen, listen.replace("listen", "advertise") +
                                             f'\nlisten = "0.0.0.0:{port}"'))
            newcomer.write_config(group.config_of(newcomer, peers=[]))
            route = ("local", f"{newcomer.address}/32", "dev", "lo")
            hosts.enter(0, "ip", "route", "add", *route)
            former.start()
            wait_until("it has found itself there", former.is_leader)
            newcomer.start()
            wait_until("the newcomer leads alone", newcomer.is_leader)
            hosts.enter(0, "ip", "route", "del", *route)
            wait_until("they are one group", lambda: former.leader() == newcomer.name, SOON_S)


if __name__ == "__main__":
    main()
