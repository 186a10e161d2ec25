"""Groups whose guard is a real store: what their configurations say, what stands in the store, and
the case class of the tests of it.  Each member has a way of its own to the store, which can be cut
(store_relay.py)."""

import base64
import contextlib
import json
import os
import pathlib
import tempfile
import unittest

from harness import now_ns, wait_until
from store_relay import Relay
from store_servers import Etcd, Kubernetes, has_etcd, has_kubernetes, lease_rules
from system_case import SystemCase
from verdict import lost_order

# All of it takes minutes; without, what CI runs.
IS_ALL = bool(os.environ.get("BELLWETHER_TEST_STORES"))
by_command = unittest.skipUnless(IS_ALL, "only with BELLWETHER_TEST_STORES=all")

NAMESPACE = "shop"
# So short that cases are, and twice as long as a machine stands still that is busy.
LEASE_S = 3
SHORT = f'lease = "{LEASE_S}s"\npreempt_delay = "500ms"\n'


class OfEtcd:
    """What a group needs of a running Etcd: a table of its configuration, and its record."""

    def __init__(self, server):
        self.server = server

    def targets(self):
        """The ports of loopback to which a member connects."""
        return [int(url.rsplit(":", 1)[1]) for url in self.server.urls]

    def prepare(self, group_name, folder):
        """Whatever has to be there before the group is."""

    def table(self, _group_name, ports):
        endpoints = ", ".join(f'"http://127.0.0.1:{port}"' for port in ports)
        return f"[etcd]\nendpoints = [{endpoints}]\n"

    def send_signal(self, number):
        """To all servers."""
        for member in self.server.members:
            member.process.send_signal(number)

    def restart(self):
        for member in self.server.members:
            member.kill()
            member.start()
        wait_until("etcd is healthy", lambda: all(m.is_healthy() for m in self.server.members))

    def post(self, path, body):
        """To the first member that is there."""
        for member in self.server.members:
            with contextlib.suppress(OSError):
                return member.post(path, body)
        raise OSError("no etcd")

    @staticmethod
    def key(group_name):
        return base64.b64encode(f"/bellwether/{group_name}".encode()).decode()

    def value(self, group_name):
        """As it stands there; None: nothing."""
        found = self.post("/v3/kv/range", {"key": self.key(group_name)}).get("kvs")
        return json.loads(base64.b64decode(found[0]["value"])) if found else None

    def holder(self, group_name):
        """The name of the member that holds it; None: no member does."""
        value = self.value(group_name)
        return value["name"] if value and value.get("holder") == "member" else None

    def put(self, group_name, value):
        text = base64.b64encode(value.encode()).decode()
        self.post("/v3/kv/put", {"key": self.key(group_name), "value": text})

    def edit(self, group_name, holder=None, lease_s=None):
        """By hand, whatever it was, once there is one; an empty holder is nobody."""
        value = wait_until("there is a record", lambda: self.value(group_name))
        if holder is not None:
            value |= {"holder": "member" if holder else "unknown", "name": holder}
        if lease_s is not None:
            value["lease_ms"] = lease_s * 1000
        self.put(group_name, json.dumps(value))

    def delete(self, group_name):
        self.post("/v3/kv/deleterange", {"key": self.key(group_name)})


class OfKubernetes:
    """As well, of an API server; each group has a service account that may do what it must."""

    def __init__(self, server):
        self.server = server
        self.token_files = {}

    def targets(self):
        return [self.server.port]

    def prepare(self, group_name, folder):
        token_file = self.token_files[group_name] = pathlib.Path(folder) / f"{group_name}.token"
        token_file.touch(mode=0o600)
        token_file.write_text(self.server.service_account(group_name, NAMESPACE))
        self.server.grant(group_name, lease_rules(group_name), NAMESPACE)

    def table(self, group_name, ports):
        return (f'[kubernetes]\nserver = "https://127.0.0.1:{ports[0]}"\n'
                f'namespace = "{NAMESPACE}"\nca = "{self.server.ca}"\n'
                f'token_file = "{self.token_files[group_name]}"\n')

    def send_signal(self, number):
        self.server.send_signal(number)

    def restart(self):
        self.server.restart()

    def value(self, group_name):
        return self.server.lease(group_name, NAMESPACE)

    def holder(self, group_name):
        lease = self.value(group_name)
        identity = lease and lease["spec"].get("holderIdentity")
        return identity.rsplit("_", 1)[0] if identity else None

    def edit(self, group_name, holder=None, lease_s=None):
        """As `kubectl edit` does, unconditionally."""
        spec = {"holderIdentity": holder, "leaseDurationSeconds": lease_s}
        spec = {key: value for key, value in spec.items() if value is not None}
        self.server.patch_lease(group_name, {"spec": spec}, NAMESPACE)

    def delete(self, group_name):
        self.server.delete_lease(group_name, NAMESPACE)


STORES = {"etcd": (has_etcd, Etcd, OfEtcd),
          "kubernetes": (has_kubernetes, Kubernetes, OfKubernetes)}


class Guarded:
    """A group at a store: `doors` has each member's ways to the store, one for each server."""

    def __init__(self, group, store, doors):
        self.group, self.store, self.doors = group, store, doors
        self.name = group.group_name
        self.began_ns = now_ns()

    def doors_of(self, *sidecars):
        return [door for sidecar in sidecars for door in self.doors[sidecar.name]]

    def flag_of(self, sidecar):
        return self.group.sidecars.index(sidecar)

    def await_off(self, sidecar, after_ns):
        return wait_until(f"the flag of {sidecar.name} is off", lambda: (
            self.group.observer.first(self.flag_of(sidecar), False, after_ns)))

    def await_new_reign(self, epoch):
        """Another epoch than this one is led; returns (ns, sidecar)."""
        time_ns, flag = wait_until("a new reign",
                                   lambda: self.group.observer.first_reign(epoch))
        return time_ns, self.group.sidecars[flag]

    def await_holder(self, sidecar):
        wait_until(f"the record names {sidecar.name}",
                   lambda: self.store.holder(self.name) == sidecar.name)


@contextlib.contextmanager
def doors_to(store, names, namespaces=None):
    """{name: its doors}"""
    with Relay() as relay:
        yield {name: [relay.door(target, namespaces and namespaces[number])
                      for target in store.targets()] for number, name in enumerate(names)}


class StoreGuardCase(SystemCase):
    """A class below sets `store`; whatever is done, the observer never sees two flags, and epochs
    rise."""

    store = None

    @contextlib.contextmanager
    def led_group(self, size=3, extra=SHORT, hosts=None, name="", is_led=True):
        """A group that follows its highest member."""
        name = name or self.id().rsplit("test_", maxsplit=1)[-1].replace("_", "-")[:50]
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.store.prepare(name, folder)
        names = [f"n{number}" for number in range(size)]
        with doors_to(self.store, names, hosts and hosts.names) as doors:
            def table(sidecar):
                return self.store.table(name, [door.port for door in doors[sidecar.name]])
            with self.group(size, extra=extra, name=name, hosts=hosts, tls=table) as group:
                guarded = Guarded(group, self.store, doors)
                group.start().observe(self.observer)
                if is_led:
                    group.await_leader(group.sidecars[-1])
                    guarded.await_holder(group.sidecars[-1])
                yield guarded
                with group.observer.lock:
                    self.assertEqual(lost_order(group.observer.changes), [])
                self.assertEqual(group.observer.doubles_since(guarded.began_ns), [])


class EtcdCase(StoreGuardCase):
    """At one etcd."""

    size = 1

    @classmethod
    def setUpClass(cls):
        if not has_etcd():
            raise unittest.SkipTest("there is no etcd, or no etcdctl")
        cls.server = cls.enterClassContext(Etcd(cls.size))
        cls.store = OfEtcd(cls.server)


class KubernetesCase(StoreGuardCase):
    """At an API server with RBAC."""

    @classmethod
    def setUpClass(cls):
        if not has_kubernetes():
            raise unittest.SkipTest("neither KUBEBUILDER_ASSETS, PATH, BELLWETHER_TEST_KUBE nor a "
                                    "folder */tools/kube beside the checkout has a kube-apiserver")
        cls.server = cls.enterClassContext(Kubernetes())
        cls.store = OfKubernetes(cls.server)
