#!/usr/bin/env python3
"""What examples/ says of Kubernetes and systemd: the parts fit together, the pods pass Pod Security
"restricted", the configurations are right, the unit is one that systemd understands.

Whether Kubernetes has all these fields is checked by hand (examples/kubernetes/README.md).

usage: deploy_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import languages

try:
    import yaml
except ImportError:
    yaml = None

PROGRAM = ""
EXAMPLES = languages.ROOT / "examples"
KUBERNETES = EXAMPLES / "kubernetes"
WORKLOADS = ("StatefulSet", "Deployment")
PATIENCE_S = 60
POD = {"POD_NAME": "orders-0", "POD_NAMESPACE": "shop", "POD_IP": "10.0.0.1"}
RIGHT, HAS_WARNINGS = 0, 4
# Of `systemd-analyze security`, in tenths: what its authors call "OK" ends at 4.
MAX_EXPOSURE = 15


def objects(pattern="*.yaml"):
    """All manifests but the patches."""
    for path in sorted(KUBERNETES.glob(pattern)):
        if not path.stem.endswith("-patch"):
            yield from filter(None, yaml.safe_load_all(path.read_text()))


def of_kind(*kinds):
    return [manifest for manifest in objects() if manifest["kind"] in kinds]


def named(manifests, name):
    found, = [manifest for manifest in manifests if manifest["metadata"]["name"] == name]
    return found


def pod_of(workload):
    return workload["spec"]["template"]["spec"]


def containers_of(pod):
    return pod.get("initContainers", []) + pod["containers"]


def mounts_of(container, volume):
    return [mount for mount in container.get("volumeMounts", []) if mount["name"] == volume]


def with_sidecar():
    """The workloads that have one, each with its pod, the sidecar and the application."""
    for workload in of_kind(*WORKLOADS):
        pod = pod_of(workload)
        if pod.get("initContainers"):
            sidecar, = pod["initContainers"]
            application, = pod["containers"]
            yield workload, pod, sidecar, application


@unittest.skipIf(yaml is None, "there is no python3-yaml")
class Kubernetes(unittest.TestCase):
    def test_the_sidecar_is_a_native_one_and_the_application_only_reads_the_flag(self):
        self.assertEqual(len(list(with_sidecar())), 2)
        for _, pod, sidecar, application in with_sidecar():
            self.assertEqual(sidecar["restartPolicy"], "Always")
            flag, = [volume for volume in pod["volumes"] if volume["name"] == "flag"]
            self.assertEqual(flag["emptyDir"]["medium"], "Memory")
            theirs, = mounts_of(application, "flag")
            self.assertIs(theirs["readOnly"], True)
            ours, = mounts_of(sidecar, "flag")
            self.assertFalse(ours.get("readOnly"))
            self.assertEqual(ours["mountPath"], theirs["mountPath"])
            config, = mounts_of(sidecar, "config")
            self.assertNotIn("subPath", config)

    def test_pods_pass_pod_security_restricted(self):
        for workload in of_kind(*WORKLOADS):
            pod = pod_of(workload)
            self.assertIs(pod["securityContext"]["runAsNonRoot"], True)
            self.assertNotEqual(pod["securityContext"]["runAsUser"], 0)
            self.assertEqual(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault")
            self.assertFalse({"hostNetwork", "hostPID", "hostIPC"} & pod.keys())
            for volume in pod["volumes"]:
                self.assertTrue(volume.keys() <= {"name", "configMap", "emptyDir"}, volume)
            for container in containers_of(pod):
                self.assertEqual(container["securityContext"], {
                    "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]}}, container["name"])

    def test_names_fit(self):
        """Selectors, ports, volumes and ConfigMaps that are spoken of exist."""
        pods = {}
        for workload in of_kind(*WORKLOADS):
            template = workload["spec"]["template"]
            labels = template["metadata"]["labels"]
            self.assertEqual(workload["spec"]["selector"]["matchLabels"], labels)
            pod = template["spec"]
            ports = {port["name"] for container in containers_of(pod)
                     for port in container.get("ports", [])}
            pods[labels["app.kubernetes.io/name"]] = ports
            volumes = {volume["name"] for volume in pod["volumes"]} | {
                claim["metadata"]["name"]
                for claim in workload["spec"].get("volumeClaimTemplates", [])}
            for container in containers_of(pod):
                mounted = {mount["name"] for mount in container.get("volumeMounts", [])}
                self.assertTrue(mounted <= volumes, mounted - volumes)
                for key, probe in container.items():
                    if key.endswith("Probe"):
                        self.assertIn(probe["httpGet"]["port"], ports)
            for volume in pod["volumes"]:
                if "configMap" in volume:
                    named(of_kind("ConfigMap"), volume["configMap"]["name"])
        for service in of_kind("Service"):
            ports = pods[service["spec"]["selector"]["app.kubernetes.io/name"]]
            for port in service["spec"]["ports"]:
                self.assertIn(port["targetPort"], ports)
        monitor, = of_kind("PodMonitor")
        name = monitor["spec"]["selector"]["matchLabels"]["app.kubernetes.io/name"]
        self.assertIn(monitor["spec"]["podMetricsEndpoints"][0]["port"], pods[name])

    def test_peers_are_found_before_they_are_ready(self):
        for workload, _, sidecar, _ in with_sidecar():
            name = workload["metadata"]["name"]
            service = named(of_kind("Service"), f"{name}-peers")
            self.assertEqual(service["spec"]["clusterIP"], "None")
            self.assertIs(service["spec"]["publishNotReadyAddresses"], True)
            port, = service["spec"]["ports"]
            self.assertTrue(port["name"].startswith("tcp-"))  # what meshes take for TCP
            self.assertEqual(port["port"], 7946)
            self.assertIn({"name": port["targetPort"], "containerPort": 7946}, sidecar["ports"])

    def test_configurations_are_right(self):
        codes = {}
        for workload, _, sidecar, application in with_sidecar():
            name = workload["metadata"]["name"]
            text = named(of_kind("ConfigMap"), f"{name}-bellwether")["data"]["bellwether.toml"]
            given = {variable["name"]: POD[variable["name"]] for variable in sidecar["env"]}
            with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
                file.write(text)
                file.flush()
                result = subprocess.run(
                    [PROGRAM, "check", file.name], capture_output=True, text=True, check=False,
                    timeout=PATIENCE_S, env={**os.environ, **given})
            codes[name] = result.returncode
            self.assertIn(result.returncode, (RIGHT, HAS_WARNINGS), result.stderr)
            # The application is told the same file.
            self.assertIn(f'path = "{application["args"][0]}"', result.stdout)
        # Of the Deployment it says what a group without voters does not promise.
        self.assertEqual(codes, {"orders": RIGHT, "reports": HAS_WARNINGS})

    def test_the_voters_are_the_replicas(self):
        stateful, = of_kind("StatefulSet")
        text = named(of_kind("ConfigMap"), "orders-bellwether")["data"]["bellwether.toml"]
        service = stateful["spec"]["serviceName"]
        for ordinal in range(stateful["spec"]["replicas"]):
            self.assertIn(f'\norders-{ordinal} = "orders-{ordinal}.{service}.', text)
        self.assertNotIn(f'\norders-{stateful["spec"]["replicas"]} =', text)
        # Nobody waits for the first, which alone has no majority.
        self.assertEqual(stateful["spec"]["podManagementPolicy"], "Parallel")

    def test_the_patches_are_for_what_is_there(self):
        patches = sorted(KUBERNETES.glob("*-patch.yaml"))
        self.assertEqual(len(patches), 2)
        for path in patches:
            patch = yaml.safe_load(path.read_text())
            named(of_kind(patch["kind"]), patch["metadata"]["name"])
            annotations = patch["spec"]["template"]["metadata"]["annotations"]
            for name, ports in annotations.items():
                self.assertIn("7946", ports.split(","), name)

    def test_the_leader_service_is_one_that_haproxy_understands(self):
        haproxy = shutil.which("haproxy", path="/usr/sbin:/usr/bin:/usr/local/sbin")
        if haproxy is None:
            self.skipTest("there is no haproxy")
        text = named(of_kind("ConfigMap"), "orders-leader")["data"]["haproxy.cfg"]
        with tempfile.NamedTemporaryFile("w", suffix=".cfg") as file:
            file.write(text)
            file.flush()
            result = subprocess.run([haproxy, "-c", "-f", file.name], capture_output=True,
                                    text=True, check=False, timeout=PATIENCE_S,
                                    env={**os.environ, **POD})
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Unit(unittest.TestCase):
    def setUp(self):
        self.analyze = shutil.which("systemd-analyze")
        if self.analyze is None:
            self.skipTest("there is no systemd-analyze")
        folder = tempfile.TemporaryDirectory(prefix="bellwether-test.")
        self.addCleanup(folder.cleanup)
        text = (EXAMPLES / "systemd/bellwether.service").read_text()
        self.assertIn("ExecStart=/usr/bin/bellwether ", text)
        self.unit = pathlib.Path(folder.name) / "bellwether.service"
        self.unit.write_text(text.replace("/usr/bin/bellwether ", f"{PROGRAM} "))

    def run_analyze(self, *arguments):
        return subprocess.run([self.analyze, *arguments, self.unit], capture_output=True,
                              text=True, check=False, timeout=PATIENCE_S)

    def test_systemd_understands_every_line(self):
        result = self.run_analyze("verify", "--man=no")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_it_may_do_little(self):
        result = self.run_analyze("security", "--offline=true", f"--threshold={MAX_EXPOSURE}")
        self.assertEqual(result.returncode, 0, result.stdout[-400:] + result.stderr)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    languages.main(sys.argv[2:])
