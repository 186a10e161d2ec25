#!/usr/bin/env python3
"""Voters under faults, shortly: soak.py's rounds, for CI.  And that its checks can fail.

usage: soak_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import pathlib
import tempfile
import unittest

import soak
from harness import VARIANTS, now_ns, wait_until
from namespaces import Hosts, can_make_namespaces
from store_servers import has_etcd
from system_case import SystemCase, main
from verdict import Outcome, lost_order, percentile, table

# At least so many faults in a run; those that were skipped do not count.
ENOUGH = 60
# Even where many others work on the machine: with fewer nobody would have watched.
LOOKS_A_SECOND = 100


class Soak(SystemCase):
    def setUp(self):
        if not can_make_namespaces():
            self.skipTest("network namespaces cannot be made here")

    def soak(self, *arguments):
        """A run with these arguments, to its end."""
        options = soak.read_options(["--program", self.program, "--observer", self.observer,
                                     "--profile", "lan", *arguments])
        run = soak.Soak(options)
        run.run()
        print(run.report())
        return run

    def test_faults_of_three_and_five_voters_in_both_variants(self):
        """The rounds run side by side: what most of a fault takes is time, not the processor.  With
        others at work on the machine the slack tells a failover that hangs from one that does not;
        how fast it is, soak.py judges on a machine of its own."""
        run = self.soak("--rounds", "4", "--jobs", "4", "--faults", "17", "--death-proof", "none",
                        "--duration", "5m", "--slack", "2000")
        self.assertEqual(run.findings, [])
        self.assertGreaterEqual(len(run.outcomes), ENOUGH)
        self.assertGreater(run.looks_a_second(), LOOKS_A_SECOND)
        self.assertLess(len(run.skipped), len(run.outcomes) / 2)

    @unittest.skipUnless(has_etcd(), "there is no etcd, or no etcdctl")
    def test_faults_of_members_and_of_the_store_that_guards_them(self):
        """Those of members go on as long as the lease: few of all kinds, by the seed."""
        run = self.soak("--store", "etcd", "--voters", "3", "--variant", "modified",
                        "--rounds", "3", "--jobs", "3", "--faults", "6", "--duration", "25s",
                        "--seed", "3")
        self.assertEqual(run.findings, [])
        self.assertGreater(len(run.outcomes), 0)
        self.assertGreater(run.looks_a_second(), LOOKS_A_SECOND)

    def test_without_a_guard_a_partition_has_two_leaders(self):
        """The observer that finds none under guard majority finds them here."""
        for variant in VARIANTS:
            with self.subTest(variant=variant), Hosts(3) as hosts, \
                    self.group(3, variant, hosts=hosts) as group:
                group.start().observe(self.observer)
                leader = group.await_leader(group.sidecars[-1])
                cut_ns = now_ns()
                hosts.partition([0, 1], [2])
                wait_until("two leaders at once", lambda: group.observer.doubles_since(cut_ns))
                wait_until("it still leads", leader.is_leader)
                hosts.heal()
                group.await_leader(leader)

    def test_a_run_without_a_guard_ends_with_findings(self):
        with tempfile.TemporaryDirectory() as folder:
            run = self.soak("--guard", "none", "--voters", "3", "--variant", "modified",
                            "--rounds", "1", "--duration", "5m", "--keep", folder)
            self.assertIn("two leaders at once",
                          (pathlib.Path(folder) / "round-0/finding").read_text())
        self.assertTrue(any("two leaders at once" in finding for finding in run.findings),
                        run.findings)


class Verdict(unittest.TestCase):
    def test_reigns_in_order_are_no_finding(self):
        self.assertEqual(lost_order([(1, 0, True, 5), (2, 0, False, 0), (3, 1, True, 6),
                                     (4, 1, False, 0), (5, 1, True, 6), (6, 0, True, 7)]), [])

    def test_an_epoch_with_two_leaders_is_found(self):
        self.assertEqual(len(lost_order([(1, 0, True, 5), (2, 0, False, 0), (3, 1, True, 5)])), 1)

    def test_an_epoch_that_goes_back_is_found(self):
        self.assertEqual(len(lost_order([(1, 0, True, 5), (2, 1, True, 6), (3, 0, True, 4)])), 1)

    def test_a_failover_is_late_beyond_budget_round_trips_and_pauses_of_the_machine(self):
        self.assertFalse(Outcome("fault", 100, 104.9, gap_ms=2, trips=3).is_late)
        self.assertTrue(Outcome("fault", 100, 105.1, gap_ms=2, trips=3).is_late)
        self.assertFalse(Outcome("fault", 100, 154, trips=3, slack_ms=52).is_late)
        self.assertFalse(Outcome("fault", None, 1000).is_late)
        self.assertFalse(Outcome("fault", 100, 1000, was_paused=True).is_late)
        self.assertFalse(Outcome("fault", 100, 1000, gap_ms=26).is_late)
        self.assertTrue(Outcome("fault", 100, 1000, gap_ms=24).is_late)
        self.assertFalse(Outcome("fault", 1000, 9000, gap_ms=51).is_late)
        self.assertFalse(Outcome("fault", 100, None).is_late)

    def test_percentiles_are_by_nearest_rank(self):
        values = list(range(1, 101))
        self.assertEqual([percentile(values, share) for share in (0.5, 0.99, 1)], [50, 99, 100])
        self.assertEqual(percentile([7], 0.5), 7)

    def test_the_table_sums_up_and_leaves_disturbed_times_out(self):
        text = table([Outcome("a", 90, 5), Outcome("a", 90, 7), Outcome("a", 90, 900, gap_ms=850),
                      Outcome("b"), Outcome("b", doubles=2, lost_order=1)], {"c": "no cgroups"})
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in
                text.splitlines()]
        self.assertEqual(rows[2], ["a", "3", "3", "1", "5.0", "7.0", "7.0", "90", "0", "0", "0"])
        self.assertEqual(rows[3], ["b", "2", "0", "0", "", "", "", "", "0", "2", "1"])
        self.assertEqual(rows[4][:2], ["c", "skipped: no cgroups"])
        self.assertEqual(rows[5], ["all", "5", "3", "1", "", "", "", "", "0", "2", "1"])


if __name__ == "__main__":
    main()
