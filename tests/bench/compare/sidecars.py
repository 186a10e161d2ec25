"""Bellwether: three sidecars, whose flags are watched as applications see them."""

import random
import time

from contest import Contest, Setting
from harness import Group
from takeover import start, take_down


class Unguarded(Contest):
    system = "bellwether"
    title = "Bellwether, guard `none`"
    signalled = "the sidecar that leads"
    seen = "the flag of another one is on, read from shared memory"
    tightest = "bellwether.toml(5): profile `fast`, with a reserved processor"
    gives = "a fencing token, hooks, a page; nothing is stored"
    needs = "a sidecar beside each replica"
    doubles = "yes: in a partition, and beside a slow leader"
    settings = (
        Setting("defaults", "suspect after 500 ms", {"profile": "default"}, 0.1),
        Setting("tightest", "suspect after 50 ms", {"profile": "fast"}, 0.1))
    voters = 0
    extra = ""

    def set_up(self):
        # The delay is no part of a takeover: the highest waits for so long when it is back.
        extra = (f'[election]\nprofile = "{self.values["profile"]}"\npreempt_delay = "0s"\n'
                 f"{self.extra}")
        self.group = self.stack.enter_context(
            Group(self.options.program, 3, extra, voters=self.voters))
        self.observer = start(self.group).observe(self.options.observer, pause_us=50)
        return self.group.sidecars

    def settle(self):
        return self.group.await_leader(self.contenders[-1])

    def strike(self, number):
        self.settle()
        time.sleep(random.uniform(0, self.setting.period_s))
        _, led_ms = take_down(self.group, self.observer, number)
        return led_ms


class Guarded(Unguarded):
    title = "Bellwether, guard `majority`"
    needs = "a sidecar beside each replica, a list of all voters in each, a majority of them"
    doubles = "no, by the flag"
    settings = (
        Setting("defaults", "lease 1 s", {"profile": "default"}, 0.1),
        Setting("tightest", "lease 150 ms", {"profile": "fast"}, 0.1))
    voters = 3


class Apart(Guarded):
    """No refused connection proves that a peer on another host is dead, so its lease has to end."""

    title = "Bellwether, guard `majority`, as on three hosts"
    extra = 'death_proof = "none"\n'
