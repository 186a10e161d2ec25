#!/usr/bin/env python3
"""Sidecars at IPv6 addresses: among themselves, for the application, and beside IPv4.

usage: ipv6_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import socket

from harness import place_of
from system_case import SystemCase, main


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
        with self.group(1, address="::1") as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            host = {"Host": place_of("::1", sidecar.api_port)}
            self.assertEqual(sidecar.request("GET", "/leader", headers=host)[0], 200)
            self.assertEqual(sidecar.request("POST", "/v1/elect", headers=host)[0] // 100, 2)
            status, _, text = sidecar.request("GET", "/metrics", port=sidecar.metrics_port)
            self.assertEqual(status, 200)
            self.assertIn("bellwether_is_leader 1\n", text)
            status = self.run_program("status", "--api", sidecar.api_url)
            self.assertEqual(status.returncode, 0, status.stderr)
            self.assertIn(sidecar.name, status.stdout)

    def test_a_leader_that_listens_for_both_families(self):
        with self.group() as group:
            by_ipv4, by_ipv6, leader = group.sidecars
            places = {family: place_of(address, leader.peer_port)
                      for family, address in ((4, "127.0.0.1"), (6, "::1"))}
            own = f'listen = "{places[4]}"'
            everywhere = f'listen = "[::]:{leader.peer_port}"\nadvertise = "{places[6]}"'
            text = leader.config_file.read_text()
            self.assertIn(own, text)
            leader.write_config(text.replace(own, everywhere).replace(
                f'"127.0.0.1:{leader.api_port}"', f'"[::]:{leader.api_port}"'))
            text = by_ipv6.config_file.read_text()
            by_ipv6.write_config(text.replace(places[4], places[6]))
            group.start().await_leader(leader)
            for family in ("127.0.0.1", "::1"):
                leader.address = family
                self.assertEqual(leader.request("GET", "/leader")[0], 200)
            leader.kill()
            group.await_leader(by_ipv6)
            for follower in (by_ipv4, by_ipv6):
                follower.await_state_of(leader, "down")


if __name__ == "__main__":
    main()
