"""A group of real sidecars on this machine, driven and judged only through what users see: flags,
HTTP, metrics, logs' exit codes.

Nothing in here sleeps to be right: wait_until() looks again and again, with a generous bound.
"""

import contextlib
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
import threading
import time

PATIENCE_S = 30
CONTENT = "application/json"


def wait_until(what, condition, patience_s=PATIENCE_S):
    """Returns the condition's first true value."""
    deadline = time.monotonic() + patience_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {patience_s} s in vain: {what}")
        time.sleep(0.01)


def free_ports(count, host="127.0.0.1"):
    """Ports on which nobody listens now; all are held until all are found."""
    with contextlib.ExitStack() as held:
        ports = []
        for _ in range(count):
            holder = held.enter_context(socket.socket())
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.bind((host, 0))
            ports.append(holder.getsockname()[1])
        return ports


class Unreachable(Exception):
    """The API did not answer."""


class Sidecar:
    """One sidecar: its configuration, its process, its API."""

    def __init__(self, program, folder, name, ports, address="127.0.0.1", prefix=()):
        self.program, self.folder, self.name = program, folder, name
        self.address, self.prefix = address, list(prefix)
        self.peer_port, self.api_port, self.metrics_port = ports
        self.config_file = folder / f"{name}.toml"
        self.flag_file = folder / "flags" / name
        self.log_file = folder / f"{name}.log"
        self.process = None

    def write_config(self, text):
        """Replaces the file as a whole, as editors and ConfigMaps do."""
        new = self.config_file.with_suffix(".new")
        new.write_text(text)
        new.rename(self.config_file)

    def start(self, *arguments, environment=None):
        assert self.process is None or self.process.poll() is not None, "runs already"
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, self.program, "run", "--config", self.config_file, *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **(environment or {})})
        return self

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def send_signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """SIGTERM; returns the exit code."""
        self.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)

    def log(self):
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    # --- the API ---

    def request(self, method, path, body=None, headers=None, timeout_s=5, port=None):
        """(status, headers, body as text); Unreachable when nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1" if self.prefix == [] else self.address,
                                                port or self.api_port, timeout=timeout_s)
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

    def metrics(self):
        """{series: value}"""
        _, _, text = self.request("GET", "/metrics")
        values = {}
        for line in text.splitlines():
            if line and not line.startswith("#"):
                series, value = line.rsplit(" ", 1)
                values[series] = float(value)
        return values

    def messages(self, kind):
        """ELECTION, ANSWER, ... that this sidecar sent, or tried to send."""
        pattern = re.compile(r'bellwether_messages_total\{.*type="%s".*\}' % kind)
        return int(sum(value for series, value in self.metrics().items()
                       if pattern.fullmatch(series) and 'direction="received"' not in series))


class Group:
    """Sidecars that elect together, on loopback; a context manager that leaves nothing behind."""

    def __init__(self, program, size, extra="", name="test", priorities=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bellwether-test.", dir="/dev/shm"))
        (self.folder / "flags").mkdir()
        self.extra, self.group_name = extra, name
        self.priorities = priorities or [100 + i for i in range(size)]
        ports = free_ports(3 * size)
        self.sidecars = [Sidecar(program, self.folder, f"n{i}", ports[3 * i:3 * i + 3])
                         for i in range(size)]
        self.observer = None
        for sidecar in self.sidecars:
            sidecar.write_config(self.config_of(sidecar))

    def config_of(self, sidecar, extra=None):
        index = self.sidecars.index(sidecar)
        peers = ", ".join(f'"{peer.address}:{peer.peer_port}"' for peer in self.sidecars)
        return f"""
[group]
name = "{self.group_name}"
[node]
name = "{sidecar.name}"
priority = {self.priorities[index]}
listen = "{sidecar.address}:{sidecar.peer_port}"
state_dir = "{self.folder}/{sidecar.name}.state"
[membership]
peers = [{peers}]
[api]
listen = "{sidecar.address}:{sidecar.api_port}"
[metrics]
listen = "{sidecar.address}:{sidecar.metrics_port}"
[flag]
path = "{sidecar.flag_file}"
{self.extra if extra is None else extra}
"""

    def start(self):
        for sidecar in self.sidecars:
            sidecar.start()
        return self

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            for sidecar in self.sidecars:
                print(f"--- log of {sidecar.name}\n{sidecar.log()[-6000:]}")
        if self.observer is not None:
            self.observer.close()
        for sidecar in self.sidecars:
            if sidecar.is_running:
                sidecar.send_signal(signal.SIGCONT)
                sidecar.kill()
        shutil.rmtree(self.folder)

    @property
    def running(self):
        return [sidecar for sidecar in self.sidecars if sidecar.is_running]

    def agreed_leader(self):
        """The sidecar that leads by its own word and by that of all running ones; or None."""
        names = {sidecar.leader() for sidecar in self.running}
        if len(names) != 1 or None in names:
            return None
        name = names.pop()
        leaders = [sidecar for sidecar in self.running if sidecar.is_leader()]
        return leaders[0] if [leader.name for leader in leaders] == [name] else None

    def await_leader(self, expected=None, patience_s=PATIENCE_S):
        """Waits for one leader on whom all running sidecars agree, and returns it."""
        def leader():
            found = self.agreed_leader()
            return found if found and (expected is None or found is expected) else None
        return wait_until(f"all agree on {expected.name if expected else 'a leader'}", leader,
                          patience_s)

    def observe(self, observer_program):
        """From now on all flags are watched."""
        self.observer = FlagObserver(observer_program,
                                     [sidecar.flag_file for sidecar in self.sidecars])
        return self.observer


class FlagObserver:
    """flag_observer.c at work; its lines as they come."""

    def __init__(self, program, files):
        self.process = subprocess.Popen([program, *files], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.changes = []  # (ns, number of the flag, is on, epoch)
        self.doubles = []
        self.lock = threading.Lock()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            words = line.split()
            with self.lock:
                if words[0] == "double":
                    self.doubles.append(line.strip())
                else:
                    time_ns, flag, is_on, epoch = map(int, words)
                    self.changes.append((time_ns, flag, bool(is_on), epoch))

    def first(self, flag, is_on, after_ns):
        """When this flag went on or off for the first time after a moment; None: not yet."""
        with self.lock:
            for time_ns, number, on, _ in self.changes:
                if number == flag and on == is_on and time_ns >= after_ns:
                    return time_ns
        return None

    def first_on(self, after_ns, but=None):
        """(ns, flag) of the first flag that went on after a moment, except `but`."""
        with self.lock:
            for time_ns, number, on, _ in self.changes:
                if on and time_ns >= after_ns and number != but:
                    return time_ns, number
        return None

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE_S)
        self.reader.join()


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)
