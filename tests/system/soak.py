#!/usr/bin/env python3
"""Real sidecars under real faults, for as long as it is told: each on a host of its own
(namespaces.py), all flags watched as applications see them.

It goes in rounds.  Each makes a group, in turn with each number of voters, variant and proof of
death that was asked for, brings every fault of faults.py upon it once, in an order by dice, and
lets it come to rest after each.  A round with a finding ends, and its logs are kept.  Needs root
(network namespaces, mounts); a fault that this machine does not allow is skipped, and the table
says why.

  count           faults; one row for each budget that applied
  new leaders     how often the fault brought one (a fault of a follower should not)
  disturbed       of these, those in which this machine stood still for over 50 ms or a quarter of
                  the budget, or paused a sidecar that should have run: not in the times, and not
                  judged
  p50, p99, max   from the fault until the new leader's flag is on; p99 is by nearest rank, so
                  with fewer than 100 it is the longest
  budget          the longest time that `bellwether check` promises for this configuration and
                  fault, without round trips; longer where a sidecar was paused in the last 10 s
  late            longer than that, network and pauses of the machine allowed for (verdict.py)
  double leaders  instants at which two flags were on: A was, then B was, and A still was
  lost order      epochs with two leaders, or that came after a higher one

Exit status: 0 nothing found; 1 findings; 2 wrong usage; 77 no namespaces can be made here.
"""

import argparse
import concurrent.futures
import itertools
import os
import pathlib
import random
import re
import sys
import tempfile
import threading
import time

from harness import VARIANTS
from namespaces import can_make_namespaces
from programs import add_program_options, require_programs
from rounds import Finding, Round, Settings
from store_group import STORES
from verdict import table

SKIPPED = 77
UNITS = {"s": 1, "m": 60, "h": 3600}
PROOFS = ("none", "refused")
TUNNELLED_PROOFS = ("auto", "refused")  # of loopback all are believed that can be


class Soak:
    """All rounds, and what they found.  Rounds may run side by side."""

    def __init__(self, options):
        self.options = options
        self.began = time.monotonic()
        self.outcomes, self.skipped, self.findings = [], {}, []
        self.looks = self.watched_ns = 0
        self.lock = threading.Lock()
        kinds = itertools.product(options.voters, options.variants, options.proofs)
        self.kinds = itertools.cycle(list(kinds))
        self.numbers = itertools.count()

    def is_over(self):
        return time.monotonic() - self.began > self.options.duration_s

    def next_round(self):
        with self.lock:
            number = next(self.numbers)
            if self.is_over() or (self.options.rounds and number >= self.options.rounds):
                return None
            voters, variant, proof = next(self.kinds)
        options = self.options
        dice = random.Random(f"{options.seed}/{number}")
        settings = Settings(options.program, options.observer, number, voters, variant, proof,
                            options.profile, options.guard, options.slack_ms, options.tunnels,
                            options.store)
        return Round(settings, dice, options.keep / f"round-{number}", options.faults)

    def play_rounds(self):
        """One after the other, until it is over."""
        while (played := self.next_round()) is not None:
            finding = None
            try:
                played.play(self.is_over)
            except Finding as found:
                finding = f"{played.settings}: {found}; logs in {played.evidence}"
            with self.lock:
                self.outcomes += played.outcomes
                self.skipped |= played.skipped
                looks, watched_ns = played.looks
                self.looks += looks
                self.watched_ns += watched_ns
                if finding:
                    self.findings.append(finding)
                    print(f"FINDING {finding}", flush=True)
                self.tell(played)

    def tell(self, played):
        passed = time.monotonic() - self.began
        print(f"{passed / 60:6.1f} min  round {played.settings.number}: {played.settings}, "
              f"{len(played.outcomes)} faults; {len(self.outcomes)} faults in all, "
              f"{len(self.findings)} findings", flush=True)

    def run(self):
        """Until it is over."""
        if self.options.jobs == 1:
            return self.play_rounds()  # an interrupt ends it
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for job in [pool.submit(self.play_rounds) for _ in range(self.options.jobs)]:
                job.result()
        return None

    def looks_a_second(self):
        """On the average of all rounds."""
        return self.looks * 1e9 / self.watched_ns

    def report(self):
        """The table and what else has to be known, as Markdown."""
        options = self.options
        count = len(self.outcomes)
        lines = [f"{count} faults in {(time.monotonic() - self.began) / 60:.1f} minutes, seed "
                 f"{options.seed}; voters {', '.join(map(str, options.voters))}; variants "
                 f"{', '.join(options.variants)}; guard {options.store or options.guard}; profile "
                 f"{options.profile}; proof of death {', '.join(options.proofs)}.", "",
                 table(self.outcomes, self.skipped)]
        if self.looks:
            lines += [f"All flags were looked at {self.looks_a_second():.0f} times a second.", ""]
        if count and not any(outcome.doubles for outcome in self.outcomes):
            lines += [f"No double leader in {count} faults: below {3 / count:.1e} per fault, with "
                      "95 % confidence.", ""]
        lines += [f"- FINDING {finding}" for finding in self.findings]
        return "\n".join(lines)


def duration_s(text):
    found = re.fullmatch(r"([0-9]+)([smh])", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration like 90s, 30m or 8h")
    return int(found[1]) * UNITS[found[2]]


def voter_counts(text):
    counts = [int(word) if word.isdigit() else 0 for word in text.split(",")]
    if not all(3 <= count <= 9 for count in counts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers from 3 to 9")
    return counts


def read_options(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_program_options(parser)
    parser.add_argument("--duration", dest="duration_s", metavar="TIME", type=duration_s,
                        default="10m", help="90s, 30m, 8h (10m); the last fault is finished")
    parser.add_argument("--voters", metavar="N,...", type=voter_counts, default="3,5",
                        help="numbers of voters (3,5)")
    parser.add_argument("--variant", choices=["both", *VARIANTS], default="both")
    parser.add_argument("--guard", choices=["majority", "none"], default="majority",
                        help="with none, findings are to be expected (majority)")
    parser.add_argument("--store", default="", choices=list(STORES),
                        help="a real store is the guard, with a lease of 3 s and faults of its "
                             "own; `--voters` is how many members; late is not judged")
    parser.add_argument("--profile", default="default",
                        choices=["default", "lan", "wan", "fast"])
    parser.add_argument("--death-proof", choices=["both", "auto", *PROOFS], default="both")
    parser.add_argument("--tunnels", action="store_true",
                        help="join the hosts by tunnels, and restart those, too: all at once, one "
                             "by one, in each direction")
    parser.add_argument("--slack", dest="slack_ms", metavar="MS", type=float, default=0,
                        help="be late by so much, where others use the machine, too (0)")
    parser.add_argument("--seed", type=int, default=1, help="chooses all faults (1)")
    parser.add_argument("--jobs", type=int, default=1, help="rounds side by side (1)")
    parser.add_argument("--rounds", type=int, default=0, help="at most so many (0: no limit)")
    parser.add_argument("--faults", type=int, default=0, help="of each round (0: all kinds)")
    parser.add_argument("--output", type=pathlib.Path, help="also write the table to this file")
    parser.add_argument("--keep", metavar="FOLDER", type=pathlib.Path,
                        default=f"{tempfile.gettempdir()}/bellwether-soak.{os.getpid()}",
                        help="for the logs of rounds with findings")
    options = parser.parse_args(arguments)
    require_programs(parser, options)
    options.variants = VARIANTS if options.variant == "both" else (options.variant,)
    options.proofs = PROOFS if options.death_proof == "both" else (options.death_proof,)
    if options.tunnels and options.death_proof == "both":
        options.proofs = TUNNELLED_PROOFS
    if options.guard == "none" or options.store:
        options.proofs = PROOFS[:1]
    if options.store and not STORES[options.store][0]():
        parser.error(f"there is no {options.store} here")
    return options


def main():
    options = read_options()
    if not can_make_namespaces():
        print("network namespaces cannot be made here", file=sys.stderr)
        return SKIPPED
    soak = Soak(options)
    soak.run()
    report = soak.report()
    print(f"\n{report}")
    if options.output:
        options.output.write_text(report)
    return 1 if soak.findings else 0


if __name__ == "__main__":
    sys.exit(main())
