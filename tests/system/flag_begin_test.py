#!/usr/bin/env python3
"""What begin() of the flag's readers promises, with real sidecars: its leader's sidecar hangs or is
cut off right after it, and no other flag is on before the time that was asked for is over.

usage: flag_begin_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import pathlib
import signal
import sys

from harness import now_ns, wait_until
from namespaces import Hosts, can_make_namespaces
from store_group import LEASE_S, SHORT, EtcdCase
from system_case import SystemCase, main

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/apps/python"))
import leader_flag  # noqa: E402: from the examples

# Longer than any validity, and long enough for a successor.
TOO_LONG_S = 60
TIMES = 2


class Begun:
    """What a class below inherits beside a case class."""

    def begin(self, flag):
        """(when, until when): work begins that takes nearly as long as the sidecar's word holds."""
        began = []

        def has_begun():
            asked_ns = now_ns()
            need_s = (flag.read().valid_until_ns - asked_ns) / 1e9 - 0.01
            if need_s > LEASE_S / 2 and flag.begin(need_s) is not None:
                began.extend((asked_ns, asked_ns + int(need_s * 1e9)))
            return began
        wait_until("work begins", has_begun)
        return began

    def check(self, group, fault, repair):
        leader = group.await_leader(group.sidecars[-1])
        number = group.sidecars.index(leader)
        flag = leader_flag.open_flag(leader.flag_file)
        self.addCleanup(flag.close)
        for _ in range(TIMES):
            # Nobody could keep that: before it is over another one leads, as is seen below.
            self.assertIsNone(flag.begin(TOO_LONG_S))
            asked_ns, until_ns = self.begin(flag)
            token = flag.token()
            fault(leader)
            successor_ns, _ = wait_until("another flag is on", lambda after_ns=asked_ns: (
                group.observer.first_on(after_ns, but=number)))
            self.assertGreaterEqual(successor_ns, until_ns)
            self.assertLess(successor_ns, asked_ns + TOO_LONG_S * 1e9)
            self.assertFalse(flag.still(token))
            repair(leader)
            group.await_leader(leader)
            self.assertFalse(flag.still(token))  # in a later epoch

    def check_that_hangs(self, group):
        self.check(group, lambda leader: leader.send_signal(signal.SIGSTOP),
                   lambda leader: leader.send_signal(signal.SIGCONT))


class Majority(Begun, SystemCase):
    def voters(self, hosts=None):
        group = self.group(3, extra=SHORT, voters=3, hosts=hosts)
        group.start("--bootstrap").observe(self.observer)
        return group

    def test_nobody_else_leads_while_a_voter_hangs(self):
        with self.voters() as group:
            self.check_that_hangs(group)

    def test_nobody_else_leads_while_a_voter_is_cut_off(self):
        if not can_make_namespaces():
            self.skipTest("cannot make network namespaces")
        with Hosts(3) as hosts, self.voters(hosts) as group:
            self.check(group, lambda _: hosts.partition([0, 1], [2]), lambda _: hosts.heal())


class Store(Begun, EtcdCase):
    def test_nobody_else_leads_while_its_sidecar_hangs(self):
        with self.led_group() as guarded:
            self.check_that_hangs(guarded.group)

    def test_nobody_else_leads_while_its_sidecar_is_cut_off(self):
        """From the store, and nothing of what it says is heard there."""
        with self.led_group() as guarded:
            def all_doors(act):
                def do(leader):
                    for door in guarded.doors_of(leader):
                        act(door)
                return do
            self.check(guarded.group, all_doors(lambda door: door.cut()),
                       all_doors(lambda door: door.heal()))


if __name__ == "__main__":
    main()
