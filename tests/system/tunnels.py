"""Tunnels between hosts (namespaces.py), as stunnel, ssh -L or a mesh's upstreams make them: each
sidecar listens on the loopback of its own host alone, and at the same place of every other host is
the entrance to a tunnel that ends there.  So all voters are at 127.0.0.1, and none is near.

An entrance takes a connection, makes another one over the network to the exit, which makes a third
one to the sidecar; what ends one of them ends all.  All of it is done by one thread of the test.
"""

import asyncio
import contextlib
import ctypes
import socket
import threading

from namespaces import LOOPBACK

CHUNK_BYTES = 65536
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000


def enter(namespace):
    if LIBC.setns(namespace.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "cannot enter a network namespace")


@contextlib.contextmanager
def inside(name):
    """The sockets that this thread makes meanwhile are that host's."""
    with open("/proc/thread-self/ns/net", "rb") as home, \
            open(f"/run/netns/{name}", "rb") as there:
        enter(there)
        try:
            yield
        finally:
            enter(home)


class Mouth:
    """Where one end of a tunnel is open: whoever comes is carried on to another place."""

    def __init__(self, host, place, onward):
        self.host, self.onward = host, onward
        with inside(host):
            self.listener = socket.create_server(place)
        self.listener.setblocking(False)
        self.carriers = {}  # each, and the connection that it has to close
        self.task = asyncio.ensure_future(self.accept())

    async def accept(self):
        while True:
            here, _ = await asyncio.get_running_loop().sock_accept(self.listener)
            carrier = asyncio.ensure_future(self.carry(here))
            self.carriers[carrier] = here
            carrier.add_done_callback(lambda done: self.carriers.pop(done).close())

    async def carry(self, here):
        loop = asyncio.get_running_loop()
        with inside(self.host):
            there = socket.socket()
        with there:
            for end in (here, there):
                end.setblocking(False)
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                await loop.sock_connect(there, self.onward)
            except OSError:  # nobody listens: the connection has been taken, and ends
                return
            ways = [asyncio.ensure_future(pump(*ends)) for ends in ((here, there), (there, here))]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)

    def close(self):
        """From now on connections are refused; those that were carried end in end()."""
        self.task.cancel()
        self.listener.close()

    async def end(self):
        carriers = list(self.carriers)
        for carrier in carriers:
            carrier.cancel()
        await asyncio.gather(self.task, *carriers, return_exceptions=True)


async def pump(source, target):
    loop = asyncio.get_running_loop()
    with contextlib.suppress(OSError):
        while data := await loop.sock_recv(source, CHUNK_BYTES):
            await loop.sock_sendall(target, data)


class Tunnels:
    """A context manager between Hosts and a Group, which takes it for its hosts: the sidecars reach
    each other through tunnels alone.  A tunnel is (source, target), numbers of hosts."""

    def __init__(self, hosts):
        self.hosts = hosts
        self.addresses = [LOOPBACK] * len(hosts.addresses)
        self.command_prefix = hosts.command_prefix
        self.ports = []
        self.exits, self.entrances = [], {}
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.close(*self.entrances)
        self.run(self.close_mouths(self.exits))
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def lead_to(self, group):
        """Opens all of them, to where the sidecars of the group will listen."""
        self.ports = [sidecar.peer_port for sidecar in group.sidecars]
        self.run(self.open_exits())
        self.open(*self.all())

    def between(self, *numbers):
        """All tunnels between these hosts."""
        return [(a, b) for a in numbers for b in numbers if a != b]

    def all(self):
        return self.between(*range(len(self.ports)))

    def of(self, number):
        """All tunnels to and from a host."""
        return [pair for pair in self.all() if number in pair]

    def open(self, *pairs):
        self.run(self.open_entrances(pairs))

    def close(self, *pairs):
        """Nobody can enter any more, and what was on the way ends, all at the same instant."""
        self.run(self.close_mouths([self.entrances.pop(pair) for pair in pairs
                                    if pair in self.entrances]))

    async def open_exits(self):
        for name, address, port in zip(self.hosts.names, self.hosts.addresses, self.ports):
            self.exits.append(Mouth(name, (address, port), (LOOPBACK, port)))

    async def open_entrances(self, pairs):
        for source, target in pairs:
            port = self.ports[target]
            if (source, target) not in self.entrances:
                self.entrances[source, target] = Mouth(
                    self.hosts.names[source], (LOOPBACK, port),
                    (self.hosts.addresses[target], port))

    async def close_mouths(self, mouths):
        for mouth in mouths:
            mouth.close()
        await asyncio.gather(*(mouth.end() for mouth in mouths))
