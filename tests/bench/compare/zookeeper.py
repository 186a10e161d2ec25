"""ZooKeeper: the leader of a quorum of three servers, and an election of clients."""

import pathlib
import re
import socket

from contest import Contest, Setting
from harness import free_ports, wait_until

CANDIDATE = pathlib.Path(__file__).with_name("zookeeper_candidate.py")
CLASSES = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"


class Servers(Contest):
    """What both contests share."""

    system = "zookeeper"
    packages = ("zookeeper", "python3-kazoo")

    def start_servers(self):
        self.ports, quorum, election = free_ports(3), free_ports(3), free_ports(3)
        voters = "\n".join(f"server.{number + 1}=127.0.0.1:{quorum[number]}:{election[number]}"
                           for number in range(3))
        return [self.start_server(number, voters) for number in range(3)]

    def start_server(self, number, voters):
        state = self.folder / f"state{number}"
        state.mkdir()
        (state / "myid").write_text(f"{number + 1}\n")
        config = self.folder / f"{number}.cfg"
        config.write_text(f"""
tickTime={self.values["tick_ms"]}
initLimit={self.values["init_limit"]}
syncLimit={self.values["sync_limit"]}
dataDir={state}
clientPort={self.ports[number]}
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=srvr
{voters}
""")
        return self.run("java", "-Xmx128m", "-cp", CLASSES,
                        "org.apache.zookeeper.server.quorum.QuorumPeerMain", config)

    def are_servers_well(self):
        return all(self.is_well(port) for port in self.ports)

    @staticmethod
    def is_well(port):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
                connection.sendall(b"srvr")
                return b"Mode:" in connection.makefile("rb").read()
        except OSError:
            return False


class Quorum(Servers):
    title = "ZooKeeper, its quorum's leader"
    signalled = "the server that leads"
    seen = "the log of the new leader (`leading - broadcast`: it serves)"
    tightest = ("Administrator's Guide: followers leave a silent leader after `tickTime` × "
                "`syncLimit`; the JVM itself may pause for longer than less")
    gives = "a replicated store: a majority has each write, in one order"
    needs = "three servers (JVM), a majority of them, disks that sync fast"
    doubles = "an old leader may believe it, but cannot write"
    leads = re.compile("Peer state changed: leading - broadcast")
    settings = (
        Setting("defaults", "tick 2 s, sync limit 5",
                {"tick_ms": 2000, "init_limit": 10, "sync_limit": 5}),
        Setting("tightest", "tick 100 ms, sync limit 2",
                {"tick_ms": 100, "init_limit": 50, "sync_limit": 2}, 0.2))

    def set_up(self):
        return self.start_servers()

    def is_whole(self):
        return self.are_servers_well()


class Election(Servers):
    title = "ZooKeeper, an election of clients"
    signalled = "the client that leads (kazoo's recipe)"
    seen = "what the next client prints when its watch has fired"
    tightest = ("Programmer's Guide: a session lasts at least two ticks; kazoo may wait 400 ms "
                "between two pings")
    gives = "a replicated store with sessions and watches; `zxid`s are fencing tokens"
    needs = "the servers, and a client of theirs in each replica"
    doubles = "a client that hung believes that it leads until it learns that its session is over"
    leads = re.compile("^leads$")
    settings = (
        Setting("defaults", "tick 2 s, session 10 s",
                {"tick_ms": 2000, "init_limit": 10, "sync_limit": 5, "session_s": 10}, 4.0),
        Setting("tightest", "tick 100 ms, session 600 ms",
                {"tick_ms": 100, "init_limit": 50, "sync_limit": 20, "session_s": 0.6}, 0.2))

    def set_up(self):
        self.start_servers()
        wait_until("all servers are well", self.are_servers_well, 120)
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        return [self.run("/usr/bin/python3", CANDIDATE, hosts, self.values["session_s"])
                for _ in range(3)]

    def is_whole(self):
        return all(candidate.has_said("stands") for candidate in self.contenders)
