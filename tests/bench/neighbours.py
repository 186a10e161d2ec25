"""Programs that use the processors whenever nobody else does, as an application beside a sidecar
may.

usage: neighbours.py PROCESSOR PARENT; one of them, which ends when its parent has
"""

import contextlib
import os
import subprocess
import sys

COPIED = 1 << 20  # bytes; with the copy, about what a processor has as caches of its own


@contextlib.contextmanager
def neighbours():
    """One on each processor, for as long as this is entered."""
    with contextlib.ExitStack() as stack:
        programs = [stack.enter_context(neighbour(processor))
                    for processor in sorted(os.sched_getaffinity(0))]
        yield
        assert all(program.poll() is None for program in programs), "one has ended by itself"


@contextlib.contextmanager
def neighbour(processor):
    command = [sys.executable, __file__, str(processor), str(os.getpid())]
    with subprocess.Popen(command, start_new_session=True) as program:
        try:
            yield program
        finally:
            program.kill()


def use(processor, parent):
    os.sched_setaffinity(0, {processor})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    source, target = bytearray(os.urandom(COPIED)), bytearray(COPIED)
    while os.getppid() == parent:
        target[:] = source


if __name__ == "__main__":
    use(*map(int, sys.argv[1:]))
