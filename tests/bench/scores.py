#!/usr/bin/env python3
"""What scores cost that change all the time, as those that are a replica's lag: a group in which
each application says 100 times a second what it is worth, and what each sidecar takes for that,
beyond what it takes at rest.

The scores of an application go over one connection, by a Scorer; with --one-shot each makes its
own, as set_score() does.
"""

import argparse
import functools
import pathlib
import statistics
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/system"))
sys.path.insert(0, str(ROOT / "examples/apps/python"))
import attachment  # noqa: E402: from the examples
from harness import Group  # noqa: E402
from programs import add_program_options, require_programs  # noqa: E402


class Application:
    """Tells its sidecar a new score so often, until it is over; a context manager."""

    def __init__(self, sidecar, per_second, is_one_shot):
        place = str(sidecar.socket_file)
        self.scorer, self.pause_s = attachment.Scorer(place), 1 / per_second
        self.tell = (functools.partial(attachment.set_score, place) if is_one_shot
                     else self.scorer.set)
        self.told, self.is_over = 0, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        next_s = time.monotonic()
        while not self.is_over.wait(max(0, next_s - time.monotonic())):
            self.tell(-self.told % 1000)
            self.told += 1
            next_s += self.pause_s

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.is_over.set()
        self.thread.join()
        self.scorer.close()


def shares(group, seconds):
    """Of a core, in per cent, that each sidecar takes meanwhile."""
    before = [sidecar.processor_s() for sidecar in group.sidecars]
    began = time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - began
    return [(sidecar.processor_s() - used) / passed * 100
            for sidecar, used in zip(group.sidecars, before)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_program_options(parser)
    parser.add_argument("--members", type=int, default=10, help="(10)")
    parser.add_argument("--per-second", type=int, default=100, help="scores of each (100)")
    parser.add_argument("--seconds", type=int, default=20, help="of either measurement (20)")
    parser.add_argument("--one-shot", action="store_true", help="a connection for each score")
    options = parser.parse_args()
    require_programs(parser, options)
    margin = "[application]\nscore_margin = 10000\n"  # the leader stays
    with Group(options.program, options.members, margin,
               priorities=[100] * options.members) as group:
        leader = group.start().await_leader()
        time.sleep(1)  # the load of the start is not that of rest
        rest = shares(group, options.seconds)
        applications = [Application(sidecar, options.per_second, options.one_shot)
                        for sidecar in group.sidecars]
        for application in applications:
            application.__enter__()
        busy = shares(group, options.seconds)
        told = sum(application.told for application in applications)
        for application in applications:
            application.__exit__(None, None, None)
    print(f"{options.members} members, {told / options.seconds / options.members:.0f} scores a "
          "second each; share of a core, in per cent\nmember  role        rest  scores    more")
    for sidecar, before, after in zip(group.sidecars, rest, busy):
        role = "leader" if sidecar is leader else "follower"
        print(f"{sidecar.name:6}  {role:8}  {before:6.2f}  {after:6.2f}  {after - before:6.2f}")
    more = [after - before for before, after in zip(rest, busy)]
    print(f"{'median':16}  {statistics.median(rest):6.2f}  {statistics.median(busy):6.2f}  "
          f"{statistics.median(more):6.2f}")


if __name__ == "__main__":
    main()
