#!/usr/bin/env python3
"""The readers of the flag, one language at a time: each reason for which a flag is off, a writer at
full speed, one that is stopped or killed in the middle of an update.

The lines are made by hand where a reason is wanted, and by the sidecar's own writer
(busy_writer.cc) where speed is.

usage: reader_test.py LANGUAGE FOLDER_OF_PROGRAMS [CASE...]; a case is Class.test_name
"""

import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

import languages
from harness import wait_until
from probes import Probe

LANGUAGE, PROGRAMS = "", ""
FILE_BYTES = 4096
SOME_THREAD, OWNER_DIED = 4711, 0x40000000
UNKNOWN, FOLLOWER, LEADER = range(3)
MAJORITY = 1
DRAINING = 1
HOUR_NS = 3600 * 10**9
HOUR_MS = 3600 * 1000
LEADER_ID = uuid.UUID("6f9619ff-8b86-4d01-b42d-00cf4fc964ff")
NOBODY = str(uuid.UUID(int=0))
NOTHING = {"role": UNKNOWN, "epoch": 0, "fencing_token": 0, "valid_until_ns": 0,
           "leader_id": NOBODY}
STOPS, KILLS = 40, 10
STRANGER = 4444
READS = 2000


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def boot_id_hash():
    value = 0xcbf29ce484222325
    for byte in pathlib.Path("/proc/sys/kernel/random/boot_id").read_bytes()[:36]:
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value


def line(owner=SOME_THREAD, seq=42, epoch=7, valid_until_ns=None, boot=None, guard=MAJORITY,
         role=LEADER, abi=1, leader_id=LEADER_ID, flags=0):
    """The flag of a leader, but for what is said."""
    if valid_until_ns is None:
        valid_until_ns = now_ns() + HOUR_NS
    return struct.pack("=IIQQQBBBB4x16s8x", owner, seq, epoch, valid_until_ns,
                       boot_id_hash() if boot is None else boot, guard, role, abi, flags,
                       leader_id.bytes)


class BusyWriter:
    """busy_writer.cc at work; a context manager."""

    def __init__(self, path, pause_ns):
        self.process = subprocess.Popen([f"{PROGRAMS}/busy_writer", path, str(pause_ns)],
                                        stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        assert self.process.stdout.readline() == "busy\n"
        return self

    def __exit__(self, kind, error, trace):
        self.kill()
        self.process.stdout.close()

    def kill(self):
        """Returns when it is dead."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Returns when it stands still."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)


def setUpModule():  # pylint: disable=invalid-name
    Probe.command = languages.or_skip(languages.probe, LANGUAGE, PROGRAMS)


class FlagCase(unittest.TestCase):
    """What all cases need: a folder, and a probe."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bellwether-test.", dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = self.folder / "flag"
        self.probe = self.enterContext(Probe())

    def write(self, contents):
        """Into the file, as it is: the probe may have it open."""
        mode = "r+b" if self.file.exists() else "w+b"
        with open(self.file, mode) as file:
            file.write(contents)
            file.truncate(FILE_BYTES)

    def open_line(self, **differences):
        self.write(line(**differences))
        self.assertEqual(self.probe.open(self.file), "")

    def expect(self, **values):
        seen = self.probe.ask("read")
        self.assertEqual({**seen, **values}, seen)

    def begin(self, need_ms):
        return self.probe.ask(f"begin {need_ms}")["token"]

    def still(self, token):
        return self.probe.ask(f"still {token}")["still"]

    def expect_nothing(self, is_sidecar_alive):
        self.expect(**NOTHING, is_sidecar_alive=is_sidecar_alive)


class HandMade(FlagCase):
    def test_a_leader_is_seen_with_all_that_is_known_of_it(self):
        until_ns = now_ns() + HOUR_NS
        self.open_line(epoch=2**53 + 1, valid_until_ns=until_ns)
        seen = self.probe.ask("read")
        self.assertFalse(seen.pop("is_draining", False))
        self.assertEqual(seen, {
            "role": LEADER, "epoch": 2**53 + 1, "fencing_token": 2**53 + 1,
            "valid_until_ns": until_ns, "leader_id": str(LEADER_ID), "guard": MAJORITY, "seq": 42,
            "is_sidecar_alive": True})

    def test_a_follower_names_its_leader_but_has_no_token(self):
        self.open_line(role=FOLLOWER, valid_until_ns=0)
        self.expect(role=FOLLOWER, epoch=7, fencing_token=0, valid_until_ns=0,
                    leader_id=str(LEADER_ID), is_sidecar_alive=True)

    def test_is_off_when_nobody_holds_it(self):
        self.open_line(owner=0)
        self.expect_nothing(is_sidecar_alive=False)

    def test_is_off_when_its_holder_died(self):
        for owner in (OWNER_DIED, OWNER_DIED | SOME_THREAD):
            self.open_line(owner=owner)
            self.expect_nothing(is_sidecar_alive=False)

    def test_is_off_when_its_validity_has_passed(self):
        self.open_line(valid_until_ns=now_ns())
        self.expect_nothing(is_sidecar_alive=True)

    def test_goes_off_by_itself(self):
        until_ns = now_ns() + 10**9
        self.open_line(valid_until_ns=until_ns)
        while self.probe.ask("read")["role"] == LEADER:
            self.assertLess(now_ns(), until_ns + 10 * 10**9)
        # Never late; 10 ms early at most, which is what /proc/uptime leaves in the dark.
        self.assertGreater(now_ns(), until_ns - 20 * 10**6)

    def test_work_begins_when_its_whole_time_is_certain(self):
        epoch = 2**53 + 1
        self.open_line(epoch=epoch)
        for need_ms in (0, 1, HOUR_MS // 2):
            self.assertEqual(self.begin(need_ms), epoch)
        # Renewals are not counted on.
        for need_ms in (HOUR_MS, 2 * HOUR_MS):
            self.assertIsNone(self.begin(need_ms))
        self.write(line(epoch=epoch, valid_until_ns=now_ns() + 3 * HOUR_NS))
        self.assertEqual(self.begin(2 * HOUR_MS), epoch)

    def test_work_does_not_begin_without_leadership(self):
        self.open_line(role=FOLLOWER)
        self.assertIsNone(self.begin(0))
        for flaw in ({"owner": OWNER_DIED}, {"owner": 0}, {"valid_until_ns": now_ns()},
                     {"boot": boot_id_hash() ^ 1}, {"abi": 2}, {"seq": 43}):
            self.write(line(**flaw))
            self.assertIsNone(self.begin(0), flaw)
        self.write(line())
        self.assertEqual(self.begin(0), 7)

    def test_in_a_drain_work_ends_and_none_begins(self):
        self.open_line(epoch=7)
        token = self.begin(1)
        self.write(line(seq=44, epoch=7, flags=DRAINING))
        self.assertIsNone(self.begin(1))
        self.expect(role=LEADER, fencing_token=7)
        self.assertIs(self.still(token), True)
        self.write(line(seq=46, epoch=7, flags=0xfe))  # bits of later releases
        self.assertEqual(self.begin(1), 7)
        self.write(line(seq=48, role=FOLLOWER, flags=DRAINING))
        self.assertIs(self.still(token), False)

    def test_work_counts_when_its_replica_has_led_all_the_time(self):
        self.open_line(epoch=7)
        token = self.begin(1)
        self.assertIs(self.still(token), True)
        self.write(line(seq=44, epoch=7, valid_until_ns=now_ns() + 2 * HOUR_NS))  # a renewal
        self.assertIs(self.still(token), True)
        for change in ({"epoch": 9}, {"role": FOLLOWER}, {"owner": OWNER_DIED},
                       {"valid_until_ns": now_ns()}):
            self.write(line(seq=46, **{"epoch": 7, **change}))
            self.assertIs(self.still(token), False, change)

    def test_is_off_when_it_was_written_in_another_boot(self):
        self.open_line(boot=boot_id_hash() ^ 1)
        self.expect_nothing(is_sidecar_alive=False)

    def test_is_off_when_a_newer_sidecar_has_taken_it_over(self):
        self.open_line()
        self.write(line(abi=2))
        self.expect_nothing(is_sidecar_alive=False)

    def test_is_off_when_a_writer_stopped_in_the_middle(self):
        self.open_line()
        self.write(line(seq=43))
        self.expect_nothing(is_sidecar_alive=False)

    def test_comes_back_when_the_sidecar_does(self):
        self.open_line(owner=OWNER_DIED)
        self.expect_nothing(is_sidecar_alive=False)
        self.write(line(seq=44, epoch=8))
        self.expect(role=LEADER, fencing_token=8)

    def test_a_file_that_is_not_there_yet_is_not_one_that_never_will_be(self):
        self.assertEqual(self.probe.open(self.file), "missing")
        self.file.touch()
        self.assertEqual(self.probe.open(self.file), "not ready")
        self.write(bytes(FILE_BYTES))
        self.assertEqual(self.probe.open(self.file), "not ready")
        self.write(line(abi=2))
        self.assertEqual(self.probe.open(self.file), "unknown version")
        self.file.write_bytes(bytes(FILE_BYTES + 1))
        self.assertEqual(self.probe.open(self.file), "not a flag")
        os.mkfifo(self.folder / "pipe")
        self.assertEqual(self.probe.open(self.folder / "pipe"), "not a flag")
        self.assertEqual(self.probe.open(self.folder), "not a flag")


class Elsewhere(FlagCase):
    """Another file is at the flag's path than the one that was opened."""

    def replace_by(self, **differences):
        """By a file of its own, as who makes the flag anew does it."""
        self.file.rename(self.folder / "before")
        self.write(line(**differences))

    def test_it_is_found_when_nobody_vouches_for_the_one_that_was_opened(self):
        self.open_line()
        self.expect(fencing_token=7)
        for token, owner in ((8, 0), (9, OWNER_DIED)):
            with open(self.file, "r+b") as before:
                self.replace_by(epoch=token)
                self.expect(fencing_token=token - 1)  # somebody still vouches for it
                before.write(line(owner=owner, seq=44))
            wait_until("it is found", lambda: self.probe.ask("read")["role"] == LEADER)
            self.expect(fencing_token=token)
            self.assertEqual(self.begin(1), token)

    def test_what_is_no_flag_is_not_gone_to(self):
        self.open_line(owner=0)
        self.file.rename(self.folder / "flag.before")
        self.file.write_text("precious")
        self.expect_nothing(is_sidecar_alive=False)
        with open(self.folder / "flag.before", "r+b") as before:
            before.write(line(seq=44, epoch=8))
        self.expect(fencing_token=8)

    def test_a_strangers_is_not_believed(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give files away")
        self.open_line(owner=0)
        self.replace_by(epoch=8)
        os.chown(self.file, STRANGER, STRANGER)
        self.expect_nothing(is_sidecar_alive=False)
        self.assertEqual(self.probe.open(self.file), "not trusted")
        self.assertEqual(self.probe.open_of(STRANGER + 1, self.file), "not trusted")
        self.assertEqual(self.probe.open_of(STRANGER, self.file), "")
        self.expect(fencing_token=8)

    def test_one_that_is_cut_short_is_off_for_who_does_not_map_it(self):
        if LANGUAGE != "node":
            self.skipTest("that ends a process that has it mapped")
        self.open_line()
        os.truncate(self.file, 10)
        self.expect_nothing(is_sidecar_alive=False)
        self.replace_by(epoch=8)
        wait_until("it is found", lambda: self.probe.ask("read")["role"] == LEADER)
        self.expect(fencing_token=8)

    def test_one_is_believed_whose_folder_root_has_given_to_its_owner(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give files away")
        folder = self.folder / "run"
        folder.mkdir(mode=0o755)
        self.file = folder / "flag"
        self.write(line())
        for path in (folder, self.file):
            os.chown(path, STRANGER, STRANGER)
        self.assertEqual(self.probe.open(self.file), "")
        folder.chmod(0o777)
        self.assertEqual(self.probe.open(self.file), "not trusted")
        folder.chmod(0o755)
        self.folder.chmod(0o1777)
        self.assertEqual(self.probe.open(self.file), "not trusted")


class Clock(FlagCase):
    def test_an_uptime_that_is_not_the_machines_is_refused(self):
        """As lxcfs shows it to a container.  All but Node have another way to the clock."""
        uptime = self.folder / "uptime"
        uptime.write_text("12.34 56.78\n")
        show_it = f'mount --bind {uptime} /proc/uptime && exec "$@"'
        lent = ["unshare", "--mount", "sh", "-c", show_it, "sh"]
        if subprocess.run([*lent, "true"], check=False, capture_output=True).returncode != 0:
            self.skipTest("cannot mount")
        self.write(line())
        with Probe(lent) as probe:
            self.assertEqual(probe.open(self.file), "no clock" if LANGUAGE == "node" else "")


class Busy(FlagCase):
    def test_a_writer_at_full_speed_shows_no_torn_state(self):
        """A slow reader may hardly ever find the line at rest; that counts as off."""
        with BusyWriter(self.file, pause_ns=0):
            self.assertEqual(self.probe.open(self.file), "")
            counts = self.probe.ask(f"watch {READS} {READS // 10}")
        self.assertEqual(counts["torn"], 0, counts)

    def test_a_writer_that_pauses_shows_all_of_its_states_whole(self):
        with BusyWriter(self.file, pause_ns=30_000):
            self.assertEqual(self.probe.open(self.file), "")
            counts = self.probe.ask(f"watch {READS} {10**9}")
        self.assertEqual(counts["torn"], 0, counts)
        self.assertEqual(counts["states"], READS, counts)

    def test_a_writer_stopped_in_the_middle_shows_no_torn_state(self):
        with BusyWriter(self.file, pause_ns=0) as writer:
            self.assertEqual(self.probe.open(self.file), "")
            self.probe.ask(f"watch 1 {10**9}")  # it has begun
            for _ in range(STOPS):
                writer.stop()
                seq, = struct.unpack_from("=I", self.file.read_bytes(), 4)
                counts = self.probe.ask("watch 1 1")
                self.assertEqual(counts, {"states": 1 - seq % 2, "torn": 0, "reads": 1})
                writer.go_on()

    def test_a_killed_writers_flag_is_off(self):
        for _ in range(KILLS):
            with BusyWriter(self.file, pause_ns=30_000) as writer:
                self.assertEqual(self.probe.open(self.file), "")
                self.assertEqual(self.probe.ask(f"watch 1 {10**9}")["states"], 1)
                self.probe.tell(f"watch {READS} {READS}")
                writer.kill()
                self.assertEqual(self.probe.answer()["torn"], 0)
                self.expect_nothing(is_sidecar_alive=False)


if __name__ == "__main__":
    LANGUAGE, PROGRAMS = sys.argv[1:3]
    languages.main(sys.argv[3:])
