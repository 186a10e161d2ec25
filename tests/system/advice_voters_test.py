#!/usr/bin/env python3
"""Voters that move to other machines and addresses, lists that differ, a guard that is introduced
and taken back, a voter that is shut out: what OPERATIONS, the runbook and the doctor advise.

usage: advice_voters_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import shutil

from advice_case import LONG_S, STATE_UNUSABLE, AdviceCase
from forged_frames import Impostor, voters_hash
from harness import CALM, free_ports, wait_until
from system_case import main

FAR_FUTURE = 2**60
OTHERS_GUIDE = "name the same [voters] everywhere; see More or fewer voters in the operations guide"


class Machines(AdviceCase):
    """Another machine for a voter."""

    def move(self, group, voter):
        """Steps 1 and 2, but for the state folder, which is as it is."""
        self.assertEqual(voter.stop(), 0)
        voter.peer_port, = free_ports(1)
        voter.write_config(group.config_of(voter))

    def change_the_others(self, group, voter):
        """Step 4."""
        for other in [each for each in group.sidecars if each is not voter]:
            self.reload(other, group.config_of(other))
            self.assertIn("voters", other.get("/v1/status")["config"]["pending_restart"])
            self.await_advice(other, "sidecar", "new values wait for a restart: .*voters",
                              "see Change the group in the operations guide")
            self.restart(group, other)
            self.assertEqual(other.get("/v1/status")["config"]["pending_restart"], [])
        self.await_whole(group)

    def test_its_name_goes_to_another_address(self):
        """With an empty folder, and with the old one, which is moved."""
        with self.voters() as anew, self.voters() as moved:
            for group in (anew, moved):
                self.move(group, group.sidecars[0])
            shutil.rmtree(anew.sidecars[0].state_folder)
            for group in (anew, moved):
                voter = group.sidecars[0]
                voter.start()
                wait_until("it follows", lambda each=voter: each.leader() == "n2")
            self.assertEqual(anew.sidecars[0].vote(), "forgotten")
            for group in (moved, anew):
                # The others have the old address, and it connects to them.
                self.await_whole(group, group.sidecars[2])
                self.assertRegex(self.commanded(group.sidecars[0], "status"), "vote +in force")
                self.change_the_others(group, group.sidecars[0])

    def test_with_certificates_for_hosts_the_others_are_told_first(self):
        with self.certified_hosts() as group:
            group.start("--bootstrap").await_leader(group.sidecars[2])
            self.await_whole(group)
            voter, *others = group.sidecars
            self.assertEqual(voter.stop(), 0)
            voter.address = "127.0.0.9"
            self.issue(voter)
            voter.write_config(group.config_of(voter))
            voter.start()
            for other in others:
                other.await_log("refused a peer reason=tls_wrong_name.*127.0.0.9")
            voter.stop()
            for other in others:
                other.write_config(group.config_of(other))
                self.restart(group, other)
            voter.start()
            self.await_whole(group)
            self.await_security(group, "tls")

    def test_a_certificate_that_names_the_old_host_too_needs_none_of_that(self):
        with self.certified_hosts() as group:
            group.start("--bootstrap").await_leader(group.sidecars[2])
            voter, old = group.sidecars[0], group.sidecars[0].address
            self.assertEqual(voter.stop(), 0)
            voter.address = "127.0.0.9"
            self.issue(voter, names=[f"IP:{old}"])
            voter.write_config(group.config_of(voter))
            voter.start()
            self.await_whole(group, group.sidecars[2])


class Lists(AdviceCase):
    """More or fewer voters; ConfigMismatch; `voters` of the doctor."""

    def test_one_with_another_list_or_none_gets_that_of_all(self):
        with self.voters() as none, self.voters() as another:
            for group, guard in ((none, "none"), (another, "majority")):
                odd, other, leader = group.sidecars
                self.assertEqual(odd.stop(), 0)
                shutil.rmtree(odd.state_folder)
                if group is none:
                    group.voters = 0
                    odd.write_config(group.config_of(odd))
                    group.voters = 3
                else:
                    self.edit(odd, (f"{leader.name} = ", "n9 = "))
                odd.start()
                self.await_advice(odd, "voters", "n1 and n2: other .voters. than the configuration "
                                  f"here .guard {guard}.", OTHERS_GUIDE)
                wait_until("it is named", lambda each=other: "mismatch" in self.commanded(
                    each, "status"))
                self.await_metric(other, "bellwether_config_mismatch", 1)
                self.assertFalse(odd.is_leader())
                odd.stop()
                odd.write_config(group.config_of(odd))
                shutil.rmtree(odd.state_folder)
                odd.start()
            for group in (none, another):
                self.await_whole(group)
                self.await_health(group.sidecars[0], "voters")
                wait_until("the mismatch is over", lambda each=group.sidecars[1]: each.metrics()[
                    "bellwether_config_mismatch"] == 0, LONG_S)

    def test_voters_are_introduced_and_taken_out_again(self):
        with self.led() as group:
            for voters in (3, 0):
                group.voters = voters
                epoch = group.await_leader().epoch()
                for sidecar in group.sidecars:
                    self.reload(sidecar, group.config_of(sidecar))
                    self.assertIn("voters", self.commanded(sidecar, "status"))
                for sidecar in group.sidecars:
                    self.assertEqual(sidecar.stop(), 0)
                for sidecar in group.sidecars if voters else []:
                    self.refused_start(sidecar, STATE_UNUSABLE, "was written when this process had "
                                       "no vote; .* once no sidecar with that configuration runs "
                                       "any more, start each voter once with --forget-promises")
                for sidecar in group.sidecars:
                    sidecar.start(*(["--forget-promises"] if voters else []))
                self.await_whole(group)
                self.assertGreater(group.await_leader().epoch(), epoch)


class Places(AdviceCase):
    """[voters] gives a voter the address of another; `own address` of the doctor."""

    def test_two_that_were_swapped_are_put_right(self):
        with self.group(3, extra=CALM, voters=3) as group:
            _, one, other = group.sidecars
            for sidecar in group.sidecars:
                sidecar.write_config(group.config_of(sidecar, peers=[]))
            for sidecar, place in ((one, other.peer_port), (other, one.peer_port)):
                self.edit(sidecar, (f'listen = "127.0.0.1:{sidecar.peer_port}"',
                                    f'listen = "127.0.0.1:{place}"'))
            group.start("--bootstrap")
            for sidecar, missed in ((one, other), (other, one)):
                sidecar.await_log(f"by .voters. this is the address of {missed.name}, but this "
                                  "process itself has answered there")
                self.await_advice(sidecar, "own address", f"answers {missed.name}",
                                  "correct [voters] on all nodes")
                self.assertFalse(sidecar.is_ready())
                self.assertEqual(sidecar.vote(), "forgotten")
            for sidecar in (one, other):
                self.assertEqual(sidecar.stop(), 0)
                sidecar.write_config(group.config_of(sidecar))
            for sidecar in (one, other):
                sidecar.start()
            self.await_whole(group, other)


class ShutOut(AdviceCase):
    def test_strangers_are_ended_and_the_other_voters_started(self):
        """VoterWithoutVote, `shut_out`: are those peers in the right group?"""
        with self.voters() as group, contextlib.ExitStack() as stack:
            lone, *others = group.sidecars
            for sidecar in others:
                sidecar.kill()
            voters = voters_hash(sidecar.name for sidecar in group.sidecars)
            impostors = [Impostor(sidecar.name) for sidecar in others]

            def is_shut_out():
                for impostor in impostors:
                    stack.enter_context(impostor.connect(lone, voters=voters, epoch=FAR_FUTURE))
                return lone.vote() == "shut out"
            wait_until("it is shut out", is_shut_out)
            self.assertIn("shut out", self.commanded(lone, "status"))
            self.await_metric(lone, 'bellwether_vote{state="shut_out"}', 1)
            self.await_told(lone, "epoch")
            self.await_advice(lone, "sidecar", "epoch", "look whether those peers belong to this "
                              "group, and start its other voters; it comes nearer by itself")
            stack.close()
            for sidecar in others:
                sidecar.start()
            self.await_whole(group)
            self.await_metric(lone, 'bellwether_vote{state="shut_out"}', 0)
            self.await_health(lone, "sidecar")


if __name__ == "__main__":
    main()
