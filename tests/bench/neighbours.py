"""Programs that use the processors whenever nobody else does, as an application beside a sidecar
may.

usage: neighbours.py, which is one of them
"""

import contextlib
import os
import subprocess
import sys

COPIED = 1 << 20  # bytes; more than the caches that a processor has for itself


@contextlib.contextmanager
def neighbours():
    """One on each processor, for as long as this is entered."""
    programs = [subprocess.Popen([sys.executable, __file__, str(processor)])
                for processor in sorted(os.sched_getaffinity(0))]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def use(processor):
    os.sched_setaffinity(0, {processor})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    source, target = bytearray(os.urandom(COPIED)), bytearray(COPIED)
    parent = os.getppid()
    while os.getppid() == parent:
        target[:] = source


if __name__ == "__main__":
    use(int(sys.argv[1]))
