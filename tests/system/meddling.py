"""Somebody who stands between members that speak TLS: a relay in front of each of them, which
passes on records, and meddles with one of them when a test asks for it."""

import contextlib
import socket
import threading
import time

from harness import PATIENCE_S, Group

HEADER_BYTES = 5
APPLICATION_DATA = 0x17
DELAY_S = 0.5


# What may happen to a record; `following` takes the one after it from the same sender.

def drop(_record, _following):
    return b""


def duplicate(record, _following):
    return record + record


def reorder(record, following):
    return following() + record


def flip(record, _following):
    damaged = bytearray(record)
    damaged[len(record) // 2] ^= 1
    return bytes(damaged)


def delay(record, _following):
    time.sleep(DELAY_S)
    return record


def read_exactly(source, count):
    """Less at the end."""
    data = b""
    while len(data) < count and (part := source.recv(count - len(data))):
        data += part
    return data


def read_record(source):
    header = read_exactly(source, HEADER_BYTES)
    return header + read_exactly(source, int.from_bytes(header[3:], "big"))


class Relay:
    """In front of one sidecar."""

    def __init__(self, target):
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.meddling = None  # with the next record, in whatever direction
        self.lock = threading.Lock()
        self.sockets = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                here, _ = self.listener.accept()
                try:
                    there = socket.create_connection(("127.0.0.1", self.target), PATIENCE_S)
                except OSError:  # nobody listens
                    here.close()
                    continue
                there.settimeout(None)
                self.sockets += [here, there]
                for ends in ((here, there), (there, here)):
                    ends[1].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    threading.Thread(target=self.pump, args=ends, daemon=True).start()

    def pump(self, source, sink):
        with contextlib.suppress(OSError):
            while record := read_record(source):
                meddle = self.take_meddling() if record[0] == APPLICATION_DATA else None
                sink.sendall(meddle(record, lambda: read_record(source)) if meddle else record)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def take_meddling(self):
        with self.lock:
            taken, self.meddling = self.meddling, None
            return taken

    def close(self):
        for each in (self.listener, *self.sockets):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


class RelayedGroup(Group):
    """All that its members say to each other goes through relays."""

    def __init__(self, *arguments, **options):
        self.relays = {}
        super().__init__(*arguments, **options)

    def add(self):
        sidecar = super().add()
        self.relays[sidecar.name] = Relay(sidecar.peer_port)
        return sidecar

    def config_of(self, sidecar, **options):
        text = super().config_of(sidecar, **options)
        for each in self.sidecars:
            text = text.replace(f'"127.0.0.1:{each.peer_port}"',
                                f'"127.0.0.1:{self.relays[each.name].port}"')
        seen = f'"127.0.0.1:{self.relays[sidecar.name].port}"'
        return text.replace(f"listen = {seen}", f'listen = "127.0.0.1:{sidecar.peer_port}"\n'
                                                f"advertise = {seen}")

    def meddle(self, meddling):
        for relay in self.relays.values():
            relay.meddling = meddling

    def __exit__(self, *error):
        super().__exit__(*error)
        for relay in self.relays.values():
            relay.close()
