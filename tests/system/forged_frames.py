"""Frames as a stranger would forge them: the layout of sidecar/io/wire/codec.hh by hand, with the
few bodies (sidecar/io/wire/frames.proto) that tests of floods and lies need."""

import os
import socket
import struct
import uuid

MAGIC, VERSION = 0xBE11, 1
HELLO, PLUGIN_MESSAGE, PLANNED_HANDOVER, COORDINATOR, REFUSAL, HEARTBEAT = range(1, 7)
HEARTBEAT_ACK, RESIGN, LEAVE, MEMBERS, TURNED_AWAY, WISH, CANVASS = range(7, 14)
CANVASS_REPLY, GRANT = range(14, 16)
POLYNOMIAL = 0x82F63B78  # CRC-32C, reflected


def checksum_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


TABLE = checksum_table()


def checksum(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFFFFFF


def group_tag(group):
    """64-bit FNV-1a."""
    value = 0xCBF29CE484222325
    for byte in group.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def voters_hash(names):
    """As HELLO names them."""
    return group_tag("".join(f"{name}\n" for name in sorted(names)))


def number(value):
    """A protobuf varint."""
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(data + bytes([value]))


def varint(field, value):
    return number(field << 3) + number(value)


def fixed(field, value):
    return number(field << 3 | 1) + struct.pack("<Q", value)


def text(field, value):
    data = value.encode() if isinstance(value, str) else value
    return number(field << 3 | 2) + number(len(data)) + data


def fields_of(message):
    """{number: bytes, or the number that it is}, the last of each."""
    fields, rest = {}, message
    def take_number():
        nonlocal rest
        value = shift = 0
        while True:
            byte, rest = rest[0], rest[1:]
            value, shift = value | (byte & 0x7F) << shift, shift + 7
            if byte < 0x80:
                return value
    while rest:
        key = take_number()
        if key & 7 == 0:
            fields[key >> 3] = take_number()
            continue
        size = 8 if key & 7 == 1 else take_number()
        value, rest = rest[:size], rest[size:]
        fields[key >> 3] = int.from_bytes(value, "little") if key & 7 == 1 else value
    return fields


def frame(group, kind, body=b"", epoch=0, released=0):
    data = struct.pack("<HBBHHQQQ", MAGIC, VERSION, kind, len(body), 0, group_tag(group), epoch,
                       released) + body
    return data + struct.pack("<I", checksum(data))


class Impostor:
    """A member that nobody has configured."""

    def __init__(self, name, group="test", identity=None, address="127.0.0.1:9", priority=1):
        self.name, self.group, self.address, self.priority = name, group, address, priority
        self.identity = identity or os.urandom(16)
        self.boot = int.from_bytes(os.urandom(7), "little") + 1

    def identity_text(self):
        """As the API writes it."""
        return str(uuid.UUID(bytes=self.identity))

    def hello(self, epoch=0, voters=0, remembered=(), more=b""):
        """`remembered`: (identity, epoch) of voters' releases; `more` fields."""
        member = (text(1, self.identity) + text(2, self.name) + text(3, self.address) +
                  varint(4, self.priority) + fixed(5, self.boot) + text(8, "modified"))
        body = text(1, self.group) + text(2, member) + text(6, "forged") + text(7, "bully")
        releases = [text(12, text(1, voter) + varint(2, release)) for voter, release in remembered]
        body = b"".join([body, fixed(9, voters), *releases, more])
        return frame(self.group, HELLO, body, epoch, epoch)

    def frame(self, kind, body=b"", epoch=0, released=0):
        return frame(self.group, kind, body, epoch, released)

    def connect(self, sidecar, tls=None, **hello):
        """A connection on which this is a member, by an ssl.SSLContext if there is one; what comes
        on it is left unread."""
        connection = socket.create_connection((sidecar.address, sidecar.peer_port), timeout=30)
        if tls is not None:
            connection = tls.wrap_socket(connection)
        connection.sendall(self.hello(**hello))
        return connection
