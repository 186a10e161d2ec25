"""Hosts of their own on one machine: network namespaces, joined by a bridge in a further one, so
that links between them can be cut.  Made and removed by the test; traffic goes nowhere else.

The sidecars' flags and APIs stay reachable: files are shared, and requests are sent from within the
namespaces.
"""

import itertools
import json
import os
import re
import subprocess
import unittest

NETWORK = "10.77.0"
LOOPBACK = "127.0.0.1"
NUMBERS = itertools.count()  # of the networks that this process has made


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def can_make_namespaces():
    """False where this process may not; the tests then skip."""
    name = f"bw{os.getpid()}probe"
    try:
        run("ip", "netns", "add", name)
        run("ip", "netns", "exec", name, "nft", "list", "ruleset")
    except (OSError, subprocess.CalledProcessError):
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
        return False
    run("ip", "netns", "del", name)
    return True


class SharedHost:
    """One of the hosts, for a Group whose sidecars all live there, on its loopback."""

    def __init__(self, hosts, sidecars):
        self.hosts = hosts
        self.addresses = [LOOPBACK] * sidecars

    def command_prefix(self, _):
        return self.hosts.command_prefix(0)


class Hosts:
    """A context manager: so many hosts, each with an address, all on one network."""

    def __init__(self, count):
        self.prefix = f"bw{os.getpid()}n{next(NUMBERS)}"
        self.switch = f"{self.prefix}s"
        self.names = [f"{self.prefix}h{i}" for i in range(count)]
        self.link = f"{self.prefix}m"  # this machine's, after join()
        self.addresses = [f"{NETWORK}.{i + 1}" for i in range(count)]

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, kind, error, trace):
        self.remove()

    def make(self):
        run("ip", "netns", "add", self.switch)
        run("ip", "-n", self.switch, "link", "add", "bridge", "type", "bridge")
        run("ip", "-n", self.switch, "link", "set", "bridge", "up")
        run("ip", "netns", "exec", self.switch, "nft", "add table bridge faults; "
            "add chain bridge faults cuts { type filter hook forward priority 0; }")
        for index, (name, address) in enumerate(zip(self.names, self.addresses)):
            port = f"port{index}"
            run("ip", "netns", "add", name)
            run("ip", "-n", self.switch, "link", "add", port, "type", "veth",
                "peer", "name", "eth0", "netns", name)
            run("ip", "-n", self.switch, "link", "set", port, "master", "bridge", "up")
            run("ip", "-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
            self.enter(index, "nft", "add table inet faults; "
                       "add chain inet faults input { type filter hook input priority 0; }; "
                       "add chain inet faults output { type filter hook output priority 0; }")

    def join(self):
        """This machine gets an address on the network, too: for one process at a time, since all
        of them would use the same."""
        run("ip", "link", "add", self.link, "type", "veth", "peer", "name", "machine", "netns",
            self.switch)
        run("ip", "-n", self.switch, "link", "set", "machine", "master", "bridge", "up")
        run("ip", "addr", "add", f"{NETWORK}.254/24", "dev", self.link)
        run("ip", "link", "set", self.link, "up")

    def remove(self):
        subprocess.run(["ip", "link", "del", self.link], check=False, capture_output=True)
        for name in [*self.names, self.switch]:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    def command_prefix(self, index):
        """What makes a command run on this host."""
        return ["ip", "netns", "exec", self.names[index]]

    def enter(self, index, *command):
        return run(*self.command_prefix(index), *command)

    def cut(self, *directions):
        """From now on nothing from a direction's source reaches its target; the other way stays
        open.  All directions (source, target) are cut at the same instant."""
        run("ip", "netns", "exec", self.switch, "nft", "; ".join(
            f"add rule bridge faults cuts ip saddr {self.addresses[source]} "
            f"ip daddr {self.addresses[target]} drop" for source, target in directions))

    def reset(self, source, target):
        """From now on `target` answers what comes from `source` as if no connection were there."""
        self.enter(target, "nft", f"add rule inet faults input meta l4proto tcp ip saddr "
                   f"{self.addresses[source]} reject with tcp reset")

    def reset_port(self, index, port):
        """From now on this host answers what comes to the port, from itself too, as if nobody were
        there."""
        self.enter(index, "nft", f"add rule inet faults input tcp dport {port} "
                   "reject with tcp reset")

    def break_connections(self, host, others):
        """Resets what connections a host has with others, on both sides, once; unittest.SkipTest
        where the kernel does not let anybody."""
        for other in others:
            # It prints those that it has ended.
            if not self.enter(host, "ss", "--kill", "--no-header", "--tcp", "dst",
                              self.addresses[other]).strip():
                raise unittest.SkipTest("no connection can be reset here")

    def reject(self, source, target, answer):
        """From now on `target` answers what comes from `source` by an ICMP message (say,
        host-unreachable), as routers and firewalls do for it."""
        self.enter(target, "nft", f"add rule inet faults input ip saddr "
                   f"{self.addresses[source]} counter reject with icmp {answer}")

    def rejected(self, target):
        """How many packets reject() has answered there."""
        rules = self.enter(target, "nft", "list chain inet faults input")
        return sum(map(int, re.findall(r"counter packets (\d+)", rules)))

    def drop_connecting(self, source, target):
        """From now on `source` cannot connect to `target`, and gets no answer; connections that
        are there stay."""
        self.enter(target, "nft", "add set inet faults tries { type inet_service; size 65535; "
                   "flags dynamic; }; "
                   "add rule inet faults input tcp flags & (syn | ack) == syn ip saddr "
                   f"{self.addresses[source]} add @tries {{ tcp sport counter }} drop")

    def tries(self, target):
        """How often each socket has tried to connect to where drop_connecting() is at work."""
        found = json.loads(self.enter(target, "nft", "--json", "list set inet faults tries"))
        sockets = next(item["set"] for item in found["nftables"] if "set" in item).get("elem", [])
        return [socket["elem"]["counter"]["packets"] for socket in sockets]

    def are_all_joined(self):
        """Every two of them have a TCP connection on which nothing waits to be sent."""
        for index, address in enumerate(self.addresses):
            found = self.enter(index, "ss", "--no-header", "--tcp", "--numeric", "state",
                               "established")
            joined = {words[3].rsplit(":", 1)[0] for words in map(str.split, found.splitlines())
                      if words[1] == "0"}
            if not joined >= set(self.addresses) - {address}:
                return False
        return True

    def remove_route(self, index):
        """From now on this host knows no way to the others."""
        self.enter(index, "ip", "route", "del", f"{NETWORK}.0/24")

    def restore_route(self, index):
        self.enter(index, "ip", "route", "add", f"{NETWORK}.0/24", "dev", "eth0")

    def partition(self, *sides):
        """Sides are lists of hosts; what goes from one side to another is lost."""
        self.cut(*((source, target) for side in sides for other in sides if side is not other
                   for source in side for target in other))

    def heal(self):
        run("ip", "netns", "exec", self.switch, "nft", "flush table bridge faults")
        for index in range(len(self.names)):
            self.enter(index, "nft", "flush table inet faults")

    def slow_down(self, index, rate):
        """This host sends no faster than `rate` (say, 16kbit): queues grow, latency does."""
        self.enter(index, "tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", rate,
                   "burst", "2kb", "latency", "400ms")

    def speed_up(self, index):
        self.enter(index, "tc", "qdisc", "del", "dev", "eth0", "root")
