#!/usr/bin/env python3
"""The flag's file and its folder, removed, replaced, closed, full or somebody else's; and a kernel
that does not turn the flag off: what the doctor, errors and the runbook advise.

usage: advice_flag_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from advice_case import STATE_UNUSABLE, UNAVAILABLE, AdviceCase
from folders import delete
from harness import wait_until
from mounts import TmpFs
from system_case import IS_SANITIZED, main

IN_PLACE, LOSSES = "bellwether_flag_in_place", "bellwether_flag_losses_total"
REMOVE = "remove it, or set flag.path to another file"
STRANGER, OTHER_USER = 54321, 5555


class FlagCase(AdviceCase):
    def path_goes_to(self, group, sidecar, path):
        """It is set, which waits for a restart."""
        sidecar.write_config(sidecar.config_file.read_text().replace(
            f'path = "{sidecar.flag_file}"', f'path = "{path}"'))
        sidecar.flag_file = pathlib.Path(path)
        if not sidecar.is_running:
            sidecar.start()
        else:
            self.restart(group, sidecar)
        self.await_whole(group, group.sidecars[2])
        self.assertTrue(sidecar.flag_file.exists())


class Running(FlagCase):
    """FlagLost; The flag's file."""

    def test_what_is_in_its_place_is_removed(self):
        def replace(sidecar):
            new = sidecar.flag_file.with_suffix(".new")
            new.write_text("precious")
            new.rename(sidecar.flag_file)

        def put_a_link(sidecar):
            sidecar.flag_file.unlink()
            sidecar.flag_file.symlink_to("/dev/null")

        def put_a_folder(sidecar):
            sidecar.flag_file.unlink()
            sidecar.flag_file.mkdir()

        with self.voters() as group:
            leader = group.sidecars[2]
            for flaw, seen, remedy, told in (
                    (replace, "has 8 bytes, which no leader flag has", REMOVE, REMOVE),
                    (put_a_link, "link", "", "remove it, or set flag.path to the file itself"),
                    (put_a_folder, "folder|regular file", "", "set flag.path to a file in it")):
                with self.subTest(flaw.__name__):
                    flaw(leader)
                    self.await_metric(leader, IN_PLACE, 0)
                    self.await_told(leader, f"applications do not find the flag: .*{told}")
                    self.await_advice(leader, "sidecar", "n2 is not ready: applications do not "
                                      "find the flag", "do what it says; a sidecar that looks for "
                                      "the group needs a moment")
                    self.await_advice(leader, "flag", seen, remedy)
                    subprocess.run(["rm", "-r", leader.flag_file], check=True)
                    self.await_metric(leader, IN_PLACE, 1)
                    self.await_health(leader, "flag")
                    self.await_health(leader, "sidecar")
                    self.await_whole(group, leader)

    def test_its_folder_gets_its_owner_and_mode_back(self):
        with self.voters() as group:
            leader = group.sidecars[2]
            folder = leader.flag_file.parent
            if os.geteuid() != 0:
                self.skipTest("only root can give folders away")
            for spoil, told, seen in (
                    (lambda: folder.chmod(0o777), "give it back its owner and mode",
                     "written by others"),
                    (lambda: os.chown(folder, STRANGER, STRANGER),
                     "give it back its owner and mode", f"user {STRANGER}"),
                    (lambda: folder.chmod(0o700), "open it again .chmod., or restart the sidecar "
                     "if only its own user is to enter", "only its owner can enter the folder")):
                with self.subTest(told):
                    spoil()
                    self.await_told(leader, told)
                    self.await_metric(leader, IN_PLACE, 0)
                    self.await_advice(leader, "flag", seen, "")
                    os.chown(folder, 0, 0)
                    folder.chmod(0o755)
                    self.await_metric(leader, IN_PLACE, 1)
                    self.await_health(leader, "flag")
                    self.await_whole(group, leader)

    def test_a_folder_that_only_its_user_is_to_enter_takes_a_restart(self):
        with self.voters() as group:
            odd = group.sidecars[0]
            for sidecar in group.sidecars:
                sidecar.write_config(group.config_of(sidecar))
            home = group.folder / "home"
            home.mkdir(mode=0o755)
            self.path_goes_to(group, odd, home / "n0")
            home.chmod(0o700)
            self.await_told(odd, "or restart the sidecar if only its own user is to enter")
            self.restart(group, odd)
            self.await_whole(group, group.sidecars[2])
            self.await_advice(odd, "flag", "only its owner can enter the folder",
                              "fine if the application runs as the same user; otherwise open "
                              "folder and flag.mode to its group")
            home.chmod(0o755)
            self.await_health(odd, "flag")

    def test_a_cleaner_is_counted_and_kept_away(self):
        """Made again by itself each time; `rises although the alert is silent`."""
        with self.voters() as group:
            leader = group.sidecars[2]
            for losses in (1, 2):
                leader.flag_file.unlink()
                self.await_metric(leader, LOSSES, losses)
                wait_until("it is there again", leader.flag_file.exists)
            delete(leader.flag_file.parent)
            leader.await_log("in a new folder; restart containers that have the old one mounted")
            self.await_whole(group, leader)
            self.await_health(leader, "flag")

    def test_the_doctor_looks_with_the_sidecars_configuration(self):
        with self.led() as group:
            odd = group.sidecars[0]
            good = self.edit(odd, (str(odd.flag_file), f"{odd.flag_file}-elsewhere"))
            self.await_advice(odd, "flag", "does not exist, but a sidecar answers",
                              "run the doctor with that sidecar's configuration")
            odd.write_config(good)
            self.await_health(odd, "flag")
            self.await_whole(group, group.sidecars[2])


class Start(FlagCase):
    """Exit statuses 7 and 9; their last line."""

    def test_what_is_no_flag_of_this_user_is_removed(self):
        def text(file):
            file.write_text("precious")

        def pipe(file):
            os.mkfifo(file)

        def second_name(file):
            file.write_bytes(bytes(4096))
            os.link(file, f"{file}.second")

        def of_another_release(file):
            file.write_bytes(bytes([0x55]) * 4096)

        def of_another_user(file):
            file.write_bytes(bytes(4096))
            os.chown(file, STRANGER, STRANGER)

        with self.led() as group:
            odd, _, leader = group.sidecars
            for flaw, words in (
                    (text, f"has 8 bytes, which no leader flag has; {REMOVE}"),
                    (pipe, f"is not a regular file; {REMOVE}"),
                    (second_name, f"has 2 names .hard links., not one; {REMOVE}"),
                    (of_another_release, "is not a leader flag, or one of another release; remove "
                     "it and restart the applications that read it"),
                    (of_another_user, f"belongs to user {STRANGER}, .*; {REMOVE}")):
                if flaw is of_another_user and os.geteuid() != 0:
                    continue
                with self.subTest(flaw.__name__):
                    odd.stop()
                    odd.flag_file.unlink(missing_ok=True)
                    flaw(odd.flag_file)
                    self.refused_start(odd, STATE_UNUSABLE, words)
                    if flaw is not of_another_release:  # of which the doctor sees the size alone
                        self.await_advice(odd, "flag", "", "set flag.path to another file")
                    odd.flag_file.unlink()
                    odd.start()
                    self.await_whole(group, leader)
                    self.await_health(odd, "flag")

    def test_its_path_is_set_to_another_place(self):
        with self.led() as group:
            odd, other, _ = group.sidecars
            folder = group.folder
            (folder / "open").mkdir()
            (folder / "open").chmod(0o777)
            (folder / "link").symlink_to(folder / "flags")
            for path, code, words, goes_to in (
                    (other.flag_file, UNAVAILABLE, "is in use by another process .*; stop that "
                     "sidecar, or give each of the two a flag.path of its own", "flags/own"),
                    (folder / "open" / "n0", STATE_UNUSABLE, "set flag.path to a file in a folder "
                     "of the sidecar's user, or of root, that others cannot write .mode 0755.",
                     "flags/second"),
                    (folder / "link" / "n0", STATE_UNUSABLE, "its folder is a symbolic link; set "
                     "flag.path to where that leads", "flags/n0"),
                    (folder / "no" / "such" / "n0", None, "make the folders that its path names, "
                     "or set flag.path to another place", "flags/third")):
                with self.subTest(words):
                    odd.stop()
                    odd.write_config(odd.config_file.read_text().replace(
                        f'path = "{odd.flag_file}"', f'path = "{path}"'))
                    odd.flag_file = path
                    self.refused_start(odd, code or UNAVAILABLE, words)
                    self.path_goes_to(group, odd, folder / goes_to)
                    self.await_health(odd, "flag")

    def test_a_folder_that_nobody_else_has_mounted_is_said_to_be_shared(self):
        with self.led() as group:
            odd = group.sidecars[0]
            folder = group.folder / "pod"
            folder.mkdir()
            folder.chmod(0o777)
            odd.stop()
            old, odd.flag_file = odd.flag_file, folder / "n0"
            self.edit(odd, (f'path = "{old}"', f'path = "{odd.flag_file}"'))
            self.refused_start(odd, STATE_UNUSABLE, 'set flag.shared_folder = "on"')
            self.await_advice(odd, "flag", "written by others", 'set flag.shared_folder = "on"')
            self.edit(odd, ("[flag]", '[flag]\nshared_folder = "on"'))
            odd.start()
            self.await_whole(group, group.sidecars[2])
            self.await_health(odd, "flag")

    def test_a_full_tmpfs_gets_room_and_a_disk_is_left(self):
        with self.led() as group, tempfile.TemporaryDirectory(dir="/var/tmp") as on_disk:
            odd = group.sidecars[0]
            home = group.folder / "home"
            home.mkdir(mode=0o755)
            odd.stop()
            os.chmod(on_disk, 0o755)
            with TmpFs(home, "size=4k,mode=755") as disk:
                disk.fill()
                old, odd.flag_file = odd.flag_file, home / "n0"
                self.edit(odd, (f'path = "{old}"', f'path = "{odd.flag_file}"'))
                self.refused_start(odd, UNAVAILABLE, "free some space on this file system")
                disk.make_room()
                odd.start()
                self.await_whole(group, group.sidecars[2])
                self.path_goes_to(group, odd, f"{on_disk}/n0")
            self.await_advice(odd, "flag", "is not on a tmpfs: a busy disk can stop the sidecar",
                              "set flag.path to a file below /dev/shm, or in an emptyDir")
            self.path_goes_to(group, odd, group.folder / "flags" / "n0")
            self.await_health(odd, "flag")

    def test_its_mode_is_opened_to_a_group(self):
        with self.led() as group:
            odd = group.sidecars[0]
            self.edit(odd, ("[flag]", "[flag]\nmode = 0o600"))
            self.restart(group, odd)
            self.await_advice(odd, "flag", r"only user 0 can read .*\(mode 0600\)",
                              "otherwise open folder and flag.mode to its group")
            self.edit(odd, ("mode = 0o600", "mode = 0o640"))
            self.restart(group, odd)
            self.await_health(odd, "flag")
            self.await_whole(group, group.sidecars[2])


@unittest.skipIf(IS_SANITIZED, "a sanitizer needs what is forbidden")
class Robust(FlagCase):
    """FlagNotRobust; `futex` of the doctor."""

    def test_the_profile_allows_what_the_kernel_needs(self):
        with self.voters() as group:
            odd = group.sidecars[0]
            odd.prefix = [sys.executable, str(pathlib.Path(__file__).with_name("forbidding.py")),
                          "--flag"]
            self.restart(group, odd)
            self.await_metric(odd, "bellwether_flag_robust", 0)
            result = subprocess.run([*odd.prefix, self.program, "doctor", "--config",
                                     odd.config_file], check=False, capture_output=True, text=True)
            shown = " ".join(result.stdout.split())
            self.assertIn("after a kill the flag stays on until its validity ends", shown)
            self.assertIn("allow set_robust_list(2) and fork(2) in the seccomp profile", shown)
            odd.prefix = []
            self.restart(group, odd)
            self.await_metric(odd, "bellwether_flag_robust", 1)
            self.await_health(odd, "futex")
            self.await_whole(group)


if __name__ == "__main__":
    main()
