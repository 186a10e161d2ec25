#!/usr/bin/env python3
"""Voters that lose their votes, by accidents and by lies: no process ends, no operator is needed,
and the group leads on, or leads again.

usage: vote_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import os
import shutil
import time

from forged_frames import Impostor, voters_hash
from harness import wait_until
from system_case import CALM, PATIENT, SystemCase, main
from tls_clients import client_context

# A voter waits for 10 s before it asks the others, and perhaps for one that waits itself.
LONG_S = 120
MINUTES_AHEAD = 20
FAR_FUTURE = 2**62  # no epoch is of so late a time
# The first is at the start, the second when the vote is in force, the third is a vote's.
FIRST_VOTE = 3
ATTEMPTS = 5  # until the first vote is for the voter itself, not for whoever asked before


def await_vote(sidecar, state="in force"):
    wait_until(f"{sidecar.name}'s vote is {state}", lambda: sidecar.vote() == state, LONG_S)


def empty(sidecar):
    """What a new machine has in its state folder."""
    shutil.rmtree(sidecar.state_folder)


def faulty(**faults):
    """An environment in which a sidecar's machine has them (faulty_calls.c)."""
    return {"LD_PRELOAD": os.environ["BELLWETHER_TEST_FAULTY_CALLS"],
            **{name.upper(): str(value) for name, value in faults.items()}}


class VoteCase(SystemCase):
    @contextlib.contextmanager
    def voters(self, extra=CALM):
        """A group of three that follows its highest; all flags are watched, to the end."""
        with self.group(3, extra=extra, voters=3) as group:
            group.start("--bootstrap").observe(self.observer)
            group.await_leader(group.sidecars[-1])
            yield group
            self.assertEqual(group.observer.doubles_since(0), [])

    def await_all_votes(self, group):
        for sidecar in group.sidecars:
            await_vote(sidecar)
            wait_until(f"{sidecar.name} is ready", sidecar.is_ready)
        group.await_leader(patience_s=LONG_S)

    def loses_its_leader(self, group):
        """The two that are left have another."""
        group.await_leader().kill()
        group.await_leader(patience_s=LONG_S)


class LostState(VoteCase):
    def zero(self, file):
        file.write_bytes(bytes(file.stat().st_size))

    def spoil_a_slot(self, file):
        """As a line of some log would, that has strayed into it."""
        with open(file, "r+b") as state:
            state.write(b"2026-11-22T18:00:00.000Z warn hello")

    def truncate(self, file):
        os.truncate(file, 100)

    def remove(self, file):
        file.unlink()

    def empty_folder(self, file):
        shutil.rmtree(file.parent)

    def put_back(self, file):
        shutil.rmtree(file.parent)
        shutil.copytree(file.parent.with_name("copy"), file.parent)

    def keep_copy(self, group):
        """Of the first voter's folder; it then votes again, so that others remember more."""
        voter, _, leader = group.sidecars
        voter.stop()
        shutil.copytree(voter.state_folder, group.folder / "copy")
        voter.start()
        group.await_leader(leader)
        leader.kill()
        group.await_leader(patience_s=LONG_S)
        leader.start()
        group.await_leader(leader, patience_s=LONG_S)

    def test_it_costs_the_vote_for_a_while(self):
        """Whatever has happened to it: the voter starts by itself, says so, waits, asks, votes."""
        damages = {self.zero: "state: is damaged in both of its slots",
                   self.spoil_a_slot: "state: is damaged in one of its slots",
                   self.truncate: "state: is damaged|state: has not the length",
                   self.remove: "state: is missing",
                   self.empty_folder: "warn .*this voter has no vote: ",
                   self.put_back: "its state was put back to an older one"}
        with contextlib.ExitStack() as stack:
            groups = {damage: stack.enter_context(self.voters()) for damage in damages}
            self.keep_copy(groups[self.put_back])
            before = {}
            for damage, group in groups.items():
                voter = group.sidecars[0]
                before[damage] = group.await_leader().get("/v1/leader")
                voter.kill()
                damage(voter.state_folder / "state")
                voter.start()
                # At once: on a busy machine the last would be awaited when it votes again.
                await_vote(voter, "forgotten")
                self.assertFalse(voter.is_ready())
            for damage, group in groups.items():
                with self.subTest(damage=damage.__name__):
                    group.sidecars[0].await_log(damages[damage])
                    await_vote(group.sidecars[0])
                    group.sidecars[0].await_log("has a vote again")
                    self.await_all_votes(group)
                    self.assertEqual(group.await_leader().get("/v1/leader"), before[damage])
                    self.loses_its_leader(group)

    def test_a_rolling_replacement_waits_for_each(self):
        """As a group manager does it: an empty folder, then the next when this one is ready."""
        with self.voters() as group:
            for sidecar in group.sidecars:
                self.assertEqual(sidecar.stop(), 0)
                empty(sidecar)
                sidecar.start()
                wait_until(f"{sidecar.name} is ready", sidecar.is_ready, LONG_S)
                self.assertEqual(sidecar.vote(), "in force")
            self.await_all_votes(group)
            self.loses_its_leader(group)

    def test_two_of_three_at_the_same_time(self):
        with self.voters() as group:
            for sidecar in group.sidecars[:2]:
                sidecar.kill()
                empty(sidecar)
            first, second, third = group.sidecars
            first.start()
            await_vote(first, "forgotten")  # until the second one answers
            words = (f"a leader needs 2 votes, and these are away or may have none: {first.name}, "
                     f"{second.name}.")
            wait_until("it says what it lacks", lambda: words in str(third.get("/v1/explain")))
            second.start()
            await_vote(second, "forgotten")
            self.await_all_votes(group)
            self.loses_its_leader(group)

    def test_a_new_group_may_be_started_one_after_the_other(self):
        """Each when the last is ready (OrderedReady), without an operator's word."""
        with self.group(3, extra=CALM, voters=3) as group:
            for sidecar in group.sidecars:
                sidecar.start()
                wait_until(f"{sidecar.name} is ready", sidecar.is_ready, LONG_S)
            self.await_all_votes(group)
            self.loses_its_leader(group)


class Liar(VoteCase):
    """Somebody says of a voter that it remembers more of its votes than that voter's disk has."""

    def lie(self, group, name, victims, beyond=1000, **hello):
        """Returns what must stay open for it.  Where members have certificates the liar has the
        first one's."""
        impostor, lies = Impostor(name), contextlib.ExitStack()
        identity = group.identity_of(group.sidecars[0])
        tls = identity and client_context(identity)
        for victim in victims:
            status = victim.get("/v1/status")
            member_id = bytes.fromhex(status["node"]["id"].replace("-", ""))
            remembered = [(member_id, status["highest_epoch"] + beyond)]
            lies.enter_context(impostor.connect(victim, tls, remembered=remembered,
                                                 **hello))
        for victim in victims:
            self.await_heard(victim, impostor)
        return lies

    def await_heard(self, victim, impostor):
        def is_listed():
            self.assertTrue(victim.is_running, f"{victim.name} has ended")
            listed = victim.members().get(impostor.name, {})
            return listed.get("id") == impostor.identity_text()
        wait_until(f"{victim.name} has heard {impostor.name}", is_listed)

    def test_a_stranger_changes_nothing(self):
        with self.voters() as group:
            before = [sidecar.get("/v1/leader") for sidecar in group.sidecars]
            voters = voters_hash(sidecar.name for sidecar in group.sidecars)
            for name, hello in (("stranger", {"beyond": FAR_FUTURE}), ("other", {})):
                with self.lie(group, name, group.sidecars, voters=voters, **hello):
                    self.assertEqual([each.vote() for each in group.sidecars], ["in force"] * 3)
                self.assertEqual([sidecar.get("/v1/leader") for sidecar in group.sidecars], before)
            self.assertIs(group.await_leader(), group.sidecars[-1])

    def test_a_voter_that_believes_it_asks_and_votes_again(self):
        """Under the name of one that is dead, to both others; and then to that one itself, so that
        in the end all three have forgotten."""
        with self.voters() as group:
            first, second, leader = group.sidecars
            voters = voters_hash(sidecar.name for sidecar in group.sidecars)
            first.kill()
            with self.lie(group, first.name, (second, leader), voters=voters, beyond=FAR_FUTURE):
                for sidecar in (second, leader):
                    self.assertEqual(sidecar.vote(), "in force")
                self.assertTrue(leader.is_leader())
            state = second.state_folder / "state"
            before = state.read_bytes()
            with self.lie(group, first.name, (second, leader), voters=voters):
                for sidecar in (second, leader):
                    await_vote(sidecar, "forgotten")
                    self.assertFalse(sidecar.is_ready())
                self.assertFalse(leader.is_leader())
            wait_until("that is stored", lambda: state.read_bytes() != before)
            second.kill()
            first.start()
            wait_until("it answers", lambda: first.vote() == "in force")
            with self.lie(group, second.name, (first,), voters=voters):
                await_vote(first, "forgotten")
            second.start()
            await_vote(second, "forgotten")
            self.await_all_votes(group)
            self.loses_its_leader(group)


class Machine(VoteCase):
    def test_a_disk_that_works_again_gives_the_vote_back(self):
        """Without a restart; meanwhile the voter is not ready, but alive."""
        with self.group(3, extra=PATIENT, voters=3) as group:
            voter, _, leader = group.sidecars
            broken = group.folder / "broken"
            voter.start("--bootstrap", environment=faulty(broken_disk=broken))
            for sidecar in group.sidecars[1:]:
                sidecar.start("--bootstrap")
            group.await_leader(leader)
            self.await_all_votes(group)
            self.await_able(leader, group.sidecars[1])
            broken.touch()
            self.assertEqual(leader.request("POST", "/v1/transfer", {"to": "n1"})[0], 202)
            group.await_leader(group.sidecars[1])
            wait_until("its vote is broken", lambda: "broken" in voter.vote())
            status, _, text = voter.request("GET", "/readyz")
            self.assertEqual((status, "does not keep" in text), (503, True), text)
            self.assertEqual(voter.request("GET", "/livez")[0], 200)
            voter.await_log("error .*the state could not be stored.*Input/output error")
            broken.unlink()
            self.await_all_votes(group)
            self.loses_its_leader(group)

    def test_a_clock_that_is_ahead_and_a_death_behind_the_first_vote(self):
        """The others begin with epochs of their own clocks; the one that died takes part again."""
        for _ in range(ATTEMPTS):
            if self.dies_behind_a_vote_for_itself():
                return
        self.fail(f"{ATTEMPTS} times it voted for another one first")

    def dies_behind_a_vote_for_itself(self):
        """False if another one asked for its first vote: then it has none of its own clock."""
        clock = {"clock_ahead_s": MINUTES_AHEAD * 60}
        with self.group(3, extra=CALM, voters=3) as group:
            early = group.sidecars[-1]
            for sidecar in group.sidecars[:2]:
                sidecar.start("--bootstrap")
            early.start("--bootstrap", environment=faulty(dies_after_sync=FIRST_VOTE, **clock))
            early.await_exit()
            early.is_wanted = False
            # Or one of them had not asked it yet, and cannot vote without it.
            wait_until("the others have a leader", lambda: group.agreed_leader() or
                       "forgotten" in [each.vote() for each in group.running])
            early.start(environment=faulty(**clock))
            early.await_log(r"epoch=[1-9]\d* started")  # it did not die before its first vote
            self.await_all_votes(group)
            soon = (time.time() + MINUTES_AHEAD * 60 / 2) * 1000
            is_its_own = early.epoch() > soon
            self.loses_its_leader(group)
            return is_its_own


if __name__ == "__main__":
    main()
