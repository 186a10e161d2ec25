#!/usr/bin/env python3
"""What a sidecar lives through: new configurations, restarts, newcomers, full disks.

usage: life_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import os
import pathlib
import signal
import time
import unittest

from harness import wait_until
from mounts import TmpFs
from system_case import CALM, IS_SANITIZED, SystemCase, main

# What starts a program so, as the classic way to make a daemon does.
ALL_CLOSED = ("sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh")
REST_S, MOST_SHARE, MOST_MIB = 10, 0.03, 20
MOST_THREADS = 6  # the loop's, the flag's, the log's, a reader's, and two of libuv's pool
RELOADED = "bellwether_config_last_reload_successful"


class Socket(SystemCase):
    def test_a_socket_that_is_removed_is_made_again(self):
        with self.group(1, extra=CALM) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)

            def status():
                return self.run_program("status", "--api", sidecar.socket_file).returncode
            self.assertEqual(status(), 0)
            sidecar.socket_file.unlink()
            wait_until("it answers there again", lambda: status() == 0)
            sidecar.await_log("error .*the API's socket was removed .*in its place again")
            sidecar.socket_file.unlink()
            sidecar.socket_file.write_text("precious")
            sidecar.await_log("error .*the API's socket was replaced by another file"
                              ".*remove what is in its place")
            self.assertEqual(sidecar.socket_file.read_text(), "precious")
            sidecar.socket_file.unlink()
            wait_until("it answers there again", lambda: status() == 0)


class Configuration(SystemCase):
    def await_reload(self, sidecar, is_good):
        wait_until(f"{RELOADED} is {int(is_good)}",
                   lambda: sidecar.metrics()[RELOADED] == float(is_good))

    def test_a_bad_file_changes_nothing_until_it_is_repaired(self):
        with self.group(extra=CALM) as group:
            _, changed, leader = group.start().sidecars
            group.await_leader(leader)
            good = changed.config_file.read_text()
            before = changed.get("/v1/status")["config"]
            for bad, key in ((good + "bogus = 1\n", "failure_detector.bogus"), ("[", "toml:1:")):
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

        with self.group(extra=CALM) as group:
            first, second, leader = group.start().sidecars
            group.await_leader(leader)
            epoch = leader.get("/v1/leader")["epoch"]
            classic = '[election]\nvariant = "classic"\n' + CALM
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

    def test_sighup_reads_a_file_whose_folder_is_not_watched(self):
        with self.group(1) as group:
            sidecar, = group.sidecars
            # The link's folder is watched, in which nothing happens: no log, no socket is there.
            file = sidecar.config_file
            (group.folder / "watched").mkdir()
            sidecar.config_file = group.folder / "watched" / "bellwether.toml"
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
        with self.group(2, extra=CALM) as group:
            follower, leader = group.start().sidecars
            group.await_leader(leader)
            for sidecar, role in ((follower, "following"), (leader, "leading")):
                self.assertEqual(sidecar.get("/v1/status")["role"], role)
                sidecar.send_signal(signal.SIGUSR1)
                sidecar.await_log(rf'state status=.*\\"role\\":\\"{role}\\"')
            self.assertIs(group.agreed_leader(), leader)

    def test_an_interrupt_ends_it_like_sigterm_and_a_broken_pipe_does_not(self):
        with self.group(2, extra=CALM) as group:
            follower, leader = group.start().sidecars
            group.await_leader(leader)
            leader.send_signal(signal.SIGPIPE)
            leader.send_signal(signal.SIGUSR1)  # which comes after it
            leader.await_log("state status=")
            self.assertIs(group.agreed_leader(), leader)
            leader.is_wanted = False
            leader.send_signal(signal.SIGINT)
            self.assertEqual(leader.await_exit(), 0)
            group.await_leader(follower)
            wait_until("it has left", lambda: follower.members()["n1"]["state"] == "left")

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
            classic = group.config_of(sidecar, extra='[election]\nvariant = "classic"\n')
            volume = group.folder / "volume"
            for revision, contents in (("..1", text), ("..2", "["), ("..3", classic)):
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
            swap("..3")
            self.await_reload(sidecar, True)
            self.assertEqual(sidecar.get("/v1/status")["variant"], "classic")

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

    def test_who_is_gone_for_long_is_forgotten_until_it_comes_back(self):
        with self.group(extra=CALM) as group:
            for sidecar in group.sidecars:
                sidecar.write_config(group.config_of(sidecar).replace(
                    "[membership]", '[membership]\nreap_after = "5s"'))
            gone, other, leader = group.start().sidecars
            group.await_leader(leader)
            wait_until("all know all", lambda: all(len(sidecar.members()) == 3
                                                   for sidecar in group.sidecars))
            gone.kill()
            leader.await_state_of(gone, "down")
            for sidecar in (leader, other):
                wait_until(f"{sidecar.name} has forgotten it", lambda seen_by=sidecar: set(
                    seen_by.members()) == {"n1", "n2"})
            gone.start()
            for sidecar in (leader, other):
                sidecar.await_state_of(gone, "alive")
            self.assertIs(group.await_leader(), leader)

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


class Descriptors(SystemCase):
    def test_closed_ones_are_not_the_numbers_of_its_files(self):
        """The log would be written into a file that came to be stderr, such as a voter's state."""
        for memory_keeper in ("off", "on"):
            with self.subTest(memory_keeper=memory_keeper), self.group(1, voters=1) as group:
                sidecar, = group.sidecars
                sidecar.write_config(sidecar.config_file.read_text().replace(
                    "[node]", f'[node]\nmemory_keeper = "{memory_keeper}"'))
                sidecar.prefix = list(ALL_CLOSED)
                sidecar.start("--bootstrap")
                group.await_leader(sidecar)
                folder = pathlib.Path(f"/proc/{sidecar.process.pid}/fd")
                self.assertEqual([os.readlink(folder / str(fd)) for fd in range(3)],
                                 ["/dev/null"] * 3)
                epoch = sidecar.epoch()
                self.assertEqual(sidecar.stop(), 0)
                sidecar.prefix = []
                sidecar.start()
                group.await_leader(sidecar)
                self.assertGreater(sidecar.epoch(), epoch)
                self.assertNotIn("damaged", sidecar.log())


class Threads(SystemCase):
    def test_the_one_that_writes_the_log_stands_back(self):
        with self.group(1, extra=CALM) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            own = os.sched_getscheduler(sidecar.process.pid)
            self.assertEqual(own, os.sched_getscheduler(0))
            for thread in pathlib.Path(f"/proc/{sidecar.process.pid}/task").iterdir():
                is_log = (thread / "comm").read_text() == "log\n"
                self.assertEqual(os.sched_getscheduler(int(thread.name)),
                                 os.SCHED_BATCH if is_log else own)


@unittest.skipIf(IS_SANITIZED, "a sanitizer's own cost is not the sidecar's")
class AtRest(SystemCase):
    def test_a_sidecar_costs_little(self):
        """In a group of three: memory that it has, and processor time, which, other than time, does
        not depend on who else uses this machine.  The bound is three times what is promised: caches
        that others have emptied cost processor time, too."""
        with self.group(extra=CALM) as group:
            group.start().await_leader()
            wait_until("the start is over", lambda: all(
                sidecar.get("/v1/status")["election_state"] == "idle"
                for sidecar in group.sidecars))
            before = [sidecar.processor_s() for sidecar in group.sidecars]
            began = time.monotonic()
            wait_until("they have rested", lambda: time.monotonic() - began > REST_S)
            passed_s = time.monotonic() - began
            shares = [(sidecar.processor_s() - used_s) / passed_s
                      for sidecar, used_s in zip(group.sidecars, before)]
            for sidecar, share in zip(group.sidecars, shares):
                print(f"{sidecar.name}: {100 * share:.2f} % of a core, "
                      f"{sidecar.resident_mib():.1f} MiB")
                self.assertLess(sidecar.resident_mib(), MOST_MIB)
                # A killed process is gone with its last thread, and its flag is off so much later.
                wait_until("few threads are left",
                           lambda each=sidecar: each.threads() <= MOST_THREADS)
            # What a hypervisor takes is counted as a process's own time, but hardly as that of all.
            self.assertLess(min(shares), MOST_SHARE)


class FullDisk(SystemCase):
    def disk_of(self, sidecar):
        sidecar.state_folder.mkdir()
        return TmpFs(sidecar.state_folder, "size=256k")

    def fill(self, disk, group, sidecar):
        """When nothing is left to be stored there for now."""
        wait_until("all know all", lambda: all(len(seen_by.members()) == len(group.sidecars)
                                               for seen_by in group.sidecars))
        wait_until("the list is stored", (sidecar.state_folder / "members").exists)
        disk.fill()

    def test_the_state_has_its_place(self):
        """Its file is overwritten in place, so a disk that fills up later does no harm."""
        with self.group() as group, self.disk_of(group.sidecars[1]) as disk:
            _, successor, leader = group.start().sidecars
            group.await_leader(leader)
            self.fill(disk, group, successor)
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
            self.fill(disk, group, broken)
            leader.kill()
            wait_until("it is not ready", lambda: not broken.is_ready())
            status, _, text = broken.request("GET", "/readyz")
            self.assertEqual(status, 503)
            self.assertRegex(text, "the state cannot be stored: .*No space")
            broken.await_log(r"error .*the state could not be stored.*No space")
            group.await_leader(broken)
            self.assertEqual(broken.request("GET", "/livez")[0], 200)
            disk.make_room()
            wait_until("it is ready again", broken.is_ready)
            broken.await_log("info .*the state can be stored again")
            epoch = broken.epoch()
            broken.kill()
            broken.start()
            group.await_leader(broken)
            self.assertGreater(broken.epoch(), epoch)


if __name__ == "__main__":
    main()
