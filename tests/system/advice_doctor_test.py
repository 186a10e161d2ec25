#!/usr/bin/env python3
"""What the doctor advises about who leads, who is linked, what its own user may do, and a host that
gives too little.

usage: advice_doctor_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import json
import os
import pathlib
import socket
import subprocess
import tempfile
import unittest

from advice_case import LONG_S, AdviceCase
from cgroups import Quota
from harness import wait_until
from mounts import TmpFs
from namespaces import Hosts, can_make_namespaces
from system_case import CALM, PATIENT, main

AGAIN = "run the doctor again in a few seconds; if it stays so, "
AS_ITS_USER = "run the doctor as the sidecar's user; if that is this one, "
SYSTEM_USER, PERSON = 987, 5555


class DoctorCase(AdviceCase):
    def seen_by(self, sidecar, check, prefix=(), **options):
        """As findings(), of a doctor that runs elsewhere, or as somebody else."""
        result = subprocess.run(
            [*prefix, self.program, "doctor", "--json", "--config", sidecar.config_file],
            text=True, check=False, capture_output=True, **options)
        return [(each["verdict"], each["seen"], each["remedy"])
                for each in json.loads(result.stdout)["checks"] if each["check"] == check]

    def require_hosts(self):
        if not can_make_namespaces():
            self.skipTest("cannot make network namespaces")


class Leader(DoctorCase):
    """`leader`: run the doctor again in a few seconds."""

    def test_a_group_that_is_cut_in_two_is_seen_again(self):
        """By a doctor that reaches both sides; from one of them `reach` names the other."""
        self.require_hosts()
        with Hosts(4) as hosts, self.led(extra="", hosts=hosts) as group:
            low, middle, leader = group.sidecars

            def seen():
                return self.seen_by(low, "leader", hosts.command_prefix(3))
            hosts.partition([0, 1], [2])
            wait_until("both sides lead", lambda: leader.is_leader() and middle.is_leader())
            for _ in range(2):
                wait_until("several are followed", lambda: any(
                    "several leaders are followed: " in what and advice == f"{AGAIN}the group is "
                    "cut in two: see reach and both ways" for _, what, advice in seen()))
            self.await_advice(low, "reach", "n2", "let TCP through to it")
            hosts.heal()
            self.await_whole(group, leader)
            wait_until("one is", lambda: [verdict for verdict, _, _ in seen()] == ["ok"])
            self.await_health(low, "reach")

    def test_whether_each_node_has_its_vote(self):
        with self.group(3, extra=CALM, voters=3) as group:
            first, *others = group.sidecars
            first.start()
            for _ in range(2):
                self.await_advice(first, "leader", "nobody follows a leader", f"{AGAIN}see "
                                  "`bellwether status` and, with [voters], whether each node has "
                                  "its vote")
            self.assertIn("vote forgotten", " ".join(self.commanded(first, "status").split()))
            for sidecar in others:
                sidecar.start()
            self.await_whole(group)
            self.await_health(first, "leader")


class Members(DoctorCase):
    """`both ways`, `names`, `reach`."""

    def test_both_logs_say_who_was_turned_away(self):
        with self.led() as group:
            odd, other, leader = group.sidecars
            self.assertEqual(odd.stop(), 0)
            good = self.edit(odd, ('name = "n0"', 'name = "n1"'))
            odd.start()
            self.await_advice(odd, "both ways", "answers the doctor, but the sidecar here is not "
                              "linked to it", 'look into both logs ("turned away"); a sidecar that '
                              "has just started needs a moment")
            odd.await_log("turned this process away: its name is in use")
            other.await_log("reason=duplicate_name")
            odd.kill()
            odd.write_config(good)
            odd.start()
            self.await_whole(group, leader)
            self.await_health(odd, "both ways")

    def test_an_address_is_taken_out_or_gets_its_sidecar(self):
        with self.led(size=4) as group:
            odd, *_, late = group.sidecars
            self.await_advice(odd, "reach", f":{late.peer_port}", "if it is gone for good, take it "
                              "out of membership.peers")
            self.reload(odd, group.config_of(odd, peers=group.sidecars[:3]))
            self.await_health(odd, "reach")
            self.reload(odd, group.config_of(odd))
            with socket.create_server(("127.0.0.1", late.peer_port)):
                self.await_advice(odd, "names", f"the sidecar knows no member at .*:"
                                  f"{late.peer_port}", "see reach for what is there; one that is "
                                  "only starting needs a moment, and one that is gone for good can "
                                  "be taken out of membership.peers")
                self.await_advice(odd, "reach", f":{late.peer_port}", "")
                self.reload(odd, group.config_of(odd, peers=group.sidecars[:3]))
                self.await_health(odd, "names")
            self.reload(odd, group.config_of(odd))
            late.start()
            group.await_leader(late)
            self.await_health(odd, "names")
            self.await_health(odd, "reach")

    def test_members_on_other_hosts_get_tls(self):
        """`tls`: see TLS between members in the operations guide."""
        self.require_hosts()
        with Hosts(3) as hosts, self.group(3, extra=PATIENT, tls=lambda _: "",
                                           hosts=hosts) as group:
            group.start()
            with self.unmoved(group) as leader:
                self.await_advice(leader, "tls", r"\[tls\] is off: members do not prove who they "
                                  "are", "see TLS between members in the operations guide")
                secret = self.secret("0" * 64)
                for mode in ("permissive", "strict"):
                    self.set_mode(group, mode, secret)
                    self.await_security(group, "psk")
                self.await_health(leader, "tls")


@unittest.skipIf(os.geteuid() != 0, "only root can be several users")
class Users(DoctorCase):
    """`state` and `flag`: the doctor runs as somebody else, or the files are somebody else's."""

    def run_as(self, group, sidecar, user, below=None):
        """Starts it, with a folder of its own for the flag."""
        own = (below or group.folder) / f"of{user}"
        own.mkdir()
        sidecar.flag_file = own / "flag"
        sidecar.write_config(group.config_of(sidecar))
        subprocess.run(["chown", "-R", f"{user}:{user}", sidecar.state_folder, own], check=True)
        sidecar.prefix = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        sidecar.start()

    def assert_content(self, sidecar, check, user):
        found = self.seen_by(sidecar, check, user=user, group=user, extra_groups=[], cwd="/")
        self.assertEqual([each for each in found if each[0] != "ok"], [])

    def test_the_doctor_has_the_sidecars_user_or_that_gets_the_files(self):
        self.require_other_user(SYSTEM_USER)
        with self.led() as group:
            odd, _, leader = group.sidecars
            self.assertEqual(odd.stop(), 0)
            group.folder.chmod(0o1777)

            def assert_advised(check, seen, advice):
                found = self.seen_by(odd, check, user=SYSTEM_USER, extra_groups=[], cwd="/")
                self.assertTrue(any(seen in what and remedy == AS_ITS_USER + advice
                                    for _, what, remedy in found), found)
            assert_advised("state", "cannot be written by this user; it belongs to user 0",
                           "give it the folder")
            assert_advised("flag", f"belongs to user 0, this process to user {SYSTEM_USER}",
                           "set flag.path to another file")
            odd.flag_file.unlink()
            assert_advised("flag", "it cannot be made: ",
                           "set flag.path to a file in a folder that it may write")
            for check in ("state", "flag"):  # by its user
                self.await_health(odd, check)
            self.run_as(group, odd, SYSTEM_USER)
            self.await_whole(group, leader)
            for check in ("state", "flag"):
                self.assert_content(odd, check, SYSTEM_USER)

    def test_a_flag_that_a_logout_takes_away_gets_another_place_or_user(self):
        self.require_other_user(PERSON)
        if not os.path.isdir("/run/systemd/users"):
            self.skipTest("there is no sign of systemd-logind")
        with self.led() as group:
            odd, _, leader = group.sidecars
            group.folder.chmod(0o1777)
            self.assertEqual(odd.stop(), 0)
            self.run_as(group, odd, PERSON)
            self.await_whole(group, leader)
            self.await_advice(odd, "flag", f"at the last logout of user {PERSON}, systemd-logind "
                              f"removes {odd.flag_file}", "set flag.path to a file below /run; or "
                              "RemoveIPC=no in /etc/systemd/logind.conf")
            self.assertEqual(odd.stop(), 0)
            below_run = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(dir="/run")))
            with TmpFs(below_run, "size=64k,mode=755"):
                below_run.chmod(0o755)
                self.run_as(group, odd, PERSON, below_run)
                self.await_whole(group, leader)
                self.assert_content(odd, "flag", PERSON)
                self.assertEqual(odd.stop(), 0)
            self.run_as(group, odd, SYSTEM_USER)
            self.await_whole(group, leader)
            self.assert_content(odd, "flag", SYSTEM_USER)


class Room(DoctorCase):
    """Too little of what the host gives."""

    def test_the_disk_of_a_voter_gets_room(self):
        """`sidecar`: make room on the disk of node.state_dir."""
        with self.group(3, extra=CALM, voters=3) as group:
            odd, _, leader = group.sidecars
            odd.state_folder.mkdir(mode=0o700)
            with TmpFs(odd.state_folder, "size=256k,mode=700") as disk:
                group.start("--bootstrap").await_leader(leader)
                self.await_whole(group, leader)
                (odd.state_folder / "state").unlink()  # what is there has its room
                disk.fill()
                self.commanded(leader, "step-down", "--hold", "1s")  # which takes another vote
                self.await_advice(odd, "sidecar", "vote", "make room on the disk of "
                                  "node.state_dir, or repair it; the write is repeated, and gives "
                                  "the vote back without a restart.  Of a folder that is gone do "
                                  "what is said of it")
                disk.make_room()
                self.await_whole(group)
                self.await_health(odd, "sidecar")
                odd.stop()

    def test_a_sidecar_that_is_throttled_gets_more_of_the_processor(self):
        with self.led(extra=CALM) as group:
            odd = group.sidecars[0]
            quota = Quota(odd.process.pid, 1000, 20_000)
            try:
                def is_told():
                    odd.request("GET", "/metrics", timeout_s=LONG_S)
                    return any(seen.startswith("throttled in ") and remedy == "leave limits.cpu "
                               "out, or raise it: a sidecar that stands still looks dead"
                               for _, seen, remedy in self.findings(odd, "processor"))
                wait_until("the doctor says so", is_told)
            finally:
                quota.lift()
            self.await_health(odd, "processor")
            self.await_whole(group, group.sidecars[2])


if __name__ == "__main__":
    main()
