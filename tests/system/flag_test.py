#!/usr/bin/env python3
"""The flag's file: somebody removes it, replaces it, or has made its folder first.

usage: flag_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import os
import pathlib
import sys

from folders import delete
from harness import wait_until
from system_case import CALM, SystemCase, main

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples/apps/python"))
import leader_flag  # pylint: disable=wrong-import-position

STATE_UNUSABLE = 7
STRANGER, SIDECAR = 4444, 5555
IN_PLACE, LOSSES = "bellwether_flag_in_place", "bellwether_flag_losses_total"


def flag_of(sidecar):
    return leader_flag.LeaderFlag(sidecar.flag_file)


class File(SystemCase):
    def test_a_restart_after_the_file_was_removed(self):
        """As systemd's RemoveIPC=, logind's, or a tidy administrator does it."""
        with self.group(1, extra=CALM) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            flag = flag_of(sidecar)
            first = flag.token()
            sidecar.stop()
            sidecar.flag_file.unlink()
            group.start().await_leader(sidecar)
            wait_until("its reader has found it", lambda: (flag.token() or 0) > first)

    def test_a_file_that_is_removed_while_it_runs_is_made_again(self):
        with self.group(1, extra=CALM) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            flag = flag_of(sidecar)
            for remove in (sidecar.flag_file.unlink, lambda: delete(sidecar.flag_file.parent)):
                token, known = flag.token(), sidecar.metrics()[LOSSES]
                losses = known + (remove() or 1)
                wait_until("it is there again", sidecar.flag_file.exists)
                wait_until("who starts now finds it", lambda: flag_of(sidecar).token() is not None)
                wait_until("who runs finds it", lambda: flag.token() is not None)
                self.assertEqual(flag.token(), token)
                wait_until("it is counted", lambda: sidecar.metrics()[LOSSES] == losses)
                self.assertEqual(sidecar.metrics()[IN_PLACE], 1)
                self.assertTrue(sidecar.is_ready())
            sidecar.await_log("error .*the flag's file was removed.*within a second")
            sidecar.await_log("error .*the flag's file was removed.*in a new folder; restart")

    def test_rights_that_are_taken_away_while_it_runs(self):
        with self.group(1, extra=CALM) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            sidecar.flag_file.chmod(0o600)
            wait_until("it has its mode", lambda: sidecar.flag_file.stat().st_mode & 0o777 == 0o640)
            sidecar.await_log("error .*the flag's file had its mode changed to 0600")
            self.assertTrue(sidecar.is_ready())
            for mode, why in ((0o777, "can be written by others"), (0o700, "was closed to others")):
                sidecar.flag_file.parent.chmod(mode)
                wait_until("it is not ready", lambda: not sidecar.is_ready())
                self.assertIn(why, sidecar.request("GET", "/readyz")[2])
                self.assertEqual(sidecar.metrics()[IN_PLACE], 0)
                sidecar.flag_file.parent.chmod(0o755)
                wait_until("it is ready", sidecar.is_ready)

    def test_a_file_that_another_one_replaces_is_told(self):
        with self.group(1, extra=CALM) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            flag = flag_of(sidecar)
            token = flag.token()
            precious = group.folder / "precious"
            precious.write_text("precious")
            precious.replace(sidecar.flag_file)
            wait_until("it is not ready", lambda: not sidecar.is_ready())
            status, _, text = sidecar.request("GET", "/readyz")
            self.assertEqual(status, 503)
            self.assertIn("applications do not find the flag", text)
            self.assertEqual(sidecar.metrics()[IN_PLACE], 0)
            sidecar.await_log("error .*the flag's file was replaced by another file")
            self.assertEqual(flag.token(), token, "who has it mapped still reads it")
            self.assertEqual(sidecar.flag_file.read_text(), "precious")
            diagnosis = self.run_program("doctor", "--config", sidecar.config_file).stdout
            self.assertRegex(diagnosis, r"problem +flag +")
            sidecar.flag_file.unlink()
            wait_until("it is ready", sidecar.is_ready)
            self.assertIsNotNone(flag_of(sidecar).token())

    def test_the_doctor_misses_the_file_of_a_sidecar_that_runs(self):
        with self.group(1, extra=CALM) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            elsewhere = group.folder / "other.toml"
            text = sidecar.config_file.read_text()
            elsewhere.write_text(text.replace(f'"{sidecar.flag_file}"',
                                              f'"{sidecar.flag_file}-elsewhere"'))
            diagnosis = self.run_program("doctor", "--config", elsewhere).stdout
            self.assertRegex(diagnosis, r"problem +flag +\S+-elsewhere does not exist")


class Folder(SystemCase):
    def setUp(self):
        self.require_other_user(SIDECAR)

    def settings_for(self, group, sidecar):
        """All that the sidecar's user needs is his, but for the folder of the flag."""
        group.folder.chmod(0o1777)
        for folder in (sidecar.state_folder,):
            folder.mkdir()
            os.chown(folder, SIDECAR, SIDECAR)
        sidecar.flag_file = group.folder / "shared" / "flag"
        sidecar.flag_file.parent.mkdir()
        sidecar.prefix = ["setpriv", f"--reuid={SIDECAR}", f"--regid={SIDECAR}", "--clear-groups"]
        sidecar.write_config(group.config_of(sidecar))

    def run_refused(self, sidecar, words):
        sidecar.start()
        sidecar.is_wanted = False
        self.assertEqual(sidecar.await_exit(), STATE_UNUSABLE, sidecar.log())
        self.assertIn(words, sidecar.log())
        self.assertFalse(sidecar.flag_file.exists())

    def test_one_that_a_stranger_has_made_first_is_refused(self):
        with self.group(1, extra=CALM) as group:
            sidecar, = group.sidecars
            self.settings_for(group, sidecar)
            os.chown(sidecar.flag_file.parent, STRANGER, STRANGER)
            sidecar.flag_file.parent.chmod(0o777)
            self.run_refused(sidecar, "belongs to user 4444")

    def test_one_that_all_can_write_is_taken_when_it_is_said_to_be_shared(self):
        """A pod's emptyDir is root's, and all containers that have it mounted can write into it."""
        with self.group(1, extra=CALM) as group:
            sidecar, = group.sidecars
            self.settings_for(group, sidecar)
            sidecar.flag_file.parent.chmod(0o2777)
            self.run_refused(sidecar, "can be written by others")
            sidecar.write_config(group.config_of(sidecar).replace(
                "[flag]", '[flag]\nshared_folder = "on"'))
            sidecar.start()
            sidecar.prefix = []  # its API is on this host
            group.await_leader(sidecar)
            self.assertGreater(sidecar.metrics()["process_open_fds"], 0)  # it may look at itself
            # In such a folder a file's owner says nothing but to those who know whose it must be.
            with self.assertRaises(leader_flag.NotTrusted):
                leader_flag.LeaderFlag(sidecar.flag_file)
            named = leader_flag.LeaderFlag(sidecar.flag_file, owner=SIDECAR)
            self.assertIsNotNone(named.token())


if __name__ == "__main__":
    main()
