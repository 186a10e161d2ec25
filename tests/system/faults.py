"""What can go wrong with a group of voters, one class each: how it is brought about, how it is put
right again, and which row of `bellwether check` promises for how long (scene.py).

A fault chooses its victims and its length by dice, so that a seed decides a whole run.
"""

import shutil
import signal
import unittest

from cgroups import Quota
from scene import (COLD_START, CUT_OFF, DEAD_MACHINE, DEAF, HANDED_OVER, KILLED, STOPPED,
                   TWO_SILENT, Fault, Stopped)


def restart(sidecar):
    if not sidecar.is_running:
        sidecar.start()


# --- the leader's process ---


class EndsLeader:
    """With a Fault that ends the leader's process: it runs again when that is healed, and somebody
    else has to lead, however brief the fault is."""

    def heal(self):
        super().heal()
        restart(self.scene.leader)

    def is_brief(self, budget_s):
        return False


class LeaderKilled(EndsLeader, Fault):
    name = "leader: kill -9"
    failure = KILLED

    def strike(self):
        self.scene.leader.kill()


class LeaderRestarted(LeaderKilled):
    name = "leader: kill -9, started again at once"

    def strike(self):
        super().strike()
        self.scene.leader.start()


class LeaderTerminated(LeaderKilled):
    name = "leader: SIGTERM"
    failure = HANDED_OVER

    def strike(self):
        leader = self.scene.leader
        leader.is_wanted = False
        leader.send_signal(signal.SIGTERM)

    def heal(self):
        self.scene.leader.await_exit()
        super().heal()


class LeaderPowerLoss(EndsLeader, Fault):
    name = "leader: its machine dies"
    failure = DEAD_MACHINE

    def strike(self):
        self.scene.partition([self.scene.leader], self.scene.followers)
        self.scene.leader.kill()


class LeaderAndNextStopped(Stopped):
    name = "leader and the next: SIGSTOP"
    failure = TWO_SILENT
    least_voters = 5
    seconds = (2, 3)

    def __init__(self, scene):
        super().__init__(scene)
        self.paused = [scene.leader, scene.followers[0]]


class LeaderStopped(Stopped):
    name = "leader: SIGSTOP 0.1 s to 5 s"
    failure = STOPPED
    seconds = (0.1, 5)

    def __init__(self, scene):
        super().__init__(scene)
        self.paused = [scene.leader]


class Starved(Fault):
    """A quota of 1 ms a second: it runs, but now and then only."""

    name = "follower: starved by a quota"
    pauses = True
    seconds = (1, 3)
    quota = None

    def __init__(self, scene):
        super().__init__(scene)
        self.paused = [self.victim]

    def strike(self):
        self.quota = Quota(self.victim.process.pid, 1000, 1000000)

    def heal(self):
        self.quota.lift()


class LeaderStarved(Starved):
    name = "leader: starved by a quota"
    failure = STOPPED

    def __init__(self, scene):
        super().__init__(scene)
        self.victim = scene.leader
        self.paused = [self.victim]

    def is_brief(self, budget_s):
        return True

    def failed_at_ns(self, observer, struck_ns, led_ns):
        """When its flag went off: while it is on, the leader has not failed yet."""
        flag = self.scene.host(self.victim)
        return observer.last_off(flag, led_ns) or struck_ns


# --- the leader's network ---


class LeaderCutOff(Fault):
    name = "leader: cut off"
    failure = CUT_OFF
    seconds = (0.1, 3)

    def strike(self):
        self.scene.partition([self.scene.leader], self.scene.followers)


class LeaderInMinority(Fault):
    name = "leader: cut off with a minority"
    failure = CUT_OFF
    least_voters = 5
    seconds = (0.1, 3)

    def strike(self):
        scene = self.scene
        side = [scene.leader, *scene.minority()]
        scene.partition(side, [other for other in scene.group.sidecars if other not in side])


class LeaderWithoutMajority(Fault):
    """Partial: those who still hear the leader also hear all others."""

    name = "leader: cut off from a majority alone"
    failure = CUT_OFF
    least_voters = 5
    seconds = (0.1, 3)

    def strike(self):
        scene = self.scene
        friends = scene.minority()
        scene.partition([scene.leader],
                        [other for other in scene.followers if other not in friends])


class LeaderMute(Fault):
    name = "leader: one way, nothing leaves it"
    failure = CUT_OFF
    seconds = (0.1, 3)

    def strike(self):
        self.scene.cut([self.scene.leader], self.scene.followers)


class LeaderDeaf(Fault):
    name = "leader: one way, nothing reaches it"
    failure = DEAF
    seconds = (0.1, 3)

    def strike(self):
        self.scene.cut(self.scene.followers, [self.scene.leader])


class LeaderReset(Fault):
    name = "leader: connections reset once"

    def strike(self):
        scene = self.scene
        scene.hosts.break_connections(scene.host(scene.leader), scene.hosts_of(scene.followers))


class LeaderRefused(Fault):
    """A firewall between living peers that answers for them."""

    name = "leader: all that it sends is reset"
    failure = CUT_OFF
    seconds = (0.1, 3)
    needs_time_alone = True

    def strike(self):
        scene = self.scene
        for follower in scene.followers:
            scene.hosts.reset(scene.host(scene.leader), scene.host(follower))
            scene.hosts.reset(scene.host(follower), scene.host(scene.leader))


# --- followers ---


class FollowerKilled(Fault):
    name = "follower: kill -9"

    def strike(self):
        self.victim.kill()

    def heal(self):
        restart(self.victim)


class FollowerForgetful(FollowerKilled):
    """Its state folder is empty when it comes back: it waits 10 s, and asks, before it votes."""

    name = "follower: restarted with empty state"

    def strike(self):
        self.victim.kill()
        for path in self.victim.state_folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        self.victim.start()


class FollowerStopped(Stopped):
    name = "follower: SIGSTOP 0.1 s to 5 s"
    seconds = (0.1, 5)

    def __init__(self, scene):
        super().__init__(scene)
        self.paused = [self.victim]


class FollowerCutOff(Fault):
    name = "follower: cut off"
    seconds = (0.1, 3)

    def strike(self):
        self.scene.partition([self.victim], self.others)


class NextLosesLeader(Fault):
    """The next in line hears all but the leader."""

    name = "next in line: cut off from the leader alone"
    seconds = (0.1, 3)

    def strike(self):
        self.scene.partition([self.scene.followers[0]], [self.scene.leader])


class FollowerMute(FollowerCutOff):
    name = "follower: one way, nothing leaves it"

    def strike(self):
        self.scene.cut([self.victim], self.others)


class FollowerDeaf(FollowerCutOff):
    name = "follower: one way, nothing reaches it"

    def strike(self):
        self.scene.cut(self.others, [self.victim])


class FollowerReset(Fault):
    name = "follower: connections reset once"

    def strike(self):
        scene = self.scene
        scene.hosts.break_connections(scene.host(self.victim), scene.hosts_of(self.others))


# --- disks ---


class LeaderDiskFull(Fault):
    name = "leader: disk full"

    def __init__(self, scene):
        super().__init__(scene)
        self.victim = scene.leader

    def strike(self):
        if self.victim not in self.scene.disks:
            raise unittest.SkipTest("cannot mount small disks")
        self.scene.disks[self.victim].fill()

    def heal(self):
        self.scene.disks[self.victim].make_room()


class NextDiskFull(EndsLeader, LeaderDiskFull):
    name = "leader: kill -9, while the next's disk is full"
    failure = KILLED

    def __init__(self, scene):
        super().__init__(scene)
        self.victim = scene.followers[0]

    def strike(self):
        super().strike()
        self.scene.leader.kill()


# --- all ---


class AllKilled(Fault):
    name = "all: kill -9, started again"
    failure = COLD_START

    def strike(self):
        for sidecar in self.scene.group.sidecars:
            sidecar.kill()
        self.scene.group.start()

    def heal(self):
        """They run."""

    def is_brief(self, budget_s):
        return False

    def failed_at_ns(self, observer, struck_ns, led_ns):
        """When the last of them was up, whatever starting a process takes here."""
        return max(sidecar.logged_at_ns("reason=started")[-1]
                   for sidecar in self.scene.group.sidecars)


class AllCutOff(Fault):
    """Nobody has a majority; who leads then, leads for the rest of its lease."""

    name = "all: cut off from each other"

    def strike(self):
        self.scene.partition(*([sidecar] for sidecar in self.scene.group.sidecars))


class RandomCuts(Fault):
    """Each direction between two is cut or not, as the dice say."""

    name = "all: every second direction cut"
    seconds = (0.5, 3)

    def strike(self):
        scene = self.scene
        count = len(scene.group.sidecars)
        directions = [(a, b) for a in range(count) for b in range(count) if a != b]
        scene.hosts.cut(*scene.dice.sample(directions, len(directions) // 2))


def all_kinds(kind=Fault):
    """The classes that have a name, always in the same order."""
    found = [kind] if kind.name else []
    for heir in kind.__subclasses__():
        found += all_kinds(heir)
    return found
