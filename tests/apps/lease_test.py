#!/usr/bin/env python3
"""The Deployment of examples/kubernetes before a real API server, with RBAC on: its objects are
applied, and sidecars beside the server lead by the token of its service account.  And the etcd of
examples/systemd, with a user that may do what is written there.

There is no kubelet, so the sidecars run here, by the text of the ConfigMap; what differs is where
things are.  Without an API server (tests/system/store_servers.py says where it is looked for)
those cases are skipped, and so are those with etcd where there is none.

usage: lease_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import os
import re
import signal
import subprocess
import sys
import unittest

import languages
from harness import PATIENCE_S, Group, wait_until
from manifests import KUBERNETES, as_applied, named, of_kind, pod_of, toml_of, yaml
from store_servers import Etcd, Kubernetes, has_etcd, has_kubernetes

PROGRAM = OBSERVER = ""
README = languages.ROOT / "examples/systemd/README.md"
NAMESPACE = "shop"
NAME = "reports"
# Where objects of a kind are made.
PATHS = {"ConfigMap": "/api/v1/namespaces/{}/configmaps",
         "Service": "/api/v1/namespaces/{}/services",
         "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
         "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/roles",
         "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings",
         "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
         "PodDisruptionBudget": "/apis/policy/v1/namespaces/{}/poddisruptionbudgets"}
# From one flag to the next a machine that is busy takes its time; a lease would be ten seconds.
FAR_BELOW_A_LEASE_NS = 3_000_000_000


class Pods(Group):
    """Of the Deployment, on this machine: `server` has the lines that a pod would not need."""

    def __init__(self, server):
        self.server = server
        super().__init__(PROGRAM, 2, name=NAME)

    def config_of(self, sidecar):  # of Group's arguments none is needed
        text = toml_of(named(of_kind("Deployment"), NAME))
        secret = self.folder / "secret"
        secret.touch(mode=0o600)
        secret.write_text("5e" * 32 + "\n")
        peers = ", ".join(f'"127.0.0.1:{each.peer_port}"' for each in self.sidecars)
        moved = {
            'name = "${POD_NAME}"': f'''name = "{sidecar.name}"
listen = "127.0.0.1:{sidecar.peer_port}"
state_dir = "{sidecar.state_folder}"''',
            "${POD_IP}:7946": f"127.0.0.1:{sidecar.peer_port}",
            'dns = "reports-peers.${POD_NAMESPACE}.svc:7946"': f"peers = [{peers}]",
            "[kubernetes]\n": f"[kubernetes]\n{self.server}",
            "/etc/bellwether-tls/secret": str(secret),
            "/run/bellwether/reports": str(sidecar.flag_file)}
        for shipped, here in moved.items():
            assert text.count(shipped) == 1, f"{shipped} is not in the ConfigMap"
            text = text.replace(shipped, here)
        return f"""{text}
[api]
listen = "127.0.0.1:{sidecar.api_port}"
socket = "{sidecar.socket_file}"
[metrics]
listen = "127.0.0.1:{sidecar.metrics_port}"
"""


class StoreGroup(unittest.TestCase):
    """Two sidecars with a store."""

    def start_group(self, group):
        group = self.enterContext(group)
        self.observer = group.observe(OBSERVER)
        group.start()
        return group

    def assert_never_two(self):
        with self.observer.lock:
            self.assertEqual(self.observer.doubles, [])

    def last_off_ns(self, flag):
        with self.observer.lock:
            return max(time for time, number, on, _ in self.observer.changes
                       if number == flag and not on)

    def gap_ns(self, group, leaver, successor):
        """How long nobody led."""
        off = self.last_off_ns(group.sidecars.index(leaver))
        on = wait_until("its flag is on", lambda: self.observer.first(
            group.sidecars.index(successor), True, off))
        return on - off

    def restart_one_after_the_other(self, group):
        for leaver in list(group.sidecars):
            other, = [sidecar for sidecar in group.sidecars if sidecar is not leaver]
            was_leader = leaver.is_leader()
            self.assertEqual(leaver.stop(), 0)
            group.await_leader(other)
            if was_leader:
                self.assertLess(self.gap_ns(group, leaver, other), FAR_BELOW_A_LEASE_NS)
            leaver.start()
            wait_until("it is ready", leaver.is_ready)
            group.await_leader(other)


@unittest.skipIf(yaml is None, "there is no python3-yaml")
class OnKubernetes(StoreGroup):
    @classmethod
    def setUpClass(cls):
        if not has_kubernetes():
            raise unittest.SkipTest("neither KUBEBUILDER_ASSETS, PATH nor BELLWETHER_TEST_KUBE has "
                                    "a kube-apiserver")
        cls.server = cls.enterClassContext(Kubernetes())
        for manifest in as_applied(KUBERNETES / "deployment.yaml"):
            if manifest["kind"] == "RoleBinding":  # as the README says
                manifest["subjects"][0]["namespace"] = NAMESPACE
            if manifest["kind"] == "Deployment" and not cls.is_at_least(29):
                pod = pod_of(manifest)  # as the README says of older clusters
                pod["containers"] += pod.pop("initContainers")
                del pod["containers"][-1]["restartPolicy"]
            if manifest["apiVersion"] == "policy/v1" and not cls.is_at_least(21):
                continue  # nothing here drains nodes
            cls.server.request("POST", PATHS[manifest["kind"]].format(NAMESPACE), manifest)

    @classmethod
    def is_at_least(cls, minor):
        """Whether it is Kubernetes 1.`minor`, or later."""
        version = cls.server.request("GET", "/version")["minor"]
        return int(re.match(r"\d+", version).group()) >= minor

    def setUp(self):
        account = pod_of(named(of_kind("Deployment"), NAME))["serviceAccountName"]
        self.token_file = self.server.folder / f"{self.id()}.token"
        self.token_file.touch(mode=0o600)
        self.token_file.write_text(self.server.token(account, NAMESPACE))
        if self.server.lease(NAME, NAMESPACE):
            self.server.delete_lease(NAME, NAMESPACE)

    def start(self):
        return self.start_group(Pods(f"""namespace = "{NAMESPACE}"
server = "{self.server.url}"
ca = "{self.server.ca}"
token_file = "{self.token_file}"
"""))

    def holder(self):
        return self.server.lease(NAME, NAMESPACE)["spec"]["holderIdentity"].split("_")[0]

    def test_two_have_one_leader_and_a_rolling_restart_does_not_wait(self):
        group = self.start()
        leader = group.await_leader()
        self.assertEqual(self.holder(), leader.name)
        lease_s = self.server.lease(NAME, NAMESPACE)["spec"]["leaseDurationSeconds"]
        self.assertGreater(lease_s * 1e9, 3 * FAR_BELOW_A_LEASE_NS)
        self.restart_one_after_the_other(group)
        self.assertEqual(self.holder(), group.await_leader().name)
        self.assert_never_two()

    def test_a_deleted_lease_costs_an_epoch_and_no_leader(self):
        group = self.start()
        leader = group.await_leader()
        epoch = leader.epoch()
        flag = group.sidecars.index(leader)
        self.server.delete_lease(NAME, NAMESPACE)
        wait_until("the leader has a new epoch", lambda: leader.epoch() > epoch)
        wait_until("the Lease is made anew", lambda: self.server.lease(NAME, NAMESPACE))
        self.assertIs(group.await_leader(), leader)
        with self.observer.lock:
            self.assertFalse([change for change in self.observer.changes
                              if change[1] == flag and not change[2] and change[3] == epoch])
        self.assert_never_two()

    def test_a_label_changes_nothing(self):
        group = self.start()
        leader = group.await_leader()
        epoch = leader.epoch()
        self.server.patch_lease(NAME, {"metadata": {"labels": {"a": "b"}}}, NAMESPACE)
        changed = self.server.lease(NAME, NAMESPACE)
        wait_until("it is renewed again", lambda: self.server.lease(
            NAME, NAMESPACE)["spec"]["renewTime"] > changed["spec"]["renewTime"])
        self.assertEqual(self.server.lease(NAME, NAMESPACE)["metadata"]["labels"], {"a": "b"})
        self.assertIs(group.await_leader(), leader)
        self.assertEqual(leader.epoch(), epoch)

    def test_a_server_that_is_away_costs_a_leader_only_when_its_lease_ends(self):
        group = self.start()
        leader = group.await_leader()
        epoch = leader.epoch()
        pid = self.server.pid()
        self.addCleanup(os.kill, pid, signal.SIGCONT)
        os.kill(pid, signal.SIGSTOP)
        wait_until("the leader notices", lambda: self.trouble(leader))
        self.assertTrue(leader.is_leader())
        os.kill(pid, signal.SIGCONT)
        wait_until("it is over", lambda: not self.trouble(leader))
        self.assertEqual((group.await_leader(), leader.epoch()), (leader, epoch))
        os.kill(pid, signal.SIGSTOP)
        wait_until("nobody leads", lambda: not any(
            sidecar.is_leader() for sidecar in group.sidecars))
        self.assertIn(f"127.0.0.1:{self.server.port}", self.ask(leader, "status"))
        os.kill(pid, signal.SIGCONT)
        self.assertGreater(group.await_leader().epoch(), epoch)
        self.assert_never_two()

    @staticmethod
    def trouble(sidecar):
        status = sidecar.get("/v1/status")
        return status["store"]["trouble"] if status else None

    def test_another_client_is_named_and_waited_for(self):
        group = self.start()
        leader = group.await_leader()
        self.server.patch_lease(NAME, {"spec": {"holderIdentity": "other_1",
                                                "leaseDurationSeconds": 6}}, NAMESPACE)
        wait_until("nobody leads", lambda: not leader.is_leader())
        text = wait_until("it is named", lambda: next(
            (line for sidecar in group.sidecars for line in self.ask(sidecar, "status").splitlines()
             if "other_1, which is not a member" in line), None))
        self.assertRegex(text, "^store +kubernetes shop/reports, held by other_1")
        found = self.ask(group.sidecars[0], "doctor")
        self.assertRegex(found, r"warning +store +kubernetes shop/reports is held by other_1")
        group.await_leader()
        self.assert_never_two()

    def test_without_the_role_says_what_is_missing(self):
        self.token_file.write_text(self.server.service_account("nobody"))
        group = self.start()
        one = group.sidecars[1]
        wait_until("it says so", lambda: self.trouble(one))
        for command in ("status", "doctor"):
            text = " ".join(self.ask(one, command).split())
            # Whichever was answered last.
            self.assertRegex(text, "does not let us (get|watch) Lease reports in namespace shop")
            self.assertIn('verbs ["get", "patch", "watch"] with resourceNames ["reports"]', text)
        # The file is read again when it changes; nothing is restarted.
        self.token_file.write_text(self.server.token(NAME, NAMESPACE))
        group.await_leader(patience_s=2 * PATIENCE_S)

    @staticmethod
    def ask(sidecar, command):
        return subprocess.run([PROGRAM, command, "--config", sidecar.config_file], text=True,
                              capture_output=True, check=False, timeout=PATIENCE_S).stdout


class OnEtcd(StoreGroup):
    def test_the_user_of_the_systemd_example_can_do_what_it_has_to(self):
        if not has_etcd():
            self.skipTest("there is no etcd here")
        etcd = self.enterContext(Etcd())
        commands = re.findall(r"^etcdctl ([^#\n]*)", README.read_text(), re.MULTILINE)
        self.assertEqual(len(commands), 4)
        for command in commands:
            words = command.split()
            if words[:2] == ["user", "add"]:
                words[-1] += ":secret"  # where it would ask
            etcd.ctl(*words)
        etcd.ctl("user", "add", "root:root")
        etcd.ctl("user", "grant-role", "root", "root")
        etcd.ctl("auth", "enable")
        password = languages.pathlib.Path(etcd.folder.name) / "password"
        password.touch(mode=0o600)
        password.write_text("secret\n")
        settings = f"""[etcd]
endpoints = ["{etcd.urls[0]}"]
user = "bellwether"
password_file = "{password}"
"""
        group = self.start_group(Group(PROGRAM, 2, settings, name="orders"))
        group.await_leader()
        self.restart_one_after_the_other(group)
        self.assert_never_two()
        with Group(PROGRAM, 1, settings, name="stock") as other:  # another key
            other.start()
            status = wait_until("it is refused", lambda: next(
                (status for status in [other.sidecars[0].get("/v1/status")]
                 if status and status["store"]["trouble"]), None))
            self.assertIn("bellwether needs a role that may read and write key /bellwether/stock",
                          status["store"]["trouble"])


if __name__ == "__main__":
    PROGRAM, OBSERVER = map(os.path.abspath, sys.argv[1:3])
    languages.main(sys.argv[3:])
