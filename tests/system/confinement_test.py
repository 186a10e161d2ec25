#!/usr/bin/env python3
"""What a running sidecar has taken away from itself, and that it does its work all the same.

usage: confinement_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import json
import os
import pathlib
import tempfile
import unittest

from folders import delete
from harness import wait_until
from system_case import CALM, IS_SANITIZED, SystemCase, main


@unittest.skipIf(IS_SANITIZED, "a sanitizer needs what is taken away")
class Confinement(SystemCase):
    """What is in force is told; each thread is bound."""

    def started(self, node="", **options):
        group = self.group(1, extra=CALM, **options)
        sidecar, = group.sidecars
        sidecar.write_config(group.config_of(sidecar).replace("[node]", f"[node]\n{node}"))
        group.start().await_leader(sidecar)
        return group, sidecar

    def confinement(self, sidecar):
        return json.loads(sidecar.request("GET", "/v1/status")[2])["confinement"]

    def verdict(self, sidecar):
        result = self.run_program("doctor", "--config", sidecar.config_file, "--json")
        found, = (each for each in json.loads(result.stdout)["checks"]
                  if each["check"] == "confinement")
        return found["verdict"]

    def landlock(self, sidecar):
        """The ABI; skips the test where the kernel has none."""
        abi = self.confinement(sidecar)["landlock"]
        if abi is None:
            self.skipTest("this kernel has no Landlock")
        return abi

    def test_each_thread_and_the_memory_keeper_are_bound(self):
        group, sidecar = self.started()
        with group:
            told = self.confinement(sidecar)
            self.assertTrue(told["no_new_privs"] and told["seccomp"], told)
            threads = pathlib.Path(f"/proc/{sidecar.process.pid}/task").iterdir()
            for process in [*threads, pathlib.Path(f"/proc/{sidecar.memory_keeper()}")]:
                status = (process / "status").read_text()
                self.assertIn("NoNewPrivs:\t1", status)
                self.assertIn("Seccomp:\t2", status)
            if told["landlock"] is None:
                self.assertEqual(self.verdict(sidecar), "warning")
                self.skipTest("this kernel has no Landlock")
            self.assertIsNone(told["why_not_whole"])
            self.assertEqual(self.verdict(sidecar), "ok")
            shown = self.run_program("status", "--config", sidecar.config_file).stdout
            self.assertIn(f"confined  seccomp, Landlock {told['landlock']}\n", shown)
            self.assertNotIn("confined", sidecar.log())

    def test_it_can_be_switched_off(self):
        group, sidecar = self.started('confine = "off"')
        with group:
            self.assertEqual(self.confinement(sidecar), {
                "no_new_privs": False, "seccomp": False, "landlock": None,
                "why_not_whole": 'node.confine is "off"'})
            status = pathlib.Path(f"/proc/{sidecar.process.pid}/status").read_text()
            self.assertIn("Seccomp:\t0", status)
            self.assertEqual(self.verdict(sidecar), "ok")
            sidecar.await_log("not confined, or in part seccomp=no landlock=no")

    def test_core_dumps_may_go_anywhere(self):
        group, sidecar = self.started('core_dumps = "on"')
        with group:
            told = self.confinement(sidecar)
            self.assertEqual((told["seccomp"], told["landlock"]), (True, None))
            self.assertIn("node.core_dumps is", told["why_not_whole"])

    def test_what_somebody_has_removed_is_made_again(self):
        group, sidecar = self.started()
        with group:
            self.landlock(sidecar)
            folder = sidecar.flag_file.parent
            for remove, what in ((os.remove, sidecar.flag_file), (delete, folder),
                                 (os.remove, sidecar.socket_file)):
                remove(what)
                wait_until("all is there again", lambda: sidecar.flag_file.exists()
                           and sidecar.socket_file.exists())
                wait_until("it is ready", sidecar.is_ready)
            self.assertTrue(sidecar.is_leader())

    def test_a_state_folder_that_is_deleted_is_made_again(self):
        """In a folder above that has nothing else of the sidecar's."""
        with tempfile.TemporaryDirectory() as far, self.group(1, extra=CALM) as group:
            sidecar, = group.sidecars
            sidecar.state_folder = pathlib.Path(far) / "state"
            sidecar.state_folder.mkdir(mode=0o700)  # else it may make it once more anyhow
            sidecar.write_config(group.config_of(sidecar))
            group.start().await_leader(sidecar)
            self.landlock(sidecar)
            for _ in range(2):
                delete(sidecar.state_folder)
                wait_until("it is there again", (sidecar.state_folder / "identity").exists)
            self.assertTrue(sidecar.is_ready())
            sidecar.stop()
            sidecar.start()
            group.await_leader(sidecar)
            self.assertNotIn("without it, under a new id", sidecar.log())

    def test_a_state_folder_that_is_not_there_is_made(self):
        with self.group(3, extra=CALM, voters=3) as group:
            for sidecar in group.sidecars:
                deep = sidecar.state_folder / "in" / "another"
                sidecar.write_config(group.config_of(sidecar).replace(
                    f'"{sidecar.state_folder}"', f'"{deep}"'))
            leader = group.start("--bootstrap").await_leader()
            for sidecar in group.sidecars:
                deep = sidecar.state_folder / "in" / "another"
                self.assertTrue((deep / "state").exists())
            leader.kill()
            group.await_leader()
            leader.start()
            wait_until("it is back", leader.is_ready)


if __name__ == "__main__":
    main()
