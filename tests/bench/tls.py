#!/usr/bin/env python3
"""What does TLS between members cost?  Four tables, in Markdown:

  at rest     three groups of three side by side, plain, by a secret and by certificates, made anew
              each time: share of a core, how much more than plain, and memory.  Most of it is the
              kernel's, which wakes whoever is written to, and that differs more between two groups
              of one kind than between the kinds: hence the repetitions, and the standard error.
              Programs of the lowest priority keep the processors busy.  Without them (--alone) the
              table is about the machine: each step pays for a processor that was asleep, and that
              of a virtual machine has lost its caches to other machines meanwhile
  restart     a member of a large group is killed and started again; until it has all its links,
              which all others make at once
  handshake   CPU of either side (tls_price, which is built for it)
  one of 201  all others link to it, in one process (the same)

takeover.py --tls both tells what it costs a takeover.  Times are those of a shared machine: compare
within one run.
"""

import argparse
import collections
import contextlib
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
from certificates import Authority, Identity  # noqa: E402
from harness import CALM, Group, Unreachable, wait_until  # noqa: E402
from neighbours import neighbours  # noqa: E402
from programs import add_program_options, require_programs  # noqa: E402

KINDS = ("plain", "secret", "certificates")
ROLES = {"leader": slice(-1, None), "followers": slice(-1), "all, on average": slice(None)}
PATIENT_START_S = 300
STARTED_TOGETHER = 20


class Tables:
    """Makes the table [tls] of each member, by kind."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.secret = self.folder / "secret"
        self.secret.touch(mode=0o600)
        self.secret.write_text(os.urandom(32).hex())
        self.identity = Identity(self.folder / "identity")
        authority = Authority(self.folder)
        self.identity.take(*authority.issue(["IP:127.0.0.1"]), authority.pem())

    def of(self, kind):
        table = {"plain": "", "secret": f'[tls]\nsecret_file = "{self.secret}"',
                 "certificates": self.identity.table()}[kind]
        return lambda _: table


def processor_s(sidecar):
    """To the nanosecond, which a process at rest needs; of threads that have ended, too
    (clock_getcpuclockid(3): MAKE_PROCESS_CPUCLOCK of the kernel's posix-timers.h)."""
    scheduled = 2
    return time.clock_gettime(~sidecar.process.pid << 3 | scheduled)


def measure_rest(options, tables):
    print(f"| {options.rests} times at rest for {options.rest_s} s, three members "
          "| share of a core | more than plain | resident | more |\n|---|---:|---:|---:|---:|")
    shares, memory = collections.defaultdict(list), collections.defaultdict(list)
    for number in range(options.rests):
        print(f"at rest, {number + 1} of {options.rests}", file=sys.stderr, flush=True)
        with contextlib.nullcontext() if options.alone else neighbours():
            rest_once(options, tables, shares, memory)
    for kind in KINDS:
        for role in ROLES:
            pairs = zip(shares[kind, role], shares["plain", role])
            more = [share - plain for share, plain in pairs]
            difference = f"{statistics.mean(more):.3f} ± {standard_error(more)} %"
            mib, plain_mib = (statistics.mean(memory[each, role]) for each in (kind, "plain"))
            print(f"| {kind}, {role} | {statistics.mean(shares[kind, role]):.3f} % | "
                  f"{difference if kind != 'plain' else ''} | {mib:.1f} MiB | "
                  f"{mib - plain_mib:.1f} MiB |", flush=True)


def rest_once(options, tables, shares, memory):
    """Adds what each kind and role has taken."""
    kinds = random.sample(KINDS, len(KINDS))
    with contextlib.ExitStack() as stack:
        groups = {kind: stack.enter_context(Group(options.program, 3, tls=tables.of(kind)))
                  for kind in kinds}
        for group in groups.values():
            group.start().await_leader(group.sidecars[-1])
        time.sleep(2)  # the load of the start is not that of rest
        began = time.monotonic()
        before = {sidecar: processor_s(sidecar) for group in groups.values()
                  for sidecar in group.sidecars}
        time.sleep(options.rest_s)
        passed = time.monotonic() - began
        for kind, group in groups.items():
            for role, which in ROLES.items():
                members = group.sidecars[which]
                shares[kind, role].append(statistics.mean(
                    (processor_s(each) - before[each]) / passed * 100 for each in members))
                memory[kind, role].append(statistics.mean(each.resident_mib() for each in members))


def standard_error(values):
    if len(values) < 2:
        return "unknown"
    return f"{statistics.stdev(values) / len(values) ** 0.5:.3f}"


def count_links(sidecar):
    with contextlib.suppress(Unreachable):
        return sidecar.count("bellwether_peer_connections")
    return None


def start(group):
    """Not all at once: 50 make 1,225 links, and 200 of them are more than two cores can bear."""
    for begun in range(0, len(group.sidecars), STARTED_TOGETHER):
        for sidecar in group.sidecars[begun:begun + STARTED_TOGETHER]:
            sidecar.start()
        for sidecar in group.running:
            wait_until(f"{sidecar.name} has all links", lambda each=sidecar: count_links(
                each) == len(group.running) - 1, PATIENT_START_S)


def measure_restarts(options, tables):
    """The lowest one, so that no election is in the way."""
    print(f"\n| restart of one of {options.members} members | until it has all links | "
          "its CPU meanwhile |\n|---|---:|---:|")
    for kind in options.kinds:
        with Group(options.program, options.members, "[election]\n" + CALM,
                   tls=tables.of(kind)) as group:
            start(group)
            others = options.members - 1
            print(f"{kind}: all are linked", file=sys.stderr, flush=True)
            times, costs = [], []
            for _ in range(options.rounds):
                victim = group.sidecars[0]
                victim.kill()
                began = time.monotonic()
                victim.start()
                wait_until("it answers", lambda: victim.get("/v1/status"))
                wait_until("it has all links", lambda: count_links(victim) == others)
                times.append((time.monotonic() - began) * 1000)
                costs.append(processor_s(victim) * 1000)
                time.sleep(2)
            print(f"| {kind} | {statistics.median(times):.0f} ms | "
                  f"{statistics.median(costs):.0f} ms |", flush=True)


def measure_handshakes(options):
    build = pathlib.Path(options.program).parent.parent
    subprocess.run(["cmake", "--build", build, "--target", "tls_price"], check=True,
                   stdout=sys.stderr)
    print(flush=True)
    subprocess.run([build / "tests/bench/tls_price", str(options.rounds)], check=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_program_options(parser)
    parser.add_argument("--rests", type=int, default=10,
                        help="how often groups are left at rest (10); 0: leave it out")
    parser.add_argument("--rest-s", type=int, default=20, help="seconds of each (20)")
    parser.add_argument("--alone", action="store_true",
                        help="nothing else uses the processors meanwhile")
    parser.add_argument("--rounds", type=int, default=10, help="of each kind (10)")
    parser.add_argument("--members", type=int, default=50,
                        help="of the large group (50); 0: leave it out")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=KINDS,
                        help="of the large group (all)")
    options = parser.parse_args()
    require_programs(parser, options)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        tables = Tables(folder)
        if options.rests:
            measure_rest(options, tables)
        if options.members:
            measure_restarts(options, tables)
    measure_handshakes(options)


if __name__ == "__main__":
    main()
