#!/usr/bin/env python3
"""Runs random fault schedules by the million, and names every seed that fails or crashes.

usage: campaign.py [options]

Each guard and variant gets its own schedules, on seeds that CI never runs, in chunks: a process
each, at the lowest priority.  What fails, crashes or comes to no end is noted with its seed, and
the campaign goes on; a chunk that ended early is halved until the seed is found.  At the end there
is a table (Markdown).  With --journal an interrupted campaign goes on where it was.

Exits with 0 when every schedule passed, 1 when one did not, 2 for wrong usage, and 130 when it was
interrupted.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUMMARY = re.compile(
    r"^\S+: (\d+) schedules, (\d+) elections, (\d+) faults, .* (\d+) failed, in ", re.MULTILINE)
FAILED_SEED = re.compile(r"^FAILED  \S+, seed (\d+)$", re.MULTILINE)
# The slowest machine takes a tenth of this; beyond it a chunk has come to no end.
PATIENCE_S, PATIENCE_A_SEED_S = 300, 2


@dataclasses.dataclass
class Sum:
    """What a range of seeds came to; the seeds of `failed` have a word on how each ended."""
    schedules: int = 0
    elections: int = 0
    faults: int = 0
    cpu_s: float = 0.0
    failed: dict = dataclasses.field(default_factory=dict)

    def add(self, other):
        self.schedules += other.schedules
        self.elections += other.elections
        self.faults += other.faults
        self.cpu_s += other.cpu_s
        self.failed.update(other.failed)


class Campaign:
    """The processes that run seeds, and a way to end them all."""

    def __init__(self, program):
        self.program = program
        self.lock = threading.Lock()
        self.running = set()
        self.is_over = False

    def command(self, guard, variant, seeds):
        return [self.program, "simulate", "--guard", guard, "--variant", variant, "--jobs", "1",
                "--fault-seeds", seeds]

    def stop(self):
        with self.lock:
            self.is_over = True
            for process in self.running:
                process.kill()

    def ends_as(self, guard, variant, first, last):
        """Runs these seeds in one process; returns its exit status, output and seconds of CPU."""
        with tempfile.TemporaryFile() as out:
            with self.lock:
                if self.is_over:
                    raise InterruptedError
                process = subprocess.Popen(
                    ["nice", "-n", "19", *self.command(guard, variant, f"{first}..{last}")],
                    stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL)
                self.running.add(process)
            patience = threading.Timer(PATIENCE_S + PATIENCE_A_SEED_S * (last - first + 1),
                                       process.kill)
            patience.start()
            _, status, usage = os.wait4(process.pid, 0)
            patience.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            with self.lock:
                self.running.discard(process)
                if self.is_over:
                    raise InterruptedError
            out.seek(0)
            text = out.read().decode(errors="replace")
        return process.returncode, text, usage.ru_utime + usage.ru_stime

    def run(self, guard, variant, first, last):
        """The Sum of these seeds, whatever happens to the processes that run them."""
        code, text, cpu_s = self.ends_as(guard, variant, first, last)
        summary = SUMMARY.search(text)
        if code not in (0, 1) or summary is None:
            return self.halve(guard, variant, first, last, f"ended with {code}", cpu_s)
        schedules, elections, faults, failed = map(int, summary.groups())
        total = Sum(schedules, elections, faults, cpu_s)
        # Only the lowest is named.
        while failed:
            seed = int(FAILED_SEED.search(text).group(1))
            total.failed[seed] = "failed"
            failed -= 1
            if failed:
                _, text, cpu_s = self.ends_as(guard, variant, seed + 1, last)
                total.cpu_s += cpu_s
        return total

    def halve(self, guard, variant, first, last, how, cpu_s):
        total = Sum(cpu_s=cpu_s)
        if first == last:
            total.schedules = 1
            total.failed[first] = how
            return total
        middle = (first + last) // 2
        total.add(self.run(guard, variant, first, middle))
        total.add(self.run(guard, variant, middle + 1, last))
        return total


class Journal:
    """What is done already, a line of JSON for each chunk; without a file, for this run only."""

    def __init__(self, path, program):
        self.done = {}
        self.file = None
        if path is None:
            return
        stat = os.stat(program)
        head = {"program": str(program), "size": stat.st_size, "time": stat.st_mtime_ns}
        lines = path.read_text().splitlines() if path.exists() else []
        if lines and json.loads(lines[0]) != head:
            raise SystemExit(f"{path} is of another build; remove it, or name another")
        for line in lines[1:]:
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue  # the last one, of a campaign that was killed
            total = Sum(**entry["sum"])
            total.failed = {int(seed): how for seed, how in total.failed.items()}
            self.done[tuple(entry["chunk"])] = total
        self.file = path.open("a")
        if not lines:
            self.write(head)

    def write(self, entry):
        if self.file:
            self.file.write(json.dumps(entry) + "\n")
            self.file.flush()

    def note(self, chunk, total):
        self.done[chunk] = total
        self.write({"chunk": chunk, "sum": dataclasses.asdict(total)})


def chunks_of(options):
    """(guard, variant, first, last), the kinds in turn so that an early end has some of each."""
    last = options.first_seed + options.schedules - 1
    return [(guard, variant, first, min(first + options.chunk - 1, last))
            for first in range(options.first_seed, last + 1, options.chunk)
            for guard in options.guards.split(",")
            for variant in options.variants.split(",")]


def print_table(campaign, chunks, done):
    totals = collections.defaultdict(Sum)
    for guard, variant, first, last in chunks:
        if (guard, variant, first, last) in done:
            totals[guard, variant].add(done[guard, variant, first, last])
    print("| guard | variant | schedules | elections | faults | failed seeds | CPU time |")
    print("|---|---|---:|---:|---:|---|---:|")
    for (guard, variant), total in totals.items():
        seeds = ", ".join(str(seed) for seed in sorted(total.failed)) or "none"
        print(f"| {guard} | {variant} | {total.schedules:,} | {total.elections:,} | "
              f"{total.faults:,} | {seeds} | {total.cpu_s / 60:.1f} min |")
    for (guard, variant), total in totals.items():
        for seed, how in sorted(total.failed.items()):
            print(f"seed {seed} {how}: {' '.join(campaign.command(guard, variant, str(seed)))}")
    return any(total.failed for total in totals.values())


def run_all(campaign, chunks, journal, jobs):
    """Whether all of it was run."""
    began = time.monotonic()
    left = [chunk for chunk in chunks if chunk not in journal.done]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(campaign.run, *chunk): chunk for chunk in left}
        try:
            for count, future in enumerate(concurrent.futures.as_completed(running), 1):
                journal.note(running[future], future.result())
                failed = sum(len(total.failed) for total in journal.done.values())
                minutes = (time.monotonic() - began) / 60
                minutes_left = minutes / count * (len(left) - count)
                print(f"{len(chunks) - len(left) + count} of {len(chunks)} chunks, {failed} "
                      f"failed, {minutes:.1f} min; about {minutes_left:.0f} min left",
                      file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            for future in running:
                future.cancel()
            campaign.stop()
            return False
    return True


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bellwether", type=pathlib.Path, metavar="PROGRAM",
                        default=ROOT / "build/dev/bin/bellwether",
                        help="what runs the schedules (default: %(default)s)")
    parser.add_argument("--schedules", type=int, default=1_000_000, metavar="N",
                        help="of each guard and variant (default: %(default)s)")
    parser.add_argument("--first-seed", type=int, default=1_000_000_000, metavar="N",
                        help="the first; another one for each release (default: %(default)s)")
    parser.add_argument("--guards", default="none,majority,store", help="(default: %(default)s)")
    parser.add_argument("--variants", default="classic,modified", help="(default: %(default)s)")
    parser.add_argument("--chunk", type=int, default=5000, metavar="N",
                        help="schedules of one process (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N",
                        help="processes at a time (default: one a core)")
    parser.add_argument("--journal", type=pathlib.Path, metavar="FILE",
                        help="keeps what is done, and goes on from there")
    options = parser.parse_args()
    if min(options.schedules, options.chunk, options.jobs) < 1 or options.first_seed < 0:
        parser.error("numbers are 1 or more")
    if not os.access(options.bellwether, os.X_OK):
        parser.error(f"{options.bellwether} is no program; build it, or name it (--bellwether)")
    return options


def main():
    options = parse_options()
    # Also where a shell has told its background jobs to ignore it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    campaign = Campaign(str(options.bellwether))
    journal = Journal(options.journal, campaign.program)
    chunks = chunks_of(options)
    is_complete = run_all(campaign, chunks, journal, options.jobs)
    has_failed = print_table(campaign, chunks, journal.done)
    if not is_complete:
        return 130
    return 1 if has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
