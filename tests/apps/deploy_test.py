#!/usr/bin/env python3
"""What examples/ says of Kubernetes: the parts fit together, the pods pass Pod Security
"restricted", the configurations are right, what the kubelet would ask and run works on a sidecar.

usage: deploy_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import copy
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import kubernetes_fields
import languages
from harness import CALM, Group
from manifests import KUBERNETES, as_applied, named, of_kind, pod_of, toml_of, yaml
from store_servers import lease_rules

PROGRAM = ""
EXAMPLES = languages.ROOT / "examples"
WORKLOADS = ("StatefulSet", "Deployment")
PATIENCE_S = 60
POD = {"POD_NAME": "orders-0", "POD_NAMESPACE": "shop", "POD_IP": "10.0.0.1"}
# What the kubelet tells every container.
EVERY_POD = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
FIELD_OF = {"POD_NAME": "metadata.name", "POD_NAMESPACE": "metadata.namespace",
            "POD_IP": "status.podIP"}
# What is in these.
FREELY_NAMED = {"labels", "annotations", "matchLabels", "data", "volumeAttributes"}
SECRET = "/etc/bellwether-tls/secret"
PROGRAM_IN_POD = "/usr/bin/bellwether"
ELECTION_PORT, METRICS_PORT, API_PORT = 7946, 9464, 4040
RIGHT = 0


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


def checked(workload, sidecar):
    """What `bellwether check` makes of a workload's configuration."""
    given = {variable["name"]: POD[variable["name"]] for variable in sidecar["env"]} | EVERY_POD
    with (tempfile.NamedTemporaryFile("w", suffix=".toml") as file,
          tempfile.NamedTemporaryFile("w", suffix=".secret") as secret):
        secret.write("0" * 64)
        secret.flush()
        file.write(toml_of(workload).replace(SECRET, secret.name)
                   .replace("[kubernetes]", '[kubernetes]\nnamespace = "shop"'))
        file.flush()
        return subprocess.run([PROGRAM, "check", file.name], capture_output=True, text=True,
                              check=False, timeout=PATIENCE_S, env={**os.environ, **given})


def fields_of(value, path=()):
    """The paths of all fields."""
    if isinstance(value, list):
        for index, element in enumerate(value):
            yield from fields_of(element, (*path, index))
    elif isinstance(value, dict):
        for field, content in value.items():
            yield (*path, field)
            yield from fields_of(content, (*path, field))


@unittest.skipIf(yaml is None, "there is no python3-yaml")
class Fields(unittest.TestCase):
    def test_kubernetes_knows_every_field_and_takes_every_value(self):
        paths = sorted(KUBERNETES.glob("*.yaml"))
        self.assertGreater(len(paths), 6)
        for path in paths:
            for manifest in as_applied(path):
                self.assertEqual(kubernetes_fields.complaints(manifest), [], path.name)

    def test_a_misspelt_field_would_be_seen_wherever_it_is(self):
        tried = 0
        for path in KUBERNETES.glob("*.yaml"):
            for manifest in as_applied(path):
                for *parents, field in fields_of(manifest):
                    wrong = copy.deepcopy(manifest)
                    place = wrong
                    for parent in parents:
                        place = place[parent]
                    place[f"{field}s"] = place.pop(field)
                    is_free = (set(parents[-1:]) & FREELY_NAMED or
                               (manifest["kind"], *parents) == ("Service", "spec", "selector"))
                    if not is_free:
                        self.assertTrue(kubernetes_fields.complaints(wrong), (*parents, field))
                        tried += 1
        self.assertGreater(tried, 300)

    def test_a_wrong_value_would_be_seen(self):
        text = (KUBERNETES / "statefulset.yaml").read_text()
        for right, wrong in {
                "replicas: 3": 'replicas: "3"', "runAsNonRoot: true": "runAsNonRoot: yes please",
                "drop: [ALL]": "drop: ALL", "medium: Memory": "medium: memory",
                "restartPolicy: Always": "restartPolicy: OnFailure",
                "containerPort: 7946": "containerPort: 79460", "memory: 32Mi": "memory: 32MB",
                "name: tcp-election": "name: tcp_election", "fsGroup: 65532": "fsGroup: nobody",
                "periodSeconds: 10": "periodSeconds: 10s", "targetPort: 7946": "targetPort:",
                "apiVersion: policy/v1": "apiVersion: policy/v1beta1"}.items():
            self.assertIn(right, text)
            found = [complaint for manifest in yaml.safe_load_all(text.replace(right, wrong))
                     for complaint in kubernetes_fields.complaints(manifest)]
            self.assertTrue(found, wrong)


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
                kinds = {"configMap", "emptyDir", "secret", "projected"}
                self.assertTrue(volume.keys() <= {"name", *kinds}, volume)
            for container in containers_of(pod):
                self.assertEqual(container["securityContext"], {
                    "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]}}, container["name"])

    def test_names_fit(self):
        """Selectors, ports, volumes and ConfigMaps that are spoken of exist."""
        numbers, names = {}, {}  # of the ports that a pod opens
        for workload in of_kind(*WORKLOADS):
            template = workload["spec"]["template"]
            labels = template["metadata"]["labels"]
            self.assertEqual(workload["spec"]["selector"]["matchLabels"], labels)
            pod = template["spec"]
            ports = [port for container in containers_of(pod)
                     for port in container.get("ports", [])]
            name = labels["app.kubernetes.io/name"]
            names[name] = {port["name"] for port in ports}
            numbers[name] = {port["containerPort"] for port in ports}
            volumes = {volume["name"] for volume in pod["volumes"]} | {
                claim["metadata"]["name"]
                for claim in workload["spec"].get("volumeClaimTemplates", [])}
            for container in containers_of(pod):
                mounted = {mount["name"] for mount in container.get("volumeMounts", [])}
                self.assertTrue(mounted <= volumes, mounted - volumes)
                for key, probe in container.items():
                    if key.endswith("Probe"):
                        self.assertIn(probe["httpGet"]["port"],
                                      {port["name"] for port in container["ports"]})
            for volume in pod["volumes"]:
                if "configMap" in volume:
                    named(of_kind("ConfigMap"), volume["configMap"]["name"])
        for service in of_kind("Service"):
            name = service["spec"]["selector"]["app.kubernetes.io/name"]
            for port in service["spec"]["ports"]:
                # A number: names of a native sidecar's ports are lost before Kubernetes 1.32.
                self.assertIn(port["targetPort"], numbers[name])
        monitor, = of_kind("PodMonitor")
        name = monitor["spec"]["selector"]["matchLabels"]["app.kubernetes.io/name"]
        self.assertIn(monitor["spec"]["podMetricsEndpoints"][0]["port"], names[name])
        self.assertEqual({budget["spec"]["selector"]["matchLabels"]["app.kubernetes.io/name"]
                          for budget in of_kind("PodDisruptionBudget")},
                         {workload["metadata"]["name"] for workload, *_ in with_sidecar()})

    def test_replicas_of_a_sidecar_stand_apart(self):
        for workload, pod, *_ in with_sidecar():
            term, = pod["affinity"]["podAntiAffinity"][
                "preferredDuringSchedulingIgnoredDuringExecution"]
            self.assertEqual(term["podAffinityTerm"]["labelSelector"],
                             workload["spec"]["selector"])

    def test_the_network_lets_in_peers_prometheus_and_the_balancer_alone(self):
        policy, = of_kind("NetworkPolicy")
        self.assertEqual(policy["spec"]["policyTypes"], ["Ingress"])
        orders, monitoring, balancer = (
            {"podSelector": {"matchLabels": {"app.kubernetes.io/name": "orders"}}},
            {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}},
            {"podSelector": {"matchLabels": {"app.kubernetes.io/name": "orders-leader"}}})
        self.assertEqual(policy["spec"]["podSelector"], orders["podSelector"])
        # Numbers: not every network plugin knows the names of a native sidecar's ports.
        self.assertEqual(policy["spec"]["ingress"], [
            {"from": [orders], "ports": [{"port": ELECTION_PORT}]},
            {"from": [monitoring], "ports": [{"port": METRICS_PORT}]},
            {"from": [balancer], "ports": [{"port": 8080}, {"port": API_PORT}]}])

    def test_peers_are_found_before_they_are_ready(self):
        for workload, _, sidecar, _ in with_sidecar():
            name = workload["metadata"]["name"]
            service = named(of_kind("Service"), f"{name}-peers")
            self.assertEqual(service["spec"]["clusterIP"], "None")
            self.assertIs(service["spec"]["publishNotReadyAddresses"], True)
            port, = service["spec"]["ports"]
            self.assertTrue(port["name"].startswith("tcp-"))  # what meshes take for TCP
            self.assertEqual((port["port"], port["targetPort"]), (ELECTION_PORT, ELECTION_PORT))
            self.assertIn(ELECTION_PORT, [opened["containerPort"] for opened in sidecar["ports"]])
            # By these names they look for each other.
            self.assertEqual(workload["spec"].get("serviceName", f"{name}-peers"), f"{name}-peers")
            self.assertIn(f'\ndns = "{name}-peers.${{POD_NAMESPACE}}.svc:{ELECTION_PORT}"\n',
                          toml_of(workload))

    def test_configurations_are_right(self):
        guards = {}
        for workload, _, sidecar, application in with_sidecar():
            result = checked(workload, sidecar)
            self.assertEqual((result.returncode, result.stderr), (RIGHT, ""))
            guards[workload["metadata"]["name"]] = 'guard = "kubernetes"' in result.stdout
            # The application is told the same file.
            self.assertIn(f'path = "{application["args"][0]}"', result.stdout)
            # An emptyDir is root's, and all can write into it; the application has it read-only.
            self.assertIn('shared_folder = "on"', result.stdout)
        self.assertEqual(guards, {"orders": False, "reports": True})

    def test_the_sidecar_has_all_that_its_configuration_speaks_of(self):
        for workload, pod, sidecar, _ in with_sidecar():
            mounts = {mount["name"]: mount["mountPath"] for mount in sidecar["volumeMounts"]}
            self.assertEqual(sidecar["args"],
                             ["run", "--config", f"{mounts['config']}/bellwether.toml"])
            for variable in sidecar["env"]:
                self.assertEqual(variable["valueFrom"]["fieldRef"]["fieldPath"],
                                 FIELD_OF[variable["name"]])
            used = set(re.findall(r"\$\{(\w+)\}", toml_of(workload)))
            self.assertEqual({variable["name"] for variable in sidecar["env"]}, used)
            in_force = checked(workload, sidecar).stdout
            for line in (f'listen = "[::]:{ELECTION_PORT}"',
                         f'listen = "[::]:{METRICS_PORT}"',
                         f'state_dir = "{mounts["state"]}"', f'path = "{mounts["flag"]}/'):
                self.assertIn(f"\n{line}", in_force)
            self.assertEqual({port["containerPort"] for port in sidecar["ports"]},
                             {ELECTION_PORT, METRICS_PORT})
            # The flag's mode is 0640, and an application may run as somebody else.
            user = pod["securityContext"]
            self.assertEqual(user["fsGroup"], user["runAsGroup"])

    def test_the_sidecars_state_is_kept_as_long_as_it_counts(self):
        for workload, pod, _, _ in with_sidecar():
            claims = [claim["metadata"]["name"]
                      for claim in workload["spec"].get("volumeClaimTemplates", [])]
            volumes = [volume["name"] for volume in pod["volumes"]]
            if "[voters]" in toml_of(workload):  # they must not forget what they promised
                self.assertEqual((claims, "state" in volumes), (["state"], False))
            else:
                self.assertEqual((claims, "state" in volumes), ([], True))

    def test_a_busy_node_does_not_throttle_the_sidecar(self):
        for _, _, sidecar, application in with_sidecar():
            self.assertEqual(sidecar["resources"]["requests"].keys(), {"cpu", "memory"})
            self.assertEqual(sidecar["resources"]["limits"].keys(), {"memory"})
            self.assertIn("memory", application["resources"]["limits"])

    def test_nobody_gets_a_token_for_the_kubernetes_api_but_a_sidecar_with_a_lease(self):
        for workload in of_kind(*WORKLOADS):
            self.assertIs(pod_of(workload)["automountServiceAccountToken"], False)
        for workload, pod, sidecar, application in with_sidecar():
            projected = [volume for volume in pod["volumes"] if "projected" in volume]
            self.assertEqual(bool(projected), "[kubernetes]" in toml_of(workload))
            if not projected:
                continue
            volume, = projected
            mount, = mounts_of(sidecar, volume["name"])
            self.assertEqual((mount["mountPath"], mount["readOnly"]), (ACCOUNT, True))
            self.assertEqual(mounts_of(application, volume["name"]), [])
            token, authority, namespace = volume["projected"]["sources"]
            self.assertEqual(token["serviceAccountToken"]["path"], "token")
            self.assertEqual(authority["configMap"]["items"][0]["path"], "ca.crt")
            self.assertEqual(namespace["downwardAPI"]["items"][0]["path"], "namespace")

    def test_the_role_is_for_the_one_lease_of_the_group(self):
        workload, = [workload for workload, *_ in with_sidecar()
                     if "[kubernetes]" in toml_of(workload)]
        name = workload["metadata"]["name"]
        self.assertIn(f'[group]\nname = "{name}"\n', toml_of(workload))
        role, = of_kind("Role")
        self.assertEqual(role["rules"], lease_rules(name))
        binding, = of_kind("RoleBinding")
        self.assertEqual(binding["roleRef"]["name"], role["metadata"]["name"])
        account, = of_kind("ServiceAccount")
        subject, = binding["subjects"]
        self.assertEqual(subject["name"], account["metadata"]["name"])
        self.assertEqual(pod_of(workload)["serviceAccountName"], account["metadata"]["name"])

    def test_the_image_is_of_this_release(self):
        text = (KUBERNETES / "Dockerfile").read_text()
        version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True,
                                 timeout=PATIENCE_S).stdout.split()[1]
        self.assertIn(f"--tag bellwether:{version} ", text)
        for _, pod, sidecar, _ in with_sidecar():
            self.assertEqual(sidecar["image"], f"bellwether:{version}")
            user = pod["securityContext"]
            self.assertIn(f'\nUSER {user["runAsUser"]}:{user["runAsGroup"]}\n', text)
        self.assertIn(f'\nENTRYPOINT ["{PROGRAM_IN_POD}"]\n', text)

    def test_the_voters_are_the_replicas(self):
        stateful, = of_kind("StatefulSet")
        text = toml_of(stateful)
        service = stateful["spec"]["serviceName"]
        for ordinal in range(stateful["spec"]["replicas"]):
            self.assertIn(f'\norders-{ordinal} = "orders-{ordinal}.{service}.', text)
        self.assertNotIn(f'\norders-{stateful["spec"]["replicas"]} =', text)
        # One after the other a new group would take 10 s for each.
        self.assertEqual(stateful["spec"]["podManagementPolicy"], "Parallel")

    def test_the_patches_are_for_what_is_there(self):
        patches = sorted(KUBERNETES.glob("*-patch.yaml"))
        self.assertEqual(len(patches), 4)
        passed = 0
        for path in patches:
            patch = yaml.safe_load(path.read_text())
            workload = named(of_kind(patch["kind"]), patch["metadata"]["name"])
            template = patch["spec"]["template"]
            for name, ports in template.get("metadata", {}).get("annotations", {}).items():
                if name.endswith("-ports") or name.endswith("Ports"):
                    self.assertIn("7946", ports.split(","), name)
                    passed += 1
            volumes = [volume["name"] for volume in pod_of(workload)["volumes"]]
            for volume in template.get("spec", {}).get("volumes", []):
                self.assertIn(volume["name"], volumes)
        self.assertGreater(passed, 2)

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


@unittest.skipIf(yaml is None, "there is no python3-yaml")
class Kubelet(unittest.TestCase):
    """What the kubelet asks and runs, of a live sidecar."""

    def test_the_probes_are_of_what_a_sidecar_answers(self):
        paths = {"startupProbe": "/livez", "readinessProbe": "/readyz", "livenessProbe": "/livez"}
        probes = [(workload["metadata"]["name"], kind, sidecar[kind])
                  for workload, _, sidecar, _ in with_sidecar() for kind in paths]
        self.assertEqual(len(probes), 6)
        with Group(PROGRAM, 2, "[election]\n" + CALM) as group:
            group.start().await_leader()
            for name, kind, probe in probes:
                self.assertEqual(probe["httpGet"]["path"], paths[kind], (name, kind))
                for sidecar in group.sidecars:  # readiness does not mean leadership
                    status, _, text = sidecar.request("GET", probe["httpGet"]["path"],
                                                      port=sidecar.metrics_port)
                    self.assertEqual(status, 200, (name, kind, text))
        for workload, _, sidecar, _ in with_sidecar():
            # A slow start is no reason to kill it, and one answer that is late is none either.
            self.assertGreaterEqual(sidecar["startupProbe"]["failureThreshold"] *
                                    sidecar["startupProbe"]["periodSeconds"], 30)
            self.assertGreater(sidecar["livenessProbe"]["failureThreshold"], 1)
            port, = [port for port in sidecar["ports"] if port["containerPort"] == METRICS_PORT]
            for kind in paths:
                self.assertEqual(sidecar[kind]["httpGet"]["port"], port["name"],
                                 workload["metadata"]["name"])

    def test_a_pod_that_ends_hands_over_before_its_application_winds_up(self):
        commands = [sidecar["lifecycle"]["preStop"]["exec"]["command"]
                    for _, _, sidecar, _ in with_sidecar()]
        self.assertEqual(len(commands), 2)
        for program, *arguments in commands:
            self.assertEqual(program, PROGRAM_IN_POD)
            with Group(PROGRAM, 2, "[election]\n" + CALM) as group:
                follower, leader = group.sidecars
                group.start().await_leader(leader)
                result = self.run_hook(leader, arguments)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                group.await_leader(follower)
                # On a follower it does nothing, and says so.
                result = self.run_hook(leader, arguments)
                self.assertEqual(result.returncode, 1, result.stderr)
                group.await_leader(follower)

    def test_the_hold_is_longer_than_the_time_that_a_pod_has_to_end(self):
        """Otherwise the highest member comes back into office as it goes."""
        for _, pod, sidecar, _ in with_sidecar():
            command = sidecar["lifecycle"]["preStop"]["exec"]["command"]
            hold_s, = re.findall(r"--hold (\d+)s", " ".join(command))
            self.assertGreater(int(hold_s), pod["terminationGracePeriodSeconds"])
            self.assertEqual(command[-2:], ["--wait", "0s"])  # that time is the hook's as well

    @staticmethod
    def run_hook(sidecar, arguments):
        """As in the pod, where the configuration has its usual place."""
        return subprocess.run([PROGRAM, *arguments, "--config", sidecar.config_file],
                              capture_output=True, text=True, check=False, timeout=PATIENCE_S)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    languages.main(sys.argv[2:])
