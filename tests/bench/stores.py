#!/usr/bin/env python3
"""How long is an application without a leader when a store is the guard, and what does a group
cost the store?  Groups on this machine at one real store, flags watched as applications see them;
at etcd also `etcdctl lock`, which queues like `etcdctl elect` but with a lease of the same length,
at the API server also client-go with its own defaults, if tests/system/foreign.sh has fetched it.

  SIGTERM            the leader hands over
  rolling restart    each of three in turn, the leader last: the sum, and the longest at one step
  kill -9            on one host, where a refused connection proves the death
  kill -9 elsewhere  the death is not proven (death_proof = "none"): the lease decides

A gap is from when the old flag was seen off (of kill -9: from the signal) until another one was
seen on.  For the others it is from the signal until the next client says that it leads.
Times are those of a shared machine: compare within one run.
"""

import argparse
import contextlib
import pathlib
import signal
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "system"), str(HERE / "compare")]
# pylint: disable=wrong-import-position
from contest import Process  # noqa: E402
from foreign import go_program, has_go  # noqa: E402
from harness import Group, now_ns, wait_until  # noqa: E402
from programs import add_program_options, require_programs  # noqa: E402
from store_group import STORES  # noqa: E402
from verdict import aligned  # noqa: E402

PERIOD_S = 0.5  # between two rounds, so that none is at the same moment of a renewal
CLIENT_GO_LEASE_S = 15  # its default
ENDS = {"SIGTERM": signal.SIGTERM, "kill -9 anywhere": signal.SIGKILL}


@contextlib.contextmanager
def led_group(options, store, folder, name, size=3, extra=""):
    store.prepare(name, folder)
    text = f'[election]\nlease = "{options.lease_s}s"\npreempt_delay = "0s"\n{extra}'
    table = store.table(name, store.targets())
    with Group(options.program, size, text, name=name, tls=lambda _: table) as group:
        group.start().observe(options.observer, pause_us=50)
        group.await_leader(group.sidecars[-1], patience_s=60 + options.lease_s)
        yield group


def await_whole(group):
    """All see each other, and follow the highest."""
    group.await_leader(group.sidecars[-1], patience_s=90)
    wait_until("all are alive", lambda: all(
        [member["state"] for member in sidecar.members().values()].count("alive")
        == len(group.sidecars) for sidecar in group.sidecars))


def take_down(group, number):
    """The leader; the gap in ms."""
    leader, flag = group.sidecars[-1], len(group.sidecars) - 1
    began_ns = now_ns()
    leader.is_wanted = False
    leader.send_signal(number)
    off_ns = wait_until("its flag is off", lambda: group.observer.first(flag, False, began_ns))
    on_ns, _ = wait_until("another flag is on",
                          lambda: group.observer.first_on(began_ns, but=flag), patience_s=90)
    leader.await_exit()
    leader.start()
    await_whole(group)
    return (on_ns - (began_ns if number == signal.SIGKILL else off_ns)) / 1e6


def gaps_since(observer, since_ns):
    """In ms: each time in which no flag was on."""
    on, found, none_since = {}, [], None
    with observer.lock:
        for time_ns, flag, is_on, _ in observer.changes:
            on[flag] = is_on
            if not any(on.values()):
                none_since = time_ns
            elif none_since is not None:
                if none_since >= since_ns:
                    found.append((time_ns - none_since) / 1e6)
                none_since = None
    return found


def roll(group):
    """(sum, longest) of the gaps."""
    began_ns = now_ns()
    for sidecar in group.sidecars:
        sidecar.stop()
        group.await_leader()
        sidecar.start()
        await_whole(group)
    gaps = gaps_since(group.observer, began_ns)
    return sum(gaps), max(gaps)


def gap_row(store_name, what, gaps):
    return [store_name, what, len(gaps), *(f"{value:.2f}" for value in (
        min(gaps), statistics.median(gaps), max(gaps)))]


def measure_gaps(options, store_name, store, folder):
    def rounds(function):
        found = []
        for _ in range(options.rounds):
            time.sleep(PERIOD_S)
            found.append(function())
        return found

    with led_group(options, store, folder, "gaps") as group:
        yield gap_row(store_name, "SIGTERM", rounds(lambda: take_down(group, signal.SIGTERM)))
        rolls = rounds(lambda: roll(group))
        yield gap_row(store_name, "rolling restart, sum", [total for total, _ in rolls])
        yield gap_row(store_name, "rolling restart, longest", [longest for _, longest in rolls])
        yield gap_row(store_name, "kill -9", rounds(lambda: take_down(group, signal.SIGKILL)))
    with led_group(options, store, folder, "elsewhere", extra='death_proof = "none"\n') as group:
        yield gap_row(store_name, "kill -9 elsewhere",
                      rounds(lambda: take_down(group, signal.SIGKILL)))


class Queue:
    """Three clients of another kind, of which one at a time leads."""

    def __init__(self, commands, says_that_it_leads):
        self.says_that_it_leads = says_that_it_leads
        self.clients = [Process(*command).start() for command in commands]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for client in self.clients:
            client.end()

    def led_ns(self, client):
        return next((time_ns for time_ns, text in list(client.lines)
                     if self.says_that_it_leads(text)), None)

    def leader(self):
        return next((client for client in self.clients
                     if client.is_running() and self.led_ns(client)), None)

    def take_down(self, number):
        """The gap in ms."""
        leader = wait_until("somebody leads", self.leader, patience_s=90)
        time.sleep(PERIOD_S)  # the others queue
        began_ns = now_ns()
        leader.process.send_signal(number)
        leader.process.wait()
        others = [client for client in self.clients if client is not leader]
        led_ns = wait_until("another one leads", lambda: min(
            filter(None, map(self.led_ns, others)), default=None), patience_s=90)
        leader.start()
        return (led_ns - began_ns) / 1e6

    def rows(self, title, rounds):
        for what, number in ENDS.items():
            yield gap_row(title, what, [self.take_down(number) for _ in range(rounds)])


def measure_lock(options, server):
    command = ["etcdctl", "--endpoints", server.urls[0], "lock", "beside",
               f"--ttl={options.lease_s}"]
    with Queue([command] * 3, bool) as queue:
        yield from queue.rows("etcdctl lock", options.rounds)


def measure_client_go(options, server):
    """With its defaults, and so that it gives the Lease back."""
    for title, more in (("client-go", []), ("client-go, ReleaseOnCancel", ["release"])):
        commands = [[go_program("client_go"), server.url, server.ca, server.admin, "shop",
                     f"beside{len(more)}", f"client-{number}", str(CLIENT_GO_LEASE_S), *more]
                    for number in range(3)]
        with Queue(commands, lambda text: text == "leads") as queue:
            yield from queue.rows(title, options.rounds)


def requests_of(group):
    return sum(sidecar.count("bellwether_store_requests_total") for sidecar in group.sidecars)


def measure_rest(options, store_name, store, folder, size):
    with led_group(options, store, folder, f"rest-{size}", size) as group:
        await_whole(group)
        time.sleep(2)  # the load of the start is not that of rest
        began, requests = time.monotonic(), requests_of(group)
        used = [sidecar.processor_s() for sidecar in group.sidecars]
        time.sleep(options.rest_s)
        passed = time.monotonic() - began
        shares = [(sidecar.processor_s() - before) / passed * 100
                  for sidecar, before in zip(group.sidecars, used)]
        return [store_name, size, f"{(requests_of(group) - requests) / passed:.2f}",
                f"{shares[-1]:.2f} %", f"{statistics.mean(shares[:-1]):.2f} %",
                f"{statistics.mean(s.resident_mib() for s in group.sidecars):.1f} MiB"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_program_options(parser)
    parser.add_argument("--rounds", type=int, default=10, help="of each kind (10)")
    parser.add_argument("--stores", nargs="*", default=list(STORES), choices=list(STORES))
    parser.add_argument("--members", nargs="*", type=int, default=[2, 10],
                        help="sizes of groups at rest (2 10; 50 takes two minutes)")
    parser.add_argument("--lease-s", type=int, default=10, help="seconds (10)")
    parser.add_argument("--rest-s", type=int, default=20, help="seconds at rest (20)")
    options = parser.parse_args()
    require_programs(parser, options)

    gaps = [["store", "what", "rounds", "least ms", "median ms", "longest ms"]]
    rest = [["store", "members", "requests a second", "leader's share of a core",
             "a follower's", "resident"]]
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        for name in options.stores:
            is_there, server_of, store_of = STORES[name]
            if not is_there():
                print(f"there is no {name} here: skipped", file=sys.stderr)
                continue
            with server_of() as server:
                store = store_of(server)
                gaps += measure_gaps(options, name, store, folder)
                if name == "etcd":
                    gaps += measure_lock(options, server)
                elif has_go("k8s.io/client-go"):
                    gaps += measure_client_go(options, server)
                rest += [measure_rest(options, name, store, folder, size)
                         for size in options.members]
    print(f"Leaderless, with a lease of {options.lease_s} s\n\n{aligned(gaps)}")
    print(f"At rest for {options.rest_s} s, a renewal every {options.lease_s / 5:g} s\n\n"
          f"{aligned(rest)}")


if __name__ == "__main__":
    main()
