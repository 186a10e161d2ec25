"""Limits of control groups, of version 1 or 2, for as long as a test wants: processor time by
quota, as Kubernetes limits it, and the number of threads; unittest.SkipTest where no group can be
made."""

import contextlib
import itertools
import os
import pathlib
import unittest

from harness import wait_until

ROOT = pathlib.Path("/sys/fs/cgroup")
NUMBERS = itertools.count()


def hierarchy(controller):
    """The folder below which groups have its limits, and the version; SkipTest: there is none."""
    for folder in (ROOT / controller, ROOT / f"{controller},cpuacct"):
        if (folder / "tasks").exists():
            return folder, 1
    controllers = ROOT / "cgroup.controllers"
    if controllers.exists() and controller in controllers.read_text().split():
        return ROOT, 2
    raise unittest.SkipTest(f"no control groups of {controller}")


class Quota:
    """A process gets `quota_us` of each `period_us`, all its threads together."""

    def __init__(self, pid, quota_us, period_us):
        root, version = hierarchy("cpu")
        self.pid, self.root = pid, root
        self.folder = root / f"bw{os.getpid()}q{next(NUMBERS)}"
        self.home = self.home_of(pid, version)
        try:
            self.folder.mkdir()
            if version == 1:
                (self.folder / "cpu.cfs_period_us").write_text(str(period_us))
                (self.folder / "cpu.cfs_quota_us").write_text(str(quota_us))
            else:
                (root / "cgroup.subtree_control").write_text("+cpu")
                (self.folder / "cpu.max").write_text(f"{quota_us} {period_us}")
            (self.folder / "cgroup.procs").write_text(str(pid))
        except OSError as error:
            with contextlib.suppress(OSError):
                self.folder.rmdir()
            raise unittest.SkipTest(f"cannot limit processor time: {error}") from error

    def home_of(self, pid, version):
        """Where the process is now."""
        for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if ("cpu" in controllers.split(",")) if version == 1 else not controllers:
                return self.root / path.lstrip("/")
        return self.root

    def lift(self):
        """Also good when the process has ended meanwhile."""
        with contextlib.suppress(ProcessLookupError):
            (self.home / "cgroup.procs").write_text(str(self.pid))
        self.folder.rmdir()


class Threads:
    """At most `count` threads in all processes that `prefix` starts; a context manager."""

    def __init__(self, count):
        root, version = hierarchy("pids")
        self.folder = root / f"bw{os.getpid()}t{next(NUMBERS)}"
        self.prefix = ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', self.folder]
        try:
            self.folder.mkdir()
            if version == 2:
                (root / "cgroup.subtree_control").write_text("+pids")
            self.allow(count)
        except OSError as error:
            with contextlib.suppress(OSError):
                self.folder.rmdir()
            raise unittest.SkipTest(f"cannot limit threads: {error}") from error

    def allow(self, count):
        (self.folder / "pids.max").write_text(str(count))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        wait_until("nobody is in the control group", self.has_gone)

    def has_gone(self):
        with contextlib.suppress(OSError):
            self.folder.rmdir()
        return not self.folder.exists()
