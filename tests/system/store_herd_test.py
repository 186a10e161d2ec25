#!/usr/bin/env python3
"""Fifty sidecars whose etcd goes away and comes back: they do not all ask it, and one leads.  That
takes a minute of two cores, so only with BELLWETHER_TEST_STORES=all.

usage: store_herd_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

from harness import PATIENCE_S, now_ns, wait_until
from store_group import EtcdCase, by_command
from system_case import CALM, main

MEMBERS = 50
LEASE_S = 6  # of CALM
# From the store's return until a leader leads, and for some leases after it.
MOST_REQUESTS = MEMBERS
LEASES = 3


@by_command
class Herd(EtcdCase):
    def asked(self):
        """How many reads, writes and watches came to the store since it was started."""
        return sum(self.server.members[0].handled(method, "started") for method in
                   ("Range", "Txn", "Watch"))

    def test_a_store_that_comes_back_is_not_asked_by_all(self):
        store, = self.server.members
        with self.led_group(MEMBERS, extra='preempt_delay = "500ms"\n' + CALM) as guarded:
            group = guarded.group
            leader, epoch = group.sidecars[-1], group.sidecars[-1].epoch()
            before, began_ns = self.asked(), now_ns()
            wait_until("leases have passed", lambda: now_ns() > began_ns + LEASES * LEASE_S * 1e9)
            at_rest = self.asked() - before
            gone_ns = now_ns()
            store.kill()
            guarded.await_off(leader, gone_ns)
            wait_until("nobody leads for a lease", lambda: now_ns() > gone_ns + 2 * LEASE_S * 1e9)
            self.assertIsNone(group.observer.first_on(gone_ns))
            store.start()
            wait_until("etcd is healthy", store.is_healthy)
            guarded.await_new_reign(epoch)
            until_led = self.asked()
            group.await_leader(leader, 3 * PATIENCE_S)
            led_ns = now_ns()
            wait_until("leases have passed", lambda: now_ns() > led_ns + LEASES * LEASE_S * 1e9)
            print(f"{at_rest} requests in {LEASES} leases at rest; {until_led} from the store's "
                  f"return to a leader, {self.asked()} to {LEASES} leases later")
            self.assertLess(until_led, MOST_REQUESTS)
            self.assertLess(self.asked(), until_led + MOST_REQUESTS)
            self.assertIs(group.agreed_leader(), leader)


if __name__ == "__main__":
    main()
