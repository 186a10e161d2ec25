"""Links with a delay, also where the kernel has no netem: relays on loopback, one before each
sidecar, that pass on whatever comes after a fixed time, in both directions."""

import collections
import contextlib
import selectors
import socket
import threading
import time

from harness import place_of

CHUNK_BYTES = 65536
LONGEST_WAIT_S = 0.05  # for something to do, after which it looks whether the end has come


class SlowLinks:
    """A context manager: the sidecars of a group, not yet started, reach each other through relays
    only, each way in `delay_s`."""

    def __init__(self, group, delay_s):
        self.group, self.delay_s = group, delay_s
        self.under_way = collections.deque()  # (when it is due, socket, data; none: the end)
        self.selector = selectors.DefaultSelector()
        self.stack = contextlib.ExitStack()  # closes all sockets
        self.latest_s = 0  # by how much something was passed on too late, at worst
        self.is_over = False
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        relays = {place_of(sidecar.address, sidecar.peer_port): self.relay_to(sidecar)
                  for sidecar in self.group.sidecars}
        for sidecar in self.group.sidecars:
            text = self.group.config_of(sidecar)
            for place, relay in relays.items():
                text = text.replace(f'"{place}"', f'"{relay}"')
            own = place_of(sidecar.address, sidecar.peer_port)
            sidecar.write_config(text.replace(
                f'listen = "{relays[own]}"', f'listen = "{own}"\nadvertise = "{relays[own]}"'))
        self.thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.is_over = True
        self.thread.join()
        self.selector.close()
        self.stack.close()

    def relay_to(self, sidecar):
        """Where the sidecar is reached from now on."""
        listener = self.stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.selector.register(listener, selectors.EVENT_READ, lambda: self.accept(
            listener, (sidecar.address, sidecar.peer_port)))
        return place_of(*listener.getsockname())

    def run(self):
        while not self.is_over:
            wait_s = LONGEST_WAIT_S
            if self.under_way:
                wait_s = max(0, min(wait_s, self.under_way[0][0] - time.monotonic()))
            for key, _ in self.selector.select(wait_s):
                key.data()
            while self.under_way and self.under_way[0][0] <= time.monotonic():
                due_s, target, data = self.under_way.popleft()
                self.latest_s = max(self.latest_s, time.monotonic() - due_s)
                with contextlib.suppress(OSError):  # it has gone
                    if data:
                        target.sendall(data)
                    else:
                        target.shutdown(socket.SHUT_RDWR)

    def accept(self, listener, place):
        here = self.stack.enter_context(listener.accept()[0])
        try:
            there = self.stack.enter_context(socket.create_connection(place))
        except OSError:  # nobody listens
            here.close()
            return
        for source, target in ((here, there), (there, here)):
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.selector.register(source, selectors.EVENT_READ,
                                   lambda ends=(source, target): self.carry(*ends))

    def carry(self, source, target):
        try:
            data = source.recv(CHUNK_BYTES)
        except OSError:
            data = b""
        self.under_way.append((time.monotonic() + self.delay_s, target, data))
        if not data:
            self.selector.unregister(source)
