"""A group of real sidecars on this machine, driven and judged only through what users see: flags,
HTTP, metrics, logs, exit codes.

Nothing in here sleeps to be right: wait_until() looks again and again, with a generous bound.
"""

import contextlib
import datetime
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from certificates import Authority, Identity
from flag_observer import FlagObserver
from ports import free_ports

PATIENCE_S = 60
VOTES_S = 15
LONGEST_LOOK_S = 6
VARIANTS = ("modified", "classic")
BY_TLS = os.environ.get("BELLWETHER_TEST_TLS")  # "secret", "certificates"; else none

# Settings with which a machine that is busy for seconds makes nobody suspect anybody; they go on
# where table [election] is open.
CALM = 'lease = "6s"\n[failure_detector]\nsuspect_after = "4s"\n'
KINDS = ("ELECTION", "ANSWER", "HANDOVER", "COORDINATOR")
SIGNATURE = re.compile(r',group="[^"]*",member="[^"]*"|group="[^"]*",member="[^"]*",?')


def wait_until(what, condition, patience_s=PATIENCE_S):
    """Returns the condition's first true value.  A machine that stood still itself uses up
    LONGEST_LOOK_S of the patience, however long it did.  What takes long is looked at rarely: the
    sidecars are to have the processor, not those that wait for them."""
    waited_s, looked_s = 0, time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        if waited_s > patience_s:
            raise AssertionError(f"waited {patience_s} s in vain: {what}")
        time.sleep(min(0.01 + waited_s / 20, 0.2))
        waited_s += min(time.monotonic() - looked_s, LONGEST_LOOK_S)
        looked_s = time.monotonic()


def place_of(address, port):
    """As configurations and URLs write it: IPv6 in brackets."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


class Unreachable(Exception):
    """The API did not answer."""


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a unix socket, which reaches into other network namespaces, too."""

    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


class Sidecar:
    """One sidecar: its configuration, its process, its API."""

    def __init__(self, program, folder, name, ports, address="127.0.0.1", prefix=()):
        self.program, self.folder, self.name = program, folder, name
        self.address, self.prefix = address, list(prefix)
        self.peer_port, self.api_port, self.metrics_port = ports
        self.state_folder = folder / f"{name}.state"
        self.socket_file = folder / f"{name}.sock"
        self.config_file = folder / f"{name}.toml"
        self.flag_file = folder / "flags" / name
        self.log_file = folder / f"{name}.log"
        self.process = None
        self.is_stopped = False
        self.is_wanted = False  # to run

    def write_config(self, text):
        """Replaces the file as a whole, as editors and ConfigMaps do."""
        new = self.config_file.with_suffix(".new")
        new.write_text(text)
        new.rename(self.config_file)

    def start(self, *arguments, environment=None):
        assert not self.is_running, "runs already"
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, self.program, "run", "--config", self.config_file, *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **(environment or {})})
        self.is_wanted, self.is_stopped = True, False
        return self

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def send_signal(self, number):
        self.process.send_signal(number)
        self.is_stopped = number == signal.SIGSTOP or (self.is_stopped and
                                                       number != signal.SIGCONT)

    def kill(self):
        self.is_wanted = False
        self.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """SIGTERM; returns the exit code."""
        self.is_wanted = False
        self.send_signal(signal.SIGTERM)
        return self.await_exit()

    def await_exit(self):
        return self.process.wait(PATIENCE_S)

    def children(self):
        """The ids of its processes, alive or not."""
        pid = self.process.pid
        return [int(child) for child in
                pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def memory_keeper(self):
        child, = self.children()
        return child

    def processor_s(self):
        """What it has used of all processors' time."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = stat.rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_mib(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise AssertionError("a process without memory")

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def log(self):
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def logged_at_ns(self, event):
        """When lines with this text were written, as now_ns() tells it."""
        offset_ns = now_ns() - time.time_ns()
        return [int(datetime.datetime.fromisoformat(found).timestamp() * 1e9) + offset_ns
                for found in re.findall(rf"^(\S+) .*{event}", self.log(), re.MULTILINE)]

    def await_log(self, pattern):
        """Waits for a line: a running sidecar's log is written by a thread of its own."""
        wait_until(f"{self.name}'s log says {pattern}", lambda: re.search(pattern, self.log()))

    # --- the API ---

    @property
    def api_url(self):
        return f"http://{place_of(self.address, self.api_port)}"

    def connect(self, timeout_s, port=None):
        if self.prefix:  # it is on another host
            return UnixConnection(self.socket_file, timeout_s)
        return http.client.HTTPConnection(self.address, port or self.api_port, timeout=timeout_s)

    def request(self, method, path, body=None, headers=None, timeout_s=5, port=None):
        """(status, headers, body as text); Unreachable when nobody answers."""
        connection = self.connect(timeout_s, port)
        try:
            data = json.dumps(body) if body is not None else None
            connection.request(method, path, data, {"Host": "localhost", **(headers or {})})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read().decode()
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{self.name} {path}: {error}") from error
        finally:
            connection.close()

    def get(self, path):
        """The JSON of a path, or None when it can't be had."""
        try:
            _, _, body = self.request("GET", path)
            return json.loads(body)
        except (Unreachable, ValueError):
            return None

    def leader(self):
        """The name of the leader that this sidecar knows; None: none, or no answer."""
        answer = self.get("/v1/leader")
        return answer["leader"]["name"] if answer and answer["leader"] else None

    def is_leader(self):
        try:
            return self.request("GET", "/leader")[0] == 200
        except Unreachable:
            return False

    def epoch(self):
        """Of its leader, or of the last one it had."""
        answer = self.get("/v1/leader")
        return answer["epoch"] if answer else 0

    def members(self):
        """{name: what this sidecar knows of the member}"""
        answer = self.get("/v1/members")
        return {member["name"]: member for member in answer["members"]} if answer else {}

    def state_of(self, name):
        """alive, suspect, down or left; None: it knows no such member, or does not answer."""
        return self.members().get(name, {}).get("state")

    def await_state_of(self, member, state):
        wait_until(f"{self.name} sees {member.name} as {state}",
                   lambda: self.state_of(member.name) == state)

    def vote(self):
        """in force, forgotten, ...; None: it does not answer, or does not vote."""
        status = self.get("/v1/status")
        return status and status["vote"] and status["vote"]["state"]

    def is_ready(self):
        try:
            return self.request("GET", "/readyz")[0] == 200
        except Unreachable:
            return False

    def metrics(self):
        """{series: value}, without the two labels that say whose it is"""
        status, _, text = self.request("GET", "/metrics")
        if status != 200:
            raise Unreachable(f"{self.name} /metrics: {status} {text}")
        values = {}
        for line in text.splitlines():
            if line and not line.startswith("#"):
                series, value = line.rsplit(" ", 1)
                values[SIGNATURE.sub("", series).replace("{}", "")] = float(value)
        return values

    def count(self, name, **labels):
        """The sum of a counter's series that have these labels."""
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        return int(sum(value for series, value in self.metrics().items()
                       if series.split("{")[0] == name and all(text in series for text in wanted)))

    def messages(self):
        """{kind: sent, or tried}, of the four kinds that the papers count."""
        metrics = self.metrics()
        return {kind: int(sum(metrics[f'bellwether_messages_total{{direction="{direction}",'
                                      f'type="{kind}"}}']
                              for direction in ("sent", "undeliverable"))) for kind in KINDS}

    def elections(self):
        """Those in which it took part."""
        return self.count("bellwether_elections_total")


def messages_of(sidecars):
    """{kind: sent or tried by all these}, of the four kinds that the papers count."""
    counts = [sidecar.messages() for sidecar in sidecars]
    return {kind: sum(count[kind] for count in counts) for kind in KINDS}


class Group:
    """Sidecars that elect together, at an address of loopback or on `hosts` (namespaces.py); a
    context manager that leaves nothing behind.  Without other priorities the last one ranks
    highest.  The first `voters` of them vote; 0: guard none.  `tls` makes a sidecar's table [tls];
    if the environment asks for it, that is a secret of the group, or certificates."""

    def __init__(self, program, size, extra="", name="test", priorities=None, hosts=None,
                 address="127.0.0.1", voters=0, tls=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bellwether-test.", dir="/dev/shm"))
        (self.folder / "flags").mkdir(mode=0o755)  # the group's must not write, whatever the umask
        self.extra, self.group_name = extra, name
        self.authority, self.identities = None, {}  # where the environment asks for certificates
        self.tls = tls or self.tls_of_environment()
        self.priorities = priorities or [100 + i for i in range(size)]
        self.program, self.hosts, self.address, self.voters = program, hosts, address, voters
        self.has_new_voters = self.is_new = False
        self.sidecars = []
        for _ in range(size):
            self.add()
        self.observer = None
        for sidecar in self.sidecars:
            sidecar.write_config(self.config_of(sidecar))

    def tls_of_environment(self):
        if not BY_TLS:
            return lambda _: ""
        if BY_TLS == "certificates":
            self.authority = Authority(self.folder)
            return lambda sidecar: self.identity_of(sidecar).table()
        secret = self.folder / "secret"
        secret.touch(mode=0o600)
        secret.write_text(os.urandom(32).hex() + "\n")
        return lambda _: f'[tls]\nsecret_file = "{secret}"'

    def identity_of(self, sidecar):
        """None: it has no certificate by the environment."""
        if self.authority is not None and sidecar.name not in self.identities:
            identity = self.identities[sidecar.name] = Identity(self.folder / f"{sidecar.name}.tls")
            identity.take(*self.authority.issue([f"IP:{sidecar.address}"]), self.authority.pem())
        return self.identities.get(sidecar.name)

    def add(self):
        """A further sidecar, without a configuration, not started."""
        number = len(self.sidecars)
        address, prefix = self.address, ()
        if self.hosts:
            address, prefix = self.hosts.addresses[number], self.hosts.command_prefix(number)
        ports = free_ports(3, self.address)
        sidecar = Sidecar(self.program, self.folder, f"n{number}", ports, address, prefix)
        self.sidecars.append(sidecar)
        if number >= len(self.priorities):
            self.priorities.append(100 + number)
        return sidecar

    def config_of(self, sidecar, extra=None, peers=None):
        """Without `peers` all sidecars of the group are."""
        index = self.sidecars.index(sidecar)
        peers = ", ".join(f'"{place_of(peer.address, peer.peer_port)}"'
                          for peer in (self.sidecars if peers is None else peers))
        voters = "\n".join(f'{voter.name} = "{place_of(voter.address, voter.peer_port)}"'
                           for voter in self.sidecars[:self.voters])
        return f"""
[group]
name = "{self.group_name}"
[node]
name = "{sidecar.name}"
priority = {self.priorities[index]}
listen = "{place_of(sidecar.address, sidecar.peer_port)}"
state_dir = "{sidecar.state_folder}"
[membership]
peers = [{peers}]
[api]
listen = "{place_of(sidecar.address, sidecar.api_port)}"
{"" if sidecar.address in ("127.0.0.1", "::1") else "insecure = true"}
socket = "{sidecar.socket_file}"
[metrics]
listen = "{place_of(sidecar.address, sidecar.metrics_port)}"
[flag]
path = "{sidecar.flag_file}"
{self.tls(sidecar)}
{"[voters]" if voters else ""}
{voters}
{self.extra if extra is None else extra}
"""

    def start(self, *arguments):
        for sidecar in self.sidecars:
            sidecar.start(*arguments)
        self.has_new_voters = "--bootstrap" in arguments
        self.is_new = True
        return self

    def let_them_vote(self):
        """Two of three new voters elect a leader before the third has its vote, which it never gets
        should one of them be ended now."""
        self.has_new_voters = False
        with contextlib.suppress(AssertionError):  # one that is not to have it, perhaps
            wait_until("all have their votes", lambda: all(
                sidecar.vote() == "in force" for sidecar in self.running[:self.voters]), VOTES_S)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            for sidecar in self.sidecars:
                print(f"--- log of {sidecar.name}\n{sidecar.log()[-6000:]}", flush=True)
        if self.observer is not None:
            self.observer.close()
        for sidecar in self.sidecars:
            if sidecar.is_running:
                sidecar.send_signal(signal.SIGCONT)
                sidecar.kill()
        # Somebody may have bound it, with its mounts, into a root of theirs.
        shutil.rmtree(self.folder, onerror=lambda _, path, error: print(
            f"left behind: {path}: {error[1]}"))

    @property
    def running(self):
        """Those that can answer."""
        return [sidecar for sidecar in self.sidecars
                if sidecar.is_running and not sidecar.is_stopped]

    def agreed_leader(self):
        """The sidecar that leads by its own word and by that of all running ones; or None."""
        names = {sidecar.leader() for sidecar in self.running}
        if len(names) != 1 or None in names:
            return None
        name = names.pop()
        leaders = [sidecar for sidecar in self.running if sidecar.is_leader()]
        return leaders[0] if [leader.name for leader in leaders] == [name] else None

    def followers(self):
        return [sidecar for sidecar in self.running if not sidecar.is_leader()]

    def await_leader(self, expected=None, patience_s=PATIENCE_S):
        """Waits for one leader on whom all running sidecars agree, and returns it; the observer, if
        there is one, has seen its flag on.  A group that was just started has a leader that stays
        only once its highest leads: until all know each other, others may lead for a moment."""
        if expected is None and self.is_new:
            highest = max(self.running,
                          key=lambda each: self.priorities[self.sidecars.index(each)])
            with contextlib.suppress(AssertionError):  # another plugin, or equal ranks
                wait_until("the highest leads", lambda: self.agreed_leader() is highest, VOTES_S)
        self.is_new = False

        def leader():
            for sidecar in self.sidecars:
                assert sidecar.is_running or not sidecar.is_wanted, f"{sidecar.name} has ended"
            found = self.agreed_leader()
            if found is None or (expected is not None and found is not expected):
                return None
            is_seen = self.observer is None or self.observer.is_on(self.sidecars.index(found))
            return found if is_seen else None
        if self.has_new_voters:
            self.let_them_vote()
        return wait_until(f"all agree on {expected.name if expected else 'a leader'}", leader,
                          patience_s)

    def observe(self, observer_program, pause_us=1000):
        """From now on all flags are watched: looked at whenever one is written to, and after this
        pause, for a death and a lease that ends; 50 us, as a benchmark needs, take a fifth of a
        processor."""
        self.observer = FlagObserver(observer_program,
                                     [sidecar.flag_file for sidecar in self.sidecars], pause_us)
        return self.observer


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)
