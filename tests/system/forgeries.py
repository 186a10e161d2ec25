"""Random frames that keep to the layout, so that all of them are read: what they say is mostly
possible, and sometimes absurd."""

import random

from forged_frames import (CANVASS, CANVASS_REPLY, COORDINATOR, GRANT, HEARTBEAT, HEARTBEAT_ACK,
                           LEAVE, MEMBERS, PLANNED_HANDOVER, PLUGIN_MESSAGE, REFUSAL, RESIGN, WISH,
                           fixed, text, varint)

SECOND_NS = 1_000_000_000
NUMBERS = (0, 1, 2, 3, 7, 20, 1000, 2**32, 2**63, 2**64 - 1)
MOST_SCORE = 2**53 - 1
DURATIONS_NS = (0, 1, SECOND_NS // 50, SECOND_NS // 2, SECOND_NS, 10 * SECOND_NS, 11 * SECOND_NS,
                3600 * SECOND_NS)


class Forger:
    """What one impostor says of a group: its `members` are (identity, name).  Without `orders` it
    says nothing in an operator's name, who may want another leader than the highest."""

    def __init__(self, seed, impostor, members, voters, epoch, orders):
        self.dice = random.Random(seed)
        self.impostor, self.members, self.voters = impostor, members, voters
        self.epoch, self.orders = epoch, orders

    def number(self):
        return self.dice.choice((*NUMBERS, self.dice.randrange(1000)))

    def identity(self):
        if self.dice.random() < 0.1:
            return self.dice.randbytes(16)
        return self.dice.choice(self.members)[0]

    def some_epoch(self):
        """Near those that are known; now and then it goes on to a later one."""
        if self.dice.random() < 0.02:
            self.epoch += self.dice.choice((1, 2, 1000))
        return max(0, self.dice.choice((0, self.epoch, self.epoch - 1, self.epoch + 1,
                                        self.epoch + self.dice.randrange(5))))

    def flag(self, field):
        return varint(field, self.dice.randrange(2))

    def order(self, field):
        """Is appointed, or planned."""
        return self.flag(field) if self.orders else b""

    def score(self, field):
        """In zigzag: an odd number is negative."""
        return varint(field, self.dice.choice((0, 0, 1, 2, 7, 1000, 2 * MOST_SCORE - 1,
                                               2 * MOST_SCORE)))

    def hint(self):
        return (text(1, self.identity()) + varint(2, self.some_epoch()) + self.order(3) +
                self.score(4))

    def electorate(self):
        return self.voters if self.dice.random() < 0.9 else self.number()

    def duration(self):
        return self.dice.choice(DURATIONS_NS)

    def member(self):
        identity, name = self.dice.choice(self.members)
        if self.dice.random() < 0.2:
            identity = self.dice.randbytes(16)
            name = self.dice.choice((name, f"x{self.dice.randrange(50)}"))
        return (text(1, identity) + text(2, name) + text(3, "127.0.0.1:9") +
                varint(4, self.dice.randrange(65536)) + fixed(5, self.number()) +
                varint(6, self.dice.randrange(4)) + self.flag(7) + text(8, "modified") +
                self.score(9) + varint(10, self.number()) + varint(11, self.dice.randrange(4)) +
                fixed(12, self.number()) + varint(13, self.duration()))

    def view(self):
        count = self.dice.randrange(6)
        entries = b"".join(text(5, self.member()) for _ in range(count))
        return (varint(1, self.some_epoch()) + varint(2, self.number()) + varint(3, 0) +
                varint(4, count) + entries)

    def plugin_message(self):
        identities = b"".join(self.identity() for _ in range(self.dice.randrange(4)))
        return (varint(1, self.dice.choice((1, 2, 3, 16, 31))) + varint(2, self.dice.randrange(8)) +
                fixed(3, self.number()) + text(4, identities) + text(5, self.hint()))

    def refusal(self):
        return varint(1, self.some_epoch()) + text(2, self.hint())

    def handover(self):
        return self.order(1) + text(2, self.dice.choice(("", "7", "x" * 64)))

    def claim(self):
        return (self.order(1) + self.order(2) + varint(3, self.number()) +
                fixed(4, self.electorate()) + varint(5, self.duration()) + self.score(6))

    def heartbeat(self):
        return (varint(1, self.number()) + self.order(4) + self.flag(5) + self.order(6) +
                fixed(7, self.electorate()) + varint(8, self.duration()) + self.score(9) +
                self.flag(10))

    def acknowledgement(self):
        return (varint(1, self.number()) + varint(2, self.some_epoch()) + varint(3, self.number()) +
                self.flag(4) + (text(5, self.refusal()) if self.dice.random() < 0.3 else b"") +
                varint(6, self.some_epoch()))

    def canvass(self):
        return (fixed(1, self.number()) + fixed(2, self.electorate()) + self.flag(3) +
                self.order(4) + self.flag(5) + self.score(6) + fixed(7, self.number()))

    def canvass_reply(self):
        return (fixed(1, self.number()) + self.flag(2) + self.flag(3) + text(4, self.hint()) +
                varint(5, self.duration()) + self.flag(6))

    def grant(self):
        wait = text(1, self.identity()) + varint(2, self.some_epoch()) + varint(3, self.duration())
        return (varint(1, self.some_epoch()) + self.flag(2) + varint(3, self.number()) +
                text(4, wait) * self.dice.randrange(4) + varint(5, self.duration()) +
                text(6, self.hint()))

    def wish(self):
        return (text(1, self.dice.choice(("modified", "classic"))) + fixed(2, self.number()) +
                varint(3, self.number()) + self.flag(4) + self.score(5) +
                varint(6, self.dice.randrange(4)))

    def frame(self):
        kinds = {PLUGIN_MESSAGE: self.plugin_message, PLANNED_HANDOVER: self.handover,
                 COORDINATOR: self.claim, REFUSAL: self.refusal, HEARTBEAT: self.heartbeat,
                 HEARTBEAT_ACK: self.acknowledgement, RESIGN: bytes,
                 LEAVE: lambda: fixed(1, self.number()), MEMBERS: self.view,
                 WISH: self.wish,
                 CANVASS: self.canvass, CANVASS_REPLY: self.canvass_reply, GRANT: self.grant}
        kind = self.dice.choice(tuple(kinds))
        return self.impostor.frame(kind, kinds[kind](), self.some_epoch(), self.some_epoch())
