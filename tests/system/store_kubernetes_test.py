#!/usr/bin/env python3
"""A group on a Lease of a real API server, among others: another client of the same Lease, a token
that is replaced, permissions that are missing, a server that restarts.

usage: store_kubernetes_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import datetime
import json
import re
import signal
import subprocess
import threading
import time
import urllib.error

from foreign import go_program, has_go
from harness import Unreachable, now_ns, wait_until
from store_group import NAMESPACE, KubernetesCase
from store_servers import LEASES, lease_rules
from system_case import main

RETRY_S = 0.3
ELECTOR_LEASE_S = 3


class Elector(threading.Thread):
    """Another client of the Lease, by the rules of client-go's: whoever has not seen it change for
    its length takes it, by an update of the object that was read; and gives it back at the end."""

    def __init__(self, server, lease_name, identity):
        super().__init__(daemon=True)
        self.server, self.lease_name, self.identity = server, lease_name, identity
        self.path = f"{LEASES.format(NAMESPACE)}/{lease_name}"
        self.observed, self.observed_at = None, 0
        self.led_until = 0  # of the monotonic clock, as it believes itself
        self.is_over = threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.join()

    @property
    def leads(self):
        return time.monotonic() < self.led_until

    def run(self):
        while not self.is_over.wait(RETRY_S):
            with contextlib.suppress(OSError):
                self.try_once()
        with contextlib.suppress(OSError):
            if self.leads:
                self.led_until = 0
                self.update(self.server.request("GET", self.path), "", 1)

    def try_once(self):
        began = time.monotonic()
        lease = self.server.lease(self.lease_name, NAMESPACE)
        if lease is None:
            return
        spec = lease["spec"]
        if lease["spec"] != self.observed:
            self.observed, self.observed_at = spec, time.monotonic()
        holder = spec.get("holderIdentity")
        is_over = time.monotonic() > self.observed_at + spec["leaseDurationSeconds"]
        if holder not in (None, "", self.identity) and not is_over:
            return
        self.observed = self.update(lease, self.identity, ELECTOR_LEASE_S)["spec"]
        self.observed_at = time.monotonic()
        self.led_until = began + 0.7 * ELECTOR_LEASE_S  # its renew deadline

    def update(self, lease, holder, length_s):
        """Refused with a conflict if anybody has written since."""
        time_text = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        lease["spec"] |= {"holderIdentity": holder, "leaseDurationSeconds": length_s,
                          "renewTime": time_text, "acquireTime": time_text}
        return self.server.request("PUT", self.path, lease)


class ClientGo:
    """As Elector, by client-go itself."""

    def __init__(self, server, lease_name, identity):
        self.command = [go_program("client_go"), server.url, server.ca, server.admin, NAMESPACE,
                        lease_name, identity, str(ELECTOR_LEASE_S), "release"]
        self.process, self.leads = None, False

    def __enter__(self):
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL)
        threading.Thread(target=self.read, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def read(self):
        with self.process.stdout as lines:
            for line in lines:
                self.leads = line == "leads\n"


def why_not_ready(sidecar):
    """Empty: it is, or does not answer."""
    with contextlib.suppress(Unreachable):
        status, _, text = sidecar.request("GET", "/readyz")
        return text if status != 200 else ""
    return ""


class OnKubernetes(KubernetesCase):
    """With RBAC on."""

    def test_another_client_of_the_lease_excludes_and_is_excluded(self):
        self.exclude_each_other(Elector)

    def test_client_go_excludes_and_is_excluded(self):
        if not has_go("k8s.io/client-go"):
            self.skipTest("there is no client-go (see foreign.sh)")
        self.exclude_each_other(ClientGo)

    def exclude_each_other(self, other):
        with self.led_group(2) as guarded:
            leader, sidecars = guarded.group.sidecars[-1], guarded.group.sidecars
            with other(self.server, guarded.name, "operator_1") as elector:
                seen = now_ns()
                wait_until("it has had its chances", lambda: now_ns() > seen + 3e9)
                self.assertFalse(elector.leads)
                self.assertTrue(leader.is_leader())
                for sidecar in sidecars:
                    sidecar.stop()
                # What is released is free for others.
                wait_until("the other one leads", lambda: elector.leads)
                for sidecar in sidecars:
                    sidecar.start()
                wait_until("it follows", lambda: re.search(
                    "operator.*not a member", str(leader.get("/v1/explain"))) and (
                    leader.get("/v1/status")["store"]["record"]["state"] == "stranger"))
                seen = now_ns()
                wait_until("longer than a lease has passed", lambda: now_ns() > seen + 4e9)
                self.assertTrue(elector.leads)
                self.assertIsNone(guarded.group.observer.first_on(seen))
            guarded.group.await_leader(leader)
            guarded.await_holder(leader)

    def test_the_doctor_knows_whether_a_write_would_be_allowed(self):
        with self.led_group(1) as guarded:
            only = guarded.group.sidecars[0]
            only.stop()

            def check():
                result = self.run_program("doctor", "--json", "--config", only.config_file)
                return next(each for each in json.loads(result.stdout)["checks"]
                            if each["check"] == "store")

            before = self.server.lease(guarded.name, NAMESPACE)
            self.assertEqual(check()["verdict"], "ok", check())
            self.assertEqual(self.server.lease(guarded.name, NAMESPACE), before)
            rules = lease_rules(guarded.name)
            rules[0]["verbs"] = ["get", "watch"]
            self.server.request(
                "PATCH", f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/roles/"
                f"{guarded.name}", {"rules": rules}, "application/merge-patch+json")
            wait_until("it says so", lambda: "does not let us patch" in check()["seen"])

    def test_a_token_is_replaced_while_a_leader_leads(self):
        with self.led_group(2) as guarded:
            leader, began_ns = guarded.group.sidecars[-1], now_ns()
            token_file = self.store.token_files[guarded.name]
            good = token_file.read_text()
            new = token_file.with_suffix(".new")
            new.touch(mode=0o600)
            new.write_text(self.server.token(guarded.name, NAMESPACE))
            new.rename(token_file)
            writes = leader.count("bellwether_store_requests_total", verb="write", result="done")
            wait_until("it renews", lambda: leader.count(
                "bellwether_store_requests_total", verb="write", result="done") > writes + 3)
            self.assertIsNone(guarded.group.observer.first(1, False, began_ns))
            # And one that is worth nothing is named, until there is a good one.
            token_file.write_text("not-a-token")
            for sidecar in guarded.group.sidecars:
                sidecar.stop()
                sidecar.start()
            wait_until("it says why", lambda: str(token_file) in why_not_ready(leader))
            leader.await_log(r"the store is in trouble.*token_file")
            token_file.write_text(good)
            guarded.group.await_leader(leader)

    def test_a_token_that_everybody_may_read_is_refused_and_logged_once(self):
        with self.led_group(1) as guarded:
            only = guarded.group.sidecars[0]
            token_file = self.store.token_files[guarded.name]
            only.stop()
            token_file.chmod(0o644)
            tries = only.log().count("the files for the store cannot be used")
            only.start()
            wait_until("it says why", lambda: "may be read by everybody" in why_not_ready(only))
            seen = now_ns()
            wait_until("several tries have passed", lambda: now_ns() > seen + 4e9)
            self.assertEqual(
                only.log().count("the files for the store cannot be used") - tries, 1)
            token_file.chmod(0o600)
            guarded.group.await_leader(only)

    def test_a_missing_permission_is_named(self):
        with self.led_group(2) as guarded:
            leader = guarded.group.sidecars[-1]
            api = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}"
            binding = self.server.request("GET", f"{api}/rolebindings/{guarded.name}")
            began_ns = now_ns()
            self.server.request("DELETE", f"{api}/rolebindings/{guarded.name}")
            guarded.await_off(leader, began_ns)
            wait_until("it says so", lambda: "Lease" in why_not_ready(leader))
            # While it asks again it does not say how the last time ended.
            for tell in (why_not_ready, type(leader).log,
                         lambda each: each.get("/v1/status")["store"]["trouble"] or "",
                         lambda each: str(each.get("/v1/explain"))):
                wait_until("it says so everywhere", lambda tell=tell: re.search(
                    f"does not let us .*{guarded.name}", tell(leader)))
            del binding["metadata"]["resourceVersion"], binding["metadata"]["uid"]
            self.server.request("POST", f"{api}/rolebindings", binding)
            guarded.group.await_leader(leader)

    def test_a_server_that_stands_still_or_restarts(self):
        with self.led_group(2) as guarded:
            leader, began_ns = guarded.group.sidecars[-1], now_ns()
            self.server.send_signal(signal.SIGSTOP)
            guarded.await_off(leader, began_ns)
            self.server.send_signal(signal.SIGCONT)
            guarded.group.await_leader(leader)
            self.server.restart()
            guarded.group.await_leader(leader)
            guarded.await_holder(leader)
            with contextlib.suppress(urllib.error.HTTPError):
                self.server.delete_lease(guarded.name, NAMESPACE)
            guarded.await_holder(leader)


if __name__ == "__main__":
    main()
