#!/usr/bin/env python3
"""Sidecars at IPv6 addresses: among themselves, for the application, and beside IPv4.

usage: ipv6_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import pathlib
import socket
import sys

from harness import place_of
from namespaces import Hosts, can_make_namespaces
from system_case import CALM, SystemCase, main


class IPv6(SystemCase):
    def setUp(self):
        try:
            with socket.create_server(("::1", 0), family=socket.AF_INET6):
                pass
        except OSError as error:
            self.skipTest(f"this machine has no IPv6: {error}")

    def test_a_group_at_addresses_of_ipv6(self):
        with self.group(address="::1") as group:
            lowest, middle, leader = group.start().sidecars
            group.await_leader(leader)
            addresses = {name: member["address"] for name, member in lowest.members().items()}
            self.assertEqual(addresses, {sidecar.name: place_of("::1", sidecar.peer_port)
                                         for sidecar in group.sidecars})
            leader.kill()
            group.await_leader(middle)
            lowest.await_state_of(leader, "down")
            leader.start()
            group.await_leader(leader)

    def test_the_api_and_the_metrics_at_an_address_of_ipv6(self):
        with self.group(1, address="::1", extra=CALM) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            host = {"Host": place_of("::1", sidecar.api_port)}
            self.assertEqual(sidecar.request("GET", "/leader", headers=host)[0], 200)
            self.assertEqual(sidecar.request("POST", "/v1/elect", headers=host)[0] // 100, 2)
            group.await_leader(sidecar)
            self.assertEqual(sidecar.count("bellwether_is_leader"), 1)
            status, _, _ = sidecar.request("GET", "/metrics", port=sidecar.metrics_port)
            self.assertEqual(status, 200)
            status = self.run_program("status", "--api", sidecar.api_url)
            self.assertEqual(status.returncode, 0, status.stderr)
            self.assertIn(sidecar.name, status.stdout)

    def test_a_leader_that_listens_for_both_families(self):
        """It knows nobody, so that it is found or nobody is."""
        for address in ("127.0.0.1", "::1"):
            with self.subTest(address=address), self.group(2, address=address) as group:
                follower, leader = group.sidecars
                text = group.config_of(leader, peers=[])
                for port in (leader.peer_port, leader.api_port, leader.metrics_port):
                    self.assertIn(place_of(address, port), text)
                    text = text.replace(place_of(address, port), place_of("::", port))
                text = text.replace("[metrics]", "insecure = true\n[metrics]")
                advertised = f'[node]\nadvertise = "{place_of(address, leader.peer_port)}"'
                leader.write_config(text.replace("[node]", advertised))
                group.start().await_leader(leader)
                port = leader.metrics_port
                self.assertEqual(leader.request("GET", "/metrics", port=port)[0], 200)
                leader.kill()
                group.await_leader(follower)
                follower.await_state_of(leader, "down")


# As in examples/kubernetes/deployment.yaml: nothing is said of addresses, but where this pod is.
CONFIG = """
[group]
name = "test"
[node]
name = "{name}"
priority = {priority}
advertise = "${{POD_IP}}:7946"
state_dir = "{state}"
[membership]
peers = [{peers}]
[api]
socket = "{socket}"
[flag]
path = "{flag}"
"""
FETCH = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1], timeout=30).status)"
WITHOUT_IPV6 = pathlib.Path(__file__).resolve().parent / "without_ipv6.py"


class Pods(SystemCase):
    """The defaults, on clusters of either family; apps.pods has a manifest as it is."""

    def write_configs(self, group, addresses):
        for number, sidecar in enumerate(group.sidecars):
            peers = ", ".join(f'"{place_of(address, 7946)}"' for address in addresses)
            sidecar.write_config(CONFIG.format(
                name=sidecar.name, priority=100 + number, state=sidecar.state_folder, peers=peers,
                socket=sidecar.socket_file, flag=sidecar.flag_file))

    def check_pods(self, group, hosts, addresses):
        """They find each other, their metrics answer, and a killed leader is known for dead."""
        self.write_configs(group, addresses)
        for sidecar, address in zip(group.sidecars, addresses):
            sidecar.start(environment={"POD_IP": address})
        lowest, middle, leader = group.sidecars
        group.await_leader(leader)
        for sidecar, address in zip(group.sidecars, addresses):
            self.assertEqual(lowest.members()[sidecar.name]["address"], place_of(address, 7946))
        url = f"http://{place_of(addresses[2], 9464)}/livez"
        self.assertEqual(hosts.enter(0, sys.executable, "-c", FETCH, url).strip(), "200")
        leader.kill()
        group.await_leader(middle)
        lowest.await_state_of(leader, "down")

    @contextlib.contextmanager
    def pods(self):
        if not can_make_namespaces():
            self.skipTest("no network namespaces can be made here")
        with Hosts(3) as hosts, self.group(3, hosts=hosts) as group:
            yield hosts, group

    def test_with_ipv6_alone(self):
        with self.pods() as (hosts, group):
            addresses = [f"fd77::{number + 1}" for number in range(3)]
            for number, address in enumerate(addresses):
                hosts.enter(number, "ip", "addr", "flush", "dev", "eth0")
                hosts.enter(number, "ip", "addr", "add", f"{address}/64", "dev", "eth0", "nodad")
            self.check_pods(group, hosts, addresses)

    def test_with_ipv4_alone(self):
        with self.pods() as (hosts, group):
            for number in range(3):
                hosts.enter(number, "sysctl", "-q", "net.ipv6.conf.all.disable_ipv6=1",
                            "net.ipv6.conf.default.disable_ipv6=1")
            self.check_pods(group, hosts, hosts.addresses)

    def test_on_a_kernel_without_ipv6(self):
        with self.pods() as (hosts, group):
            for sidecar in group.sidecars:
                sidecar.prefix += [sys.executable, WITHOUT_IPV6]
            self.check_pods(group, hosts, hosts.addresses)


if __name__ == "__main__":
    main()
