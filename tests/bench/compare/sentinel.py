"""Redis Sentinel: a master, two replicas, and three sentinels that watch them."""

import re
import subprocess

from contest import Contest, Setting
from harness import free_ports, wait_until

GROUP = "mymaster"


class Sentinel(Contest):
    system = "sentinel"
    title = "Redis Sentinel"
    packages = ("redis-sentinel", "redis-server", "redis-tools")
    signalled = "the master"
    seen = "`+switch-master` on the channel of a sentinel"
    tightest = ("sentinel.conf names no bound; a sentinel's own timer ticks every 50 to 100 ms, so "
                "this is two ticks")
    gives = "the data itself, replicated (asynchronously: the last writes may be lost)"
    needs = "three sentinels, a majority of them; clients that ask them"
    doubles = "yes: the old master accepts writes until it is reached, and they are lost"
    leads = re.compile(rf"^{GROUP} \S+ \d+ \S+ (\d+)$")
    settings = (
        Setting("defaults", "down after 30 s", {"down_after_ms": 30000}),
        Setting("tightest", "down after 200 ms", {"down_after_ms": 200}))

    def set_up(self):
        self.ports, self.sentinel_ports = free_ports(3), free_ports(3)
        servers = [self.run_server(number) for number in range(3)]
        for number, port in enumerate(self.sentinel_ports):
            config = self.folder / f"sentinel{number}.conf"
            config.write_text(f"""
port {port}
dir {self.folder}
sentinel monitor {GROUP} 127.0.0.1 {self.ports[0]} 2
sentinel down-after-milliseconds {GROUP} {self.values["down_after_ms"]}
""")
            self.run("redis-sentinel", config)
        wait_until("the sentinels answer", lambda: all(
            "PONG" in self.ask(port, "ping") for port in self.sentinel_ports))
        self.watches = [self.run("redis-cli", "-p", port, "subscribe", "+switch-master")
                        for port in self.sentinel_ports]
        return servers

    def run_server(self, number):
        folder = self.folder / f"redis{number}"
        folder.mkdir()
        return self.run("redis-server", "--port", self.ports[number], "--dir", folder,
                        arguments=self.following(0) if number else ())

    def following(self, master):
        return ["--replicaof", "127.0.0.1", str(self.ports[master])]

    def leader_number(self):
        return self.contenders.index(self.leader())

    @staticmethod
    def ask(port, *command):
        return subprocess.run(["redis-cli", "-p", str(port), *command], check=False,
                              capture_output=True, text=True).stdout

    def announcements(self):
        """Every sentinel tells of every change; before the first one, the first server leads."""
        by_port = dict(zip(map(str, self.ports), self.contenders))
        found = [(time_ns, by_port[match[1]]) for watch in self.watches
                 for time_ns, text in list(watch.lines) if (match := self.leads.match(text))]
        return [(0, self.contenders[0]), *found]

    def is_whole(self):
        """Each sentinel knows the two others, and two replicas that follow the master."""
        return all(self.is_content(port) for port in self.sentinel_ports)

    def is_content(self, port):
        master = self.ask(port, "sentinel", "master", GROUP).split("\n")
        replicas = self.ask(port, "sentinel", "replicas", GROUP).split("\n")
        return (values_of("flags", master) == ["master"]
                and values_of("port", master) == [str(self.ports[self.leader_number()])]
                and values_of("num-other-sentinels", master) == ["2"]
                and values_of("flags", replicas) == ["slave"] * 2
                and values_of("master-link-status", replicas) == ["ok"] * 2)

    def revive(self, victim):
        """As a replica, which the sentinels would make it later."""
        victim.end()
        victim.start(*self.following(self.leader_number()))


def values_of(key, lines):
    """Of all records in these lines, where a value follows its key."""
    return [value for name, value in zip(lines, lines[1:]) if name == key]
