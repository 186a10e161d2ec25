#!/usr/bin/env python3
"""Etcd's disk is full: it ends by that, or takes no more writes.  The group says so and has no
leader, and has one again when there is room.

usage: store_disk_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import base64
import os
import pathlib
import tempfile
import unittest
import urllib.error

from harness import now_ns, wait_until
from mounts import TmpFs
from store_group import OfEtcd, StoreGuardCase
from store_servers import Etcd, has_etcd
from system_case import main

# Etcd makes two files of 64 MB for its log before it writes a byte.
DISK = "size=152m"
QUOTA = 12 * 2**20
VALUE = base64.b64encode(os.urandom(2**19)).decode()


class FullDisk(StoreGuardCase):
    """Of one etcd, whose clients are a group and somebody with large values."""

    @classmethod
    def setUpClass(cls):
        if not has_etcd():
            raise unittest.SkipTest("there is no etcd, or no etcdctl")
        etcd = Etcd()
        cls.member, = etcd.members
        cls.member.command += ["--quota-backend-bytes", str(QUOTA)]
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.member.command[cls.member.command.index("--data-dir") + 1] = f"{folder}/n0"
        cls.disk = cls.enterClassContext(TmpFs(folder, DISK))
        cls.server = cls.enterClassContext(etcd)
        cls.store = OfEtcd(cls.server)

    def write(self, number):
        """Somebody else's; raises OSError when it is not taken."""
        key = base64.b64encode(f"large/{number}".encode()).decode()
        return self.member.post("/v3/kv/put", {"key": key, "value": VALUE})

    def write_until_refused(self):
        for number in range(1000):
            try:
                self.write(number)
            except urllib.error.HTTPError as error:
                return error.read().decode()
            except OSError as error:
                return str(error)
        raise AssertionError("it takes everything")

    def await_trouble(self, guarded, since_ns, words):
        """Its leader's flag goes off, and it says why."""
        leader = guarded.group.sidecars[-1]
        guarded.await_off(leader, since_ns)
        wait_until(f"it says {words}", lambda: words in str(
            leader.get("/v1/status")["store"]["trouble"]))
        wait_until("it is not ready", lambda: not leader.is_ready())
        self.assertIn(words, " ".join(self.run_program(
            "status", "--config", leader.config_file).stdout.split()))

    def test_no_byte_fits_any_more(self):
        with self.led_group() as guarded:
            leader = guarded.group.sidecars[-1]
            epoch, full_ns = leader.epoch(), now_ns()
            self.disk.fill()
            self.write_until_refused()
            wait_until("etcd has ended", lambda: self.member.process.poll() is not None)
            self.assertIn("no space left on device", pathlib.Path(self.member.log).read_text())
            door, = guarded.doors_of(leader)
            self.await_trouble(guarded, full_ns, f"127.0.0.1:{door.port}")
            self.assertIsNone(guarded.group.observer.first_on(full_ns))
            self.disk.make_room()
            self.member.start()
            guarded.await_new_reign(epoch)
            guarded.group.await_leader(leader)
            guarded.await_holder(leader)

    def test_what_it_may_use_is_used_up(self):
        """The alarm is its own, and is disarmed as etcd's guide says."""
        with self.led_group() as guarded:
            leader = guarded.group.sidecars[-1]
            epoch, full_ns = leader.epoch(), now_ns()
            self.assertIn("database space exceeded", self.write_until_refused())
            self.await_trouble(guarded, full_ns, "space exceeded")
            self.assertIsNone(guarded.group.observer.first_on(full_ns))
            self.server.ctl("del", "--prefix", "large/")
            revision = self.member.post("/v3/maintenance/status", {})["header"]["revision"]
            self.server.ctl("compact", str(revision))
            self.server.ctl("defrag")
            self.server.ctl("alarm", "disarm")
            guarded.await_new_reign(epoch)
            guarded.group.await_leader(leader)
            guarded.await_holder(leader)


if __name__ == "__main__":
    main()
