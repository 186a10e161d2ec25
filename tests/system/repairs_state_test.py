#!/usr/bin/env python3
"""What OPERATIONS and the runbook advise about members, voters and their states, done to the letter
in a group of three; that of TLS is in repairs_test.py, and the rest in tests/README.md.

usage: repairs_state_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import shutil
import struct

from advice_case import LONG_S, AdviceCase
from harness import wait_until
from system_case import main


LEASE_MS = 6000  # of a group that is CALM
SLOTS = (0, 4096)  # of the file `state`, the newer of which counts


def stored_lease_ms(voter):
    """The longest lease that it may have promised, as its next life finds it."""
    state = (voter.state_folder / "state").read_bytes()
    _, lease_ms = max(struct.unpack_from("<16xQ40xQ", state, slot) for slot in SLOTS)
    return lease_ms


class Removed(AdviceCase):
    def test_a_state_that_is_removed_while_it_runs_is_made_anew(self):
        with self.voters() as group:
            voter = group.sidecars[0]
            self.await_votes(group.sidecars)
            state = voter.state_folder / "state"
            state.unlink()
            voter.await_log(r"error .*the state's file was removed, or replaced by another file "
                            ".*in its place again")
            self.assertTrue(state.exists())
            self.assertEqual(voter.stop(), 0)
            voter.start()
            self.await_votes([voter])
            self.assertNotIn("is missing, though this process has run before", voter.log())

    def test_a_folder_that_is_removed_costs_the_vote_until_a_restart(self):
        with self.voters() as group:
            voter, leader = group.sidecars[0], group.sidecars[2]
            self.await_votes(group.sidecars)
            group.await_leader(leader)
            shutil.rmtree(voter.state_folder)
            voter.await_log("error .*the state's file was removed with its folder")
            wait_until("its vote is broken", lambda: voter.get("/v1/status")["vote"]["state"]
                       == "broken")
            self.assertEqual(voter.request("GET", "/readyz")[0], 503)
            self.assertEqual(voter.stop(), 0)
            voter.start()
            self.await_votes([voter])
            group.await_leader(leader)


class Upgrade(AdviceCase):
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


class Members(AdviceCase):
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


class Voters(AdviceCase):
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
            # The ten seconds were for once: later restarts wait for the lease.
            voter = group.sidecars[0]
            wait_until("it knows that old promises are over",
                       lambda: stored_lease_ms(voter) == LEASE_MS)
            self.assertEqual(voter.stop(), 0)
            voter.start()
            status = wait_until("it answers", lambda: voter.get("/v1/status"))
            self.assertLessEqual(status["timers_due_in_ms"].get("hold", 0), LEASE_MS)
            group.await_leader(patience_s=LONG_S)

    def lose(self, group):
        """All three end; two come back with empty folders, and nobody leads."""
        for sidecar in group.sidecars:
            sidecar.kill()
        for sidecar in group.sidecars[:2]:
            shutil.rmtree(sidecar.state_folder)
            sidecar.start()
        for sidecar in group.sidecars[:2]:
            wait_until("it has forgotten", lambda each=sidecar: each.vote() == "forgotten")
            self.assertIsNone(sidecar.leader())


if __name__ == "__main__":
    main()
