"""What every fault has: a scene that it finds, victims and a length by dice, a beginning and an
end.

The row of `bellwether check` that a fault names says how long the group may then be without a
leader.  Such a fault must bring a new reign, unless it is over before that can come (`is_brief`).
No other one asks for a new leader.
"""

import signal

KILLED = "sidecar killed, connection refused"
KILLED_BEHIND = "sidecar killed, something in between"
DEAD_MACHINE = "machine of the leader dies"
CUT_OFF = "leader cut off from the others"
DEAF = "leader hears nobody, all hear it"
STOPPED = "sidecar stopped (SIGSTOP)"
TWO_SILENT = "leader and the next in line silent"
HANDED_OVER = "planned hand-over"
COLD_START = "cold start"
# Where a store is the guard.
CUT_FROM_STORE = "leader cut off from the store"
KILLED_ELSEWHERE = "sidecar killed elsewhere"


class Scene:
    """What a fault finds: a group at rest, its hosts and disks, and the dice."""

    def __init__(self, group, hosts, tunnels, disks, leader, dice, guarded=None):
        self.group, self.hosts, self.disks, self.dice = group, hosts, disks, dice
        self.tunnels = tunnels  # None: the network is bare
        self.guarded = guarded  # by a store; None: it is not
        self.leader = leader
        # The next in line first.
        self.followers = [sidecar for sidecar in reversed(group.sidecars) if sidecar is not leader]

    def host(self, sidecar):
        return self.group.sidecars.index(sidecar)

    def hosts_of(self, sidecars):
        return [self.host(sidecar) for sidecar in sidecars]

    def cut(self, sources, targets):
        """Nothing comes from one list of sidecars to the other."""
        self.hosts.cut(*((source, target) for source in self.hosts_of(sources)
                         for target in self.hosts_of(targets)))

    def partition(self, *sides):
        self.hosts.partition(*map(self.hosts_of, sides))

    def minority(self):
        """As many followers as the majority can do without, if the leader goes with them."""
        return self.dice.sample(self.followers, (len(self.followers) + 1) // 2 - 1)


class Fault:
    """One fault at work; made for a scene, struck once, healed once."""

    name = ""
    failure = None  # the row of `bellwether check`; None: nobody new has to lead
    least_voters = 3
    seconds = (0.2, 0.8)  # it lasts at least so long, between these
    pauses = False  # who was paused is more patient with others for a while
    needs_time_alone = False  # unsound where a refused connection proves a death

    def __init__(self, scene):
        self.scene = scene
        least, most = self.seconds
        # Short ones are as frequent as long ones.
        self.length_s = least * (most / least) ** scene.dice.random()
        self.victim = scene.dice.choice(scene.followers)
        self.others = [sidecar for sidecar in scene.group.sidecars if sidecar is not self.victim]
        self.paused = []  # by this fault

    def strike(self):
        raise NotImplementedError

    def heal(self):
        self.scene.hosts.heal()

    def is_brief(self, budget_s):
        """May it be over before there is a new leader?"""
        return self.length_s < 2 * budget_s

    def failed_at_ns(self, observer, struck_ns, led_ns):
        """From when on the group had to do without its leader, known when another one leads:
        usually when strike() was over."""
        del observer, led_ns
        return struck_ns


class Stopped(Fault):
    """Some do not run for a while; their connections stay."""

    pauses = True

    def strike(self):
        for sidecar in self.paused:
            sidecar.send_signal(signal.SIGSTOP)

    def heal(self):
        for sidecar in self.paused:
            sidecar.send_signal(signal.SIGCONT)
