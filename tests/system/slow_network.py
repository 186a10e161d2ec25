"""A network that takes its time, also where the kernel has no netem: a switch in the test's own
thread, which passes every frame on after a fixed time.  So connecting takes long, too, which links
of slow_links.py do not show."""

import array
import collections
import contextlib
import fcntl
import selectors
import socket
import struct
import threading
import time

from namespaces import run
from tunnels import inside

FRAME_BYTES = 65536
LONGEST_WAIT_S = 0.05  # for something to do, after which it looks whether the end has come
ALL_PROTOCOLS = 3
SIOCETHTOOL, ETHTOOL_STXCSUM = 0x8946, 0x17


def complete_checksums(device):
    """Frames that leave here are read by this process, and no network card completes them."""
    value = array.array("B", struct.pack("II", ETHTOOL_STXCSUM, 0))
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCETHTOOL,
                    struct.pack("16sP", device.encode(), value.buffer_info()[0]))


class SlowNetwork:
    """A context manager: what Hosts send each other arrives `delay_s` later, each way."""

    def __init__(self, hosts, delay_s):
        self.hosts, self.delay_s = hosts, delay_s
        self.under_way = collections.deque()  # (when it is due, from which port, frame)
        self.selector = selectors.DefaultSelector()
        self.stack = contextlib.ExitStack()  # closes all sockets
        self.ports = []
        self.is_over = False
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        for index, name in enumerate(self.hosts.names):
            with inside(name):
                complete_checksums("eth0")
            port = f"port{index}"
            run("ip", "-n", self.hosts.switch, "link", "set", port, "nomaster")
            with inside(self.hosts.switch):
                end = self.stack.enter_context(
                    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS)))
            end.bind((port, 0))
            end.setblocking(False)
            self.selector.register(end, selectors.EVENT_READ)
            self.ports.append(end)
        self.thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.is_over = True
        self.thread.join()
        self.selector.close()
        self.stack.close()

    def run(self):
        while not self.is_over:
            wait_s = LONGEST_WAIT_S
            if self.under_way:
                wait_s = max(0, min(wait_s, self.under_way[0][0] - time.monotonic()))
            for key, _ in self.selector.select(wait_s):
                self.take(key.fileobj)
            while self.under_way and self.under_way[0][0] <= time.monotonic():
                _, source, frame = self.under_way.popleft()
                for port in self.ports:
                    if port is not source:
                        with contextlib.suppress(OSError):  # its queue is full: the frame is lost
                            port.send(frame)

    def take(self, port):
        with contextlib.suppress(BlockingIOError):
            while True:
                frame, (_, _, kind, *_) = port.recvfrom(FRAME_BYTES)
                if kind != socket.PACKET_OUTGOING:
                    self.under_way.append((time.monotonic() + self.delay_s, port, frame))
