#!/usr/bin/env python3
"""The sidecars of examples/kubernetes/statefulset.yaml, on clusters of IPv6 alone and of both
families: ConfigMap, arguments, environment, user and volumes are the manifest's, and each pod is
namespaces of its own.  The test plays the kubelet; /etc/hosts stands for the cluster's DNS.

usage: pods_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import http.client
import os
import shutil
import subprocess
import sys
import unittest

import languages
from harness import Group, Sidecar, wait_until
from manifests import of_kind, pod_of, toml_of, yaml
from namespaces import Hosts, can_make_namespaces
from tunnels import inside

PROGRAM = ""
NAMESPACE = "shop"
PEER_PORT, API_PORT, METRICS_PORT = 7946, 4040, 9464  # the defaults
# Mounts what is given as options, folder and place, up to "--", and becomes the rest.
MOUNT = 'while [ "$1" != -- ]; do mount -o "$1" "$2" "$3"; shift 3; done; shift; exec "$@"'


class Connection(http.client.HTTPConnection):
    """Connects from another host."""

    def __init__(self, from_host, *arguments, **options):
        super().__init__(*arguments, **options)
        self.from_host = from_host

    def connect(self):
        with inside(self.from_host):
            super().connect()


class Pod(Sidecar):
    """One of the manifest, on its host."""

    def __init__(self, folder, workload, number, host):
        pod = pod_of(workload)
        container, = pod["initContainers"]
        super().__init__(PROGRAM, folder, f"{workload['metadata']['name']}-{number}",
                         (PEER_PORT, API_PORT, METRICS_PORT))
        self.pod, self.container, self.host = pod, container, host
        self.home = folder / self.name
        run, option, self.config_file = container["args"]
        assert (run, option) == ("run", "--config"), container["args"]
        user = pod["securityContext"]
        mounts = [word for place in ("etc", "run", "var/lib")
                  for word in ("bind", self.home / place, f"/{place}")]
        for mount in container["volumeMounts"]:
            name, path = mount["name"], mount["mountPath"]
            is_scratch = any(volume["name"] == name and "emptyDir" in volume
                             for volume in pod["volumes"])
            self.make_volume(name, path, user["fsGroup"], 0o2777 if is_scratch else 0o2775)
            mounts += ["bind,ro" if mount.get("readOnly") else "bind", self.home / name, path]
        self.prefix = ["ip", "netns", "exec", host, "unshare", "--mount", "sh", "-ec", MOUNT, "sh",
                       *mounts, "--", "setpriv", f"--reuid={user['runAsUser']}",
                       f"--regid={user['runAsGroup']}", f"--groups={user['fsGroup']}",
                       "--bounding-set=-all", "--no-new-privs"]

    def make_volume(self, name, path, group, mode):
        """As the kubelet makes it, and where it is mounted."""
        (self.home / path.lstrip("/")).mkdir(parents=True)
        (self.home / name).mkdir()
        shutil.chown(self.home / name, group=group)
        (self.home / name).chmod(mode)

    def put(self, folder, file, text, mode=0o644):
        path = self.home / folder / file
        path.write_text(text)
        path.chmod(mode)

    def write_config(self, text):
        self.put("config", "bellwether.toml", text)

    def start(self, *arguments, environment=None):
        known = {"metadata.name": self.name, "metadata.namespace": NAMESPACE}
        return super().start(*arguments, environment={
            variable["name"]: known[variable["valueFrom"]["fieldRef"]["fieldPath"]]
            for variable in self.container["env"]})

    def connect(self, timeout_s, port=None):
        return Connection(self.host, "127.0.0.1", port or API_PORT, timeout=timeout_s)

    def probe(self, kind, asker):
        """What another host is answered."""
        connection = Connection(asker, self.address, METRICS_PORT, timeout=5)
        try:
            connection.request("GET", self.container[kind]["httpGet"]["path"])
            return connection.getresponse().status
        finally:
            connection.close()


class Pods(Group):
    """All of them, each with addresses of its own, which its names stand for."""

    def __init__(self, workload, hosts, addresses):
        self.workload, self.of_pods = workload, hosts.names
        super().__init__(PROGRAM, workload["spec"]["replicas"])
        service = workload["spec"]["serviceName"]
        known = "127.0.0.1 localhost\n::1 localhost\n"
        for pod, each in zip(self.sidecars, addresses):
            pod.address = each[0]
            known += "".join(f"{address} {pod.name}.{service}.{NAMESPACE}.svc\n"
                             f"{address} {service}.{NAMESPACE}.svc\n" for address in each)
        secret, = [volume["secret"] for volume in pod_of(workload)["volumes"]
                   if volume["name"] == "tls"]
        key = os.urandom(32).hex()
        for pod in self.sidecars:
            pod.put("etc", "hosts", known)
            pod.put("etc", "nsswitch.conf", "hosts: files\n")
            pod.put("tls", "secret", key, secret["defaultMode"])

    def add(self):
        number = len(self.sidecars)
        self.sidecars.append(Pod(self.folder, self.workload, number, self.of_pods[number]))

    def config_of(self, sidecar, extra=None, peers=None):
        return toml_of(self.workload)


@unittest.skipIf(yaml is None, "there is no python3-yaml")
class StatefulSet(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0 or not can_make_namespaces():
            self.skipTest("no network namespaces can be made here")
        if not os.path.exists("/proc/net/if_inet6"):
            self.skipTest("this kernel has no IPv6")
        self.workload, = of_kind("StatefulSet")
        user = pod_of(self.workload)["securityContext"]
        try:
            subprocess.run([PROGRAM, "--version"], cwd="/", check=True, capture_output=True,
                           user=user["runAsUser"], group=user["runAsGroup"],
                           extra_groups=[user["fsGroup"]])
        except PermissionError:
            self.skipTest(f"the manifest's user may not enter the folder of {PROGRAM}")

    def check(self, hosts, addresses):
        """They elect and answer probes; the leader is killed, another one leads, and the killed
        one comes back."""
        with Pods(self.workload, hosts, addresses) as pods:
            pods.start()
            self.await_whole(pods)
            leader = pods.agreed_leader() or pods.await_leader()
            for pod in pods.sidecars:
                for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
                    self.assertEqual(pod.probe(kind, leader.host), 200, (pod.name, kind))
            leader.kill()
            wait_until("another leads", lambda: pods.agreed_leader() not in (None, leader))
            leader.start()
            self.await_whole(pods)

    def await_whole(self, pods):
        wait_until("all vote and are ready, and one leads", lambda: pods.agreed_leader() and all(
            pod.vote() == "in force" and pod.is_ready() for pod in pods.sidecars))

    def test_with_ipv6_alone(self):
        with Hosts(3) as hosts:
            self.give_ipv6(hosts)
            for number in range(3):
                hosts.enter(number, "ip", "-4", "addr", "flush", "dev", "eth0")
            self.check(hosts, [[f"fd77::{number + 1}"] for number in range(3)])

    def test_with_both_families(self):
        with Hosts(3) as hosts:
            self.give_ipv6(hosts)
            self.check(hosts, [[f"fd77::{number + 1}", address]
                               for number, address in enumerate(hosts.addresses)])

    @staticmethod
    def give_ipv6(hosts):
        for number in range(3):
            hosts.enter(number, "ip", "addr", "add", f"fd77::{number + 1}/64", "dev", "eth0",
                        "nodad")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    languages.main(sys.argv[2:])
