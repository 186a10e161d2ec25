#!/usr/bin/env python3
"""The paper's table (Soundarabai et al. 2014: messages of one election, when the lowest process
notices that the leader is gone) over real TCP, as /metrics counts them.

usage: paper_table_test.py BELLWETHER FLAG_OBSERVER [--all | CASE...]; a case is Class.test_name

`--all` measures every size of the table, up to 28 processes; the cases are the three smallest.

The leader is stopped (SIGSTOP), not killed, so that no connection breaks and only silence tells.
The lowest is less patient than the others, who hear of the new leader in time.  In profile textbook
everybody who starts holds an election, so counting begins when the group has become quiet.
"""

import csv
import pathlib
import signal
import sys
import time

from harness import VARIANTS, wait_until
from system_case import IS_SANITIZED, SystemCase, main

TABLE = pathlib.Path(__file__).resolve().parent.parent / "cli" / "published_table.csv"
KINDS = ("ELECTION", "ANSWER", "HANDOVER", "COORDINATOR")
QUIET_S = 0.5
# Whoever gets no processor for as long hears of the election's end before its beginning, and counts
# less.
ANSWER_TIMEOUT_S = 3 if IS_SANITIZED else 2


def published():
    """{(variant, processes): {kind: messages}}"""
    with open(TABLE, encoding="utf-8") as file:
        return {(row["variant"], int(row["processes"])):
                {kind: int(row[kind.lower()]) for kind in KINDS} for row in csv.DictReader(file)}


def settings(variant, suspect_after_s):
    return f"""
[election]
profile = "textbook"
variant = "{variant}"
answer_timeout = "{ANSWER_TIMEOUT_S}s"
coordinator_timeout = "8s"
lease = "{suspect_after_s * 1250}ms"
[failure_detector]
suspect_after = "{suspect_after_s}s"
"""


class Measuring(SystemCase):
    def await_quiet(self, group):
        """What has been sent when nothing more is; {kind: messages}."""
        last, since = None, time.monotonic()

        def quiet():
            nonlocal last, since
            now = group.messages()
            states = {sidecar.get("/v1/status")["election_state"] for sidecar in group.running}
            if now != last or states != {"idle"}:
                last, since = now, time.monotonic()
            return now if time.monotonic() - since > QUIET_S else None
        return wait_until("nothing is sent", quiet)

    def bring_up(self, variant, group):
        """Starts the group in the papers' position; returns the successor and the leader."""
        lowest, *others = group.sidecars
        lowest.write_config(group.config_of(lowest, settings(variant, 2)))
        for sidecar in others:
            sidecar.write_config(group.config_of(sidecar, settings(variant, 8)))
        *_, successor, leader = group.start().sidecars
        group.await_leader(leader)
        self.await_quiet(group)
        return successor, leader

    def measure(self, variant, group):
        """What the group, not yet started, sends in one election; {kind: messages}."""
        successor, leader = self.bring_up(variant, group)
        leader.send_signal(signal.SIGSTOP)
        before = group.messages()
        group.await_leader(successor)
        after = self.await_quiet(group)
        return {kind: after[kind] - before[kind] for kind in KINDS}

    def compare(self, size):
        for variant in VARIANTS:
            with self.subTest(variant=variant, processes=size), self.group(size) as group:
                measured = self.measure(variant, group)
                print(f"{variant} {size}: {sum(measured.values())} messages")
                self.assertEqual(measured, published()[variant, size])


class PaperTable(Measuring):
    def test_of_four(self):
        self.compare(4)

    def test_of_six(self):
        self.compare(6)

    def test_of_ten(self):
        self.compare(10)


class WholeTable(Measuring):
    def runTest(self):  # pylint: disable=invalid-name
        for size in sorted({size for _, size in published()}):
            self.compare(size)


if __name__ == "__main__":
    if sys.argv[3:] == ["--all"]:
        sys.argv[3] = "WholeTable"
    main()
