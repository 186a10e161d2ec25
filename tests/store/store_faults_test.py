#!/usr/bin/env python3
"""The client of stores before a double that does what real servers do rarely (store_double.py).

usage: store_faults_test.py STORE_DRIVER [CASE...]; a case is Class.test_name
"""

import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))

# pylint: disable=wrong-import-position
import store_double
from harness import wait_until
from store_case import Driver, StoreCase, main
from store_double import Refusal, StoreDouble


class OnDouble(StoreCase):
    """What servers do rarely."""

    def setUp(self):
        self.double = self.enterContext(StoreDouble())
        self.client = self.enterContext(Driver(
            "kubernetes", server=self.double.url, namespace="shop", lease_name="orders"))

    def test_every_strange_answer_is_survived(self):
        version = self.written(self.client.create())
        for fault, why in (
                (Refusal("TooManyRequests", "slow down", retry_after=3), "throttled"),
                (Refusal("InternalError", "etcd is away"), "unavailable"),
                (Refusal("ServiceUnavailable", "starting"), "unavailable"),
                (Refusal("Invalid", "a webhook says no"), "forbidden"),
                (store_double.GARBAGE, "malformed"), (store_double.HALF_AN_ANSWER, "unreachable"),
                (store_double.NO_ANSWER, "unreachable"), (store_double.a_gigabyte, "malformed")):
            self.double.fail("patch", fault)
            self.assert_failed(self.client.write(version, "member", 1), why)
            version = self.written(self.client.write(version, "member", 1))
        self.assertEqual(self.double.faults["patch"], [])
        self.assertEqual(sum(verb == "patch" for verb, _ in self.double.requests), 16)

    def test_an_old_protocol_is_understood(self):
        self.written(self.client.create())
        self.double.fail("get", lambda handler: setattr(handler, "protocol_version", "HTTP/1.0"))
        for _ in range(2):
            self.assertEqual(self.client.read()["record"]["holder"], "unknown")

    def test_an_answer_that_is_lost_is_not_asked_for_again(self):
        version = self.written(self.client.create())
        self.double.fail("patch", store_double.lose_the_answer)
        self.assert_failed(self.client.write(version, "member", 1), "unreachable")
        self.assertEqual(sum(verb == "patch" for verb, _ in self.double.requests), 1)
        self.assertEqual(self.client.read()["record"]["epoch"], 1)

    def test_an_answer_that_comes_late_is_not_looked_at(self):
        version = self.written(self.client.create())
        release = threading.Event()
        self.double.fail("patch", store_double.after(60, release))
        self.assert_failed(self.client.write(version, "member", 1, patience_ms=100), "timeout")
        release.set()
        wait_until("it was done all the same",
                   lambda: self.client.read()["record"]["holder"] == "member")
        self.assertTrue(self.client.told.empty())

    def test_an_answer_to_an_earlier_write_is_not_believed(self):
        version = self.written(self.client.create())
        version = self.written(self.client.write(version, "member", 1))
        earlier = self.double.leases["shop", "orders"]
        self.double.change("shop", "orders", {"spec": {"holderIdentity": "somebody"}})
        version = self.client.read()["record"]["version"]
        self.double.fail("patch", store_double.answer(earlier))
        self.assert_failed(self.client.write(version, "member", 1), "malformed", "mixes answers up")
        self.assertEqual(self.client.read()["record"]["holder"], "stranger")

    def test_a_watch_goes_on_after_all_of_it(self):
        version = self.written(self.client.create())
        self.client.say("watch on")
        self.client.seen("unknown", version)
        for fault in (Refusal("TooManyRequests", "slow down"), store_double.GARBAGE,
                      store_double.HALF_AN_ANSWER):
            # The watch that is under way ends; the next one meets the fault.
            self.client.say("watch off")
            self.double.fail("watch", fault)
            self.client.say("watch on")
            if fault is not store_double.HALF_AN_ANSWER:  # which is how a server ends that restarts
                self.client.failed()
            self.client.seen("unknown", version)

    def test_a_version_that_is_too_old_is_no_trouble(self):
        version = self.written(self.client.create())
        self.client.say("watch on")
        self.client.seen("unknown", version)
        self.double.forget("shop", "orders", {"metadata": {"labels": {"a": "b"}}})
        self.assertNotEqual(self.client.seen("unknown")["version"], version)
        self.assertTrue(self.client.watched.empty())
        self.assertEqual([verb for verb, _ in self.double.requests if verb != "get"],
                         ["create", "watch", "watch", "watch"])


if __name__ == "__main__":
    main()
