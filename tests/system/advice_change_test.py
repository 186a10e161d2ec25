#!/usr/bin/env python3
"""Profiles, variants, plugins, releases and members that change while the group runs: what
OPERATIONS and the doctor advise about those that differ meanwhile.

usage: advice_change_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import os
import pathlib
import shutil
import subprocess
import unittest

from advice_case import AdviceCase
from harness import wait_until
from system_case import CALM, IS_SANITIZED, main


class Change(AdviceCase):
    """Change the configuration; Upgrade."""

    def test_longer_timers_by_way_of_the_profile_in_between(self):
        """What waits for a restart: one after the other, as for an upgrade."""
        with self.voters(extra='profile = "lan"\n') as group:
            for profile in ("default", "wan"):
                group.extra = f'[election]\nprofile = "{profile}"\n'
                for sidecar in group.sidecars:
                    self.reload(sidecar, group.config_of(sidecar))
                    self.assertIn("pending", self.commanded(sidecar, "status"))
                    self.await_advice(sidecar, "sidecar", "new values wait for a restart: .*lease|"
                                      "new values wait for a restart: election.profile",
                                      "restart this sidecar when the group can spare it")
                for sidecar in group.sidecars:
                    self.restart(group, sidecar)
                    self.assertNotIn("pending", self.commanded(sidecar, "status"))
                self.await_whole(group)
                for sidecar in group.sidecars:
                    self.await_health(sidecar, "sidecar")

    def test_a_variant_is_set_alike_everywhere(self):
        with self.led(extra=f'variant = "classic"\n{CALM}') as group:
            wanted = f'[election]\nvariant = "modified"\n{CALM}'
            leader = group.sidecars[2]
            for sidecar in group.sidecars[:2]:
                self.reload(sidecar, group.config_of(sidecar, extra=wanted))
            wait_until("it is named", lambda: "n1 wants the variant modified" in " ".join(
                self.commanded(leader, "status").split()))
            self.await_metric(leader, "bellwether_config_mismatch", 1)
            self.await_advice(leader, "variants", "classic: n2; modified: n0 and n1",
                              "set election.variant alike everywhere; the old one stays in force")
            self.reload(leader, group.config_of(leader, extra=wanted))
            self.await_metric(leader, "bellwether_config_mismatch", 0)
            self.assertRegex(self.commanded(leader, "status"),
                             r"variant +classic \(modified is wanted\)")
            self.commanded(leader, "elect")
            wait_until("it elects by the new one", lambda: leader.get("/v1/status")[
                "active_variant"] == "modified")
            self.await_health(leader, "variants")
            self.await_whole(group, leader)

    @unittest.skipIf(IS_SANITIZED, "its plugin is not built with the sanitizer")
    def test_a_plugin_is_set_alike_everywhere(self):
        plugin = os.environ["BELLWETHER_TEST_JOTTING_PLUGIN"]
        with self.led() as group:
            odd, other, _ = group.sidecars
            good = odd.config_file.read_text()
            self.edit(odd, ("[election]", f'[election]\nplugin = "{plugin}"'))
            self.reload(odd, odd.config_file.read_text())
            self.assertEqual(odd.stop(), 0)
            odd.start()
            self.await_advice(other, "plugins", "bully: n1 and n2; .*: n0|.*: n0; bully: n1 and n2",
                              "set election.plugin alike everywhere, and restart")
            odd.write_config(good)
            self.restart(group, odd)
            self.await_health(other, "plugins")
            self.await_whole(group, group.sidecars[2])

    def another_release(self, group):
        """The same program, which says that it is another one."""
        home = group.folder / "other"
        (home / "bin").mkdir(parents=True)
        (home / "lib").symlink_to(pathlib.Path(self.program).resolve().parents[1] / "lib")
        program = home / "bin" / "bellwether"
        code = pathlib.Path(self.program).read_bytes()
        program.write_bytes(code.replace(b"\x000.1.0\x00", b"\x000.1.9\x00"))
        program.chmod(0o755)
        return str(program)

    def test_an_upgrade_is_finished(self):
        with self.voters() as group:
            odd = group.sidecars[0]
            old, new = odd.program, self.another_release(group)
            said = subprocess.run([new, "version"], check=False, capture_output=True, text=True)
            if "0.1.9" not in said.stdout:
                self.skipTest("the program does not keep its version so")
            odd.program = new
            self.restart(group, odd)
            self.await_advice(group.sidecars[1], "versions", "0.1.0: n1 and n2; 0.1.9: n0",
                              "fine during an upgrade; then finish it")
            self.await_advice(odd, "versions", "the sidecar here is 0.1.9, this program is 0.1.0",
                              "restart the sidecar when the group can spare it")
            odd.program = old
            self.restart(group, odd)
            for sidecar in group.sidecars:
                self.await_health(sidecar, "versions")
            self.await_whole(group)


class Members(AdviceCase):
    """Members without a vote."""

    def test_one_joins_that_never_leads_and_leaves(self):
        with self.led(size=4) as group:
            guest = group.sidecars[3]
            group.priorities[3] = 0
            guest.write_config(group.config_of(guest, peers=group.sidecars[:1]))
            guest.start()
            self.await_whole(group, group.sidecars[2])
            for sidecar in group.sidecars[:3]:
                sidecar.kill()
            wait_until("it is alone", lambda: guest.leader() is None)
            for sidecar in group.sidecars[:3]:
                sidecar.start()
            self.await_whole(group, group.sidecars[2])
            self.assertEqual(guest.stop(), 0)
            for sidecar in group.sidecars[:3]:
                sidecar.await_state_of(guest, "left")
            self.await_metric(group.sidecars[0], 'bellwether_members{state="down"}', 0)

    def test_another_process_with_its_name_takes_the_place_of_one_that_died(self):
        """BellwetherMemberDown: a member that comes back under its name, as a new pod."""
        with self.led() as group:
            dead, other, leader = group.sidecars
            dead.kill()
            other.await_state_of(dead, "down")
            self.await_metric(other, 'bellwether_members{state="down"}', 1)
            shutil.rmtree(dead.state_folder)
            dead.start()
            self.await_whole(group, leader)
            self.await_metric(other, 'bellwether_members{state="down"}', 0)


if __name__ == "__main__":
    main()
