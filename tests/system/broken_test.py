#!/usr/bin/env python3
"""A sidecar that is wrong about itself: its flag goes off, its log has the evidence, and it ends.

usage: broken_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name

No configuration breaks an invariant; a plugin can (waiting_plugin.c).
"""

import os

from ends_test import slow
from harness import now_ns, wait_until
from system_case import CALM, SystemCase, main

INVARIANT_BROKEN = 8


def plugin():
    return os.environ["BELLWETHER_TEST_WAITING_PLUGIN"]


class Broken(SystemCase):
    def test_a_leader_that_breaks_an_invariant_turns_its_flag_off_and_ends(self):
        with self.group(1, extra=f'plugin = "{plugin()}"\n') as group:
            leader = group.start().sidecars[0]
            group.observe(self.observer)
            group.await_leader(leader)
            wait_until("its flag is on", lambda: group.observer.first(0, True, 0))
            asked_ns = now_ns()
            leader.is_wanted = False
            self.run_program("elect", "--api", leader.api_url)
            self.assertEqual(leader.await_exit(), INVARIANT_BROKEN, leader.log())
            wait_until("its flag is off", lambda: group.observer.first(0, False, asked_ns))
            log = leader.log()
            self.assertIn("an invariant is broken", log)
            self.assertIn("is in an election and waits for ever", log)
            self.assertIn("leads in epoch 1", log)
            self.assertIn("elect, 0 us ago", log)
            self.assertIn("wanted", log)

    def test_its_flag_is_off_before_others_know_of_its_end(self):
        environment = slow(slow_socket_close_ms=50)
        with self.group(3, extra=CALM + '[log]\nlevel = "debug"\n') as group:
            *followers, leader = group.sidecars
            leader.write_config(group.config_of(leader).replace(
                "[election]\n", f'[election]\nplugin = "{plugin()}"\n'))
            leader.start(environment=environment)
            wait_until("it leads", leader.is_leader)
            for follower in followers:
                follower.start()
            group.observe(self.observer)
            group.await_leader(leader)
            asked_ns = now_ns()
            leader.is_wanted = False
            self.run_program("elect", "--api", leader.api_url)
            self.assertEqual(leader.await_exit(), INVARIANT_BROKEN, leader.log())
            self.check_off_before_others_know(group, leader, asked_ns)


if __name__ == "__main__":
    main()
