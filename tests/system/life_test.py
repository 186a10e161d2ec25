#!/usr/bin/env python3
"""What a sidecar lives through: new configurations, restarts, newcomers, full disks.

usage: life_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import os
import signal
import socket

from harness import PATIENCE_S, wait_until
from mounts import TmpFs
from system_case import CALM, SystemCase, main

STATE_UNUSABLE = 7
RELOADED = "bellwether_config_last_reload_successful"


class Configuration(SystemCase):
    def await_reload(self, sidecar, is_good):
        wait_until(f"{RELOADED} is {int(is_good)}",
                   lambda: sidecar.metrics()[RELOADED] == float(is_good))

    def test_a_bad_file_changes_nothing_until_it_is_repaired(self):
        with self.group() as group:
            _, changed, leader = group.start().sidecars
            group.await_leader(leader)
            good = changed.config_file.read_text()
            before = changed.get("/v1/status")["config"]
            for bad, key in ((good + "bogus = 1\n", "election.bogus"), ("[", "toml:1:")):
                changed.write_config(bad)
                self.await_reload(changed, False)
                wait_until("the log says what is wrong", lambda: key in changed.log())
                self.assertEqual(changed.get("/v1/status")["config"], before)
                changed.write_config(good)
                self.await_reload(changed, True)
            self.assertIs(group.agreed_leader(), leader)

    def test_the_variant_is_switched_without_losing_the_leader(self):
        def wants(sidecar, variant):
            return lambda: sidecar.get("/v1/status")["variant"] == variant

        def mismatch(sidecar):
            return sidecar.metrics()["bellwether_config_mismatch"]

        with self.group() as group:
            first, second, leader = group.start().sidecars
            group.await_leader(leader)
            epoch = leader.get("/v1/leader")["epoch"]
            classic = '[election]\nvariant = "classic"\n'
            for sidecar in (first, second):
                sidecar.write_config(group.config_of(sidecar, extra=classic))
                wait_until("it wants the new variant", wants(sidecar, "classic"))
            wait_until("the others do not fit", lambda: mismatch(leader) == 1)
            self.assertEqual(first.get("/v1/leader")["variant"], "modified")
            leader.write_config(group.config_of(leader, extra=classic))
            wait_until("all want the same", lambda: not any(map(mismatch, group.sidecars)))
            self.assertEqual(leader.get("/v1/leader")["epoch"], epoch)
            leader.kill()
            group.await_leader(second)
            self.assertEqual(second.get("/v1/leader")["variant"], "classic")
            self.assertEqual(second.get("/v1/history")["elections"][0]["variant"], "classic")

    def test_systemd_hears_of_readiness_and_the_end(self):
        with self.group(1) as group, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            sidecar, = group.sidecars
            manager.bind(str(group.folder / "notify"))
            manager.settimeout(PATIENCE_S)
            sidecar.start(environment={"NOTIFY_SOCKET": str(group.folder / "notify"),
                                       "WATCHDOG_USEC": "100000"})
            heard = {manager.recv(100) for _ in range(8)}
            self.assertEqual(heard, {b"READY=1", b"WATCHDOG=1"})
            self.assertEqual(sidecar.stop(), 0)
            while b"STOPPING=1" not in heard:
                heard.add(manager.recv(100))

    def test_sighup_reads_a_file_whose_folder_is_not_watched(self):
        with self.group(1) as group:
            sidecar, = group.sidecars
            # The link's folder is watched, not the file's.
            elsewhere = group.folder / "elsewhere"
            elsewhere.mkdir()
            file = sidecar.config_file.rename(elsewhere / "real.toml")
            sidecar.config_file.symlink_to(file)
            group.start().await_leader(sidecar)
            good = file.read_text()
            file.write_text("[")
            sidecar.send_signal(signal.SIGHUP)
            self.await_reload(sidecar, False)
            file.write_text(good)
            sidecar.send_signal(signal.SIGHUP)
            self.await_reload(sidecar, True)

    def test_sigusr1_logs_the_state(self):
        with self.group(2) as group:
            follower, leader = group.start().sidecars
            group.await_leader(leader)
            for sidecar, role in ((follower, "following"), (leader, "leading")):
                self.assertEqual(sidecar.get("/v1/status")["role"], role)
                sidecar.send_signal(signal.SIGUSR1)
                sidecar.await_log(rf'state status=.*\\"role\\":\\"{role}\\"')
            self.assertIs(group.agreed_leader(), leader)

    def test_the_api_reloads_and_says_what_is_wrong(self):
        with self.group(1) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            good = sidecar.config_file.read_text()
            sidecar.config_file.write_text(good + "bogus = 1\n")
            status, _, text = sidecar.request("POST", "/v1/reload")
            self.assertEqual(status, 422, text)
            self.assertIn("election.bogus", text)
            sidecar.config_file.write_text(good + '[log]\nlevel = "debug"\n')
            status, _, text = sidecar.request("POST", "/v1/reload")
            self.assertEqual(status, 200, text)
            self.assertEqual(sidecar.metrics()[RELOADED], 1)

    def test_a_config_map_is_swapped(self):
        """Kubernetes keeps the files in a folder behind the link ..data, and replaces that link."""
        with self.group(1) as group:
            sidecar, = group.sidecars
            text = sidecar.config_file.read_text()
            volume = group.folder / "volume"
            for revision, contents in (("..1", text), ("..2", "[")):
                (volume / revision).mkdir(parents=True)
                (volume / revision / "bellwether.toml").write_text(contents)
            (volume / "..data").symlink_to("..1")
            (volume / "bellwether.toml").symlink_to("..data/bellwether.toml")
            sidecar.config_file = volume / "bellwether.toml"
            group.start().await_leader(sidecar)

            def swap(revision):
                (volume / "..data.new").symlink_to(revision)
                (volume / "..data.new").rename(volume / "..data")
            swap("..2")
            self.await_reload(sidecar, False)
            swap("..1")
            self.await_reload(sidecar, True)

    def test_a_peer_is_added(self):
        with self.group(2) as group:
            first, second = group.sidecars
            for alone in (first, second):
                alone.write_config(group.config_of(alone, peers=[]))
                alone.start()
            for alone in (first, second):
                wait_until(f"{alone.name} leads alone", alone.is_leader)
            first.write_config(group.config_of(first, peers=[second]))
            group.await_leader(second)
            self.assertEqual(set(second.members()), {"n0", "n1"})


class Membership(SystemCase):
    def test_one_known_address_is_enough(self):
        with self.group(2, extra=CALM) as group:
            first, leader = group.start().sidecars
            group.await_leader(leader)
            newcomer = group.add()
            newcomer.write_config(group.config_of(newcomer, peers=[first]))
            newcomer.start()
            group.await_leader(newcomer)
            for sidecar in group.sidecars:
                wait_until("all know all", lambda seen_by=sidecar: set(seen_by.members()) ==
                           {"n0", "n1", "n2"})

    def test_a_member_is_found_behind_a_name(self):
        with self.group(2) as group:
            seeker, sought = group.sidecars
            by_name = f'[membership]\ndns = "localhost:{sought.peer_port}"'
            text = group.config_of(seeker, peers=[]).replace("[membership]", by_name)
            seeker.write_config(text)
            sought.write_config(group.config_of(sought, peers=[]))
            group.start().await_leader(sought)
            for sidecar in (seeker, sought):
                wait_until("both know both", lambda seen_by=sidecar: set(seen_by.members()) ==
                           {"n0", "n1"})

    def finds_the_group_by_its_list(self, group):
        """The first sidecar, restarted with no peers, among others that do not dial it either."""
        follower, other, leader = group.sidecars
        wait_until("the list is stored", (follower.state_folder / "members").exists)
        self.assertEqual(follower.stop(), 0)
        leader.await_state_of(follower, "left")
        for sidecar in group.sidecars:
            sidecar.write_config(group.config_of(sidecar, peers=[]))
        for sidecar in (other, leader):
            self.assertEqual(sidecar.request("POST", "/v1/reload")[0], 200)
        follower.start()
        group.await_leader(leader)
        self.assertEqual(set(follower.members()), {"n0", "n1", "n2"})

    def test_the_list_of_members_outlives_a_restart(self):
        with self.group(extra=CALM) as group:
            follower, other, leader = group.start().sidecars
            group.await_leader(leader)
            self.finds_the_group_by_its_list(group)

    def test_who_it_is_and_the_epoch_are_kept(self):
        with self.group() as group:
            sidecars = group.start().sidecars
            group.await_leader(sidecars[-1])
            ids, epochs = {}, {}
            for round_number in range(2):
                for sidecar in sidecars:
                    status = sidecar.get("/v1/status")
                    ids.setdefault(sidecar.name, status["node"]["id"])
                    self.assertEqual(status["node"]["id"], ids[sidecar.name])
                    self.assertGreater(status["highest_epoch"], epochs.get(sidecar.name, 0))
                    epochs[sidecar.name] = status["highest_epoch"]
                for sidecar in sidecars:
                    if round_number == 0:
                        sidecar.kill()
                    else:
                        self.assertEqual(sidecar.stop(), 0)
                group.start().await_leader(sidecars[-1])


class FullDisk(SystemCase):
    def disk_of(self, sidecar):
        sidecar.state_folder.mkdir()
        return TmpFs(sidecar.state_folder, "size=256k")

    def test_the_state_has_its_place(self):
        """Its file is overwritten in place, so a disk that fills up later does no harm."""
        with self.group() as group, self.disk_of(group.sidecars[1]) as disk:
            _, successor, leader = group.start().sidecars
            group.await_leader(leader)
            disk.fill()
            leader.kill()
            group.await_leader(successor)
            self.assertTrue(successor.is_ready())
            epoch = successor.epoch()
            successor.kill()
            successor.start()
            group.await_leader(successor)
            self.assertGreater(successor.epoch(), epoch)

    def test_a_state_that_cannot_be_stored(self):
        """The sidecar runs on, not ready; under guard none, even to lead needs no disk."""
        with self.group() as group, self.disk_of(group.sidecars[1]) as disk:
            _, broken, leader = group.start().sidecars
            group.await_leader(leader)
            os.truncate(broken.state_folder / "state", 0)  # now overwriting needs room
            disk.fill()
            leader.kill()
            wait_until("it is not ready", lambda: not broken.is_ready())
            status, _, text = broken.request("GET", "/readyz")
            self.assertEqual(status, 503)
            self.assertIn("the state cannot be stored", text)
            broken.await_log(r"error .*the state could not be stored.*No space")
            group.await_leader(broken)
            self.assertEqual(broken.request("GET", "/livez")[0], 200)
            # What was to be stored is not there, and the next start does not take it for a state.
            broken.kill()
            disk.make_room()
            broken.start()
            self.assertEqual(broken.await_exit(), STATE_UNUSABLE)
            self.assertIn("--forget-state", broken.log())
            broken.start("--forget-state")
            group.await_leader(broken)
            self.assertTrue(broken.is_ready())


if __name__ == "__main__":
    main()
