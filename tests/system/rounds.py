"""One group of real sidecars and the faults that it goes through, one after the other; after each
it must come to rest again, under one leader."""

import contextlib
import dataclasses
import json
import shutil
import subprocess
import tempfile
import unittest

import faults
from harness import PATIENCE_S, Group, now_ns, wait_until
from mounts import TmpFs
from namespaces import Hosts
from scene import (CUT_OFF, DEAF, KILLED, KILLED_BEHIND, KILLED_ELSEWHERE, TWO_SILENT, Scene)
from store_faults import StoreFault
from store_group import STORES, Guarded, doors_to
from tunnel_faults import TunnelsRestarted
from tunnels import Tunnels
from verdict import Outcome, lost_order

# For how long a sidecar that was paused is more patient with others.
DOUBT_NS = 10 * 10**9
KEPT_CHANGES = 500
# Between two looks at all flags, besides those when one is written to: two that are on together for
# less, because one of them should have run out, may not be seen.
PAUSE_US = 200
# Short, so that many faults fit into an hour.
STORE_LEASE_S = 3


class Finding(Exception):
    """Something that must not be."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a round is made of."""

    program: str
    observer: str
    number: int
    voters: int
    variant: str
    death_proof: str
    profile: str
    guard: str = "majority"
    slack_ms: float = 0  # see verdict.py
    has_tunnels: bool = False  # between the hosts, instead of a bare network
    store: str = ""  # the guard, by name; empty: `guard` says which

    def __str__(self):
        return (f"{self.voters} members, {self.variant}, guard {self.store or self.guard}, profile "
                f"{self.profile}, proof {self.death_proof}"
                + (", tunnels" if self.has_tunnels else ""))

    def text(self):
        """For the configuration files."""
        has_guard = self.store or self.guard == "majority"
        proof = f'death_proof = "{self.death_proof}"\n' if has_guard else ""
        proof += f'lease = "{STORE_LEASE_S}s"\n' if self.store else ""
        return (f'[election]\nvariant = "{self.variant}"\nprofile = "{self.profile}"\n{proof}'
                '[log]\nlevel = "debug"\n')


def is_voter_whole(status):
    """It has its vote, and no promises of an earlier life could still run: others wait for the end
    of those.  Nobody votes under guard none."""
    return (status is not None and "hold" not in status["timers_due_in_ms"]
            and (status["vote"] is None or status["vote"]["state"] == "in force"))


class Round:
    """Plays all kinds of faults, in an order by dice, or `count` of them.  What there is to see of
    a finding goes to the folder `evidence`."""

    def __init__(self, settings, dice, evidence, count=0):
        self.settings, self.dice = settings, dice
        self.kinds = [kind for kind in faults.all_kinds() if settings.voters >= kind.least_voters
                      and not (kind.needs_time_alone and settings.death_proof == "refused")
                      and (settings.has_tunnels or not issubclass(kind, TunnelsRestarted))
                      and (settings.store or not issubclass(kind, StoreFault))]
        dice.shuffle(self.kinds)
        self.kinds = self.kinds[:count or None]
        # So that the others meet a group that does not doubt itself.
        self.kinds.sort(key=lambda kind: kind.pauses)
        self.outcomes, self.skipped = [], {}
        self.evidence = evidence
        self.group = self.hosts = self.tunnels = self.disks = self.promises = self.guarded = None
        # How many of each are known already.
        self.told_doubles = self.told_disorder = 0

    def play(self, is_over):
        """Raises Finding."""
        finding = None
        with contextlib.ExitStack() as stack:
            self.hosts = stack.enter_context(Hosts(self.settings.voters))
            if self.settings.has_tunnels:
                self.tunnels = stack.enter_context(Tunnels(self.hosts))
            is_majority = self.settings.guard == "majority" and not self.settings.store
            voters = self.settings.voters if is_majority else 0
            store, doors, table = self.make_store(stack)
            self.group = stack.enter_context(
                Group(self.settings.program, self.settings.voters, self.settings.text(),
                      hosts=self.tunnels or self.hosts, voters=voters, tls=table))
            if store:
                self.guarded = Guarded(self.group, store, doors)
            if self.tunnels:
                self.tunnels.lead_to(self.group)
            self.disks = self.make_disks(stack)
            self.promises = self.read_promises()
            try:
                self.group.observe(self.settings.observer, PAUSE_US)
                self.group.start(*(["--bootstrap"] if voters else []))
                self.await_rest("the start")
                for kind in self.kinds:
                    if is_over():
                        break
                    self.play_fault(kind)
            except (Finding, AssertionError) as error:
                finding = Finding(str(error))
                self.save_evidence(str(error))
        if finding is not None:
            raise finding

    def make_store(self, stack):
        """(the store, doors to it, what a sidecar's configuration says); nothing without one."""
        if not self.settings.store:
            return None, None, None
        _, server_of, store_of = STORES[self.settings.store]
        store = store_of(stack.enter_context(server_of()))
        store.prepare("test", stack.enter_context(tempfile.TemporaryDirectory()))
        names = [f"n{number}" for number in range(self.settings.voters)]
        doors = stack.enter_context(doors_to(store, names, self.hosts.names))
        return store, doors, lambda sidecar: store.table(
            "test", [door.port for door in doors[sidecar.name]])

    def make_disks(self, stack):
        """{sidecar: its small disk}, as far as they can be mounted."""
        disks = {}
        for sidecar in self.group.sidecars:
            sidecar.state_folder.mkdir()
            with contextlib.suppress(unittest.SkipTest):
                disks[sidecar] = stack.enter_context(TmpFs(sidecar.state_folder, "size=256k"))
        return disks

    def read_promises(self):
        """{failure: its row of `bellwether check`}"""
        result = subprocess.run(
            [self.settings.program, "check", "--json",
             self.group.sidecars[0].config_file], text=True, check=False, capture_output=True)
        promises = {row["failure"]: row for row in json.loads(result.stdout)["failover"]}
        if self.tunnels and KILLED_BEHIND in promises:
            promises[KILLED] = promises[KILLED_BEHIND]
        if self.settings.store:
            promises[KILLED] = promises[KILLED_ELSEWHERE]
            # Who is cut off from members only leads on.
            for failure in (CUT_OFF, DEAF, TWO_SILENT):
                promises.pop(failure, None)
        return promises

    @property
    def looks(self):
        """(how many at all flags, in how many ns), when it has been played."""
        observer = self.group.observer
        return (observer and observer.looks) or (0, 0)

    # --- one fault ---

    def play_fault(self, kind):
        leader, epoch = self.await_reign("the fault before")
        fault = kind(Scene(self.group, self.hosts, self.tunnels, self.disks, leader, self.dice,
                           self.guarded))
        observer = self.group.observer
        try:
            fault.strike()
        except unittest.SkipTest as reason:
            self.skipped[kind.name] = str(reason)
            return
        struck_ns = now_ns()
        promise = self.promises.get(fault.failure)
        if promise and not fault.is_brief(promise["at_most_ms"] / 1000):
            wait_until(f"a new leader's flag is on after {kind.name}",
                       lambda: observer.first_reign(epoch))
        wait_until("the fault has had its time",
                   lambda: now_ns() > struck_ns + fault.length_s * 1e9)
        healed_ns = now_ns()
        fault.heal()
        self.await_rest(kind.name)
        outcome = Outcome(kind.name, promise and promise["at_most_ms"])
        reign = observer.first_reign(epoch)
        if reign and promise:
            since_ns = fault.failed_at_ns(observer, struck_ns, reign[0])
            # Over before there was a new leader: what it has left behind is another failure.
            since_ns = healed_ns if since_ns < healed_ns < reign[0] else since_ns
            outcome = self.measure(fault, promise, since_ns, reign[0])
        elif reign and reign[1] < self.group.sidecars.index(leader):
            # A higher one may take over whenever its time has come.
            outcome = dataclasses.replace(outcome, failover_ms=(reign[0] - struck_ns) / 1e6)
        self.judge(outcome)

    def measure(self, fault, promise, since_ns, led_ns):
        """A failover against the row of `bellwether check` that it falls under."""
        is_doubting = self.was_paused(self.group.sidecars, since_ns - DOUBT_NS, led_ns)
        innocent = [sidecar for sidecar in self.group.sidecars if sidecar not in fault.paused]
        return Outcome(
            fault.name, promise["at_most_after_pause_ms" if is_doubting else "at_most_ms"],
            failover_ms=max(0, led_ns - since_ns) / 1e6,
            gap_ms=self.group.observer.longest_gap_ns(since_ns, led_ns) / 1e6,
            trips=promise["round_trips"], slack_ms=self.settings.slack_ms,
            was_paused=self.was_paused(innocent, since_ns, led_ns))

    def judge(self, outcome):
        """Raises Finding."""
        observer = self.group.observer
        with observer.lock:
            doubles = observer.doubles[self.told_doubles:]
            disorder = lost_order(observer.changes)[self.told_disorder:]
        self.told_doubles += len(doubles)
        self.told_disorder += len(disorder)
        outcome = dataclasses.replace(outcome, doubles=len(doubles), lost_order=len(disorder))
        self.outcomes.append(outcome)
        if doubles:
            raise Finding(f"{outcome.fault}: two leaders at once, {doubles[:3]}")
        if disorder:
            raise Finding(f"{outcome.fault}: {disorder[0]}")
        # Without a guard two may lead meanwhile, and then no time is promised.
        if outcome.is_late and self.settings.guard == "majority" and not self.settings.store:
            raise Finding(f"{outcome.fault}: a new leader after {outcome.failover_ms:.1f} ms, "
                          f"budget {outcome.budget_ms:.0f} ms and {outcome.allowed_ms:.1f} ms "
                          "for the network and the machine")

    def was_paused(self, sidecars, since_ns, until_ns):
        """Did one of them find within these moments that it had been paused?"""
        return any(since_ns <= paused_ns <= until_ns for sidecar in sidecars
                   for paused_ns in sidecar.logged_at_ns("this process was paused"))

    # --- rest ---

    def await_reign(self, what):
        """At rest: the leader, and the epoch that it leads by its own word.  A higher one may take
        over at any moment, and then a later epoch is no news of the fault that comes."""
        while True:
            leader = self.await_rest(what)
            answer = leader.get("/v1/leader")
            if answer and answer["is_leader"]:
                return leader, answer["epoch"]

    def await_rest(self, what):
        """All run, agree on a leader, are connected with each other, and have their votes."""
        def leader():
            found = self.group.agreed_leader()
            return found if found and not self.unrest() else None
        for sidecar in self.group.sidecars:
            if not sidecar.is_running:
                raise Finding(f"{sidecar.name} has ended with {sidecar.process.returncode}")
        try:
            return wait_until("rest", leader, PATIENCE_S)
        except AssertionError as error:
            raise Finding(f"after {what} the group does not come to rest: leaders "
                          f"{[sidecar.leader() for sidecar in self.group.sidecars]}, "
                          f"{self.unrest()}") from error

    def unrest(self):
        """What is not yet as it was, in words; empty: nothing."""
        names = {sidecar.name for sidecar in self.group.sidecars}
        for sidecar in self.group.sidecars:
            # Who lost its state is a new member; the one that it was is there for a while.
            answer = sidecar.get("/v1/members") or {"members": []}
            missing = names - {member["name"] for member in answer["members"]
                               if member["state"] == "alive"}
            if missing:
                return f"{sidecar.name} does not see {', '.join(sorted(missing))} alive"
            if not is_voter_whole(sidecar.get("/v1/status")):
                return f"{sidecar.name} cannot vote"
        return "" if self.hosts.are_all_joined() else "connections are missing"

    def save_evidence(self, text):
        self.evidence.mkdir(parents=True, exist_ok=True)
        (self.evidence / "finding").write_text(f"{self.settings}\n{text}\n")
        for sidecar in self.group.sidecars:
            for file in (sidecar.log_file, sidecar.config_file):
                if file.exists():
                    shutil.copy(file, self.evidence)
        observer = self.group.observer
        if observer is not None:
            with observer.lock:
                lines = [f"{ns} n{flag} {'on' if on else 'off'} {epoch}"
                         for ns, flag, on, epoch in observer.changes[-KEPT_CHANGES:]]
            (self.evidence / "flags").write_text("\n".join(lines) + "\n")
