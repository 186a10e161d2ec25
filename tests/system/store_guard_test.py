#!/usr/bin/env python3
"""A store decides who leads: whatever happens to members, to the store, to the network between
them or to the record, two flags never read "leader" at once, and epochs rise.

usage: store_guard_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import socket

from harness import now_ns, wait_until
from namespaces import Hosts, can_make_namespaces
from store_group import IS_ALL, LEASE_S, SHORT, EtcdCase, KubernetesCase, by_command
from system_case import main


class Life:
    """What holds at every store; a class below is a StoreGuardCase."""

    def take_down(self, guarded, number):
        """The leader, by a signal; returns when its flag was off and another one on."""
        leader = guarded.group.await_leader(guarded.group.sidecars[-1])
        epoch = leader.epoch()
        asked_ns = now_ns()
        leader.is_wanted = number == signal.SIGSTOP
        leader.send_signal(number)
        off_ns = guarded.await_off(leader, asked_ns)
        on_ns, successor = guarded.await_new_reign(epoch)
        self.assertIsNot(successor, leader)
        guarded.group.await_leader(successor)
        guarded.await_holder(successor)
        if number == signal.SIGSTOP:
            leader.send_signal(signal.SIGCONT)
        else:
            leader.await_exit()
            leader.start()
        guarded.group.await_leader(leader)
        return off_ns, on_ns

    def test_a_leader_that_ends_or_stops_is_succeeded(self):
        for size, numbers in ((3, (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP)),
                              (2, (signal.SIGKILL, signal.SIGTERM))):
            with self.subTest(size=size), self.led_group(size, name=f"ends-{size}") as guarded:
                for number in numbers:
                    self.take_down(guarded, number)

    def test_a_successor_that_ends_in_the_hand_over_is_passed_over(self):
        lease = f'lease = "{2 * LEASE_S}s"\npreempt_delay = "500ms"\n'
        with self.led_group(extra=lease) as guarded:
            lowest, successor, leader = guarded.group.sidecars
            for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
                with self.subTest(number.name):
                    epoch = leader.epoch()
                    leader.is_wanted = False
                    successor.is_wanted = number == signal.SIGSTOP
                    if number == signal.SIGSTOP:
                        successor.send_signal(number)
                    leader.send_signal(signal.SIGTERM)
                    if number != signal.SIGSTOP:
                        successor.send_signal(number)
                    # It had the time to lead before it ended, or has not.
                    wait_until("the lowest leads, and has not waited for the lease",
                               lowest.is_leader, patience_s=LEASE_S)
                    self.assertLessEqual(lowest.epoch(), epoch + 2)
                    leader.await_exit()
                    leader.start()
                    if number == signal.SIGSTOP:
                        successor.send_signal(signal.SIGCONT)
                    else:
                        successor.await_exit()
                        successor.start()
                    guarded.group.await_leader(leader)

    def test_a_leader_without_the_store_gives_way_to_one_that_has_it(self):
        with self.led_group() as guarded:
            leader, epoch = guarded.group.sidecars[-1], guarded.group.sidecars[-1].epoch()
            for fault in ("cut", "lose_answers", "refuse") if IS_ALL else ("lose_answers",):
                with self.subTest(fault):
                    cut_ns = now_ns()
                    for door in guarded.doors_of(leader):
                        getattr(door, fault)()
                    guarded.await_off(leader, cut_ns)
                    _, successor = guarded.await_new_reign(epoch)
                    self.assertIsNot(successor, leader)
                    guarded.group.await_leader(successor)
                    for door in guarded.doors_of(leader):
                        door.heal()
                    guarded.group.await_leader(leader)
                    epoch = leader.epoch()

    def test_without_the_store_nobody_leads_and_when_it_is_back_somebody_does(self):
        with self.led_group() as guarded:
            sidecars, epoch = guarded.group.sidecars, guarded.group.sidecars[-1].epoch()
            cut_ns = now_ns()
            for door in guarded.doors_of(*sidecars):
                door.cut()
            guarded.await_off(sidecars[-1], cut_ns)
            wait_until("it is not ready", lambda: not sidecars[-1].is_ready())
            for sidecar in sidecars:
                wait_until("it says why", lambda each=sidecar: (
                    "store" in str(each.get("/v1/explain")).lower()))
            self.assertIsNone(guarded.group.observer.first_on(cut_ns))
            for door in guarded.doors_of(*sidecars):
                door.heal()
            guarded.await_new_reign(epoch)
            guarded.group.await_leader(sidecars[-1])

    def test_a_follower_tells_no_trouble_of_long_ago(self):
        with self.led_group() as guarded:
            lowest, *others = guarded.group.sidecars
            for door in guarded.doors_of(lowest):
                door.cut()
            for sidecar in reversed(others):
                sidecar.stop()
            wait_until("it has asked in vain", lambda: lowest.get("/v1/status")["store"]["trouble"])
            for sidecar in others:
                sidecar.start()
            guarded.group.await_leader(others[-1])
            for door in guarded.doors_of(lowest):
                door.heal()
            # It has no reason to ask again.
            wait_until("it tells none", lambda: (
                lowest.get("/v1/status")["store"]["trouble"] is None))
            self.assertEqual(lowest.count("bellwether_store_up"), 1)

    def test_a_deleted_record_costs_an_epoch_and_no_gap(self):
        with self.led_group() as guarded:
            leader = guarded.group.sidecars[-1]
            epoch, began_ns = leader.epoch(), now_ns()
            for _ in range(3):
                self.store.delete(guarded.name)
                _, again = guarded.await_new_reign(epoch)
                self.assertIs(again, leader)
                guarded.await_holder(leader)
                epoch = leader.epoch()
            self.assertIsNone(guarded.group.observer.first(2, False, began_ns))

    def test_an_edited_record_makes_no_two_leaders(self):
        with self.led_group() as guarded:
            leader = guarded.group.sidecars[-1]
            for edit in ({"lease_s": 1}, {"holder": ""}, {"holder": "n0"},
                         {"holder": "n0", "lease_s": 1}):
                with self.subTest(edit):
                    self.store.edit(guarded.name, **edit)
                    wait_until("a member has written since", lambda: (
                        self.store.holder(guarded.name) == leader.name and leader.is_leader()))
                    guarded.group.await_leader(leader)

    def test_two_groups_at_one_store_do_not_meet(self):
        with self.led_group(2, name="one") as one, self.led_group(2, name="other") as other:
            self.take_down(one, signal.SIGKILL)
            changes = other.group.observer.changes
            self.assertEqual([change[1:3] for change in changes if change[1] == 1][-1], (1, True))
            self.take_down(other, signal.SIGTERM)
            self.assertEqual(one.group.agreed_leader(), one.group.sidecars[-1])

    def test_a_second_life_takes_its_own_record_at_once(self):
        with self.led_group(1, extra='lease = "6s"\n') as guarded:
            only = guarded.group.sidecars[0]
            epoch = only.epoch()
            for has_folder in (True, True, False):
                only.kill()
                if not has_folder:
                    shutil.rmtree(only.state_folder)
                only.start()
                if has_folder:
                    guarded.await_new_reign(epoch)
                    wait_until("it leads", only.is_leader)
                    epoch = only.epoch()
            # Without its folder it is somebody else, who waits.
            wait_until("it waits for who it was", lambda: (
                "unless that one renews it" in str(only.get("/v1/explain"))))
            self.assertFalse(only.is_leader())

    def test_a_copy_of_the_leaders_state_waits_for_the_record(self):
        with self.led_group(2) as guarded:
            copy, leader = guarded.group.sidecars
            epoch = leader.epoch()
            copy.stop()
            shutil.rmtree(copy.state_folder)
            shutil.copytree(leader.state_folder, copy.state_folder)
            copy.start()
            wait_until("it says whose record that is", lambda: (
                "its state folder was copied" in str(copy.get("/v1/explain"))))
            self.assertTrue(leader.is_leader())
            self.assertEqual(leader.epoch(), epoch)
            leader.kill()
            self.assertIs(guarded.await_new_reign(epoch)[1], copy)


def patience_with(sidecar, client):
    """How long this client's kernel may acknowledge nothing, by the sidecar's own socket, in ms;
    None: its sockets may not be looked at."""
    pidfd_getfd = 438  # of all architectures
    libc = ctypes.CDLL(None)
    with open(os.pidfd_open(sidecar.process.pid), "rb", buffering=0) as process:
        for fd in os.listdir(f"/proc/{sidecar.process.pid}/fd"):
            copy = libc.syscall(pidfd_getfd, process.fileno(), int(fd), 0)
            with contextlib.suppress(OSError):
                if copy >= 0:
                    with open(copy, "rb", buffering=0), socket.fromfd(
                            copy, socket.AF_INET, socket.SOCK_STREAM) as own:
                        if own.getpeername() == client:
                            return own.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
    return None


class OnEtcd(EtcdCase, Life):
    """One etcd."""

    def test_patience_with_applications_is_that_of_the_detector_in_force(self):
        attach = "[application]\nattach = true\n"
        request = (b"POST /v1/application/attach HTTP/1.1\r\nHost: localhost\r\n"
                   b"Content-Length: 0\r\n\r\n")
        with self.led_group(1, extra=SHORT + attach, is_led=False) as guarded:
            group, (sidecar,) = guarded.group, guarded.group.sidecars
            wait_until("it is served", lambda: sidecar.get("/v1/leader"))
            with socket.create_connection(("127.0.0.1", sidecar.api_port)) as application:
                application.sendall(request)
                self.assertIn(b"200", application.recv(100))
                client = application.getsockname()
                before = patience_with(sidecar, client)
                if before is None:
                    self.skipTest("the sockets of another process may not be looked at")
                sidecar.write_config(group.config_of(sidecar) +
                                     '[failure_detector]\nsuspect_after = "2s"\n')
                status, _, text = sidecar.request("POST", "/v1/reload")
                self.assertEqual(status, 200, text)
                self.assertEqual(json.loads(text)["pending_restart"], [])
                self.assertEqual((before < 3200, patience_with(sidecar, client)), (True, 3200))

    def test_the_guard_is_changed_to_voters_and_back(self):
        with self.led_group() as guarded:
            group = guarded.group
            of_voters = {"voters": 3, "extra": "", "tls": lambda _: ""}
            of_store = {"voters": 0, "extra": group.extra, "tls": group.tls}
            for guard, arguments in ((of_voters, ["--forget-promises"]), (of_store, [])):
                epoch = group.await_leader(group.sidecars[-1]).epoch()
                for sidecar in group.sidecars:
                    sidecar.stop()
                vars(group).update(guard)
                for sidecar in group.sidecars:
                    sidecar.write_config(group.config_of(sidecar))
                group.start(*arguments)
                guarded.await_new_reign(epoch)
            group.await_leader(group.sidecars[-1])
            self.assertGreater(group.sidecars[-1].epoch(), epoch)

    def test_members_that_do_not_hear_the_leader_leave_it_the_store(self):
        if not can_make_namespaces():
            self.skipTest("network namespaces cannot be made here")
        with Hosts(3) as hosts, self.led_group(hosts=hosts) as guarded:
            leader = guarded.group.sidecars[-1]
            cut_ns = now_ns()
            hosts.partition([0, 1], [2])
            for sidecar in guarded.group.sidecars[:2]:
                wait_until("it has no leader, or hears of one", lambda each=sidecar: (
                    each.state_of(leader.name) != "alive"))
            wait_until("longer than a lease has passed",
                       lambda: now_ns() > cut_ns + 1.5 * LEASE_S * 1e9)
            self.assertTrue(leader.is_leader())
            self.assertIsNone(guarded.group.observer.first(2, False, cut_ns))
            hosts.heal()
            guarded.group.await_leader(leader)

    def test_a_store_that_is_slow_away_or_full(self):
        member = self.server.members[0]
        with self.led_group() as guarded:
            sidecars, leader = guarded.group.sidecars, guarded.group.sidecars[-1]
            with self.subTest("restarted"):
                began_ns = now_ns()
                member.kill()
                member.start()
                wait_until("etcd is healthy", member.is_healthy)
                guarded.group.await_leader(leader)
                guarded.await_holder(leader)
            with self.subTest("stands still"):
                began_ns = now_ns()
                member.process.send_signal(signal.SIGSTOP)
                guarded.await_off(leader, began_ns)
                member.process.send_signal(signal.SIGCONT)
                guarded.group.await_leader(leader)
            with self.subTest("slow"):
                epoch = leader.epoch()
                for door in guarded.doors_of(*sidecars):
                    door.slow_down(0.05)
                wait_until("it has renewed", lambda: leader.count(
                    "bellwether_store_requests_total", verb="write") > 0)
                leader.stop()
                guarded.await_new_reign(epoch)
                leader.start()
                for door in guarded.doors_of(*sidecars):
                    door.heal()
                guarded.group.await_leader(leader)
            with self.subTest("full"):
                began_ns = now_ns()
                alarm = {"memberID": member.post("/v3/maintenance/status", {})["header"]
                         ["member_id"], "alarm": "NOSPACE"}
                member.post("/v3/maintenance/alarm", {"action": "ACTIVATE", **alarm})
                guarded.await_off(leader, began_ns)
                wait_until("it says so", lambda: "space" in str(
                    leader.get("/v1/status")["store"]["trouble"]))
                member.post("/v3/maintenance/alarm", {"action": "DEACTIVATE", **alarm})
                guarded.group.await_leader(leader)

    def test_leadership_goes_to_the_named_member_however_slow_the_store_is(self):
        with self.led_group(extra='lease = "6s"\n') as guarded:
            lowest, _, leader = guarded.group.sidecars
            epoch = leader.epoch()
            self.await_able(leader, lowest)
            for door in guarded.doors_of(*guarded.group.sidecars):
                door.slow_down(0.25)
            self.assertEqual(leader.request("POST", "/v1/transfer?wait=50s", {"to": lowest.name},
                                            timeout_s=60)[0], 200)
            self.assertIs(guarded.await_new_reign(epoch)[1], lowest)
            guarded.group.await_leader(lowest)
            self.assertEqual(lowest.epoch(), epoch + 1)

    def test_a_store_slower_than_half_a_renew_interval_has_a_leader_and_stops_nobody(self):
        with self.led_group(2, extra='lease = "6s"\n') as guarded:  # 2.4s are of use
            lower, leader = guarded.group.sidecars
            epoch, began_ns = leader.epoch(), now_ns()
            for door in guarded.doors_of(lower, leader):
                door.slow_down(0.5)
            wait_until("more than a lease has passed", lambda: now_ns() > began_ns + 8e9)
            self.assertIsNone(guarded.group.observer.first(1, False, began_ns))
            leader.kill()
            self.assertIs(guarded.await_new_reign(epoch)[1], lower)
            for door in guarded.doors_of(lower):
                door.cut()
            lower.is_wanted, asked_ns = False, now_ns()
            lower.send_signal(signal.SIGTERM)
            guarded.await_off(lower, asked_ns)
            lower.await_exit()
            print(f"left a hanging store in {(now_ns() - asked_ns) / 1e9:.2f} s")


class OnKubernetes(KubernetesCase, Life):
    """An API server with RBAC, asked with the token of a service account.  CI runs what differs."""

    test_a_leader_without_the_store_gives_way_to_one_that_has_it = by_command(
        Life.test_a_leader_without_the_store_gives_way_to_one_that_has_it)
    test_without_the_store_nobody_leads_and_when_it_is_back_somebody_does = by_command(
        Life.test_without_the_store_nobody_leads_and_when_it_is_back_somebody_does)
    test_a_follower_tells_no_trouble_of_long_ago = by_command(
        Life.test_a_follower_tells_no_trouble_of_long_ago)
    test_two_groups_at_one_store_do_not_meet = by_command(
        Life.test_two_groups_at_one_store_do_not_meet)
    test_a_second_life_takes_its_own_record_at_once = by_command(
        Life.test_a_second_life_takes_its_own_record_at_once)
    test_a_copy_of_the_leaders_state_waits_for_the_record = by_command(
        Life.test_a_copy_of_the_leaders_state_waits_for_the_record)


class OnClusterOfEtcd(EtcdCase):
    """Three of them."""

    size = 3

    def test_the_leader_of_the_cluster_is_killed_stopped_and_cut_off(self):
        with self.led_group() as guarded:
            leader, members = guarded.group.sidecars[-1], self.server.members
            for fault in ("kill", "stop", "cut"):
                with self.subTest(fault):
                    chosen = self.server.leader()
                    doors = [guarded.doors[each.name][members.index(chosen)]
                             for each in guarded.group.sidecars]
                    if fault == "kill":
                        chosen.kill()
                    elif fault == "stop":
                        chosen.process.send_signal(signal.SIGSTOP)
                    else:
                        for door in doors:
                            door.cut()
                    others = [each for each in members if each is not chosen]
                    wait_until("the others lead the cluster", lambda: fault == "cut" or any(
                        each.is_leader() for each in others))
                    guarded.group.await_leader()
                    for door in doors:
                        door.heal()
                    if fault == "kill":
                        chosen.start()
                    chosen.process.send_signal(signal.SIGCONT)
                    wait_until("it is healthy", chosen.is_healthy)
                    guarded.group.await_leader(leader)


if __name__ == "__main__":
    main()
