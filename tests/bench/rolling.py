#!/usr/bin/env python3
"""How long does nobody work in a rolling restart whose jobs are all finished?  Three pods on this
machine, in each a sidecar and an attached worker; whichever leads is told to end (SIGTERM), lets
its worker finish, hands over and is started again.

  drain  from the signal until the worker has finished its last job
  gap    from there until another worker begins its first

Also how many jobs were cut off, which should be none.  Times are those of a shared machine: compare
within one run.
"""

import argparse
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/system"))
from harness import Group, wait_until  # noqa: E402
from programs import add_program_options, require_programs  # noqa: E402

DRAIN = '[election]\npreempt = "never"\n[application]\nattach = true\ndrain_timeout = "60s"\n'
LINE = re.compile(r"(\d+) (\S+) (works|stopped) token=(\d+) pieces=(\d+) cut=(\d+)")


class Worker:
    """The attached worker beside a sidecar, which it outlives."""

    def __init__(self, sidecar, command, job_ms):
        self.file = sidecar.folder / f"{sidecar.name}.work"
        wait_until("it can attach", sidecar.socket_file.exists)
        with open(self.file, "wb") as output:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                [*command, sidecar.flag_file, sidecar.socket_file, sidecar.name, "0", str(job_ms)],
                stdout=output)

    def lines(self):
        """(microseconds, works or stopped, jobs cut off so far), in order."""
        return [(int(at), what, int(cut)) for at, _, what, _, _, cut
                in LINE.findall(self.file.read_text())]

    def is_working(self):
        lines = self.lines()
        return bool(lines) and lines[-1][1] == "works"

    def end(self):
        self.process.kill()
        self.process.wait()


def restart_one(group, workers):
    """(drain, gap) in ms of whichever leads."""
    victim = wait_until("somebody works", lambda: next(
        (s for s in group.running if workers[s.name].is_working()), None))
    before = time.time_ns() // 1000
    victim.send_signal(signal.SIGTERM)
    victim.await_exit()
    victim.start()
    last = workers[victim.name].lines()[-1]

    def first():
        began = [at for name, worker in workers.items() if name != victim.name
                 for at, what, _ in worker.lines() if what == "works" and at > before]
        return min(began, default=None)
    on = wait_until("another one works", first)
    # Its worker is back; and a voter that has just started makes others wait for what it may have
    # promised.
    wait_until("it may lead", lambda: (victim.get("/v1/status") or {"may_lead": False})["may_lead"])
    return (last[0] - before) / 1000, (on - last[0]) / 1000


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_program_options(parser)
    parser.add_argument("--rounds", type=int, default=30, help="restarts (30)")
    parser.add_argument("--job-ms", type=int, default=2000, help="how long a job takes (2000)")
    parser.add_argument("--guard", default="none", choices=["none", "majority"])
    parser.add_argument("--worker", nargs="+", help="its command (the one in C of this build)")
    options = parser.parse_args()
    require_programs(parser, options)
    build = pathlib.Path(options.program).resolve().parents[1]
    command = options.worker or [build / "tests/apps/attached_worker_c"]
    voters = {"voters": 3} if options.guard == "majority" else {}
    with Group(options.program, 3, DRAIN, priorities=[100] * 3, **voters) as group:
        group.start(*(["--bootstrap"] if voters else []))
        workers = {s.name: Worker(s, command, options.job_ms) for s in group.sidecars}
        try:
            rounds = [restart_one(group, workers) for _ in range(options.rounds)]
            cut = sum(worker.lines()[-1][2] for worker in workers.values() if worker.lines())
        finally:
            for worker in workers.values():
                worker.end()
    drains, gaps = zip(*rounds)
    print(f"guard {options.guard}, jobs of {options.job_ms} ms, {options.rounds} restarts, "
          f"{cut} jobs cut off; milliseconds, median and longest\n"
          f"drain {statistics.median(drains):8.1f} {max(drains):8.1f}\n"
          f"gap   {statistics.median(gaps):8.2f} {max(gaps):8.2f}")


if __name__ == "__main__":
    main()
