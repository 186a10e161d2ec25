"""etcd: the Raft leader of three servers, and an election of clients."""

import re
import subprocess

from contest import Contest, Setting
from harness import free_ports, wait_until

PACKAGES = ("etcd-server", "etcd-client")
TIGHT_SERVERS = {"heartbeat": 10, "election": 50}
NAME = "bellwether"


class Servers(Contest):
    """What both contests share."""

    system = "etcd"
    packages = PACKAGES

    def start_servers(self):
        ports = [free_ports(2) for _ in range(3)]
        self.endpoints = ",".join(f"http://127.0.0.1:{client}" for client, _ in ports)
        cluster = ",".join(f"e{number}=http://127.0.0.1:{peer}"
                           for number, (_, peer) in enumerate(ports))
        timers = [f"--{name}={value}" for name, value in
                  (("heartbeat-interval", self.values.get("heartbeat")),
                   ("election-timeout", self.values.get("election"))) if value]
        return [self.run(
            "etcd", "--name", f"e{number}", "--data-dir", self.folder / f"e{number}",
            "--listen-client-urls", f"http://127.0.0.1:{client}",
            "--advertise-client-urls", f"http://127.0.0.1:{client}",
            "--listen-peer-urls", f"http://127.0.0.1:{peer}",
            "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
            "--initial-cluster", cluster, "--initial-cluster-state", "new", *timers)
            for number, (client, peer) in enumerate(ports)]

    def etcdctl(self, *command):
        return subprocess.run(["etcdctl", "--endpoints", self.endpoints, *command], check=False,
                              capture_output=True, text=True)

    def are_servers_well(self):
        return self.etcdctl("endpoint", "health").returncode == 0


class Raft(Servers):
    title = "etcd, its Raft leader"
    signalled = "the server that leads"
    seen = "the log of the new leader (`became leader`); etcd has no watch for it"
    tightest = ("`tuning.md` of etcd: a heartbeat interval of about one round trip, a timeout of "
                "ten; the program demands five intervals")
    gives = "a replicated store: a majority has each write, reads are linearizable"
    needs = "three servers, a majority of them, disks that sync fast"
    doubles = "an old leader may believe it, but neither writes nor reads"
    leads = re.compile("became leader at term")
    settings = (
        Setting("defaults", "heartbeat 100 ms, election 1 s", {}, 0.2),
        Setting("tightest", "heartbeat 10 ms, election 50 ms", TIGHT_SERVERS, 0.1))

    def set_up(self):
        return self.start_servers()

    def is_whole(self):
        return self.are_servers_well()


class Election(Servers):
    title = "etcd, an election of clients"
    signalled = "the client that leads"
    seen = ("what the next client prints when it holds the lock: `etcdctl lock`, which queues like "
            "`etcdctl elect`, but whose lease is not fixed at 60 s")
    tightest = ("a lease lasts whole seconds, and at least 1.5 election timeouts: so the servers "
                "are as tight as for Raft")
    gives = "a replicated store with leases, watches, transactions; revisions are fencing tokens"
    needs = "the servers, and a client of theirs in each replica"
    doubles = "a client that hung believes that it leads until it learns that its lease is over"
    leads = re.compile(f"^{NAME}/")
    settings = (
        Setting("defaults", "lease 10 s", {"ttl": 10}, 4.0),
        Setting("tightest", "lease 1 s", {"ttl": 1, **TIGHT_SERVERS}))

    def set_up(self):
        self.start_servers()
        wait_until("all servers are well", self.are_servers_well)
        return [self.run("etcdctl", "--endpoints", self.endpoints, "lock", NAME,
                         f"--ttl={self.values['ttl']}") for _ in range(3)]

    def is_whole(self):
        """All three clients have their key, and the key of a dead one is gone."""
        keys = self.etcdctl("get", "--prefix", NAME, "--keys-only").stdout.split()
        return len(keys) == 3
