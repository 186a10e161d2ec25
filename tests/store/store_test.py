#!/usr/bin/env python3
"""The client of stores before real servers: etcd, and an API server of Kubernetes.

usage: store_test.py STORE_DRIVER [CASE...]; a case is Class.test_name
"""

import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest
import urllib.error

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))

# pylint: disable=wrong-import-position
from certificates import Authority, openssl
from harness import wait_until
from store_case import ID, NOBODY, OTHER_ID, Driver, StoreCase, main
from store_double import StoreDouble
from store_servers import LEASES, Etcd, Kubernetes, has_etcd, has_kubernetes, lease_rules


class Life:
    """What holds of every store; a class below has client()."""

    def test_a_record_is_made_claimed_renewed_named_and_released(self):
        with self.client() as client, self.client() as watcher:
            self.assertIsNone(client.read()["record"])
            version = self.written(client.create())
            self.assertLess({**NOBODY, "version": version}.items(), client.read()["record"].items())
            watcher.say("watch on")
            watcher.seen("unknown", version)
            for epoch, name, member in ((77, "orders-0", ID), (77, "orders-0", ID),
                                        (77, "orders_1", OTHER_ID), (78, "orders_1", OTHER_ID)):
                version = self.written(client.write(version, "member", epoch, name, member))
                record = watcher.seen("member", version)
                self.assertEqual((record["epoch"], record["name"], record["id"]),
                                 (epoch, name, member))
                self.assertGreaterEqual(record["lease_ms"], 2500)
            version = self.written(client.write(version, "released", 78, "orders_1", OTHER_ID))
            self.assertEqual(watcher.seen("released", version)["id"], OTHER_ID)
            self.assertEqual(len({report["request"] for report in client.reports}), 2)

    def test_of_two_that_write_over_one_version_one_does(self):
        with self.client() as one, self.client() as other:
            version = self.written(one.create())
            self.assertIn("conflict", other.create())
            self.written(one.write(version, "member", 1))
            self.assertIn("conflict", other.write(version, "member", 2, "orders-1", OTHER_ID))
            self.assertEqual(other.read()["record"]["id"], ID)

    def test_a_record_that_was_deleted_is_not_made_by_a_write(self):
        with self.client() as client, self.client() as watcher:
            version = self.written(client.create())
            version = self.written(client.write(version, "member", 1))
            watcher.say("watch on")
            watcher.seen("member", version)
            self.delete()
            self.assertIsNone(watcher.seen())
            answer = client.write(version, "member", 1)
            self.assertIn("conflict", answer)
            self.assertIsNone(answer["record"])
            self.assertIsNone(client.read()["record"])


class OnKubernetes(StoreCase, Life):
    """A real API server."""

    @classmethod
    def setUpClass(cls):
        if not has_kubernetes():
            raise unittest.SkipTest("neither KUBEBUILDER_ASSETS, PATH nor BELLWETHER_TEST_KUBE has "
                                    "a kube-apiserver")
        cls.server = cls.enterClassContext(Kubernetes())
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def setUp(self):
        self.name = self.id().rsplit("_", maxsplit=1)[-1]
        self.token_file = self.folder / f"{self.name}.token"
        self.token_file.write_text(self.server.admin + "\n")

    def client(self, **settings):
        return Driver("kubernetes", **{
            "server": self.server.url, "namespace": "shop", "lease_name": self.name,
            "secret_file": self.token_file, "ca": self.server.ca, **settings})

    def delete(self):
        self.server.delete_lease(self.name)

    def test_kubectl_shows_the_truth(self):
        with self.client() as client:
            version = self.written(client.create())
            version = self.written(client.write(version, "member", 77))
            first = self.server.lease(self.name)["spec"]
            self.assertEqual(first["holderIdentity"], f"orders-0_{ID}")
            self.assertEqual(first["leaseDurationSeconds"], 3)
            self.assertEqual(first["leaseTransitions"], 1)
            version = self.written(client.write(version, "member", 77))
            renewed = self.server.lease(self.name)["spec"]
            self.assertEqual(renewed["acquireTime"], first["acquireTime"])
            self.assertGreater(renewed["renewTime"], first["renewTime"])
            version = self.written(client.write(version, "released", 77))
            self.assertFalse(self.server.lease(self.name)["spec"]["holderIdentity"])
            self.written(client.write(version, "member", 78, "orders-1", OTHER_ID))
            self.assertEqual(self.server.lease(self.name)["spec"]["leaseTransitions"], 2)

    def test_what_others_write_is_theirs_and_what_they_attach_stays(self):
        with self.client() as client:
            version = self.written(client.create())
            self.written(client.write(version, "member", 77))
            self.server.patch_lease(self.name, {"metadata": {"labels": {"a": "b"}}})
            record = client.read()["record"]
            self.assertEqual((record["holder"], record["epoch"]), ("member", 77))
            self.written(client.write(record["version"], "member", 77))
            self.assertEqual(self.server.lease(self.name)["metadata"]["labels"], {"a": "b"})
            # As client-go does it: the object that was read, with a holder and times of its own.
            lease = self.server.lease(self.name)
            for holder, seen_as in (("other_1", "stranger"), ("", "unknown")):
                lease["spec"] |= {"holderIdentity": holder, "leaseDurationSeconds": 15,
                                  "renewTime": "2030-01-01T00:00:00.000000Z"}
                lease = self.server.request("PUT", f"{LEASES.format('shop')}/{self.name}", lease)
                record = client.read()["record"]
                self.assertEqual((record["holder"], record["epoch"]), (seen_as, 0))

    def test_a_role_for_one_lease_is_enough(self):
        account = "narrow"
        self.token_file.write_text(self.server.service_account(account))
        with self.client() as client:
            client.say("watch on")
            self.assert_failed(client.failed(), "forbidden", "does not let us watch Lease")
            client.say("watch off")
            self.assert_failed(client.read(), "forbidden", "does not let us get Lease",
                               "cannot get resource", 'verbs ["get", "patch", "watch"]')
            self.server.grant(account, lease_rules(self.name))
            # The server learns of a role a moment after it has stored it.
            wait_until("the role counts", lambda: "seen" in client.read())
            version = self.written(client.create())
            client.say("watch on")
            client.seen("unknown", version)
            version = self.written(client.write(version, "member", 1))
            client.seen("member", version)
        with self.client(lease_name="another") as client:
            self.assert_failed(client.read(), "forbidden")

    def test_a_token_that_is_over_is_replaced(self):
        good = self.token_file.read_text()
        self.token_file.write_text("not-a-token")
        with self.client() as client:
            self.assert_failed(client.read(), "unauthorized", str(self.token_file))
            self.token_file.write_text(good)
            client.say("secure")
            self.assertIn("seen", client.read())

    def test_another_authority_is_not_believed(self):
        with self.client(ca=Authority(self.folder).certificate) as client:
            self.assert_failed(client.read(), "tls", "TLS with 127.0.0.1")

    def test_a_server_that_stands_still_costs_no_more_than_patience(self):
        with self.client() as client:
            version = self.written(client.create())
            client.say("watch on")
            client.seen("unknown", version)
            pid = self.server.pid()
            os.kill(pid, signal.SIGSTOP)
            try:
                wait_until("all its threads stand still", lambda: all(
                    " T " in stat.read_text()
                    for stat in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")))
                self.assert_failed(client.write(version, "member", 1, patience_ms=200), "timeout",
                                   "no whole answer within 200ms")
            finally:
                os.kill(pid, signal.SIGCONT)
            # What was given up is done all the same, or not: whoever asks again sees.
            record = client.read()["record"]
            version = self.written(client.write(record["version"], "member", 2))
            client.seen("member", version)

    def test_a_namespace_that_is_missing_is_named(self):
        with self.client(namespace="nowhere") as client:
            self.assertIsNone(client.read()["record"])
            self.assert_failed(client.create(), "unavailable", "no namespace nowhere")

    def test_a_renewal_costs_no_handshake(self):
        with self.client() as client:
            version = self.written(client.create())
            descriptors = pathlib.Path(f"/proc/{client.process.pid}/fd")
            seen = []
            for _ in range(20):
                version = self.written(client.write(version, "member", 1))
                links = [os.readlink(each) for each in descriptors.iterdir()]
                seen.append(sorted(link for link in links if link.startswith("socket:")))
            self.assertEqual(seen, [seen[0]] * 20)
            self.assertEqual(len(seen[0]), 1)

    def test_the_double_answers_as_the_real_one(self):
        def answers(client, delete):
            told = [client.read(), client.create()]
            version = told[-1]["version"]
            told += [client.create(), client.write(version, "member", 5), client.read(),
                     client.write(version, "member", 6)]
            delete()
            told += [client.write(version, "member", 7), client.read()]
            for each in told:
                each.pop("version", None)
                (each.get("record") or {}).pop("version", None)
            return told

        with (self.client() as real, StoreDouble() as double,
              self.client(server=double.url) as client):
            self.assertEqual(answers(real, self.delete),
                             answers(client, lambda: double.delete("shop", self.name)))
            for verb, body in (("POST", {"metadata": {"name": "x"}, "spec": {}}),):
                with self.assertRaises(urllib.error.HTTPError) as refused:
                    self.server.request(verb, LEASES.format("nowhere"), body)
                status = json.load(refused.exception)
                self.assertEqual((status["code"], status["details"]["kind"]), (404, "namespaces"))


class OnEtcd(StoreCase, Life):
    """A real etcd."""

    @classmethod
    def setUpClass(cls):
        if not has_etcd():
            raise unittest.SkipTest("there is no etcd, or no etcdctl")
        cls.server = cls.enterClassContext(Etcd())

    def setUp(self):
        self.key = "/bellwether/" + self.id().rsplit("_", maxsplit=1)[-1]

    def client(self, **settings):
        return Driver("etcd", **{"endpoints": " ".join(self.server.urls), "key": self.key,
                                 **settings})

    def delete(self):
        self.server.ctl("del", self.key)

    def test_what_others_write_is_theirs(self):
        with self.client() as client:
            self.server.ctl("put", self.key, "hello")
            record = client.read()["record"]
            self.assertEqual((record["holder"], record["name"]), ("stranger", "hello"))
            self.server.ctl("put", self.key, "")
            record = client.read()["record"]
            self.assertEqual(record["holder"], "unknown")
            self.written(client.write(record["version"], "member", 1))

    def test_a_watch_survives_a_compaction(self):
        with self.client() as client:
            version = self.written(client.create())
            client.say("watch on")
            client.seen("unknown", version)
            version = self.written(client.write(version, "member", 1))
            client.seen("member", version)
            self.server.ctl("compaction", version)
            version = self.written(client.write(version, "member", 2))
            client.seen("member", version)


class OnEtcdByTls(StoreCase):
    """A real etcd that speaks TLS."""

    def setUp(self):
        if not has_etcd():
            self.skipTest("there is no etcd, or no etcdctl")
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.authority, self.other = Authority(folder), Authority(folder)
        self.server = self.enterContext(Etcd(authority=self.authority))

    def test_its_authority_is_believed_and_another_is_not(self):
        for authority, is_good in ((self.authority, True), (self.other, False)):
            with Driver("etcd", endpoints=self.server.urls[0], key="/bellwether/g",
                        ca=authority.certificate) as client:
                if not is_good:
                    self.assert_failed(client.read(), "tls", "TLS with 127.0.0.1")
                    continue
                client.say("watch on")
                version = self.written(client.create())
                client.seen("unknown", version)
                self.written(client.write(version, "member", 1))


class OnClosedEtcd(StoreCase):
    """A real etcd, with authentication on."""

    @classmethod
    def setUpClass(cls):
        if not has_etcd():
            raise unittest.SkipTest("there is no etcd, or no etcdctl")
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.server = Etcd()
        cls.server.members[0].command += cls.options()
        cls.enterClassContext(cls.server)
        for command in (("user", "add", "root:root-secret"), ("role", "add", "orders"),
                        ("role", "grant-permission", "orders", "readwrite", "/bellwether/orders"),
                        ("user", "add", "orders:orders-secret"),
                        ("user", "grant-role", "orders", "orders"),
                        ("user", "grant-role", "root", "root"), ("auth", "enable")):
            cls.server.ctl(*command)

    @classmethod
    def options(cls):
        """Its tokens are words that it remembers."""
        return []

    def client(self, key="/bellwether/orders", **settings):
        return Driver("etcd", endpoints=self.server.urls[0], key=key, **settings)

    def password(self, text):
        path = self.folder / "password"
        path.write_text(text + "\n")
        return path

    def test_a_user_reads_and_writes_its_key_and_no_other(self):
        settings = {"user": "orders", "secret_file": self.password("orders-secret")}
        with self.client(**settings) as client:
            client.say("watch on")
            self.assertIsNone(client.seen())
            version = self.written(client.create())
            client.seen("unknown", version)
            # The token of before is void from now on; the client logs in again at once.
            self.server.ctl("role", "add", "another", user="root:root-secret")
            version = self.written(client.write(version, "member", 1))
            self.server.ctl("role", "add", "a-third", user="root:root-secret")
            self.assertEqual(client.read()["record"]["version"], version)
        with self.client(key="/bellwether/other", **settings) as client:
            self.assert_failed(client.read(), "forbidden", "permission denied",
                               "orders needs a role that may read and write key /bellwether/other")

    def test_the_server_forgets_at_a_restart_who_has_logged_in(self):
        settings = {"user": "orders", "secret_file": self.password("orders-secret")}
        with self.client(key="/bellwether/orders", **settings) as client:
            version = (client.read()["record"] or {"version": "-"})["version"]
            for epoch in (5, 6):
                self.server.members[0].kill()
                self.server.members[0].start()
                wait_until("etcd is healthy", self.server.members[0].is_healthy)
                version = self.written(client.write(version, "member", epoch))

    def test_who_says_nothing_or_something_wrong_is_told(self):
        with self.client() as client:
            self.assert_failed(client.read(), "unauthorized", "give etcd.user and password_file")
        with self.client(user="orders", secret_file=self.password("wrong")) as client:
            self.assert_failed(client.read(), "unauthorized", "does not believe user orders")
            self.password("orders-secret")
            client.say("secure")
            self.assertIn("seen", client.read())


class OnClosedEtcdByJwt(OnClosedEtcd):
    """The same with tokens that are signed, and over soon."""

    @classmethod
    def options(cls):
        private, public = cls.folder / "private.pem", cls.folder / "public.pem"
        openssl("genrsa", "-out", private, "2048")
        openssl("rsa", "-in", private, "-pubout", "-out", public)
        return ["--auth-token",
                f"jwt,pub-key={public},priv-key={private},sign-method=RS256,ttl=5s"]

    def test_the_token_is_over_and_replaced_at_once(self):
        settings = {"user": "orders", "secret_file": self.password("orders-secret")}
        with self.client(**settings) as client:
            version = (client.read()["record"] or {"version": "-"})["version"]
            for epoch in (3, 4):
                version = self.written(client.write(version, "member", epoch))
                time.sleep(6)


class OnClusterOfEtcd(StoreCase):
    """Three real ones."""

    def setUp(self):
        if not has_etcd():
            self.skipTest("there is no etcd, or no etcdctl")
        self.server = self.enterContext(Etcd(3))

    def client(self, first, **settings):
        urls = [first.url, *(url for url in self.server.urls if url != first.url)]
        return Driver("etcd", endpoints=" ".join(urls), key="/bellwether/g", **settings)

    def test_the_next_member_is_asked_when_one_is_killed(self):
        leader = self.server.leader()
        with self.client(leader) as client:
            version = self.written(client.create())
            leader.kill()
            self.assert_failed(client.write(version, "member", 1, patience_ms=1000), "unreachable")
            wait_until("another one has taken it", lambda: client.write(
                version, "member", 1, patience_ms=1000).get("written"))

    def test_a_member_without_its_cluster_is_not_waited_for(self):
        leader = self.server.leader()
        alone = next(member for member in self.server.members if member is not leader)
        with self.client(alone) as client:
            version = self.written(client.create())
            for member in self.server.members:
                if member is not alone:
                    member.kill()
            # At first it believes in its leader.
            wait_until("it says that it has none", lambda: "no leader" in (
                client.write(version, "member", 1, patience_ms=500).get("trouble", "")))
            for member in self.server.members:
                if member is not alone:
                    member.start()
            wait_until("all is well", lambda: "written" in client.write(
                client.read(1000).get("record", {}).get("version", version), "member", 1,
                patience_ms=1000))


if __name__ == "__main__":
    main()
