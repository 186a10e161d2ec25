#!/usr/bin/env python3
"""How long is a group without a leader, with Bellwether and with what Debian packages?  There are
three contenders on this machine.  The one that leads gets SIGKILL, SIGSTOP or SIGTERM, again and
again, at a random moment, and the time is taken until a client of the system sees another one lead.

Each system runs with its default timers and with the tightest ones that make sense.  All state is
on a tmpfs, so nothing waits for a disk.  What is not installed is skipped.  The result is Markdown:
the times, then what was measured and what each system gives.  README.md says how to read it.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE / "compare"), str(HERE.parent / "system")]
import etcd  # noqa: E402
import keepalived  # noqa: E402
import sentinel  # noqa: E402
import sidecars  # noqa: E402
import zookeeper  # noqa: E402
from contest import SIGNALS  # noqa: E402
from programs import add_program_options, require_programs  # noqa: E402
from verdict import percentile  # noqa: E402

CONTESTS = (sidecars.Unguarded, sidecars.Guarded, sidecars.Apart, etcd.Election, etcd.Raft,
            zookeeper.Election, zookeeper.Quorum, keepalived.Vrrp, sentinel.Sentinel)
SYSTEMS = list(dict.fromkeys(contest.system for contest in CONTESTS))


def say(text):
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


def version_of(package):
    """None: it is not installed."""
    found = subprocess.run(["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Version}",
                            package], check=False, capture_output=True, text=True).stdout
    return found.removeprefix("installed ") if found.startswith("installed ") else None


def can_run(contest):
    missing = [package for package in contest.packages if version_of(package) is None]
    why = f"apt install {' '.join(missing)}" if missing else contest.obstacle()
    if why:
        say(f"{contest.title} is skipped: {why}")
    return why is None


def rounds_of(contest, name, options):
    """The milliseconds of each; fewer than asked for if they take too long."""
    found, until = [], time.monotonic() + options.minutes * 60
    while len(found) < options.rounds and (not found or time.monotonic() < until):
        found.append(contest.strike(SIGNALS[name]))
        say(f"  {name} {len(found)}/{options.rounds}: {found[-1]:.2f} ms")
    return found


def measure(kind, setting, options):
    """{signal: milliseconds of each round}; signals are missing if the system fails."""
    found = {}
    say(f"{kind.title}, {setting.name}: {setting.timers}")
    try:
        with contextlib.ExitStack() as stack:
            contest = kind(setting, options, stack)
            for name in options.signals:
                found[name] = rounds_of(contest, name, options)
            if contest.unrest:
                say(f"  a leader was also announced {contest.unrest} times without a signal")
    except (AssertionError, OSError, subprocess.SubprocessError) as error:
        say(f"{kind.title} failed: {error}")
    return found


def duration(ms):
    """With three digits."""
    value, unit = (ms / 1000, "s") if ms >= 999.5 else (ms, "ms")
    return f"{value:#.3g}".rstrip(".") + f" {unit}"


def table(results, options):
    head = ["system", "timers"]
    for name in options.signals:
        head += [name, "90 %"]
    rows = [[*head, "rounds"]]
    for kind, setting, found in results:
        row = [kind.title, f"{setting.name}: {setting.timers}"]
        for name in options.signals:
            times = found.get(name)
            row += ([duration(statistics.median(times)), duration(percentile(times, 0.9))]
                    if times else ["–", "–"])
        counts = [len(found.get(name, ())) for name in options.signals]
        rows.append([*row, counts[0] if len(set(counts)) == 1 else ", ".join(map(str, counts))])
    return markdown(rows, 2)


def notes(results):
    kinds = dict.fromkeys(kind for kind, _, _ in results)
    head = ("system", "who gets the signal", "what tells of the next leader", "why no tighter",
            "what it gives beside a leader", "what it needs", "two at once")
    return markdown([head, *((kind.title, kind.signalled, kind.seen, kind.tightest, kind.gives,
                              kind.needs, kind.doubles) for kind in kinds)], len(head))


def markdown(rows, texts):
    """A table whose first columns are texts and the others numbers."""
    head, *body = rows
    rule = ["---"] * texts + ["---:"] * (len(head) - texts)
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (head, rule, *body))


def machine():
    model = next((line.partition(": ")[2] for line in
                  pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    return {"date": datetime.date.today().isoformat(), "processor": model,
            "cores": os.cpu_count(), "kernel": platform.release(), "load": os.getloadavg()[0]}


def versions(results, options):
    found = {kind.packages[0]: version_of(kind.packages[0])
             for kind, _, _ in results if kind.packages}
    if any(kind.system == "bellwether" for kind, _, _ in results):
        words = subprocess.run([options.program, "--version"], check=True, capture_output=True,
                               text=True).stdout.split()
        found = {words[0]: words[1], **found}
    return found


def in_markdown(host, used, results, options):
    named = ", ".join(f"{name} {version}" for name, version in used.items())
    return (f"{table(results, options)}\n\n"
            "Time until another one leads: median, and the 90th percentile. "
            f"{host['date']}, {host['cores']} cores ({host['processor']}), kernel "
            f"{host['kernel']}, load {host['load']:.1f} at the start; {named}.\n\n{notes(results)}")


def in_json(host, used, results):
    return json.dumps({"machine": host, "versions": used, "results": [
        {"system": kind.title, "setting": setting.name, "timers": setting.timers, "ms": found}
        for kind, setting, found in results]}, indent=2) + "\n"


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_program_options(parser, "--bellwether")
    parser.add_argument("--rounds", type=int, default=30, help="of each kind (30)")
    parser.add_argument("--minutes", type=float, default=5,
                        help="for each kind, after which there is no further round (5)")
    parser.add_argument("--systems", nargs="*", default=SYSTEMS, choices=SYSTEMS)
    parser.add_argument("--signals", nargs="*", default=list(SIGNALS), choices=list(SIGNALS))
    parser.add_argument("--settings", nargs="*", default=["defaults", "tightest"],
                        choices=["defaults", "tightest"])
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE",
                        help="write each round there, too")
    options = parser.parse_args()
    if "bellwether" in options.systems:
        require_programs(parser, options)
    return options


def interrupt(*_):
    """Ends everything in order; a second signal does not disturb that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main():
    options = parse()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    host, results = machine(), []
    try:
        with contextlib.redirect_stdout(sys.stderr):
            for kind in CONTESTS:
                if kind.system in options.systems and can_run(kind):
                    results += [(kind, setting, measure(kind, setting, options))
                                for setting in kind.settings if setting.name in options.settings]
    except KeyboardInterrupt:
        sys.exit("interrupted")
    used = versions(results, options)
    if options.json:
        options.json.write_text(in_json(host, used, results))
    print(in_markdown(host, used, results, options))
    is_complete = all(set(found) == set(options.signals) for _, _, found in results)
    return 0 if is_complete else 1


if __name__ == "__main__":
    sys.exit(main())
