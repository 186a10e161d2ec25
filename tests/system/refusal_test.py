#!/usr/bin/env python3
"""Starts that fail: each with its exit code, and a text that names the file, key or address.

usage: refusal_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import os
import pathlib
import shutil
import socket
import unittest

from harness import wait_until
from mounts import TmpFs
from system_case import CALM, IS_SANITIZED, SystemCase, main

FAILED, CONFIG_INVALID, PLUGIN_REFUSED, ADDRESS_UNUSABLE, STATE_UNUSABLE = 1, 3, 5, 6, 7
STATE_UNAVAILABLE = 9  # for now: what starts it shall try again


class Refusal(SystemCase):
    def refused(self, code, sidecar, *words, environment=None):
        """Starts it, waits for its end, and demands this code and a text with these words."""
        known = len(sidecar.log())
        sidecar.start(environment=environment)
        self.assertEqual(sidecar.await_exit(), code, sidecar.log())
        sidecar.is_wanted = False
        said = sidecar.log()[known:]
        for word in words:
            self.assertIn(str(word), said)

    def replace(self, sidecar, old, new):
        text = sidecar.config_file.read_text()
        self.assertIn(old, text)
        sidecar.write_config(text.replace(old, new))

    def test_a_wrong_configuration(self):
        with self.group(1) as group:
            sidecar, = group.sidecars
            self.replace(sidecar, "priority = 100", "priority = -1")
            self.refused(CONFIG_INVALID, sidecar, f"{sidecar.config_file}:6:", "node.priority")
            sidecar.write_config("[group\n")
            self.refused(CONFIG_INVALID, sidecar, f"{sidecar.config_file}:1:")

    def test_a_plugin_that_is_not_there(self):
        with self.group(1, extra='plugin = "nobody"\n') as group:
            self.refused(PLUGIN_REFUSED, group.sidecars[0], "bellwether-nobody.so")

    @unittest.skipIf(IS_SANITIZED, "a sanitizer wants to be loaded before all else")
    def test_a_plugin_that_cannot_be_opened_for_now(self):
        """Of a host that has too many open files just now; what starts it shall try again."""
        plugin = pathlib.Path(self.program).parents[1] / "lib/bellwether/bellwether-bully.so"
        with self.group(1, extra=f'plugin = "{plugin}"\n') as group:
            self.refused(FAILED, group.sidecars[0], plugin, "Too many open files in system",
                         environment={"LD_PRELOAD": os.environ["BELLWETHER_TEST_FAULTY_CALLS"],
                                      "UNOPENED_FILE": str(plugin)})

    def test_ports_in_use(self):
        with self.group(1) as group:
            sidecar, = group.sidecars
            for key, port in (("node", sidecar.peer_port), ("api", sidecar.api_port),
                              ("metrics", sidecar.metrics_port)):
                with self.subTest(key), socket.create_server(("127.0.0.1", port)):
                    self.refused(
                        ADDRESS_UNUSABLE, sidecar,
                        f"{sidecar.config_file}: {key}.listen: cannot listen on 127.0.0.1:{port}: "
                        "Address already in use; stop the process that listens there, or give "
                        "another address\n")
            sidecar.start()
            group.await_leader(sidecar)

    def test_an_address_that_is_not_of_this_host(self):
        with self.group(1) as group:
            sidecar, = group.sidecars
            place = f"127.0.0.1:{sidecar.metrics_port}"
            self.replace(sidecar, f'listen = "{place}"', 'listen = "192.0.2.1:9464"')
            self.refused(ADDRESS_UNUSABLE, sidecar,
                         "metrics.listen: cannot listen on 192.0.2.1:9464: ",
                         "; give an address of this host\n")

    def test_the_state_of_another_group(self):
        with self.group(1) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            self.assertEqual(sidecar.stop(), 0)
            self.replace(sidecar, 'name = "test"', 'name = "other"')
            self.refused(STATE_UNUSABLE, sidecar, sidecar.state_folder, "test", "other")

    def test_a_state_that_is_lost_is_no_reason(self):
        with self.group(1) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            identity = sidecar.get("/v1/status")["node"]["id"]
            sidecar.kill()
            state = sidecar.state_folder / "state"
            state.write_bytes(bytes(state.stat().st_size))
            sidecar.start()
            group.await_leader(sidecar)
            sidecar.await_log("warn .*damaged in both of its slots; starting without it, under a "
                              "new id")
            # It is whole again.
            known = sidecar.get("/v1/status")["node"]["id"]
            self.assertNotEqual(known, identity)
            self.assertEqual(sidecar.stop(), 0)
            sidecar.start()
            group.await_leader(sidecar)
            self.assertEqual(sidecar.get("/v1/status")["node"]["id"], known)

    def test_a_state_folder_that_cannot_be_written(self):
        with self.group(1) as group:
            sidecar, = group.sidecars
            sidecar.state_folder.mkdir()
            with TmpFs(sidecar.state_folder, "ro"):
                self.refused(STATE_UNAVAILABLE, sidecar, sidecar.state_folder, "Read-only")

    def test_disks_that_are_full(self):
        """At the first start; with room all is well."""
        with self.group(1) as group:
            sidecar, = group.sidecars
            sidecar.state_folder.mkdir()
            for folder, size in ((sidecar.state_folder, "64k"), (sidecar.flag_file.parent, "4k")):
                with self.subTest(folder=folder), TmpFs(folder, f"size={size},mode=755") as disk:
                    disk.fill()
                    self.refused(STATE_UNAVAILABLE, sidecar, folder, "No space left")
                    disk.make_room()
                    sidecar.start()
                    group.await_leader(sidecar)
                    self.assertEqual(sidecar.stop(), 0)

    def test_a_state_folder_that_is_used(self):
        with self.group(2) as group:
            first, second = group.sidecars
            first.start()
            self.replace(second, str(second.state_folder), str(first.state_folder))
            wait_until("the first leads", first.is_leader)
            self.refused(STATE_UNAVAILABLE, second, first.state_folder / "lock")
            wait_until("the first still leads", first.is_leader)

    def test_a_flag_that_cannot_be_made(self):
        with self.group(1) as group:
            sidecar, = group.sidecars
            sidecar.flag_file.mkdir()
            self.refused(STATE_UNUSABLE, sidecar, sidecar.flag_file, "flag.path")
            sidecar.flag_file.rmdir()
            sidecar.flag_file.symlink_to(group.folder / "elsewhere")
            self.refused(STATE_UNUSABLE, sidecar, sidecar.flag_file)
            self.assertFalse(os.path.lexists(group.folder / "elsewhere"))

    def test_a_flag_that_is_used(self):
        with self.group(2) as group:
            first, second = group.sidecars
            first.start()
            self.replace(second, str(second.flag_file), str(first.flag_file))
            wait_until("the first leads", first.is_leader)
            self.refused(STATE_UNAVAILABLE, second, first.flag_file)
            wait_until("the first still leads", first.is_leader)


class Impostors(SystemCase):
    """Whoever comes with another member's identity or name."""

    def turned_away(self, group, newcomer, reason):
        """It is counted on both sides and said in the log; the group does not notice."""
        leader = group.sidecars[-2]
        before = leader.get("/v1/leader")
        newcomer.start()
        wait_until("the group has refused it", lambda: leader.count(
            "bellwether_rejected_frames_total", reason=reason))
        wait_until("it knows", lambda: newcomer.get("/v1/status") and newcomer.count(
            "bellwether_rejected_frames_total", reason="turned_away"))
        newcomer.await_log(r"(warn|error) .*turned")
        for sidecar in group.sidecars[:-1]:
            self.assertEqual(len(sidecar.members()), 3)
            self.assertTrue(all(member["state"] == "alive"
                                for member in sidecar.members().values()))
        self.assertEqual(leader.get("/v1/leader"), before)

    def test_a_copy_of_a_state_folder(self):
        with self.group(extra=CALM) as group:
            group.await_leader(group.start().sidecars[-1])
            original = group.sidecars[0]
            newcomer = group.add()
            newcomer.write_config(group.config_of(newcomer))
            wait_until("it is whole", (original.state_folder / "members").exists)
            shutil.copytree(original.state_folder, newcomer.state_folder,
                            ignore=shutil.ignore_patterns("*.new"))
            self.turned_away(group, newcomer, "duplicate_id")

    def test_a_name_that_is_taken(self):
        with self.group(extra=CALM) as group:
            group.await_leader(group.start().sidecars[-1])
            newcomer = group.add()
            text = group.config_of(newcomer)
            newcomer.write_config(text.replace('name = "n3"', 'name = "n0"'))
            self.turned_away(group, newcomer, "duplicate_name")


if __name__ == "__main__":
    main()
