#!/usr/bin/env python3
"""Three voters under guard majority: whatever happens to one, the others lead on, and never do two
flags read "leader" at once.

usage: guard_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import shutil
import signal
import unittest

from harness import now_ns, wait_until
from namespaces import Hosts, can_make_namespaces
from system_case import SystemCase, main

# Comes back to lead soon, so that cases are short.
SOON = 'preempt_delay = "500ms"\n'


class Guard(SystemCase):
    @contextlib.contextmanager
    def led_group(self, hosts=None, extra=SOON):
        """A group that follows its highest voter; all flags are watched, to the end."""
        with self.group(3, extra=extra, voters=3, hosts=hosts) as group:
            began_ns = now_ns()
            group.start("--bootstrap").observe(self.observer)
            group.await_leader(group.sidecars[-1])
            yield group
            self.assertEqual(group.observer.doubles_since(began_ns), [])

    def await_successor(self, group, leader, after_ns):
        """Another flag goes on; returns whose, when all agree."""
        number = group.sidecars.index(leader)
        _, flag = wait_until("a successor's flag is on",
                             lambda: group.observer.first_on(after_ns, number))
        return group.await_leader(group.sidecars[flag])

    def test_a_killed_leader_is_succeeded_and_comes_back(self):
        with self.led_group(extra=SOON + '[log]\nlevel = "debug"\n') as group:
            leader = group.sidecars[-1]
            for _ in range(3):
                epoch = leader.epoch()
                killed_ns = now_ns()
                leader.kill()
                successor = self.await_successor(group, leader, killed_ns)
                self.assertGreater(successor.epoch(), epoch)
                leader.start()
                group.await_leader(leader)
            # Its death was proven: nobody had to wait for the end of the lease.
            successor.await_log("proof of death")

    def test_a_stopped_leader_is_succeeded_and_comes_back(self):
        with self.led_group() as group:
            leader = group.sidecars[-1]
            stopped_ns = now_ns()
            leader.send_signal(signal.SIGSTOP)
            successor = self.await_successor(group, leader, stopped_ns)
            # So long that its own flag is long over when it runs again.
            wait_until("3 s have passed", lambda: now_ns() > stopped_ns + 3_000_000_000)
            wait_until("the successor leads", successor.is_leader)
            leader.send_signal(signal.SIGCONT)
            group.await_leader(leader)

    def test_a_terminated_leader_hands_over(self):
        with self.led_group() as group:
            leader = group.sidecars[-1]
            asked_ns = now_ns()
            self.assertEqual(leader.stop(), 0, leader.log())
            self.await_successor(group, leader, asked_ns)

    def test_without_a_majority_nobody_leads(self):
        with self.led_group() as group:
            lowest, second, leader = group.sidecars
            leader.kill()
            second.kill()
            wait_until("the last one knows that it is alone",
                       lambda: "It reaches 1 of 3 voters" in str(lowest.get("/v1/explain")))
            self.assertIsNone(group.observer.first(0, True, 0))
            second.start()
            group.await_leader(second)

    def test_a_leader_that_is_cut_off_gives_way(self):
        if not can_make_namespaces():
            raise unittest.SkipTest("network namespaces cannot be made here")
        with Hosts(3) as hosts, self.led_group(hosts) as group:
            leader = group.sidecars[-1]
            cut_ns = now_ns()
            hosts.partition([0, 1], [2])
            wait_until("its flag is off", lambda: group.observer.first(2, False, cut_ns))
            _, flag = wait_until("a successor's flag is on",
                                 lambda: group.observer.first_on(cut_ns, 2))
            wait_until("it says so itself", lambda: not leader.is_leader())
            hosts.heal()
            group.await_leader(leader)
            wait_until("the successor's flag is off",
                       lambda: group.observer.first(flag, False, cut_ns))

    def test_a_voter_with_an_empty_state_folder_votes_again_when_it_has_asked(self):
        with self.led_group() as group:
            lowest, _, leader = group.sidecars
            lowest.kill()
            shutil.rmtree(lowest.state_folder)
            lowest.start()
            self.assertEqual(wait_until("it answers", lambda: lowest.get("/v1/status"))["vote"]
                             ["state"], "forgotten")
            # It does not remember by a restart.
            lowest.kill()
            lowest.start()
            wait_until("it follows", lambda: lowest.leader() == leader.name)
            self.assertEqual(lowest.get("/v1/status")["vote"]["state"], "forgotten")
            wait_until("it has a vote again",
                       lambda: lowest.get("/v1/status")["vote"]["state"] == "in force")

    def test_changed_voters_are_refused_until_the_operator_says_so(self):
        with self.led_group() as group:
            for sidecar in group.sidecars:
                sidecar.stop()
            group.voters = 1
            alone = group.sidecars[0]
            alone.write_config(group.config_of(alone, peers=[alone]))
            alone.start()
            self.assertEqual(alone.await_exit(), 7)
            alone.await_log("--forget-promises")
            epoch = max(int(word.split("=")[1]) for word in alone.log().split()
                        if word.startswith("epoch="))
            alone.start("--forget-promises")
            wait_until("it leads", alone.is_leader)
            self.assertGreater(alone.epoch(), epoch)


if __name__ == "__main__":
    main()
