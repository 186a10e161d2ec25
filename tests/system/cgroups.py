"""Processor time by quota, as Kubernetes limits it: a control group of version 1 or 2 with one
process in it, for as long as a test wants; unittest.SkipTest where no group can be made."""

import contextlib
import itertools
import os
import pathlib
import unittest

ROOT = pathlib.Path("/sys/fs/cgroup")
NUMBERS = itertools.count()


def hierarchy():
    """The folder below which groups have a quota, and the version; SkipTest: there is none."""
    for folder in (ROOT / "cpu", ROOT / "cpu,cpuacct"):
        if (folder / "cpu.cfs_quota_us").exists() or (folder / "cpu.shares").exists():
            return folder, 1
    controllers = ROOT / "cgroup.controllers"
    if controllers.exists() and "cpu" in controllers.read_text().split():
        return ROOT, 2
    raise unittest.SkipTest("no control groups with processor quotas")


class Quota:
    """A process gets `quota_us` of each `period_us`, all its threads together."""

    def __init__(self, pid, quota_us, period_us):
        root, version = hierarchy()
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
