#!/usr/bin/env python3
"""Strangers and accidents that look like members: none of them fills the group, shuts anybody out,
or ends a process.

usage: strangers_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name

BELLWETHER_TEST_FORGED_FRAMES says how many random frames each impostor sends.  A leader that has
lost its place to them again and again takes it back after minutes; a build with sanitizers does not
wait for that (BELLWETHER_TEST_SANITIZE).
"""

import contextlib
import os
import random
import socket
import threading
import uuid

from forged_frames import COORDINATOR, HEARTBEAT, Impostor, fixed, group_tag, varint, voters_hash
from forgeries import Forger
from harness import Unreachable, wait_until
from store_group import EtcdCase
from system_case import CALM, IS_SANITIZED, SystemCase, main

MOST_MEMBERS = 1000
CROWD = 50
FORGED_FRAMES = int(os.environ.get("BELLWETHER_TEST_FORGED_FRAMES", "100000"))
FRAMES_AT_ONCE = 50
MOST_LOG_BYTES = 4_000_000
LONG_S = 240  # a thousand members under a sanitizer
BACK_S = 400  # flapping keeps a leader from its place for five minutes at most
# Leads again soon, so that it can be seen that all is as before.
SOON = 'preempt_delay = "500ms"\n'


class FullGroup(SystemCase):
    """A thousand members are the most."""

    def join_and_go(self, sidecar, count):
        """So many members, each here for a moment.  A connection that is closed with bytes unread
        is reset, and takes what it has sent with it; so each waits for the sidecar to close it."""
        for number in range(count):
            with Impostor(f"gone{number}").connect(sidecar) as connection:
                connection.shutdown(socket.SHUT_WR)
                with contextlib.suppress(ConnectionResetError):
                    while connection.recv(65536):
                        pass

    def count_members(self, sidecar):
        """A list of a thousand takes a sanitizer's sidecar longer to write than to keep, and a busy
        one may answer late; None: not yet."""
        try:
            series = sidecar.metrics()
        except Unreachable:
            return None
        return sum(value for name, value in series.items()
                   if name.startswith("bellwether_members{"))

    def newcomer_of(self, group):
        newcomer = group.add()
        newcomer.write_config(group.config_of(newcomer, peers=group.sidecars[:1]))
        return newcomer

    def test_the_dead_make_room_for_the_living(self):
        """Under guard none a newcomer that is not let in would lead beside the leader."""
        with self.group(1, extra=CALM) as group:
            leader, = group.start().sidecars
            group.await_leader(leader)
            self.join_and_go(leader, MOST_MEMBERS + 50)
            wait_until("it has heard them",
                       lambda: f"gone{MOST_MEMBERS + 49}" in leader.members(), LONG_S)
            self.assertEqual(len(leader.members()), MOST_MEMBERS)
            newcomer = self.newcomer_of(group)
            newcomer.start()
            wait_until("it has been let in", lambda: newcomer.leader() == leader.name or
                       leader.leader() == newcomer.name)
            group.await_leader()
            leader.await_state_of(newcomer, "alive")

    def test_who_was_refused_is_let_in_when_there_is_room(self):
        with self.group(1, extra=CALM) as group, contextlib.ExitStack() as crowd:
            leader, = group.start().sidecars
            group.await_leader(leader)
            for number in range(MOST_MEMBERS - 1):
                crowd.enter_context(Impostor(f"here{number}").connect(leader))
                if number % CROWD == 0:  # of more that wait the oldest would have to come again
                    wait_until("they are in", lambda count=number + 2: (
                        self.count_members(leader) == count), LONG_S)
            wait_until("it is full", lambda: self.count_members(leader) == MOST_MEMBERS, LONG_S)
            newcomer = self.newcomer_of(group)
            newcomer.start()
            newcomer.await_log("turned this process away: the group is full")
            self.assertNotIn(newcomer.name, leader.members())
            crowd.close()
            group.await_leader(patience_s=LONG_S)
            leader.await_state_of(newcomer, "alive")

    def test_a_name_has_one_member(self):
        """Lives without memory follow each other under one name."""
        with self.group(2, extra=CALM) as group:
            newcomer, leader = group.sidecars
            newcomer.write_config(group.config_of(newcomer).replace(
                f'state_dir = "{newcomer.state_folder}"', 'state_dir = ""'))
            group.start().await_leader(leader)
            for end in (newcomer.kill, newcomer.stop) * 3:
                end()
                newcomer.start()
                group.await_leader(leader)
                leader.await_state_of(newcomer, "alive")
            names = [member["name"] for member in leader.get("/v1/members")["members"]]
            self.assertEqual(sorted(names), ["n0", "n1"])


class Liars:
    """What comes of random frames; a class below is a SystemCase."""

    frames = FORGED_FRAMES

    def talk(self, forger, sidecars, hello):
        """Random frames to all of them in turn; who hangs up is called again."""
        connections = [None] * len(sidecars)

        def read_all(connection):
            with contextlib.suppress(OSError):
                with contextlib.suppress(ConnectionResetError):
                    while connection.recv(65536):
                        pass

        for _ in range(self.frames // FRAMES_AT_ONCE):
            index = forger.dice.randrange(len(sidecars))
            frames = b"".join(forger.frame() for _ in range(FRAMES_AT_ONCE))
            try:
                if connections[index] is None:
                    connections[index] = forger.impostor.connect(sidecars[index], **hello)
                    threading.Thread(target=read_all, args=(connections[index],),
                                     daemon=True).start()
                connections[index].sendall(frames)
            except OSError:
                if connections[index] is not None:
                    connections[index].close()
                connections[index] = None
        for connection in filter(None, connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)  # its reader ends
            connection.close()

    def survives(self, group, absent, hello, orders=False):
        """Two impostors, under these sidecars' names, talk to all others at once.  Afterwards the
        same leads, the same live, and no process but the absent ones is another."""
        leader = group.await_leader()
        for sidecar in absent:
            sidecar.kill()
        group.await_leader(leader)
        processes = {sidecar.name: sidecar.process.pid for sidecar in group.running}
        seed = random.randrange(2**32)
        print(f"seed {seed}, {self.frames} frames of each impostor")
        members = [(uuid.UUID(member["id"]).bytes, name)
                   for name, member in leader.members().items()]
        talkers = []
        for number, sidecar in enumerate(absent):
            impostor = Impostor(sidecar.name)
            forger = Forger(seed + number, impostor, [*members, (impostor.identity, impostor.name)],
                            hello["voters"], leader.epoch(), orders)
            talkers.append(threading.Thread(target=self.talk, args=(forger, group.running, hello)))
        for talker in talkers:
            talker.start()
        for talker in talkers:
            talker.join()
        running = {sidecar.name: sidecar.process.pid for sidecar in group.running}
        self.assertEqual(running, processes)
        for sidecar in absent:
            sidecar.start()
        self.await_as_before(group, leader, orders)
        names = sorted(sidecar.name for sidecar in group.sidecars)
        for sidecar in group.sidecars:
            self.await_members(sidecar, names)
            self.assertLess(len(sidecar.log()), MOST_LOG_BYTES, sidecar.name)
            wait_until(f"{sidecar.name} is ready", sidecar.is_ready, LONG_S)
        group.await_leader(leader).kill()
        group.await_leader(patience_s=LONG_S)

    def await_as_before(self, group, leader, orders):
        """By itself; but from a leader that an operator appointed nobody takes over, so an operator
        gives the place back where a frame has said so."""
        another = group.await_leader(patience_s=LONG_S)
        if another is not leader and (orders or IS_SANITIZED):
            why = {member["name"]: member["why"]
                   for member in leader.get("/v1/explain")["members"]}
            order = "|an operator appointed" if orders else ""
            self.assertRegex(why[leader.name], "takes over in|It leads" + order)
            status, _, text = another.request("POST", "/v1/transfer", {"to": leader.name})
            self.assertIn(status, (200, 202), text)
        group.await_leader(leader, patience_s=BACK_S)

    def await_members(self, sidecar, names):
        """It sees these alive, each once.  Others may be listed: members that nobody has met."""
        def living():
            return [member["name"] for member in sidecar.get("/v1/members")["members"]
                    if member["state"] == "alive"]
        try:
            wait_until(f"{sidecar.name} sees the members as before",
                       lambda: sorted(living()) == names, LONG_S)
        finally:
            print(f"{sidecar.name} sees {living()}")


class Impostors(Liars, SystemCase):
    """Whoever knows the names of the voters may take that of one that does not run."""

    def test_a_claim_with_no_lease_breaks_nothing(self):
        """To a voter that has nobody else; the beat behind it has a lease, and takes the claim
        back."""
        with self.group(3, extra=SOON + '[log]\nlevel = "debug"\n', voters=3) as group:
            victim, absent, leader = group.start("--bootstrap").sidecars
            group.await_leader(leader)
            for sidecar in (absent, leader):
                sidecar.kill()
            wait_until("it is alone", lambda: victim.leader() is None)
            voters = voters_hash(sidecar.name for sidecar in group.sidecars)
            impostor = Impostor(absent.name)
            for refused, lease_ns in enumerate((0, 1, 10**7, 11 * 10**9), 1):
                epoch = victim.get("/v1/status")["highest_epoch"] + 1
                claim = varint(3, 1) + fixed(4, voters) + varint(5, lease_ns)
                beat = varint(1, 2) + fixed(7, voters) + varint(8, 10**9)
                with impostor.connect(victim, voters=voters) as connection:
                    connection.sendall(impostor.frame(COORDINATOR, claim, epoch))
                    self.await_epoch(victim, epoch)
                    wait_until("it has no vote", lambda count=refused: victim.log().count(
                        "no vote for it: its lease is too short, or too long") == count)
                    connection.sendall(impostor.frame(HEARTBEAT, beat, epoch + 1, epoch))
                    self.await_epoch(victim, epoch + 1)
            for sidecar in (absent, leader):
                sidecar.start()
            group.await_leader(patience_s=LONG_S)
            for sidecar in group.sidecars:
                self.await_members(sidecar, ["n0", "n1", "n2"])

    def await_epoch(self, sidecar, epoch):
        def has_heard():
            self.assertTrue(sidecar.is_running, f"{sidecar.name} has ended: {sidecar.log()[-500:]}")
            return (sidecar.get("/v1/status") or {}).get("highest_epoch", 0) >= epoch
        wait_until(f"{sidecar.name} has heard of epoch {epoch}", has_heard)

    def test_random_frames_of_voters(self):
        with self.group(5, extra=SOON, voters=5) as group:
            group.start("--bootstrap").await_leader(group.sidecars[-1])
            voters = voters_hash(sidecar.name for sidecar in group.sidecars)
            self.survives(group, group.sidecars[:2], {"voters": voters})

    def test_random_frames_without_a_guard(self):
        with self.group(5, extra=SOON) as group:
            group.start().await_leader(group.sidecars[-1])
            self.survives(group, group.sidecars[:2], {"voters": 0})


class ImpostorsThatGiveOrders(Liars, SystemCase):
    """Without [tls] a voter's word that an operator has appointed somebody is believed."""

    frames = FORGED_FRAMES // 5

    def test_random_orders_of_voters(self):
        with self.group(5, extra=SOON, voters=5) as group:
            group.start("--bootstrap").await_leader(group.sidecars[-1])
            voters = voters_hash(sidecar.name for sidecar in group.sidecars)
            self.survives(group, group.sidecars[:2], {"voters": voters}, orders=True)

    def test_random_orders_without_a_guard(self):
        with self.group(5, extra=SOON) as group:
            group.start().await_leader(group.sidecars[-1])
            self.survives(group, group.sidecars[:2], {"voters": 0}, orders=True)


class ImpostorsAtAStore(Liars, EtcdCase):
    """Which cannot be lied to: nor do two flags ever say so."""

    frames = FORGED_FRAMES // 5

    def test_random_frames_of_members(self):
        with self.led_group(5) as guarded:
            group = guarded.group
            record = group_tag(f"etcd /bellwether/{guarded.name}")
            self.survives(group, group.sidecars[:2], {"voters": record})


if __name__ == "__main__":
    main()
