#!/usr/bin/env python3
"""Networks that are cut, addresses that are wrong, strangers and proxies in between, leaders that
come and go: what the runbook and the doctor's checks of the network advise.

usage: advice_network_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import signal
import socket

from advice_case import LONG_S, AdviceCase
from harness import free_ports, wait_until
from namespaces import Hosts, can_make_namespaces
from slow_links import SlowLinks
from system_case import CALM, main

KNOWN = "bellwether_leader_known"
LET_THROUGH = ("let TCP through to it (firewall, NetworkPolicy), or correct its node.advertise: "
               "only connections from there work")
ADVERTISE = "set node.advertise to an address at which peers reach this node"


class Cut(AdviceCase):
    """Each on a host of its own."""

    @contextlib.contextmanager
    def spread(self, **options):
        if not can_make_namespaces():
            self.skipTest("cannot make network namespaces")
        with Hosts(3) as hosts, self.led(hosts=hosts, **options) as group:
            yield group, hosts

    def close_ports(self, group, hosts):
        """Nothing comes in at the peers' port any more, as a firewall has it."""
        for index, sidecar in enumerate(group.sidecars):
            hosts.enter(index, "nft", "add rule inet faults input tcp dport "
                        f"{sidecar.peer_port} drop")
            hosts.enter(index, "nft", "add rule inet faults input tcp sport { " + ", ".join(
                str(each.peer_port) for each in group.sidecars) + " } drop")

    def test_the_peer_ports_are_opened_both_ways(self):
        """NoLeader: are the peer ports open, both ways?"""
        with self.spread(extra="", voters=3) as (group, hosts):
            self.close_ports(group, hosts)
            for sidecar in group.sidecars:
                self.await_metric(sidecar, KNOWN, 0)
            one = group.sidecars[0]
            self.await_advice(one, "reach", "n[12]", "if it runs, let TCP through to it")
            hosts.heal()
            self.await_whole(group)
            self.await_health(one, "reach")

    def test_a_split_brain_ends_when_the_network_is_mended(self):
        with self.spread(extra="") as (group, hosts):
            low, middle, leader = group.sidecars
            hosts.partition([0, 1], [2])
            wait_until("both sides lead", lambda: leader.is_leader() and middle.is_leader())
            for sidecar in (middle, leader):
                self.await_metric(sidecar, "bellwether_is_leader", 1)
            wait_until("it says whom it does not hear", lambda: low.state_of(leader.name) in (
                "suspect", "down"))
            started = [sidecar.process.pid for sidecar in group.sidecars]
            hosts.heal()
            self.await_whole(group, leader)
            self.assertEqual([sidecar.process.pid for sidecar in group.sidecars], started)

    def test_the_sidecars_of_the_smaller_side_are_stopped(self):
        """`step-down` on its leader alone lets the next one there lead."""
        with self.spread(extra="") as (group, hosts):
            low, middle, leader = group.sidecars
            hosts.partition([0, 1], [2])
            wait_until("both sides lead", lambda: leader.is_leader() and middle.is_leader())
            self.await_able(middle, low)
            self.commanded(middle, "step-down", "--hold", "1h")
            wait_until("the next one there leads", low.is_leader)
            for sidecar in (low, middle):
                self.assertEqual(sidecar.stop(), 0)
            self.assertTrue(leader.is_leader())
            hosts.heal()
            for sidecar in (low, middle):
                sidecar.start()
            self.await_whole(group, leader)

    def test_tcp_is_let_through_one_way(self):
        """`reach` and `both ways`: only connections from there come about."""
        with self.spread() as (group, hosts):
            low, _, leader = group.sidecars
            hosts.drop_connecting(0, 2)
            # The one that can connect does so anew.
            self.assertEqual(leader.stop(), 0)
            leader.start()
            wait_until("it is linked", lambda: low.state_of(leader.name) == "alive", LONG_S)
            self.await_advice(low, "reach", "n2", LET_THROUGH)
            self.await_advice(low, "both ways", "n2: linked, but only connections from there to "
                              "here come about", "let TCP through from here to there, or correct "
                              "node.advertise there")
            hosts.heal()
            self.await_health(low, "reach")
            self.await_health(low, "both ways")
            self.await_whole(group)


class Addresses(AdviceCase):
    """`names`, `own address`, `reach`; MemberDown: its `advertise` address."""

    def test_names_are_corrected(self):
        with self.led() as group:
            odd, other, _ = group.sidecars
            right = f'"127.0.0.1:{other.peer_port}"'
            good = self.edit(odd, (right, f'{right}, "nowhere.invalid:7946"'))
            self.reload(odd, odd.config_file.read_text())
            self.await_advice(odd, "names", "nowhere.invalid:7946 .membership.peers. does not "
                              "resolve", "correct the name, unless its host is only to come")
            self.reload(odd, good.replace("[membership]",
                                          '[membership]\ndns = "nowhere.invalid:7946"'))
            self.await_advice(odd, "names", "nowhere.invalid:7946 .membership.dns. does not "
                              "resolve", "correct the name, or look at the name server")
            self.reload(odd, good)
            self.await_health(odd, "names")
            self.await_whole(group, group.sidecars[2])

    def test_an_address_of_nobody_gets_a_sidecar(self):
        """`names` and `reach`: start the sidecar there; `proxies`: all refuse."""
        with self.led() as group:
            one, *others = group.sidecars
            for sidecar in others:
                sidecar.kill()
            for sidecar in others:
                self.await_advice(one, "reach", f"{sidecar.name} .*refused", "start the sidecar "
                                  "there; if it runs, let TCP through to it")
            self.await_advice(one, "proxies", "all 2 addresses of others refuse connections",
                              "look at this host's own proxy, tunnels or firewall")
            for sidecar in others:
                sidecar.start()
            self.await_whole(group, group.sidecars[2])
            for check in ("names", "reach", "leader"):
                self.await_health(one, check)

    def test_node_advertise_is_set_to_where_peers_reach_it(self):
        with self.led() as group:
            odd, other, leader = group.sidecars
            good = odd.config_file.read_text()
            nobody, = free_ports(1)
            for port, seen in ((nobody, "where from here nobody answers"),
                               (other.peer_port, "which peers are told, answers n1")):
                with self.subTest(seen):
                    odd.write_config(good.replace(
                        "[node]", f'[node]\nadvertise = "127.0.0.1:{port}"'))
                    self.restart(group, odd)
                    self.await_advice(odd, "own address", seen, ADVERTISE)
                    odd.write_config(good)
                    self.restart(group, odd)
                    self.await_health(odd, "own address")
                    self.await_whole(group, leader)

    def test_who_listens_there_is_found_out(self):
        """Another program; a sidecar that hangs."""
        with self.led() as group:
            one, other, leader = group.sidecars
            other.kill()
            with self.subTest("another program"):
                with socket.create_server(("127.0.0.1", other.peer_port)) as stranger:
                    stranger.settimeout(0.2)
                    found = []
                    while not found:
                        with contextlib.suppress(TimeoutError):
                            client, _ = stranger.accept()
                            client.close()
                        found = [remedy for verdict, seen, remedy in self.findings(one, "reach")
                                 if verdict == "problem"]
                    self.assertRegex(found[0], "find out who listens there|that sidecar may hang")
                other.start()
                self.await_whole(group, leader)
            with self.subTest("it hangs"):
                other.send_signal(signal.SIGSTOP)
                self.await_advice(one, "reach", "n1", "that sidecar may hang: ask /livez on its "
                                  "host, and see whether it is a sidecar that listens there")
                other.send_signal(signal.SIGCONT)
                self.await_whole(group, leader)
                self.await_health(one, "reach")

    def test_two_groups_of_one_name_get_different_ones(self):
        """SplitBrain, 4."""
        with self.led() as group, self.group(3) as second:
            with second:
                text = {each: second.config_of(each) for each in second.sidecars}
                for sidecar in second.sidecars:
                    sidecar.start()
                second.await_leader(second.sidecars[2])
                leaders = [each for each in (*group.sidecars, *second.sidecars)
                           if each.is_leader()]
                self.assertEqual(len(leaders), 2)  # of one name, by Prometheus
                for sidecar in second.sidecars:
                    self.assertEqual(sidecar.stop(), 0)
                for sidecar in second.sidecars:
                    sidecar.write_config(text[sidecar].replace('name = "test"', 'name = "second"')
                                         .replace(".state", ".second"))
                    sidecar.start()
                self.await_whole(second, second.sidecars[2])
                self.assertEqual(second.sidecars[0].get("/v1/leader")["group"], "second")
            self.await_whole(group, group.sidecars[2])

    def test_voters_are_connected_directly(self):
        """`proxies`: a tunnel stands before one."""
        with self.group(3, extra=CALM, voters=3) as group, SlowLinks(group, 0):
            group.start("--bootstrap")
            one = group.sidecars[0]
            group.await_leader()
            self.await_advice(one, "proxies", "a proxy, a tunnel or an address translation stands "
                              "before", "connect voters directly, or live with it")
            for sidecar in group.sidecars:
                sidecar.write_config(group.config_of(sidecar))
                self.restart(group, sidecar)
            wait_until("nothing is between", lambda: not any(
                "stands before" in seen for _, seen, _ in self.findings(one, "proxies")))
            self.await_whole(group)


class Leaders(AdviceCase):
    """NoLeader, LeaderFlapping, ElectionStorm."""

    def test_one_gets_a_priority_above_0(self):
        with self.group(3, extra=CALM, priorities=[0, 0, 0]) as group:
            group.start()
            one = group.sidecars[1]
            for sidecar in group.sidecars:
                self.await_metric(sidecar, KNOWN, 0)
            wait_until("it says why", lambda: "priority" in str(one.get("/v1/explain")))
            self.await_advice(one, "leader", "nobody follows a leader", "if it stays so, see "
                              "`bellwether status`")
            group.priorities[1] = 100
            one.write_config(group.config_of(one))
            self.assertEqual(one.stop(), 0)
            one.start()
            self.await_whole(group, one)
            self.await_health(one, "leader")

    def test_the_end_of_the_hold_is_waited_for(self):
        """The last that may lead refuses to step down, but can be ended; a hold ends by itself."""
        with self.led() as group:
            low, middle, leader = group.sidecars
            for sidecar, successor in ((leader, middle), (middle, low)):
                self.await_able(sidecar, successor)
                self.commanded(sidecar, "step-down", "--hold", "6s")
                group.await_leader(successor)
            wait_until("the last one knows that it is the last", lambda: not any(
                low.members()[other.name]["may_lead"] for other in (leader, middle)))
            refused = self.command(low, "step-down", "--hold", "1h")
            self.assertEqual(refused.returncode, 1, refused.stdout)
            self.assertIn("to have no leader all the same, end this sidecar", refused.stderr)
            self.assertEqual(low.stop(), 0)
            self.await_metric(middle, KNOWN, 0)
            self.assertIn("stepped down", str(middle.get("/v1/explain")))
            group.await_leader(leader)
            low.start()
            self.await_whole(group, leader)

    def test_a_lower_leader_is_kept_when_a_higher_one_comes_and_goes(self):
        for preempt, voters in (('preempt = "never"\n', 0), ('preempt_delay = "1h"\n', 3)):
            with self.subTest(preempt), self.led(extra=CALM, voters=voters) as group:
                _, middle, high = group.sidecars
                changes = "bellwether_leader_changes_total"
                high.stop()
                group.await_leader(middle)
                high.start()
                group.await_leader(high, LONG_S)
                group.extra = "[election]\n" + preempt + CALM
                for sidecar in group.sidecars:
                    self.reload(sidecar, group.config_of(sidecar))
                high.stop()
                group.await_leader(middle)
                before = middle.count(changes)
                for _ in range(3):
                    high.start()
                    self.await_whole(group, middle)
                    self.assertEqual(high.stop(), 0)
                self.assertEqual(middle.count(changes), before)
                high.start()
                self.await_whole(group, middle)

    def test_a_script_that_asks_for_it_is_ended(self):
        """LeaderFlapping `handed_over`, ElectionStorm `operator`."""
        with self.led() as group:
            leader = group.sidecars[2]
            for _ in range(3):
                self.commanded(group.await_leader(), "step-down", "--hold", "100ms")
                self.await_whole(group, leader)
                self.commanded(leader, "elect")
            self.assertGreater(leader.count("bellwether_elections_total", trigger="operator"), 2)
            reasons = {series for series, value in group.sidecars[0].metrics().items()
                       if series.startswith("bellwether_leader_changes_total") and value}
            self.assertFalse([each for each in reasons if 'reason="lost"' in each], reasons)
            before = [each.elections() for each in group.sidecars]
            self.await_whole(group, leader)
            self.assertEqual([each.elections() for each in group.sidecars], before)


if __name__ == "__main__":
    main()
