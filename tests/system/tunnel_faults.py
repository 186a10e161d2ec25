"""What can go wrong with tunnels between voters, who all live (faults.py has everything else)."""

import time

from scene import Fault


class TunnelsRestarted(Fault):
    """Those that `pairs` names end all that they carry, and refuse; a part of them, by dice, is
    back soon, the others when it is healed."""

    seconds = (0.05, 3)
    SHUT_S = 0.03  # long enough for several refused connections

    def pairs(self):
        raise NotImplementedError

    def back_soon(self):
        pairs = self.pairs()
        return self.scene.dice.sample(pairs, self.scene.dice.randrange(len(pairs)))

    def strike(self):
        self.scene.tunnels.close(*self.pairs())
        time.sleep(self.SHUT_S)
        self.scene.tunnels.open(*self.back_soon())

    def heal(self):
        self.scene.tunnels.open(*self.scene.tunnels.all())


class AllTunnelsRestarted(TunnelsRestarted):
    name = "tunnels: all restarted at once"

    def pairs(self):
        return self.scene.tunnels.all()


class AllTunnelsButLeaders(AllTunnelsRestarted):
    """So a majority is connected again while the leader's lease runs."""

    name = "tunnels: all restarted at once, the leader's back last"

    def back_soon(self):
        return self.scene.tunnels.between(*self.scene.hosts_of(self.scene.followers))


class OneTunnelAfterTheOther(TunnelsRestarted):
    name = "tunnels: restarted one after the other"

    def strike(self):
        tunnels = self.scene.tunnels
        pairs = tunnels.all()
        for pair in self.scene.dice.sample(pairs, len(pairs)):
            tunnels.close(pair)
            time.sleep(self.SHUT_S)
            tunnels.open(pair)


class TunnelsToLeader(TunnelsRestarted):
    name = "tunnels: to the leader"

    def pairs(self):
        scene = self.scene
        return [(source, scene.host(scene.leader)) for source in scene.hosts_of(scene.followers)]


class TunnelsFromLeader(TunnelsToLeader):
    name = "tunnels: from the leader"

    def pairs(self):
        return [(source, target) for target, source in super().pairs()]


class TunnelsOfFollower(TunnelsRestarted):
    name = "tunnels: of a follower"

    def pairs(self):
        return self.scene.tunnels.of(self.scene.host(self.victim))
