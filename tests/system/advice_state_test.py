#!/usr/bin/env python3
"""State folders that are lost, damaged, copied, locked or somebody else's, and their disks: what
the doctor, the last line of the log and OPERATIONS advise is done.

usage: advice_state_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import tempfile
import unittest

from advice_case import STATE_UNUSABLE, UNAVAILABLE, AdviceCase
from forged_frames import checksum
from harness import free_ports, wait_until
from mounts import TmpFs
from system_case import main

EMPTY_IT = ("do not restore a copy: empty the folder and start the sidecar; a voter then asks the "
            "others")
OWN_FOLDER = "give each a state folder of its own: one was copied"
STRANGER, OTHER_USER = 54321, 5555
SLOT_BYTES, SLOTS_AT, FORMAT_AT = 512, (0, 4096), 8


def state_of(sidecar):
    return sidecar.state_folder / "state"


def zero(group):
    state_of(group.sidecars[0]).write_bytes(bytes(2 * 4096))


def remove(group):
    state_of(group.sidecars[0]).unlink()


def write_as_a_later_release(group):
    data = bytearray(state_of(group.sidecars[0]).read_bytes())
    for start in SLOTS_AT:
        struct.pack_into("<I", data, start + FORMAT_AT, 99)
        whole = bytes(data[start:start + SLOT_BYTES - 4])
        struct.pack_into("<I", data, start + SLOT_BYTES - 4, checksum(whole))
    state_of(group.sidecars[0]).write_bytes(data)


def copy_from_another_voter(group):
    victim, other = group.sidecars[:2]
    shutil.rmtree(victim.state_folder)
    shutil.copytree(other.state_folder, victim.state_folder)


class Lost(AdviceCase):
    """`state` of the doctor; OPERATIONS, It is lost."""

    FLAWS = {zero: ("state is damaged, or of a later release", EMPTY_IT),
             remove: ("state is missing beside identity", EMPTY_IT),
             write_as_a_later_release: ("state is damaged, or of a later release", EMPTY_IT),
             copy_from_another_voter: ("was written under another name, among other",
                                       "if it was copied from another voter, empty it")}
    # Those of which no sidecar starts.
    ENDS = {write_as_a_later_release: "was written by a later release of Bellwether; run that "
                                      "release, or empty the folder to start without its memory",
            copy_from_another_voter: "if the folder was copied from another voter, empty it"}

    def test_a_folder_that_is_of_no_use_is_emptied(self):
        with contextlib.ExitStack() as stack:
            groups = {flaw: stack.enter_context(self.voters()) for flaw in self.FLAWS}
            for flaw, group in groups.items():
                voter = group.sidecars[0]
                voter.stop()
                flaw(group)
                self.await_advice(voter, "state", *self.FLAWS[flaw])
                if flaw in self.ENDS:
                    self.refused_start(voter, STATE_UNUSABLE, self.ENDS[flaw])
                shutil.rmtree(voter.state_folder)
                voter.start()
            for flaw, group in groups.items():
                with self.subTest(flaw.__name__):
                    self.await_whole(group, group.sidecars[2])
                    self.assertFalse([seen for _, seen, _ in self.findings(
                        group.sidecars[0], "state") if "in memory" not in seen
                        and "in use by" not in seen])

    def test_the_first_start_names_whom_to_start(self):
        """First start of a group; the doctor's check `sidecar`."""
        with self.group(3, voters=3) as group:
            first, second, last = group.sidecars
            for sidecar in (first, second):
                sidecar.start()
            wait_until("it asks", lambda: "n2 has not answered" in (
                (first.get("/v1/status") or {}).get("vote") or {"why": ""})["why"])
            shown = " ".join(self.commanded(first, "status").split())
            for words in ("there is no leader: see vote", "n0, leaderless", "vote forgotten: this "
                          "voter has no vote", "n1 does not know either", "n2 has not answered"):
                self.assertIn(words, shown)
            self.await_advice(first, "sidecar", "n2 has not answered", "it needs ten seconds after "
                              "its start; then start the voters that have not answered")
            last.start()
            self.await_whole(group)


class Copies(AdviceCase):
    """`identities` of the doctor, and errors at the start."""

    def test_folders_and_names_that_two_have_are_given_to_one(self):
        with self.led() as group:
            odd, other, _ = group.sidecars
            good = odd.config_file.read_text()
            self.assertEqual(odd.stop(), 0)
            with self.subTest("a copied folder"):
                own = odd.state_folder.rename(odd.state_folder.with_suffix(".own"))
                shutil.copytree(other.state_folder, odd.state_folder)
                self.await_advice(odd, "identities", "is that of a living process, n1", OWN_FOLDER)
                odd.start()
                odd.await_log("turned")
                self.await_advice(other, "identities", "n[01].* and n[01].* have the same id",
                                  OWN_FOLDER)
                odd.stop()
                shutil.rmtree(odd.state_folder)
                own.rename(odd.state_folder)
                odd.start()
                self.await_whole(group, group.sidecars[2])
            with self.subTest("a name"):
                odd.stop()
                self.edit(odd, ('name = "n0"', 'name = "n1"'))
                odd.start()
                self.await_advice(other, "identities", "2 processes have the name n1",
                                  "give each a node.name of its own")
                odd.stop()
                odd.write_config(good)
                odd.start()
                self.await_whole(group, group.sidecars[2])
            self.await_health(other, "identities")

    def test_each_gets_a_folder_of_its_own(self):
        with self.led() as group:
            odd, other, leader = group.sidecars
            good = odd.config_file.read_text()
            for flaw, code, advice in (
                    ([(str(odd.state_folder), str(other.state_folder))], UNAVAILABLE,
                     "stop that process, or give each of the two a state_dir of its own"),
                    ([('name = "test"', 'name = "others"')], STATE_UNUSABLE,
                     'belongs to group "test", this process to "others"; give each group a '
                     'state_dir of its own')):
                with self.subTest(advice):
                    odd.stop()
                    self.edit(odd, *flaw)
                    self.refused_start(odd, code, advice)
                    if code == STATE_UNUSABLE:
                        self.await_advice(odd, "state", "belongs to group test, not others",
                                          "give this group a state_dir of its own")
                        self.edit(odd, (str(odd.state_folder), f"{odd.state_folder}.others"))
                        odd.start()
                        wait_until("it leads its own group", odd.is_leader)
                        odd.stop()
                    odd.write_config(good)
                    odd.start()
                    self.await_whole(group, leader)

    def test_a_folder_without_its_sidecar_and_a_sidecar_without_its_folder(self):
        with self.led() as group:
            odd = group.sidecars[0]
            good = odd.config_file.read_text()
            with self.subTest("hangs"):
                odd.send_signal(signal.SIGSTOP)
                self.await_advice(odd, "state", "is used by process .*, but no sidecar answers",
                                  "look whether that process hangs")
                odd.send_signal(signal.SIGCONT)
            with self.subTest("another [api]"):
                self.edit(odd, (f":{odd.api_port}", f":{free_ports(1)[0]}"),
                          (str(odd.socket_file), str(group.folder / "elsewhere.sock")))
                self.await_advice(odd, "flag", "is used by process .*, but no sidecar answers",
                                  "or runs with another [api]")
                odd.write_config(good)
            with self.subTest("another folder"):
                self.edit(odd, (str(odd.state_folder), str(group.folder / "nowhere")))
                (group.folder / "nowhere").mkdir()
                self.await_advice(odd, "state", "a sidecar answers, but nobody uses",
                                  "run the doctor where that sidecar runs, with its configuration")
                odd.write_config(good)
            self.await_health(odd, "state")
            self.await_whole(group, group.sidecars[2])


@unittest.skipIf(os.geteuid() != 0, "only root can be several users")
class Rights(AdviceCase):
    def test_who_else_may_write_is_kept_out(self):
        with self.led() as group:
            odd = group.sidecars[0]
            for spoil, words in ((lambda: odd.state_folder.chmod(0o777), "written by everybody"),
                                 (lambda: odd.state_folder.chmod(0o770), "written by its group"),
                                 (lambda: os.chown(odd.state_folder, STRANGER, 0),
                                  f"belongs to user {STRANGER}")):
                with self.subTest(words):
                    spoil()
                    if odd.state_folder.stat().st_uid == 0:  # whom the doctor takes for its user
                        self.await_advice(odd, "state", f"{words}: who can put an older state",
                                          "give it to the sidecar's user, with mode 0700")
                    self.restart(group, odd)
                    odd.await_log(f"warn .*{words}.*give it to user 0, with mode 0700")
                    os.chown(odd.state_folder, 0, 0)
                    odd.state_folder.chmod(0o700)
                    self.await_health(odd, "state")
            self.await_whole(group, group.sidecars[2])

    def test_files_of_another_user_are_given_back(self):
        with self.led() as group:
            odd = group.sidecars[0]
            odd.stop()
            os.chown(state_of(odd), STRANGER, STRANGER)
            self.refused_start(odd, STATE_UNUSABLE, f"belongs to user {STRANGER}, this process to "
                               f"user 0; run as user {STRANGER}, or give the folder and its files "
                               "to user 0")
            subprocess.run(["chown", "-R", "0:0", odd.state_folder], check=True)
            odd.start()
            self.await_whole(group, group.sidecars[2])

    def test_a_user_is_let_in(self):
        """let user N read and write it; make the folders that its path names."""
        self.require_other_user(OTHER_USER)
        with self.led() as group:
            odd = group.sidecars[0]
            odd.stop()
            group.folder.chmod(0o1777)
            shutil.rmtree(odd.flag_file.parent / odd.name, ignore_errors=True)
            odd.flag_file.unlink(missing_ok=True)
            odd.flag_file = group.folder / "own" / "n0"
            odd.prefix = ["setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}",
                          "--clear-groups"]
            odd.write_config(group.config_of(odd))
            self.refused_start(odd, STATE_UNUSABLE, f"let user {OTHER_USER} read and write it, or "
                               "set state_dir to another place")
            subprocess.run(["chown", "-R", f"{OTHER_USER}:{OTHER_USER}", odd.state_folder],
                           check=True)
            odd.start()
            self.await_whole(group, group.sidecars[2])

    def test_what_is_not_a_folder_or_a_file(self):
        with self.led() as group:
            odd = group.sidecars[0]
            good = odd.config_file.read_text()
            odd.stop()
            (group.folder / "file").write_text("")
            self.edit(odd, (str(odd.state_folder), str(group.folder / "file" / "state")))
            self.refused_start(odd, STATE_UNUSABLE, "make the folders that its path names, or set "
                               "state_dir to another place")
            self.await_advice(odd, "state", "file", "set node.state_dir to a folder of the "
                              "sidecar's user")
            odd.write_config(good)
            state_of(odd).unlink()
            os.mkfifo(state_of(odd))
            self.refused_start(odd, STATE_UNUSABLE, "is not a regular file; set state_dir to a "
                               "folder that nobody else uses")
            self.edit(odd, (str(odd.state_folder), f"{odd.state_folder}.own"))
            odd.start()
            self.await_whole(group, group.sidecars[2])
            self.await_health(odd, "state")


class Disk(AdviceCase):
    def test_a_disk_that_is_full_or_read_only_is_put_right(self):
        """Exit status 9."""
        with self.group(3) as group:
            odd, _, leader = group.sidecars
            odd.state_folder.mkdir(mode=0o700)
            with TmpFs(odd.state_folder, "size=256k,mode=700") as disk:
                disk.fill()
                self.refused_start(odd, UNAVAILABLE, "free some space on this file system")
                disk.make_room()
                group.start()
                self.await_whole(group, leader)
                self.await_advice(odd, "state", r"only .* are free for", "free some space: a vote "
                                  "that cannot be stored is not given")
                odd.stop()
                self.remount(odd, "ro")
                self.refused_start(odd, UNAVAILABLE, "mount it for writing, or set state_dir to "
                                   "another place")
                self.remount(odd, "rw,size=8m")
                odd.start()
                self.await_whole(group, leader)
                self.await_advice(odd, "state", "only .* are free for", "free some space before "
                                  "there is none")
                self.remount(odd, "rw,size=64m")
                self.await_health(odd, "state")
                odd.stop()

    def remount(self, sidecar, mode):
        subprocess.run(["mount", "-o", f"remount,{mode}", sidecar.state_folder], check=True)

    def test_little_space_and_memory(self):
        """Some space is freed; then the folder goes to a disk."""
        with tempfile.TemporaryDirectory(dir="/var/tmp") as disk, self.voters() as group:
            voter = group.sidecars[0]
            self.await_advice(voter, "state", "is in memory: after a reboot the votes are "
                              "forgotten", "set node.state_dir to a folder on a disk")
            on_disk = pathlib.Path(disk) / "state"
            self.edit(voter, (str(voter.state_folder), str(on_disk)))
            self.assertIn("node.state_dir", voter.get("/v1/status")["config"]["pending_restart"]
                          or self.commanded(voter, "reload"))
            self.restart(group, voter)
            self.await_health(voter, "state")
            self.await_whole(group, group.sidecars[2])


if __name__ == "__main__":
    main()
