#!/usr/bin/env python3
"""The paper's table (Soundarabai et al. 2014: messages of one election, when the lowest process
notices that the leader is gone) over real TCP, as /metrics counts them.

usage: paper_table_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name

The leader is stopped (SIGSTOP), not killed, so that no connection breaks and only silence tells.
The lowest is less patient than the others, who hear of the new leader in time.  In profile textbook
everybody who starts holds an election, so counting begins when the group has become quiet.  Nearly
all the time is waiting, so several groups are measured at once.
"""

import concurrent.futures
import csv
import pathlib
import signal
import time

from harness import KINDS, VARIANTS, messages_of, wait_until
from system_case import IS_SANITIZED, SystemCase, main

TABLE = pathlib.Path(__file__).resolve().parent.parent / "cli" / "published_table.csv"
QUIET_S = 0.5
GROUPS_AT_ONCE = 3
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
        """Until nothing is sent any more, and nobody holds an election."""
        last, since = None, time.monotonic()

        def is_quiet():
            nonlocal last, since
            now = messages_of(group.running)
            states = {sidecar.get("/v1/status")["election_state"] for sidecar in group.running}
            if now != last or states != {"idle"}:
                last, since = now, time.monotonic()
            return time.monotonic() - since > QUIET_S
        wait_until("nothing is sent", is_quiet)

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



class PaperTable(Measuring):
    def measure(self, variant, size):
        """What a group sends in one election; {kind: messages}."""
        with self.group(size) as group:
            successor, leader = self.bring_up(variant, group)
            survivors = group.sidecars[:-1]
            before = messages_of(survivors)
            leader.send_signal(signal.SIGSTOP)
            group.await_leader(successor)
            self.await_quiet(group)
            after = messages_of(survivors)
            return {kind: after[kind] - before[kind] for kind in KINDS}

    def test_all_sizes_by_both_variants(self):
        table = published()
        self.assertEqual({variant for variant, _ in table}, set(VARIANTS))
        # The largest first: they take longest.
        cells = sorted(table, key=lambda cell: cell[1], reverse=True)
        with concurrent.futures.ThreadPoolExecutor(GROUPS_AT_ONCE) as pool:
            measured = {cell: pool.submit(self.measure, *cell) for cell in cells}
            for variant, size in cells:
                with self.subTest(variant=variant, processes=size):
                    counts = measured[variant, size].result()
                    print(f"{variant} {size}: {sum(counts.values())} messages")
                    self.assertEqual(counts, table[variant, size])


if __name__ == "__main__":
    main()
