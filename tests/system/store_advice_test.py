#!/usr/bin/env python3
"""A guard on etcd: what `status`, the doctor, the runbook (StoreDown, StoreSlow,
RecordHeldByStranger) and OPERATIONS (What it says, and what to do) advise.

usage: store_advice_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import json
import re
import shutil
import signal
import threading

from advice_case import LONG_S, AdviceCase, Answering
from certificates import Authority
from harness import free_ports, wait_until
from mounts import hidden
from store_group import LEASE_S, SHORT, EtcdCase, OfEtcd
from store_relay import Relay
from store_servers import Etcd
from system_case import main

REACH_IT = "let TCP through to it from here (firewall, NetworkPolicy), and look whether it runs"
ADDRESS = "correct the address: kubernetes.server, or etcd.endpoints"
UNKNOWN = "is held by n2, whom the sidecar here does not know"
UNKNOWN_REMEDY = ("if that is a member, see names and reach; if it is of another group, give each "
                  "group a record of its own; a member that is gone only has to be waited for")
OWN_RECORD = "end that client, or give this group a record of its own"


class StoreAdviceCase(AdviceCase):
    def trouble(self, sidecar):
        store = (sidecar.get("/v1/status") or {}).get("store") or {}
        return store.get("trouble") or ""

    def await_trouble(self, sidecar, pattern):
        """Returns all that it says."""
        said = []

        def is_said():
            said[:] = [self.trouble(sidecar)]
            return re.search(pattern, said[0]) and said[0]
        try:
            wait_until(f"{sidecar.name} says {pattern}", is_said, LONG_S)
        except AssertionError as error:
            raise AssertionError(f"{error}; it says {said}") from error
        self.assertRegex(self.commanded(sidecar, "status"), "(?m)^store")
        return said[0]

    def await_no_trouble(self, group):
        """Of the leader: others say what they have met last until it is their turn to ask."""
        leader = group.await_leader(patience_s=LONG_S)
        wait_until("nothing is wrong with the store", lambda: self.trouble(leader) == "", LONG_S)

    def restart_all(self, group, *, between=None):
        """Stops all of them, and starts them."""
        for sidecar in group.sidecars:
            if sidecar.is_running:
                self.assertEqual(sidecar.stop(), 0)
        if between is not None:
            between()
        for sidecar in group.sidecars:
            sidecar.start()
        return self.await_whole(group)


class Answers(StoreAdviceCase, EtcdCase):
    """At one etcd, which all of a class share; those with one of their own are below."""

    def test_it_is_reached_again(self):
        """StoreDown: `unreachable`; nothing has to be restarted."""
        with self.led_group() as guarded:
            group, leader = guarded.group, guarded.group.sidecars[2]
            doors = guarded.doors_of(*group.sidecars)
            for door in doors:
                door.refuse()
            self.await_metric(leader, "bellwether_store_up", 0)
            self.await_metric(leader, "bellwether_leader_known", 0)
            self.await_advice(leader, "store", "127.0.0.1", REACH_IT)
            for door in doors:
                door.heal()
            self.await_whole(group)
            self.await_no_trouble(group)
            self.await_health(leader, "store")

    def test_a_slow_one_gets_a_longer_lease(self):
        """StoreSlow; `explain` says when the limit bites."""
        with self.led_group(extra='lease = "2s"\npreempt_delay = "500ms"\n') as guarded:
            group, leader = guarded.group, guarded.group.sidecars[2]
            doors = guarded.doors_of(*group.sidecars)
            for door in doors:
                door.slow_down(0.6)  # each way; an answer may take 2/5 of the lease
            self.await_metric(leader, "bellwether_leader_known", 0)
            group.extra = '[election]\nlease = "10s"\npreempt_delay = "500ms"\n'
            for sidecar in group.sidecars:
                sidecar.write_config(group.config_of(sidecar))
            self.restart_all(group)
            for door in doors:
                door.heal()

    def test_a_stranger_is_ended_or_the_group_gets_its_own_record(self):
        """RecordHeldByStranger; *held by NAME, which is not a member*."""
        with self.led_group() as guarded:
            group = guarded.group
            high = group.sidecars[2]
            for sidecar in group.sidecars:
                sidecar.stop()
            is_over = threading.Event()

            def hold():
                number = 0
                while not is_over.wait(0.2):
                    number += 1
                    self.store.put(guarded.name, json.dumps(
                        {"holder": "somebody", "name": "operator", "lease_ms": 3000,
                         "time": number}))
            stranger = threading.Thread(target=hold)
            stranger.start()
            self.addCleanup(is_over.set)
            for sidecar in group.sidecars:
                sidecar.start()
            self.await_metric(high, "bellwether_store_record_is_strange", 1)
            self.await_metric(high, "bellwether_leader_known", 0)
            self.await_advice(high, "store", "which is not a member; its lease is waited for",
                              OWN_RECORD)
            with self.subTest("a record of its own"):
                old, group.tls = group.tls, lambda each, of=group.tls: of(each).replace(
                    "[etcd]", '[etcd]\nprefix = "/own/"')

                def rename():
                    for sidecar in group.sidecars:
                        sidecar.write_config(group.config_of(sidecar))
                self.restart_all(group, between=rename)
                self.await_health(high, "store")
                group.tls = old
                for sidecar in group.sidecars:
                    sidecar.stop()
                    sidecar.write_config(group.config_of(sidecar))
                for sidecar in group.sidecars:
                    sidecar.start()
                self.await_metric(high, "bellwether_store_record_is_strange", 1)
            is_over.set()
            stranger.join()
            self.await_whole(group)
            self.await_metric(high, "bellwether_store_record_is_strange", 0)

    def test_a_record_that_says_minutes_is_deleted_between(self):
        with self.led_group() as guarded:
            group = guarded.group
            low = group.sidecars[0]
            for sidecar in group.sidecars:
                sidecar.kill()
            self.store.edit(guarded.name, lease_s=600)
            self.await_advice(low, "store", "so long everybody waits once its holder is silent",
                              "shorten the lease of the client that wrote it")
            for sidecar in group.sidecars:
                shutil.rmtree(sidecar.state_folder)  # or the last leader knows that it is its own
                sidecar.start()
                self.await_metric(sidecar, "bellwether_leader_known", 0)
            wait_until("it is waited for", lambda: "n2" in str(low.get("/v1/explain")))
            self.restart_all(group, between=lambda: self.store.delete(guarded.name))
            self.await_health(low, "store")

    def test_all_are_stopped_before_it_is_restored_from_a_backup(self):
        with self.led_group() as guarded:
            group = guarded.group
            backup, epoch = json.dumps(self.store.value(guarded.name)), 0
            for _ in range(2):
                self.commanded(group.await_leader(group.sidecars[2]), "step-down", "--hold", "1s")
                group.await_leader(group.sidecars[1])
            epoch = group.await_leader(group.sidecars[2]).epoch()
            self.restart_all(group, between=lambda: self.store.put(guarded.name, backup))
            epoch_after = group.await_leader().epoch()
            self.assertGreater(epoch_after, epoch)
            with self.subTest("members that remember nothing"):
                def restore():
                    self.store.put(guarded.name, backup)
                    self.store.delete(guarded.name)
                    for sidecar in group.sidecars:
                        shutil.rmtree(sidecar.state_folder)
                self.restart_all(group, between=restore)
                self.assertGreater(group.await_leader(patience_s=LONG_S).epoch(), epoch_after)

    def test_the_folder_of_one_copy_is_emptied(self):
        """*another process holds the record under its id*"""
        with self.led_group() as guarded:
            group = guarded.group
            copy, _, leader = group.sidecars
            self.assertEqual(copy.stop(), 0)
            shutil.rmtree(copy.state_folder)
            shutil.copytree(leader.state_folder, copy.state_folder)
            copy.start()
            wait_until("it says so", lambda: "its state folder was copied" in str(
                copy.get("/v1/explain")))
            self.assertTrue(leader.is_leader())
            self.assertEqual(copy.stop(), 0)
            shutil.rmtree(copy.state_folder)
            copy.start()
            self.await_whole(group, leader)

    def test_the_same_guard_is_given_to_all(self):
        """`voters` of the doctor."""
        with self.led_group() as guarded:
            group = guarded.group
            odd, other, _ = group.sidecars
            self.assertEqual(odd.stop(), 0)
            # By a record of its own it would lead, sooner or later.
            good = self.edit(odd, ("[etcd]", '[etcd]\nprefix = "/elsewhere/"'),
                             (f"priority = {group.priorities[0]}", "priority = 0"))
            odd.start()
            self.await_advice(other, "voters", "n0: another guard or another record than the "
                              "configuration here", "give all the same; see From another guard to "
                              "a store")
            self.await_metric(other, "bellwether_config_mismatch", 1)
            self.set_alike(group, good)

    def set_alike(self, group, good):
        """The first one's configuration is as that of the others again."""
        odd, other, leader = group.sidecars
        odd.write_config(good)
        self.restart(group, odd)
        self.await_whole(group, leader)
        self.await_health(other, "voters")

    def test_leases_that_differ_are_set_alike(self):
        """`voters` of the doctor."""
        with self.led_group() as guarded:
            group = guarded.group
            odd, other, _ = group.sidecars
            good = self.edit(odd, (f'lease = "{LEASE_S}s"', f'lease = "{2 * LEASE_S}s"'))
            self.restart(group, odd)
            self.await_advice(other, "voters", f"lease {LEASE_S}s: n1 and n2; lease "
                              f"{2 * LEASE_S}s: n0", "set election.lease alike everywhere, and "
                              "restart; until then whoever waits for the record waits for the "
                              "longest that it knows")
            self.set_alike(group, good)

    def test_a_holder_that_is_a_member_is_met(self):
        """*whom the sidecar here does not know*: see names and reach."""
        with self.led_group() as guarded:
            group = guarded.group
            odd, _, leader = group.sidecars
            self.assertEqual(odd.stop(), 0)
            self.commanded(leader, "forget", odd.name)
            shutil.rmtree(odd.state_folder)
            odd.peer_port, nobody = free_ports(2)
            peers = re.search(r"peers = .*", group.config_of(odd))[0]
            odd.write_config(group.config_of(odd).replace(
                peers, f'peers = ["127.0.0.1:{nobody}"]'))
            odd.start()
            self.await_advice(odd, "store", UNKNOWN, UNKNOWN_REMEDY)
            self.await_advice(odd, "reach", f":{nobody}", "take it out of membership.peers")
            self.reload(odd, group.config_of(odd))
            self.await_whole(group, leader)
            self.await_health(odd, "store")

    def test_a_holder_that_is_gone_is_waited_for(self):
        with self.led_group(extra='lease = "9s"\npreempt_delay = "500ms"\n') as guarded:
            group = guarded.group
            odd, *others = group.sidecars
            for sidecar in group.sidecars:
                sidecar.kill()
            shutil.rmtree(odd.state_folder)
            odd.start()
            self.await_advice(odd, "store", UNKNOWN, UNKNOWN_REMEDY)
            group.await_leader(odd)
            self.await_health(odd, "store")
            for sidecar in others:
                sidecar.start()
            self.await_whole(group)

    def test_a_holder_of_another_group_leaves_the_record_to_this_one(self):
        with self.led_group(name="shared") as guarded, self.group(
                3, extra=SHORT, name="shared", tls=guarded.group.tls) as second:
            text = {each: second.config_of(each).replace("[etcd]", '[etcd]\nprefix = "/second/"')
                    for each in second.sidecars}
            low = second.start().sidecars[0]
            self.await_advice(low, "store", UNKNOWN, UNKNOWN_REMEDY)
            self.assertIsNone(low.leader())
            for sidecar in second.sidecars:
                sidecar.write_config(text[sidecar])
                self.assertEqual(sidecar.stop(), 0)
            for sidecar in second.sidecars:
                sidecar.start()
            self.await_whole(second, second.sidecars[2])
            self.await_health(low, "store")
            self.await_whole(guarded.group, guarded.group.sidecars[2])


class Own(StoreAdviceCase, EtcdCase):
    """Each with an etcd of its own, or with something that is none."""

    @contextlib.contextmanager
    def at(self, table_of):
        """A group with this table, started; it need not lead."""
        with self.group(3, extra=SHORT, tls=table_of) as group:
            yield group.start()

    def configure_all(self, group, table_of):
        """Which waits for a restart."""
        group.tls = table_of

        def write():
            for sidecar in group.sidecars:
                sidecar.write_config(group.config_of(sidecar))
        self.restart_all(group, between=write)

    def test_its_user_gets_a_role_and_the_right_password(self):
        with Etcd() as etcd:
            for words in (("user", "add", "root:root"), ("user", "grant-role", "root", "root"),
                          ("user", "add", "orders:right"), ("role", "add", "orders"),
                          ("auth", "enable")):
                etcd.ctl(*words)
            table = OfEtcd(etcd).table("test", [int(etcd.urls[0].rsplit(":", 1)[1])])
            password = self.secret("wrong")
            with self.at(lambda _: table) as group:
                one = group.sidecars[0]
                self.await_trouble(one, "wants to know who asks; give etcd.user and password_file")
                self.await_advice(one, "store", "wants to know who asks",
                                  "replace the token or the password")
                group.tls = lambda _: (f'{table}user = "orders"\n'
                                       f'password_file = "{password}"\n')
                for sidecar in group.sidecars:
                    self.assertEqual(sidecar.stop(), 0)
                    sidecar.write_config(group.config_of(sidecar))
                    sidecar.start()
                self.await_trouble(one, "does not believe user orders with the password of")
                self.await_advice(one, "store", "does not believe user orders", "replace the token "
                                  "or the password; the file is read again by itself")
                self.secret("right")
                self.await_trouble(one, "orders needs a role that may read and write key "
                                   "/bellwether/test")
                self.await_advice(one, "store", "needs a role that may read and write key",
                                  "grant what it names; nothing has to be restarted")
                etcd.ctl("role", "grant-permission", "orders", "readwrite", "/bellwether/test",
                         user="root:root")
                etcd.ctl("user", "grant-role", "orders", "orders", user="root:root")
                leader = self.await_whole(group)
                self.await_no_trouble(group)
                self.await_health(leader, "store")

    def test_endpoints_are_of_one_cluster_that_has_json(self):
        with Etcd() as other, Answering() as gateless:
            own = self.server.urls[0]
            with self.at(lambda _: f'[etcd]\nendpoints = ["{gateless.url}"]\n') as group:
                one = group.sidecars[0]
                self.await_trouble(one, "has no /v3 for JSON")
                self.await_advice(one, "store", "has no /v3 for JSON", ADDRESS)
                right = f'[etcd]\nendpoints = ["{own}"]\nprefix = "/one/"\n'
                self.configure_all(group, lambda _: right)
                self.await_health(one, "store")
                both = right.replace(f'"{own}"', f'"{own}", "{other.urls[0]}"')
                self.configure_all(group, lambda _: both)
                leader = group.await_leader()
                first = self.server.members[0].process
                first.send_signal(signal.SIGSTOP)
                try:
                    self.await_trouble(leader, "is of etcd cluster .*: let etcd.endpoints name the "
                                       "members of one cluster")
                finally:
                    first.send_signal(signal.SIGCONT)
                self.configure_all(group, lambda _: right)
                self.await_no_trouble(group)

    def test_sidecars_are_restarted_when_their_cluster_was_made_anew(self):
        old, new = (self.enterContext(Etcd()) for _ in range(2))
        with Relay() as relay:
            doors = [relay.door(int(each.urls[0].rsplit(":", 1)[1])) for each in (old, new)]
            places = ", ".join(f'"http://127.0.0.1:{door.port}"' for door in doors)
            with self.at(lambda _: f"[etcd]\nendpoints = [{places}]\n") as group:
                group.await_leader(patience_s=LONG_S)
                old.members[0].kill()
                leader = group.sidecars[2]
                self.await_trouble(leader, "if it was made anew, restart this sidecar")
                self.restart_all(group)

    def test_what_only_the_sidecar_meets_is_what_it_has_mounted(self):
        with Etcd() as etcd:
            etcd.ctl("user", "add", "root:right")
            etcd.ctl("user", "grant-role", "root", "root")
            etcd.ctl("auth", "enable")
            table = OfEtcd(etcd).table("test", [int(etcd.urls[0].rsplit(":", 1)[1])])
            password = self.secret("right")
            with self.group(3, extra=SHORT, tls=lambda _: (
                    f'{table}user = "root"\npassword_file = "{password}"\n')) as group:
                for sidecar in group.sidecars:
                    sidecar.prefix = hidden(password.parent)
                one = group.start().sidecars[0]
                self.await_trouble(one, "etcd.password_file .* cannot be read")
                self.await_advice(one, "store", "the sidecar says: etcd.password_file",
                                  "do what it says; if only the sidecar meets it, look at its "
                                  "user's rights and at what it has mounted")
                for sidecar in group.sidecars:
                    self.assertEqual(sidecar.stop(), 0)
                    sidecar.prefix = []
                    sidecar.start()
                self.await_whole(group)
                self.await_no_trouble(group)
                self.await_health(one, "store")

    def test_its_quorum_is_restored(self):
        """Two of three members have gone."""
        with Etcd(3) as etcd:
            places = ", ".join(f'"{url}"' for url in etcd.urls)
            with self.at(lambda _: f"[etcd]\nendpoints = [{places}]\n") as group:
                leader = group.await_leader(group.sidecars[2])
                for member in etcd.members[1:]:
                    member.kill()
                self.await_advice(leader, "store", "", "look at the store's own health: its "
                                  "leader, its quorum, its disk")
                for member in etcd.members[1:]:
                    member.start()
                self.await_whole(group)
                self.await_no_trouble(group)
                self.await_health(leader, "store")

    def test_its_certificate_is_believed(self):
        """StoreDown: `tls`; the authority, then the name that is in it."""
        stranger = Authority(self.folder, "stranger")
        with Etcd(authority=self.authority) as etcd:
            def table(ca, url=etcd.urls[0]):
                return lambda _: f'[etcd]\nendpoints = ["{url}"]\nca = "{ca.certificate}"\n'
            with self.at(table(stranger)) as group:
                one = group.sidecars[0]
                remedy = ("give the store's table the ca of its certificate, and a name or address "
                          "that is in it")
                self.await_advice(one, "store", "not signed by an authority", remedy)
                self.configure_all(group, table(self.authority))
                self.await_health(one, "store")
                by_name = etcd.urls[0].replace("127.0.0.1", "localhost")
                group.tls = table(self.authority, by_name)
                for sidecar in group.sidecars:
                    sidecar.stop()
                    sidecar.write_config(group.config_of(sidecar))
                    sidecar.start()
                self.await_advice(one, "store", "localhost", remedy)
                self.configure_all(group, table(self.authority))
                self.await_health(one, "store")


if __name__ == "__main__":
    main()
