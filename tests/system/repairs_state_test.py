#!/usr/bin/env python3
"""What OPERATIONS and the runbook advise about members, voters and their states, done to the letter
in a group of three; that of TLS is in repairs_test.py, and the rest in tests/README.md.

usage: repairs_state_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import shutil

from harness import wait_until
from system_case import CALM, SystemCase, main

# A voter without its vote waits for 10 s before it asks the others.
LONG_S = 60


class GroupCase(SystemCase):
    @contextlib.contextmanager
    def voters(self, size=3):
        """Three of the group vote; all flags are watched, to the end."""
        with self.group(size, extra=CALM, voters=3) as group:
            for sidecar in group.sidecars[:3]:
                sidecar.start("--bootstrap")
            group.observe(self.observer)
            group.await_leader(group.sidecars[2])
            yield group
            self.assertEqual(group.observer.doubles_since(0), [])

    def vote_of(self, sidecar):
        status = sidecar.get("/v1/status")
        return status and status["vote"]["state"]

    def await_votes(self, sidecars):
        for sidecar in sidecars:
            wait_until(f"{sidecar.name} has its vote",
                       lambda each=sidecar: self.vote_of(each) == "in force", LONG_S)
            wait_until(f"{sidecar.name} is ready", sidecar.is_ready)

    def command(self, sidecar, *words):
        return self.run_program(*words, "--config", sidecar.config_file)


class Upgrade(GroupCase):
    def test_the_leader_chooses_the_moment(self):
        """step-down --hold, restart, the next when this one is back; on others it fails."""
        with self.voters() as group:
            leader, follower = group.sidecars[2], group.sidecars[0]
            self.assertEqual(self.command(follower, "step-down", "--hold", "10m").returncode, 1)
            self.assertIs(group.await_leader(), leader)
            result = self.command(leader, "step-down", "--hold", "10m")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIsNot(group.await_leader(), leader)
            for sidecar in (leader, *group.sidecars[:2]):
                self.assertEqual(sidecar.stop(), 0)
                sidecar.start()
                self.await_votes([sidecar])
            group.await_leader()


class Members(GroupCase):
    def test_one_without_a_vote_joins_and_is_forgotten(self):
        """BellwetherMemberDown: forget NAME on the leader ends it."""
        with self.voters(size=4) as group:
            leader, guest = group.sidecars[2:]
            group.priorities[3] = 0
            guest.write_config(group.config_of(guest))
            guest.start()
            leader.await_state_of(guest, "alive")
            guest.kill()
            leader.await_state_of(guest, "down")
            result = self.command(leader, "forget", guest.name)
            self.assertEqual(result.returncode, 0, result.stderr)
            for sidecar in group.sidecars[:3]:
                wait_until("it is gone", lambda each=sidecar: each.state_of(guest.name) is None)
            self.assertIs(group.await_leader(), leader)


class Voters(GroupCase):
    def test_another_list_is_introduced(self):
        """More or fewer voters."""
        with self.voters(size=5) as group:
            leader = group.sidecars[2]
            epoch = leader.epoch()
            group.voters = 5
            for sidecar in group.sidecars:
                sidecar.write_config(group.config_of(sidecar))
            for sidecar in group.sidecars[:3]:
                self.assertEqual(self.command(sidecar, "reload").returncode, 0)
                self.assertIn("voters", sidecar.get("/v1/status")["config"]["pending_restart"])
            self.assertTrue(leader.is_leader())
            for sidecar in group.sidecars[:3]:
                self.assertEqual(sidecar.stop(), 0)
            for sidecar in group.sidecars:
                sidecar.start("--forget-promises")
            leader = group.await_leader(patience_s=LONG_S)
            self.assertGreater(leader.epoch(), epoch)
            self.await_votes(group.sidecars)
            for sidecar in group.sidecars:  # as the next restart has it, without the option
                self.assertEqual(sidecar.stop(), 0)
                sidecar.start()
                self.await_votes([sidecar])

    def test_a_majority_has_forgotten_and_the_name_of_one_goes_to_another_machine(self):
        with self.voters() as group:
            epoch = group.sidecars[2].epoch()
            self.lose(group)
            gone = group.sidecars[2]
            shutil.rmtree(gone.state_folder)
            gone.start()
            self.await_votes(group.sidecars)
            self.assertGreater(group.await_leader(patience_s=LONG_S).epoch(), epoch)

    def test_a_majority_has_forgotten_and_one_is_gone_for_good(self):
        with self.voters() as group:
            epoch = group.sidecars[2].epoch()
            self.lose(group)
            for sidecar in group.sidecars[:2]:
                sidecar.stop()
            for sidecar in group.sidecars[:2]:
                sidecar.start("--forget-promises")
            self.assertGreater(group.await_leader(patience_s=LONG_S).epoch(), epoch)
            self.await_votes(group.sidecars[:2])

    def lose(self, group):
        """All three end; two come back with empty folders, and nobody leads."""
        for sidecar in group.sidecars:
            sidecar.kill()
        for sidecar in group.sidecars[:2]:
            shutil.rmtree(sidecar.state_folder)
            sidecar.start()
        for sidecar in group.sidecars[:2]:
            wait_until("it has forgotten", lambda each=sidecar: self.vote_of(each) == "forgotten")
            self.assertIsNone(sidecar.leader())


if __name__ == "__main__":
    main()
