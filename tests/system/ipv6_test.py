#!/usr/bin/env python3
"""Sidecars at IPv6 addresses: among themselves, for the application, and beside IPv4.

usage: ipv6_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import socket

from harness import place_of
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
                advertised = f'[node]\nadvertise = "{place_of(address, leader.peer_port)}"'
                leader.write_config(text.replace("[node]", advertised))
                group.start().await_leader(leader)
                port = leader.metrics_port
                self.assertEqual(leader.request("GET", "/metrics", port=port)[0], 200)
                leader.kill()
                group.await_leader(follower)
                follower.await_state_of(leader, "down")


if __name__ == "__main__":
    main()
