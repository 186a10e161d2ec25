#!/usr/bin/env python3
"""What an election would have cost by each variant, as the plugin says to the winner, is what real
sidecars send in that situation when they elect by that variant.

usage: shadow_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import signal

from harness import KINDS, VARIANTS, messages_of, wait_until
from paper_table_test import Measuring, published
from system_case import CALM, main

# Nobody but the next in line begins, however busy the machine is.
PATIENT = 'answer_timeout = "5s"\ncoordinator_timeout = "20s"\n' + CALM


def priced(sidecars):
    """Elections, by the sum over all these."""
    return sum(sidecar.count("bellwether_shadow_elections_total", result="counted")
               for sidecar in sidecars)


def foretold_messages_of(sidecars):
    """{variant: {kind: messages}} as the plugin says."""
    return {variant: {kind: sum(
        sidecar.count("bellwether_shadow_messages_total", type=kind, variant=variant)
        for sidecar in sidecars) for kind in KINDS} for variant in VARIANTS}


def difference(after, before):
    return {kind: after[kind] - before[kind] for kind in KINDS}


class Shadow(Measuring):
    def watch(self, group, leader_ends):
        """The leader's end, and the election after it: what it takes in earnest, and by each
        variant as the plugin says."""
        *survivors, leader = group.sidecars
        # What was won before must not be counted from now on.
        wait_until("all that were won are priced", lambda: all(
            sidecar.count("bellwether_shadow_elections_total") ==
            sidecar.count("bellwether_elections_total", result="won") for sidecar in survivors))
        real, virtual = messages_of(survivors), foretold_messages_of(survivors)
        elections = priced(survivors)
        leader_ends()
        group.await_leader(survivors[-1])
        self.await_quiet(group)
        wait_until("it is priced", lambda: priced(survivors) > elections)
        self.assertEqual(priced(survivors), elections + 1, "counted once in the group")
        real_after, virtual_after = messages_of(survivors), foretold_messages_of(survivors)
        return difference(real_after, real), {
            variant: difference(virtual_after[variant], virtual[variant]) for variant in VARIANTS}

    def switch(self, group, variant):
        settings = f'[election]\nvariant = "{variant}"\n{PATIENT}'
        for sidecar in group.sidecars:
            sidecar.write_config(group.config_of(sidecar, settings))
        wait_until("all want the new variant", lambda: all(
            sidecar.get("/v1/status")["variant"] == variant and
            sidecar.metrics()["bellwether_config_mismatch"] == 0 for sidecar in group.sidecars))
        # The metric is looked after once a second; the list of members is what counts.
        wait_until("all know it of all", lambda: all(
            member["variant"] == variant for sidecar in group.sidecars
            for member in sidecar.members().values()))

    def compare_before_and_after_the_switch(self, size):
        with self.group(size, VARIANTS[0], PATIENT) as group:
            leader = group.start().sidecars[-1]
            group.await_leader(leader)
            self.await_quiet(group)
            before, predicted = self.watch(group, leader.kill)
            self.assertEqual(before, predicted[VARIANTS[0]], "the yardstick")
            leader.start()
            group.await_leader(leader)
            self.switch(group, VARIANTS[1])
            self.await_quiet(group)
            after, _ = self.watch(group, leader.kill)
            self.assertEqual(after, predicted[VARIANTS[1]])
            active = f'bellwether_active_variant{{variant="{VARIANTS[1]}"}}'
            self.assertEqual(group.sidecars[-2].metrics()[active], 1)

    def test_of_three_the_other_variant_costs_what_was_foretold(self):
        self.compare_before_and_after_the_switch(3)

    def test_of_five_the_other_variant_costs_what_was_foretold(self):
        self.compare_before_and_after_the_switch(5)

    def test_the_papers_worst_case_is_foretold_by_either_variant(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant), self.group(5) as group:
                _, leader = self.bring_up(variant, group)
                real, virtual = self.watch(group, lambda: leader.send_signal(signal.SIGSTOP))
                self.assertEqual(real, virtual[variant])
                for foretold, total in {"classic": 19, "modified": 11}.items():
                    self.assertEqual(sum(virtual[foretold].values()), total)

    def test_of_four_the_foretold_is_the_published(self):
        with self.group(4) as group:
            _, leader = self.bring_up(VARIANTS[0], group)
            _, virtual = self.watch(group, lambda: leader.send_signal(signal.SIGSTOP))
            self.assertEqual(virtual, {variant: published()[variant, 4] for variant in VARIANTS})


if __name__ == "__main__":
    main()
