"""What can go wrong with the store that guards a group, with the way to it, and with the record
(faults.py has everything else); and some of it at the same time as something else.

`scene.guarded` is the group at its store (store_group.py)."""

import signal

from faults import EndsLeader, restart
from scene import CUT_FROM_STORE, Fault


class StoreFault(Fault):
    """Heals whatever a door can do."""

    def doors(self):
        return self.scene.guarded.doors_of(*self.scene.group.sidecars)

    def heal(self):
        super().heal()
        for door in self.scene.guarded.doors_of(*self.scene.group.sidecars):
            door.heal()


class LeaderWithoutStore(StoreFault):
    name = "store: cut off from the leader"
    failure = CUT_FROM_STORE
    seconds = (0.1, 6)

    def doors(self):
        return self.scene.guarded.doors_of(self.scene.leader)

    def strike(self):
        for door in self.doors():
            door.cut()


class LeaderWithoutAnswers(LeaderWithoutStore):
    name = "store: its answers to the leader are lost"

    def strike(self):
        for door in self.doors():
            door.lose_answers()


class FollowerWithoutStore(StoreFault):
    name = "store: cut off from a follower"
    seconds = (0.1, 6)

    def strike(self):
        for door in self.scene.guarded.doors_of(self.victim):
            door.cut()


class AllWithoutStore(StoreFault):
    name = "store: cut off from all"
    seconds = (0.1, 6)

    def strike(self):
        for door in self.doors():
            door.cut()


class AllWithoutAnswers(StoreFault):
    name = "store: its answers to all are lost"
    seconds = (0.1, 6)

    def strike(self):
        for door in self.doors():
            door.lose_answers()


class StoreResets(StoreFault):
    name = "store: all connections reset and refused"
    seconds = (0.05, 4)

    def strike(self):
        for door in self.doors():
            door.refuse()


class StoreSlow(StoreFault):
    name = "store: slow"
    seconds = (0.5, 4)

    def strike(self):
        for door in self.doors():
            door.slow_down(self.scene.dice.uniform(0.01, 0.4))


class StoreStopped(StoreFault):
    name = "store: SIGSTOP 0.1 s to 5 s"
    seconds = (0.1, 5)

    def strike(self):
        self.scene.guarded.store.send_signal(signal.SIGSTOP)

    def heal(self):
        super().heal()
        self.scene.guarded.store.send_signal(signal.SIGCONT)


class StoreRestarted(StoreFault):
    name = "store: kill -9, started again"

    def strike(self):
        self.scene.guarded.store.restart()


# --- the record ---


class RecordDeleted(StoreFault):
    name = "record: deleted"

    def strike(self):
        self.scene.guarded.store.delete(self.scene.guarded.name)


class RecordEmptied(StoreFault):
    name = "record: its holder removed by hand"

    def strike(self):
        self.scene.guarded.store.edit(self.scene.guarded.name, holder="")


class RecordShortened(StoreFault):
    name = "record: another's, with a shorter lease, by hand"

    def strike(self):
        self.scene.guarded.store.edit(self.scene.guarded.name, holder="n0", lease_s=1)


# --- at the same time ---


class LeaderKilledAndRecordDeleted(EndsLeader, StoreFault):
    name = "leader: kill -9, and the record deleted"

    def strike(self):
        self.scene.leader.kill()
        self.scene.guarded.store.delete(self.scene.guarded.name)


class LeaderTerminatedWithoutAnswers(EndsLeader, StoreFault):
    name = "leader: SIGTERM, while answers to it are lost"

    def strike(self):
        for door in self.scene.guarded.doors_of(self.scene.leader):
            door.lose_answers()
        self.scene.leader.is_wanted = False
        self.scene.leader.send_signal(signal.SIGTERM)

    def heal(self):
        self.scene.leader.await_exit()
        super().heal()


class LeaderTerminatedWhileSlow(LeaderTerminatedWithoutAnswers):
    name = "leader: SIGTERM, while the store is slow"

    def strike(self):
        for door in self.doors():
            door.slow_down(self.scene.dice.uniform(0.005, 0.2))
        self.scene.leader.is_wanted = False
        self.scene.leader.send_signal(signal.SIGTERM)


class LeaderKilledAndNextWithoutAnswers(EndsLeader, StoreFault):
    name = "leader: kill -9, while answers to the next are lost"
    seconds = (0.5, 6)

    def strike(self):
        for door in self.scene.guarded.doors_of(self.scene.followers[0]):
            door.lose_answers()
        self.scene.leader.kill()


class LeaderStoppedAndRecordDeleted(StoreFault):
    name = "leader: SIGSTOP, and the record deleted"
    pauses = True
    seconds = (0.1, 6)

    def __init__(self, scene):
        super().__init__(scene)
        self.paused = [scene.leader]

    def strike(self):
        self.scene.leader.send_signal(signal.SIGSTOP)
        self.scene.guarded.store.delete(self.scene.guarded.name)

    def heal(self):
        self.scene.leader.send_signal(signal.SIGCONT)
        super().heal()


class AllRestartedWithoutStore(StoreFault):
    name = "all: kill -9, started while the store is cut off"
    seconds = (0.1, 4)

    def strike(self):
        for door in self.doors():
            door.cut()
        for sidecar in self.scene.group.sidecars:
            sidecar.kill()
            restart(sidecar)


class HalfOfAllCut(StoreFault):
    """Members from each other, and members from the store, as the dice say."""

    name = "all: every second way cut, to the store as well"
    seconds = (0.5, 6)

    def strike(self):
        dice, count = self.scene.dice, len(self.scene.group.sidecars)
        ways = [(a, b) for a in range(count) for b in range(count) if a != b]
        self.scene.hosts.cut(*dice.sample(ways, len(ways) // 2))
        for door in self.doors():
            dice.choice([door.cut, door.lose_answers, door.refuse, door.heal])()
