"""Machines that run systemd: the one that is installed here, as the first process of namespaces of
its own, on a copy of this machine's files that is gone afterwards; unittest.SkipTest where that
cannot be."""

import contextlib
import itertools
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from harness import wait_until
from namespaces import Hosts, can_make_namespaces

HERE = pathlib.Path(__file__).resolve().parent
SYSTEMD = pathlib.Path("/lib/systemd/systemd")
ENVIRONMENT = ("PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8")
NUMBERS = itertools.count()
PATIENCE_S = 90


def hierarchy():
    """The folder below which systemd may have its control groups, and the version."""
    for folder in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        if pathlib.Path(folder, "cgroup.controllers").exists():
            return pathlib.Path(folder), "v2"
    folder = pathlib.Path("/sys/fs/cgroup/systemd")
    if (folder / "cgroup.procs").exists():
        return folder, "v1"
    raise unittest.SkipTest("no control groups that systemd could have")


class Machine:
    """One of them.  `host` is what makes a command run in its network namespace."""

    def __init__(self, name, host):
        self.name = name
        root, self.version = hierarchy()
        self.groups = root / f"bw{os.getpid()}s{next(NUMBERS)}"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bellwether-test."))
        self.console = self.folder / "console"
        (self.folder / "machine").mkdir()
        self.pid = None
        try:
            self.groups.mkdir()
        except OSError as error:
            shutil.rmtree(self.folder)
            raise unittest.SkipTest(f"cannot make a control group: {error}") from error
        with open(self.console, "wb") as console:
            self.process = subprocess.Popen(
                ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', self.groups, *host,
                 "setpriv", "--pdeathsig", "KILL",  # should the test be killed
                 "unshare", "--mount", "--uts", "--ipc", "--cgroup", "--pid", "--fork",
                 "--kill-child", HERE / "boot_systemd.sh", self.folder / "machine", name,
                 self.version],
                stdin=subprocess.DEVNULL, stdout=console, stderr=console)

    def await_booted(self):
        def is_up():
            if self.process.poll() is not None:
                raise unittest.SkipTest(f"systemd does not start: {self.console.read_text()}")
            children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
            self.pid = int((children.read_text().split() or [0])[0]) or None
            return self.pid and self.run("systemctl", "is-system-running").stdout in (
                "running\n", "degraded\n")
        wait_until(f"{self.name} is up", is_up)

    def end(self):
        """As if its plug had been pulled: nobody in it hands anything over."""
        self.process.kill()  # and the kernel its systemd, and with that everybody in it
        self.process.wait()
        with contextlib.suppress(AssertionError):
            wait_until("its control groups are empty", self.has_no_groups, 10)
        shutil.rmtree(self.folder, ignore_errors=True)

    def has_no_groups(self):
        for folder, _, _ in os.walk(self.groups, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        return not self.groups.exists()

    def path(self, name):
        """A file of it, as this process can open it."""
        return pathlib.Path(f"/proc/{self.pid}/root") / name.lstrip("/")

    def inside(self, *command):
        """What makes a command run on it."""
        return ["nsenter", "--target", str(self.pid), "--all", "--", "env", "-i", *ENVIRONMENT,
                *map(str, command)]

    def run(self, *command):
        return subprocess.run(self.inside(*command), text=True, capture_output=True, check=False,
                              timeout=PATIENCE_S)

    def sh(self, text):
        """As root does it by hand; what it prints."""
        result = self.run("sh", "-e", "-c", text)
        if result.returncode != 0:
            raise AssertionError(f"{self.name}: {text}: {result.returncode}\n{result.stdout}"
                                 f"{result.stderr}")
        return result.stdout

    def show(self, unit, name):
        """A property of a unit."""
        return self.run("systemctl", "show", "--value", "--property", name, unit).stdout.strip()

    def has(self, unit, **wanted):
        """All these properties of a unit are so."""
        names = [f"--property={name}" for name in wanted]
        found = self.run("systemctl", "show", *names, unit).stdout.splitlines()
        return sorted(found) == sorted(f"{name}={value}" for name, value in wanted.items())


@contextlib.contextmanager
def machines(*names):
    """They are on one network, and know each other by name."""
    if os.geteuid() != 0:
        raise unittest.SkipTest("not root")
    if not SYSTEMD.exists():
        raise unittest.SkipTest("no systemd is installed")
    if not can_make_namespaces():
        raise unittest.SkipTest("no network namespaces")
    with Hosts(len(names)) as hosts, contextlib.ExitStack() as ends:
        found = []
        for index, name in enumerate(names):
            found.append(Machine(name, hosts.command_prefix(index)))
            ends.callback(found[-1].end)
        known = "127.0.0.1 localhost\n" + "".join(
            f"{address} {name}\n" for address, name in zip(hosts.addresses, names))
        for machine in found:
            machine.await_booted()
            machine.path("/etc/hosts").write_text(known)
        yield found
