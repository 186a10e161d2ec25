"""Core dumps of sidecars that a test ends: where they go, and what is in them."""

import contextlib
import fcntl
import pathlib
import resource
import tempfile
import unittest

CORE_PATTERN = pathlib.Path("/proc/sys/kernel/core_pattern")


@contextlib.contextmanager
def core_dumps():
    """A folder into which all that is started within dumps its memory, if it wants to: files
    `core.PROCESS`.  Skips the test where nobody may ask for that.  The machine has one such place:
    whoever else wants it waits."""
    limit = resource.getrlimit(resource.RLIMIT_CORE)
    if limit[1] == 0:
        raise unittest.SkipTest("core dumps are forbidden here")
    with (tempfile.TemporaryDirectory(prefix="bellwether-test.", dir="/dev/shm") as folder,
          CORE_PATTERN.open(encoding="utf-8") as turn):
        fcntl.flock(turn, fcntl.LOCK_EX)
        pattern = turn.read()
        try:
            CORE_PATTERN.write_text(f"{folder}/core.%p\n")
        except OSError as error:
            raise unittest.SkipTest(f"cannot ask for core dumps: {error}") from error
        resource.setrlimit(resource.RLIMIT_CORE, (limit[1], limit[1]))
        try:
            yield pathlib.Path(folder)
        finally:
            CORE_PATTERN.write_text(pattern)
            resource.setrlimit(resource.RLIMIT_CORE, limit)
