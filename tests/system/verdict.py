"""What a run under faults amounts to: findings, and the table.  Pure: it is told what was observed.

A failover counts from the moment at which its fault was wholly in force (or, if the fault was over
before there was a new leader, from its end) until the new leader's flag was seen on.  It is late if
it took longer than the configuration promises, by what `bellwether check` prints for that kind of
failure, plus its round trips, plus the longest time in which the observer itself did not get the
processor meanwhile.  If that was long, or if a sidecar that should have run found that it had not,
the machine was not fit to judge by: the failover is disturbed, and counted as such.  Shorter pauses
of a sidecar nobody notices, not even itself; a slack is for them where others use the machine, too.
"""

import dataclasses
import math
from typing import Optional

ROUND_TRIP_MS = 1.0  # on one machine, which is busy with other things too
# A machine that stands still for longer, or for longer than this share of the budget, is no measure
# of a failover.
DISTURBING_MS = 50.0
DISTURBING_SHARE = 0.25


@dataclasses.dataclass(frozen=True)
class Outcome:
    """One fault, and what came of it."""

    fault: str
    budget_ms: Optional[float] = None  # of this fault in this configuration; None: none is promised
    failover_ms: Optional[float] = None  # None: the leader stayed
    gap_ms: float = 0  # the longest time in which nobody looked meanwhile
    trips: int = 0  # between members
    slack_ms: float = 0  # for pauses of single sidecars that nobody notices
    was_paused: bool = False  # a sidecar meanwhile, by the machine
    doubles: int = 0  # instants with two leaders
    lost_order: int = 0

    @property
    def allowed_ms(self):
        """Beyond the budget, for the network and the machine."""
        return self.trips * ROUND_TRIP_MS + self.gap_ms + self.slack_ms

    @property
    def is_disturbed(self):
        if self.failover_ms is None:
            return False
        share_ms = (self.budget_ms or math.inf) * DISTURBING_SHARE
        return self.was_paused or self.gap_ms > min(DISTURBING_MS, share_ms)

    @property
    def is_late(self):
        return (self.failover_ms is not None and self.budget_ms is not None
                and not self.is_disturbed
                and self.failover_ms > self.budget_ms + self.allowed_ms)


def lost_order(changes):
    """What is wrong with the order of reigns, as sentences.  Changes are those of a FlagObserver
    from the group's beginning: (ns, flag, is on, epoch)."""
    leaders = {}
    highest = 0
    found = []
    for time_ns, flag, is_on, epoch in changes:
        if not is_on:
            continue
        if leaders.setdefault(epoch, flag) != flag:
            found.append(f"at {time_ns} ns flag {flag} is on in epoch {epoch}, which was that of "
                         f"flag {leaders[epoch]}")
        if epoch < highest:
            found.append(f"at {time_ns} ns flag {flag} is on in epoch {epoch}, after {highest}")
        highest = max(highest, epoch)
    return found


def percentile(values, share):
    """By nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


COLUMNS = ("fault", "count", "new leaders", "disturbed", "p50 ms", "p99 ms", "max ms", "budget ms",
           "late", "double leaders", "lost order")
SUMS = (3, 8, 9, 10)


def row(fault, budget_ms, outcomes):
    led = [outcome for outcome in outcomes if outcome.failover_ms is not None]
    times = [outcome.failover_ms for outcome in led if not outcome.is_disturbed]
    figures = ([f"{percentile(times, 0.5):.1f}", f"{percentile(times, 0.99):.1f}",
                f"{max(times):.1f}"] if times and budget_ms is not None else ["", "", ""])
    return [fault, len(outcomes), len(led), sum(outcome.is_disturbed for outcome in led), *figures,
            "" if budget_ms is None else f"{budget_ms:.0f}",
            sum(outcome.is_late for outcome in outcomes),
            sum(outcome.doubles for outcome in outcomes),
            sum(outcome.lost_order for outcome in outcomes)]


def table(outcomes, skipped):
    """Markdown that also reads well as text: a line for each fault and budget, then the sum;
    `skipped` is {fault: why}."""
    keys = sorted({(outcome.fault, outcome.budget_ms) for outcome in outcomes},
                  key=lambda key: (key[0], key[1] or 0))
    rows = [row(fault, budget_ms, [outcome for outcome in outcomes
                                   if (outcome.fault, outcome.budget_ms) == (fault, budget_ms)])
            for fault, budget_ms in keys]
    total = ["all", *[""] * (len(COLUMNS) - 1)]
    for column in (1, 2, *SUMS):
        total[column] = sum(line[column] for line in rows)
    rows += [[fault, f"skipped: {why}", *[""] * (len(COLUMNS) - 2)]
             for fault, why in sorted(skipped.items())]
    return aligned([COLUMNS, *rows, total])


def aligned(rows):
    """A table in Markdown, its columns as wide as they need be, numbers to the right."""
    texts = [[str(cell) for cell in line] for line in rows]
    widths = [max(len(line[column]) for line in texts) for column in range(len(rows[0]))]

    def joined(line):
        return "| " + " | ".join(
            cell.ljust(width) if column == 0 or not cell[:1].isdigit() else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths))) + " |"
    rule = "|" + "|".join("-" * (width + 1) + ("-" if column == 0 else ":")
                          for column, width in enumerate(widths)) + "|"
    return "\n".join([joined(texts[0]), rule, *map(joined, texts[1:])]) + "\n"
