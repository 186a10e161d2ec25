"""Ports of this process alone, whatever tests run beside it."""

import contextlib
import pathlib
import random
import socket
import threading

FIRST_EPHEMERAL_PORT = int(
    pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
FIRST_PORT = 10000
PORTS_PER_BLOCK = 64
port_holders = []  # one for each block of ports that is this process's


def own_ports():
    """All ports that a test may have, each once.  They are this process's alone as long as it
    lives: a sidecar that was killed must find its ports free when it comes back, whatever tests run
    beside this one (death_order_test.cc takes its ports so, too).  A name that only one stream
    socket can have stands for a block of them."""
    blocks = range(FIRST_PORT, FIRST_EPHEMERAL_PORT - PORTS_PER_BLOCK, PORTS_PER_BLOCK)
    for block in random.sample(blocks, len(blocks)):
        holder = socket.socket(socket.AF_UNIX)
        try:
            holder.bind(f"\0bellwether-test-ports-{block}")
        except OSError:  # another process's
            holder.close()
            continue
        port_holders.append(holder)
        yield from range(block, block + PORTS_PER_BLOCK)


ports_left = own_ports()
ports_lock = threading.Lock()  # groups may be made by several threads


def free_ports(count, host="127.0.0.1"):
    """Ports on which nobody listens now, never the same twice.  None is one that the kernel may
    give to somebody who connects before the sidecar listens."""
    ports = []
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    while len(ports) < count:
        with ports_lock:
            port = next(ports_left)
        with socket.socket(family) as probe, contextlib.suppress(OSError):  # taken: the next one
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            ports.append(port)
    return ports
