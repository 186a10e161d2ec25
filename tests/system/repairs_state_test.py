#!/usr/bin/env python3
"""What OPERATIONS and the runbook advise about members, voters and their states, done to the letter
in a group of three; that of TLS is in repairs_test.py, and the rest in tests/README.md.

usage: repairs_state_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import itertools
import os
import pathlib
import re
import shutil
import signal
import struct
import sys
import tempfile
import time
import unittest

from advice_case import LONG_S, UNAVAILABLE, AdviceCase
from folders import delete, empty, replace
from forged_frames import checksum
from harness import wait_until
from system_case import CALM, IS_SANITIZED, main

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/apps"
sys.path.insert(0, str(EXAMPLES / "python"))
import attachment  # noqa: E402: from the examples

LEASE_MS = 6000  # of a group that is CALM
SLOTS = (0, 4096)  # of the file `state`, the newer of which counts


def identity(voter):
    return (voter.state_folder / "identity").read_text()


def newer(folder):
    """The same, after a later epoch of another process."""
    state = bytearray((folder / "state").read_bytes())
    for start in SLOTS:
        epoch, = struct.unpack_from("<Q", state, start + 40)
        struct.pack_into("<Q", state, start + 40, epoch + 1)
        struct.pack_into("<I", state, start + 508, checksum(bytes(state[start:start + 508])))
    (folder / "state").write_bytes(state)
    return folder


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

    def test_a_folder_that_is_deleted_or_emptied_is_made_anew(self):
        """A follower's, and then the leader's: nobody loses a vote, or the lead, not for good."""
        with self.voters() as group:
            self.await_votes(group.sidecars)
            leader = group.await_leader(group.sidecars[2])
            epoch, identities = leader.epoch(), [identity(each) for each in group.sidecars]
            for voter, remove in itertools.product((group.sidecars[0], leader),
                                                   (delete, empty)):
                process = voter.process.pid
                remove(voter.state_folder)
                wait_until("all of it is there again", lambda each=voter: all(
                    (each.state_folder / name).exists()
                    for name in ("lock", "state", "identity", "members")))
                self.await_votes(group.sidecars)
                self.assertEqual(voter.process.pid, process)
                self.assertTrue(voter.is_running)
                self.assertTrue(leader.is_leader())
            self.assertEqual(leader.epoch(), epoch)
            for voter in (group.sidecars[0], leader):
                voter.await_log("error .*the state's file was taken away: its folder, or the lock "
                                "in it, was removed or moved .*in its place again")
                self.assertEqual(voter.stop(), 0)
                voter.start()
                self.await_votes([voter])
                self.assertNotIn("without it, under a new id", voter.log())
            self.assertEqual([identity(each) for each in group.sidecars], identities)
            self.assertGreater(group.await_leader().epoch(), epoch)

    def test_a_sidecar_that_leaves_just_then_is_the_same_afterwards(self):
        with self.voters() as group:
            voter = group.sidecars[0]
            self.await_votes(group.sidecars)
            own = identity(voter)
            delete(voter.state_folder)
            self.assertEqual(voter.stop(), 0)
            self.assertEqual(identity(voter), own)
            voter.start()
            self.await_votes([voter])
            self.assertNotIn("without it, under a new id", voter.log())

    def test_one_that_was_moved_away_is_put_back(self):
        with self.voters() as group:
            voter, leader = group.sidecars[0], group.sidecars[2]
            self.await_votes(group.sidecars)
            elsewhere = voter.state_folder.rename(voter.state_folder.with_suffix(".away"))
            voter.await_log("its folder, or the lock in it, was removed or moved .*put it back")
            voter.await_log("error .*is not in its place; put it back; or leave nothing there, "
                            "and start this sidecar again while the others run")
            self.await_broken(voter)
            elsewhere.rename(voter.state_folder)
            self.await_votes([voter])
            shutil.move(voter.state_folder, elsewhere)
            self.await_broken(voter)
            self.assertEqual(voter.stop(), 0)
            voter.start()
            self.await_votes([voter])
            group.await_leader(leader)

    def test_a_copy_in_its_place_is_written_over_and_a_strangers_folder_is_not(self):
        with self.voters() as group:
            voter, other, leader = group.sidecars
            self.await_votes(group.sidecars)
            own = identity(voter)
            backup = shutil.copytree(voter.state_folder, voter.state_folder.with_suffix(".backup"))
            replace(voter.state_folder, backup)
            voter.await_log("its folder, or the lock in it, was removed.*in its place again")
            self.await_votes([voter])
            replace(voter.state_folder, other.state_folder)
            self.await_broken(voter)
            voter.await_log("was deleted, and the one in its place is not this process's; delete "
                            "that one as well; this sidecar then makes its own anew")
            self.assertEqual(identity(voter), identity(other))
            delete(voter.state_folder)
            self.await_votes([voter])
            self.assertEqual(identity(voter), own)
            with self.subTest("a newer one"):
                replace(voter.state_folder, newer(backup))
                self.await_broken(voter)
                voter.await_log("is newer than what this process remembers: another one has run "
                                "under its id; stop this sidecar, empty the folder, and start it "
                                "while the others run")
                self.assertEqual(voter.stop(), 0)
                empty(voter.state_folder)
                voter.start()
                self.await_votes([voter])
                self.assertNotEqual(identity(voter), own)
            group.await_leader(leader)

    @unittest.skipIf(IS_SANITIZED, "a sanitizer needs what is taken away")
    def test_one_that_it_may_not_make_is_made_for_it_and_the_sidecar_started_again(self):
        with self.deep_voters() as group:
            voter, leader = group.sidecars[0], group.sidecars[2]
            self.skip_without_landlock(voter)
            delete(voter.state_folder.parent)
            voter.await_log("was deleted, and this process cannot make it anew .*Permission "
                            fr"denied\); make it for user {os.geteuid()}, with mode 0700; if the "
                            "state is not stored there within ten seconds, start this sidecar "
                            "again while the others run")
            self.await_broken(voter)
            self.await_advice(voter, "sidecar", "vote", "Of a folder that is gone do what is "
                              "said of it")
            self.await_unready(voter, "cannot make it anew .*; make it for user")
            shutil.copytree(leader.state_folder, voter.state_folder)
            with self.subTest("what is to be done now is something else"):
                voter.await_log("the state could not be stored; .*empty it, or delete that one")
                self.await_unready(voter, "what is in its place .*; empty it, or delete that one")
            delete(voter.state_folder)
            self.await_unready(voter, "cannot make it anew .*; make it for user")
            self.assertTrue(voter.is_running)
            voter.state_folder.mkdir(mode=0o700, parents=True)
            self.assertEqual(voter.stop(), 0)
            voter.start()
            self.await_votes([voter])
            group.await_leader(leader)

    @unittest.skipIf(IS_SANITIZED, "a sanitizer needs what is taken away")
    def test_where_systemd_makes_it_the_sidecar_hands_over_and_ends_for_that(self):
        """As the leader; systemd's part is played by the test."""
        with self.deep_voters(systemd=True) as group:
            leader = group.await_leader(group.sidecars[2])
            self.skip_without_landlock(leader)
            leader.is_wanted = False
            delete(leader.state_folder.parent)
            self.assertEqual(leader.await_exit(), UNAVAILABLE)
            self.assertRegex(leader.log(), "error .*the state's folder was deleted, and only "
                                           "systemd can make it; leaving the group, to be started")
            self.assertIn("left the group", leader.log())
            group.sidecars[0].await_state_of(leader, "left")
            group.await_leader()
            leader.start()
            self.await_votes(group.sidecars)

    @unittest.skipIf(IS_SANITIZED, "a sanitizer needs what is taken away")
    def test_nor_is_it_started_from_an_older_copy_that_it_cannot_use(self):
        """Where systemd would make it: only once the copy is deleted as well."""
        with self.deep_voters(systemd=True) as group:
            voter, leader = group.sidecars[0], group.sidecars[2]
            self.skip_without_landlock(voter)
            folder = voter.state_folder.parent
            backup = shutil.copytree(folder, folder.with_suffix(".backup"))
            delete(folder)
            backup.rename(folder)
            voter.await_log("was deleted, and this process cannot use what is in its place .*"
                            r"Permission denied\); empty it, or delete that one as well")
            self.await_broken(voter)
            for _ in range(3):  # ticks
                time.sleep(1)
                self.assertTrue(voter.is_running)
                self.assertNotIn("only systemd can make it", voter.log())
            voter.is_wanted = False
            delete(voter.state_folder)
            self.assertEqual(voter.await_exit(), UNAVAILABLE)
            voter.start()
            self.await_votes(group.sidecars)
            group.await_leader(leader)

    @unittest.skipIf(IS_SANITIZED, "a sanitizer needs what is taken away")
    def test_told_to_end_meanwhile_it_goes_on_handing_over(self):
        """That counts as the first time, which waits for the application."""
        extra = CALM + '[application]\ndrain_timeout = "1h"\n'
        with self.deep_voters(systemd=True, extra=extra) as group:
            leader = group.await_leader(group.sidecars[2])
            self.skip_without_landlock(leader)
            leader.is_wanted = False
            place = str(leader.socket_file)
            with contextlib.closing(attachment.attach(place, "worker")) as worker:
                delete(leader.state_folder.parent)
                drain = next(event for event in worker if event.type == attachment.DRAIN)
                leader.send_signal(signal.SIGTERM)
                leader.await_log("leaving the group signal=SIGTERM")
                application = leader.get("/v1/status")["application"]
                self.assertEqual(application["draining"]["waiting_for"], ["worker"])
                attachment.drained(place, drain)
                self.assertEqual(leader.await_exit(), 0)
            self.assertIn("left the group", leader.log())
            group.await_leader()

    @contextlib.contextmanager
    def deep_voters(self, systemd=False, extra=CALM):
        """The folder above their state is neither the flag's nor the socket's: deleted as well, it
        cannot be made by them."""
        with tempfile.TemporaryDirectory() as far, self.group(3, extra=extra, voters=3) as group:
            for sidecar in group.sidecars:
                sidecar.state_folder = pathlib.Path(far) / sidecar.name / "state"
                sidecar.write_config(group.config_of(sidecar))
                sidecar.state_folder.mkdir(mode=0o700, parents=True)
                sidecar.start("--bootstrap", environment={
                    "STATE_DIRECTORY": f"/nowhere:{sidecar.state_folder}"} if systemd else None)
            self.await_votes(group.sidecars)
            yield group

    def skip_without_landlock(self, sidecar):
        if sidecar.get("/v1/status")["confinement"]["landlock"] is None:
            self.skipTest("this kernel has no Landlock")

    def await_unready(self, voter, why):
        def is_told():
            status, _, text = voter.request("GET", "/readyz")
            return status == 503 and re.search(why, text)
        wait_until(f"/readyz says {why}", is_told)

    def await_broken(self, voter):
        wait_until("its vote is broken", lambda: voter.vote() == "broken")


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
