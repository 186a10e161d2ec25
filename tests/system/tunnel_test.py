#!/usr/bin/env python3
"""Voters behind tunnels (tunnels.py): each finds the others on its own loopback, and somebody else
answers there.  Whatever the tunnels do, nobody's death is proven by it.

usage: tunnel_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import itertools
import subprocess
import time

from harness import PATIENCE_S, wait_until
from namespaces import Hosts, can_make_namespaces
from system_case import SystemCase, main
from tunnels import Tunnels

SETTINGS = 'preempt_delay = "500ms"\n[log]\nlevel = "debug"\n'
ROUNDS = 3
# How long tunnels to and from the leader's host stay shut, and the others.
LEADERS_S, OTHERS_S = 1.5, 0.03


class Tunnelled(SystemCase):
    @contextlib.contextmanager
    def led_group(self, extra=""):
        """A group that follows its highest voter; all flags are watched, to the end."""
        if not can_make_namespaces():
            self.skipTest("cannot make network namespaces")
        with Hosts(3) as hosts, Tunnels(hosts) as tunnels, \
                self.group(3, extra=extra + SETTINGS, voters=3, hosts=tunnels) as group:
            tunnels.lead_to(group)
            group.start("--bootstrap").observe(self.observer)
            group.await_leader(group.sidecars[-1])
            yield group, tunnels

    def await_rest(self, group):
        group.await_leader(group.sidecars[-1])
        for sidecar, other in itertools.permutations(group.sidecars, 2):
            sidecar.await_state_of(other, "alive")

    def expect_no_proof(self, group):
        """Nobody was ever taken for dead, and no two flags were on."""
        self.assertEqual(group.observer.doubles_since(0), [])
        for sidecar in group.sidecars:
            self.assertEqual(sidecar.logged_at_ns("proof of death"), [])

    def restart_all(self, tunnels):
        """As an upgrade does: what leads to and from the last host comes back later."""
        leaders = tunnels.of(2)
        tunnels.close(*leaders, *tunnels.between(0, 1))
        time.sleep(OTHERS_S)
        tunnels.open(*tunnels.between(0, 1))
        time.sleep(LEADERS_S)
        tunnels.open(*leaders)

    def test_all_are_restarted_at_once(self):
        with self.led_group() as (group, tunnels):
            for _ in range(ROUNDS):
                self.await_rest(group)
                self.restart_all(tunnels)
            self.await_rest(group)
            self.expect_no_proof(group)

    def test_all_are_restarted_at_once_under_a_long_lease(self):
        with self.led_group('profile = "wan"\n') as (group, tunnels):
            self.await_rest(group)
            self.restart_all(tunnels)
            self.await_rest(group)
            self.expect_no_proof(group)

    def test_one_is_restarted_after_the_other(self):
        with self.led_group() as (group, tunnels):
            for pair in tunnels.between(0, 1, 2):
                self.await_rest(group)
                tunnels.close(pair)
                time.sleep(OTHERS_S)
                tunnels.open(pair)
            self.await_rest(group)
            self.expect_no_proof(group)

    def test_what_leads_to_the_leader_is_restarted_then_what_leads_from_it(self):
        with self.led_group() as (group, tunnels):
            for pairs in ([(0, 2), (1, 2)], [(2, 0), (2, 1)], tunnels.of(2)):
                self.await_rest(group)
                tunnels.close(*pairs)
                time.sleep(LEADERS_S)
                tunnels.open(*pairs)
            self.await_rest(group)
            self.expect_no_proof(group)

    def test_it_is_said_once_that_somebody_stands_between(self):
        with self.led_group() as (group, tunnels):
            for sidecar in group.sidecars:
                sidecar.await_log("stands between")
            self.restart_all(tunnels)
            self.await_rest(group)
            for sidecar in group.sidecars:
                for peer in group.sidecars:
                    lines = [line for line in sidecar.log().splitlines()
                             if "stands between" in line and f"peer={peer.name}" in line]
                    self.assertLessEqual(len(lines), 1)
                wait_until("it is counted", lambda s=sidecar: s.count(
                    "bellwether_death_proofs_doubted_total", reason="between"))

    def test_the_doctor_names_those_before_whom_somebody_stands(self):
        with self.led_group() as (group, _):
            lowest, second, leader = group.sidecars
            told = subprocess.run(
                [*lowest.prefix, self.program, "doctor", "--config", lowest.config_file],
                text=True, check=False, capture_output=True, timeout=PATIENCE_S).stdout
            findings = [line for line in told.splitlines() if "stands before" in line]
            self.assertEqual(len(findings), 1, told)
            self.assertIn(second.name, findings[0])
            self.assertIn(leader.name, findings[0])


if __name__ == "__main__":
    main()
