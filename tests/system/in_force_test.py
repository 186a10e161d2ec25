#!/usr/bin/env python3
"""What a sidecar says is what is in force: its answers to commands, and to questions while a new
configuration waits for a restart; and it notices that there is a new one.

usage: in_force_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import signal

from harness import wait_until
from system_case import PATIENT, SystemCase, main


class Commands(SystemCase):
    """A command answers 200 only when it is done or will be."""

    def test_a_step_down_during_a_transfer_holds(self):
        with self.group(3, extra=PATIENT, voters=3) as group:
            group.start("--bootstrap")
            leader = group.await_leader(group.sidecars[-1])
            deaf = group.sidecars[1]
            deaf.send_signal(signal.SIGSTOP)  # takes nothing over
            for path, body in (("/v1/transfer", {"to": deaf.name}),
                               ("/v1/step-down", {"hold": "10m"})):
                status, _, text = leader.request("POST", path, body)
                self.assertEqual(status, 200, text)
            wait_until("it has stepped down", lambda: not leader.is_leader())
            status = leader.get("/v1/status")
            self.assertFalse(status["may_lead"])
            self.assertGreater(status["timers_due_in_ms"].get("hold", 0), 300_000)

    def test_a_second_transfer_replaces_the_first(self):
        with self.group(3, extra=PATIENT, voters=3) as group:
            group.start("--bootstrap")
            leader = group.await_leader(group.sidecars[-1])
            lowest, deaf, _ = group.sidecars
            deaf.send_signal(signal.SIGSTOP)
            for member in (deaf, lowest):
                status, _, text = leader.request("POST", "/v1/transfer", {"to": member.name})
                self.assertEqual(status, 200, text)
            group.await_leader(lowest)


if __name__ == "__main__":
    main()
