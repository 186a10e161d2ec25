#!/usr/bin/env python3
"""What a sidecar says is what is in force: its answers to commands, and to questions while a new
configuration waits for a restart; and it notices that there is a new one.

usage: in_force_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal

from ends_test import slow
from harness import wait_until
from hooks_test import Receiver
from system_case import CALM, PATIENT, SystemCase, main


class Commands(SystemCase):
    """A command answers 200 only when it is done or will be."""

    @contextlib.contextmanager
    def led_with_one_deaf(self):
        """The group, the lowest member, one that takes nothing over, and the leader."""
        with self.group(3, extra=PATIENT, voters=3) as group:
            group.start("--bootstrap")
            lowest, deaf, leader = group.sidecars
            group.await_leader(leader)
            self.await_able(leader, lowest, deaf)
            deaf.send_signal(signal.SIGSTOP)
            yield group, lowest, deaf, leader

    def test_a_step_down_during_a_transfer_holds(self):
        with self.group(3, extra=PATIENT, voters=3) as group:
            group.start("--bootstrap")
            leader = group.await_leader(group.sidecars[-1])
            deaf = group.sidecars[1]
            self.await_able(leader, deaf)
            deaf.send_signal(signal.SIGSTOP)  # takes nothing over
            for path, body in (("/v1/transfer", {"to": deaf.name}),
                               ("/v1/step-down", {"hold": "10m"})):
                status, _, text = leader.request("POST", path, body)
                self.assertEqual(status, 202, text)
            wait_until("it has stepped down", lambda: not leader.is_leader())
            status = leader.get("/v1/status")
            self.assertFalse(status["may_lead"])
            self.assertGreater(status["timers_due_in_ms"].get("hold", 0), 300_000)
            leader.await_log("info .*carried out a command command=transfer to=" + deaf.name)
            leader.await_log("info .*carried out a command command=step-down hold=10m")

    def test_who_is_said_to_have_taken_over_leads(self):
        """Also where disks are slow: a claim, and a vote for it, are not leadership yet."""
        with self.group(3, extra=PATIENT, voters=3) as group:
            for sidecar in group.sidecars:
                sidecar.start("--bootstrap", environment=slow(slow_sync_ms=200))
            group.await_leader(group.sidecars[-1], patience_s=120)
            for _ in range(3):
                for target in group.sidecars[:2]:
                    leader = group.await_leader()
                    self.await_able(leader, target)
                    status, _, text = leader.request("POST", "/v1/transfer?wait=50s",
                                                     {"to": target.name}, timeout_s=60)
                    self.assertEqual(status, 200, text)
                    self.assertEqual(leader.leader(), target.name)

    def test_a_hand_over_that_nobody_has_taken_has_failed(self):
        with self.led_with_one_deaf() as (group, lowest, deaf, leader):
            result = self.run_program("transfer", deaf.name, "--wait", "10m", "--api",
                                      leader.api_url)
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertRegex(result.stderr.splitlines()[-1],
                             f"^bellwether: {deaf.name} has not taken over: "
                             f"(this node|{lowest.name}) leads$")

    def test_a_step_down_after_which_nobody_leads_has_not_succeeded(self):
        with self.group(3, extra=PATIENT, voters=3) as group:
            group.start("--bootstrap")
            leader = group.await_leader(group.sidecars[-1])
            self.await_able(leader, *group.sidecars[:2])
            for deaf in group.sidecars[:2]:
                deaf.send_signal(signal.SIGSTOP)
            result = self.run_program("step-down", "--wait", "3s", "--api", leader.api_url)
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertEqual(result.stderr.splitlines()[-1],
                             "bellwether: stepping down, stays out for 30s: not over yet, and "
                             "goes on; see `bellwether status`")

    def test_a_second_transfer_replaces_the_first(self):
        with self.led_with_one_deaf() as (group, lowest, deaf, leader):
            for member in (deaf, lowest):
                status, _, text = leader.request("POST", "/v1/transfer", {"to": member.name})
                self.assertEqual(status, 202, text)
            group.await_leader(lowest)


class Pending(SystemCase):
    """What waits for a restart is neither shown nor obeyed as if it were in force."""

    def assert_leads_without_guard(self, sidecar):
        answer = sidecar.get("/v1/leader")
        self.assertEqual((answer["group"], answer["guard"], answer["valid_for_ms"]),
                         ("test", "none", 0))

    def test_a_guard_that_waits_is_promised_to_nobody(self):
        with self.group(1) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            before = sidecar.get("/v1/status")
            other = group.config_of(sidecar, '[election]\ndeath_proof = "none"\n').replace(
                'name = "test"', 'name = "other"')
            sidecar.write_config(other + f'[voters]\nn0 = "127.0.0.1:{sidecar.peer_port}"\n')
            status, _, text = sidecar.request("POST", "/v1/reload")
            self.assertEqual(status, 200, text)
            waiting = [change["key"] for change in json.loads(text)["pending_restart"]]
            for key in ("group.name", "election.death_proof", "voters"):
                self.assertIn(key, waiting)
            self.assert_leads_without_guard(sidecar)
            after = sidecar.get("/v1/status")
            self.assertEqual(after["config"]["pending_restart"], waiting)
            self.assertEqual(after["config"]["hash"], before["config"]["hash"])
            self.assertEqual((after["group"], after["guard"], after["lease"]["length_ms"]),
                             ("test", "none", None))
            self.assertEqual(sidecar.get("/v1/explain")["guard"], "none")
            members = sidecar.get("/v1/members")
            self.assertEqual((members["group"], members["members"][0]["voter"]), ("test", False))
            # And what waits is told until it is taken back.
            sidecar.write_config(group.config_of(sidecar))
            _, _, text = sidecar.request("POST", "/v1/reload")
            self.assertEqual(json.loads(text)["pending_restart"], [])
            self.assert_leads_without_guard(sidecar)

    def test_a_webhook_names_the_group_in_force(self):
        with Receiver() as receiver, self.group(
                1, extra=CALM + f'[[hook]]\nurl = "{receiver.url}"\n') as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            wait_until("it was told", lambda: receiver.leaders()[-1:] == ["n0"])
            sidecar.write_config(group.config_of(sidecar).replace('name = "test"',
                                                                  'name = "other"'))
            _, _, text = sidecar.request("POST", "/v1/reload")
            self.assertEqual([change["key"] for change in json.loads(text)["pending_restart"]],
                             ["group.name"])
            told = len(receiver.requests)
            self.assertEqual(sidecar.request("POST", "/v1/elect")[0], 200)
            wait_until("it is told of the election", lambda: len(receiver.requests) > told)
            self.assertEqual(receiver.requests[-1][1]["source"], "/bellwether/test/n0")

    def host_check(self, sidecar):
        """What a balancer is answered that asks by the machine's address."""
        return sidecar.request("GET", "/leader", headers={"Host": "10.1.2.3"})[0]

    def test_the_host_check_goes_by_the_address_in_force(self):
        for in_force, waiting, status in (("0.0.0.0", "127.0.0.1", 200),
                                          ("127.0.0.1", "0.0.0.0", 403)):
            with self.subTest(in_force=in_force), self.group(1) as group:
                sidecar, = group.sidecars
                texts = [group.config_of(sidecar).replace(
                    f'127.0.0.1:{sidecar.api_port}"',
                    f'{host}:{sidecar.api_port}"' + "\ninsecure = true" * (host == "0.0.0.0"))
                         for host in (in_force, waiting)]
                sidecar.write_config(texts[0])
                group.start().await_leader(sidecar)
                self.assertEqual(self.host_check(sidecar), status)
                sidecar.write_config(texts[1])
                self.assertEqual(sidecar.request("POST", "/v1/reload")[0], 200)
                self.assertEqual(sidecar.get("/v1/status")["config"]["pending_restart"],
                                 ["api.listen", "api.insecure"])
                self.assertEqual(self.host_check(sidecar), status)

    def test_what_was_made_for_another_lease_waits_with_it(self):
        with self.group(1, extra=PATIENT) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            sidecar.write_config(group.config_of(
                sidecar, extra='[election]\nanswer_timeout = "1s"\nlease = "9s"\n'
                '[failure_detector]\nsuspect_after = "7s"\n'))
            _, _, text = sidecar.request("POST", "/v1/reload")
            self.assertEqual([change["key"] for change in json.loads(text)["pending_restart"]],
                             ["election.lease", "failure_detector.suspect_after"])


class Changes(SystemCase):
    """A new configuration is noticed, wherever its file is, and with no inotify instance left."""

    def test_a_file_behind_links_in_folders_that_are_made_anew(self):
        with self.group(1) as group:
            sidecar, = group.sidecars
            text = sidecar.config_file.read_text()
            links, home = group.folder / "links", group.folder / "elsewhere" / "home"
            links.mkdir()
            home.mkdir(parents=True)
            sidecar.config_file.replace(home / "real.toml")
            sidecar.config_file = links / "n0.toml"
            sidecar.config_file.symlink_to(home / "real.toml")
            group.start().await_leader(sidecar)
            (home / "real.toml").write_text(text + '[log]\nlevel = "warn"\n')
            wait_until("it was read", lambda: sidecar.metrics()[
                'bellwether_config_reloads_total{result="applied"}'] == 1)
            shutil.rmtree(home)
            wait_until("it is missed", lambda: sidecar.metrics()[
                "bellwether_config_last_reload_successful"] == 0)
            home.mkdir()
            (home / "real.toml").write_text(text + '[log]\nlevel = "debug"\n')
            wait_until("it is back", lambda: sidecar.metrics()[
                "bellwether_config_last_reload_successful"] == 1)
            sidecar.await_log("configuration changed key=log.level .*debug")

    def test_no_inotify_instance_is_needed(self):
        """A user has 128 of them for all pods of a machine."""
        with self.group(1) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            open_files = []
            for file in pathlib.Path(f"/proc/{sidecar.process.pid}/fd").iterdir():
                with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
                    open_files.append(os.readlink(file))
            self.assertNotEqual(open_files, [])
            self.assertNotIn("anon_inode:inotify", open_files)


if __name__ == "__main__":
    main()
