#!/usr/bin/env python3
"""How long is an application without a leader?  Three pods on this machine, one guard, all the
variants and profiles; the leading sidecar is killed (SIGKILL), stopped (SIGSTOP) or asked to leave
(SIGTERM), again and again, and the flags are watched as applications see them.

  off    from the signal until the old leader's flag is off
  on     from the signal until the successor's flag is on
  gap    between the two: nobody leads (negative: both did)

With --kill application the sidecars live, and lead only while an application is attached to them,
and answers when it is asked: whoever is attached to the leader gets the signal.  It is a small one:
the kernel takes the memory of one that is killed apart before it ends its connection.  One that is
stopped stays attached, and is found by the checks: health_failures * health_interval +
health_timeout at most.

With --tls both there are two groups, one plain and one by TLS, whose leaders are taken down in
turn.  So it is with --against: one group of this sidecar, and one of another, an earlier release.
The ratio of their medians is printed with its 95 % confidence interval: some 10 % to either side
with 100 rounds, 5 % with 400.
Where there are several, each is looked at once in a millisecond only, and whenever a flag is
written to: observers that look every 50 us would have a fifth of a processor each.  A death is not
written, so `off` and `gap` are left out where nobody writes them.

Also what a sidecar costs at rest.  Times are those of a shared machine: compare within one run.
"""

import argparse
import collections
import contextlib
import functools
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/system"))
from harness import Group, free_ports, now_ns, wait_until  # noqa: E402
from programs import add_program_options, require_programs  # noqa: E402
from verdict import percentile  # noqa: E402

TLS = {"off": [""], "on": ["tls"], "both": ["", "tls"]}
AGAINST = "old"
PAUSE_US = 50
PAUSE_OF_SEVERAL_US = 1000
RESAMPLES = 2000  # of all rounds, for how far a ratio can be believed
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGSTOP": signal.SIGSTOP, "SIGTERM": signal.SIGTERM}

LIVELY = "tests/apps/lively_c"  # attached for as long as it lives, and answers health checks


@functools.cache
def health_port_of(_sidecar):
    return free_ports(1)[0]


def application_table(sidecar):
    return ('[application]\nattach = true\n'
            f'health = "http://127.0.0.1:{health_port_of(sidecar)}/"\n')


class Applications:
    """One beside each sidecar of a group; a context manager."""

    def __init__(self, group, program):
        self.group, self.program, self.processes = group, program, {}
        for sidecar in group.sidecars:
            self.start(sidecar)

    def start(self, sidecar):
        wait_until("it can attach", sidecar.socket_file.exists)
        process = subprocess.Popen(  # pylint: disable=consider-using-with
            [self.program, sidecar.socket_file, "worker", str(health_port_of(sidecar))])
        wait_until("it is able", lambda: sidecar.get("/v1/status")["application"]["is_able"])
        self.processes[sidecar.name] = process

    def take_down(self, observer, number):
        """As take_down() of a sidecar; whoever leads then goes on."""
        victim = self.group.await_leader()
        flag = self.group.sidecars.index(victim)
        process = self.processes[victim.name]
        before = now_ns()
        process.send_signal(number)
        off = wait_until("the old flag is off", lambda: observer.first(flag, False, before))
        on, _ = wait_until("a new flag is on", lambda: observer.first_on(before, but=flag))
        process.kill()  # it may have been stopped
        process.wait()
        self.start(victim)
        return (off - before) / 1e6, (on - before) / 1e6

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        for process in self.processes.values():
            process.kill()
            process.wait()


def bring_back(group, victim, number):
    """The group is whole again, and everybody follows its highest member."""
    if number == signal.SIGSTOP:  # going on, it would doubt itself for a while, and claim later
        victim.kill()
    victim.await_exit()
    victim.start()
    group.await_leader(group.sidecars[-1])


def take_down(group, observer, number):
    """Returns (off, on) in ms after the signal."""
    victim = group.sidecars[-1]
    flag = len(group.sidecars) - 1
    before = now_ns()
    victim.is_wanted = number == signal.SIGSTOP
    victim.send_signal(number)
    off = wait_until("the old flag is off", lambda: observer.first(flag, False, before))
    on, _ = wait_until("a new flag is on", lambda: observer.first_on(before, but=flag))
    bring_back(group, victim, number)
    return (off - before) / 1e6, (on - before) / 1e6


Kind = collections.namedtuple("Kind", ("name", "program", "is_by_tls"))


def kinds_of(options):
    """Of groups, whose leaders are taken down in turn."""
    programs = {"": options.program} | ({AGAINST: options.against} if options.against else {})
    return [Kind(" ".join(filter(None, (mode, name))), program, bool(mode))
            for name, program in programs.items() for mode in TLS[options.tls]]


def voters_of(options):
    return {"voters": 3} if options.guard == "majority" else {}


@contextlib.contextmanager
def group_of_three(options, extra, kind, is_application=False):
    with tempfile.NamedTemporaryFile("w", dir="/dev/shm") as secret:
        secret.write(os.urandom(32).hex())
        secret.flush()
        table = f'[tls]\nsecret_file = "{secret.name}"' if kind.is_by_tls else ""

        def tables(sidecar):
            return table + ("\n" + application_table(sidecar) if is_application else "")
        with Group(kind.program, 3, extra, tls=tables, **voters_of(options)) as group:
            yield group


def start(group):
    return group.start(*(["--bootstrap"] if group.voters else []))


def stand_back(observer):
    """The thread that reads the observer's lines must not preempt the sidecars.  The observer, in
    the place of an application, stays as it is."""
    os.sched_setscheduler(observer.reader.native_id, os.SCHED_BATCH, os.sched_param(0))
    return observer


def measure(options, variant, profile, name):
    extra = f'[election]\nvariant = "{variant}"\nprofile = "{profile}"\npreempt_delay = "0s"\n'
    is_application = options.kill == "application"
    if is_application:  # whoever leads goes on, though the other one is back
        extra += 'preempt = "never"\n'
    rounds = {kind: [] for kind in kinds_of(options)}
    pause_us = PAUSE_US if len(rounds) == 1 else PAUSE_OF_SEVERAL_US
    with contextlib.ExitStack() as stack:
        groups = {}
        for kind in rounds:
            group = stack.enter_context(group_of_three(options, extra, kind, is_application))
            groups[kind] = group, stand_back(start(group).observe(options.observer, pause_us))
            if is_application:
                applications = stack.enter_context(Applications(
                    group, pathlib.Path(options.observer).parents[2] / LIVELY))
                groups[kind] = applications, groups[kind][1]
            else:
                group.await_leader(group.sidecars[-1])
        for _ in range(options.rounds):
            for kind, (group, observer) in groups.items():
                down = group.take_down if is_application else (
                    lambda observer, number, group=group: take_down(group, observer, number))
                rounds[kind].append(down(observer, SIGNALS[name]))
    for kind, times in rounds.items():
        is_off_seen = len(rounds) == 1 or name == "SIGTERM" or is_application
        print_times(name, variant, profile, kind, times, is_off_seen)
    (first, base), *others = ((kind, [on for _, on in times]) for kind, times in rounds.items())
    for kind, ons in others:
        ratio, low, high = ratio_of_medians(ons, base)
        print(f"{'':28}{kind.name}, on: {ratio:.2f} times {first.name or 'the first'} "
              f"({low:.2f} to {high:.2f})", flush=True)


def ratio_of_medians(values, base):
    """(ratio, low, high), the interval of 95 % confidence: by the bootstrap, the rounds drawn again
    and again (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13)."""
    draw = random.Random(1)
    ratios = [statistics.median(draw.choices(values, k=len(values)))
              / statistics.median(draw.choices(base, k=len(base))) for _ in range(RESAMPLES)]
    ratio = statistics.median(values) / statistics.median(base)
    return ratio, percentile(ratios, 0.025), percentile(ratios, 0.975)


def print_times(name, variant, profile, kind, rounds, is_off_seen):
    offs, ons = [off for off, _ in rounds], [on for _, on in rounds]
    gaps = [on - off for off, on in rounds]

    def column(values, is_seen=True):
        if not is_seen:
            return f"  {'-':>8} {'-':>8}"
        return f"  {statistics.median(values):8.3f} {percentile(values, 0.99):8.3f}"
    print(f"{name:8} {variant:9} {profile:8} {kind.name:7} {len(rounds):6}"
          + column(offs, is_off_seen) + column(ons) + column(gaps, is_off_seen)
          + f"  {percentile(ons, 0.9):8.3f} {max(ons):8.3f}", flush=True)


def measure_rest(options, kind):
    with group_of_three(options, "", kind) as group:
        start(group).await_leader()
        time.sleep(1)  # the load of the start is not that of rest
        began = time.monotonic()
        before = [sidecar.processor_s() for sidecar in group.sidecars]
        time.sleep(options.rest_s)
        passed = time.monotonic() - began
        print(f"\nAt rest for {passed:.0f} s, in a group of three (profile default"
              f"{', by TLS' if kind.is_by_tls else ''}"
              f"{', of the other' if kind.program != options.program else ''})\n"
              "member    role      share of a core   resident")
        leader = group.agreed_leader()
        for sidecar, seconds in zip(group.sidecars, before):
            share = (sidecar.processor_s() - seconds) / passed * 100
            role = "leader" if sidecar is leader else "follower"
            print(f"{sidecar.name:8}  {role:8}  {share:13.2f} %   "
                  f"{sidecar.resident_mib():.1f} MiB")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_program_options(parser)
    parser.add_argument("--rounds", type=int, default=100, help="of each kind (100)")
    parser.add_argument("--rest-s", type=int, default=20, help="seconds at rest (20)")
    parser.add_argument("--signals", nargs="*", default=list(SIGNALS), choices=list(SIGNALS))
    parser.add_argument("--kill", default="sidecar", choices=["sidecar", "application"])
    parser.add_argument("--variants", nargs="*", default=["modified", "classic"])
    parser.add_argument("--guard", default="none", choices=["none", "majority"])
    parser.add_argument("--profiles", nargs="*", default=["default", "fast"])
    parser.add_argument("--tls", default="off", choices=list(TLS))
    parser.add_argument("--against", metavar="BELLWETHER",
                        help="another sidecar program, to compare with in the same run")
    options = parser.parse_args()
    require_programs(parser, options)

    print("milliseconds after the signal; median and 99th percentile; on: also 90th and longest"
          "\n\n"
          "signal   variant   profile  kind    rounds       off      p99        on      p99"
          "       gap"
          "      p99    on p90   longest")
    for name in options.signals:
        for variant in options.variants:
            for profile in options.profiles:
                measure(options, variant, profile, name)
    for kind in kinds_of(options):
        measure_rest(options, kind)


if __name__ == "__main__":
    main()
