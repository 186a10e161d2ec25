"""Runs numbered jobs, for jobs_test.py: the next number is that after the last in the journal, to
which each process appends who begins and ends which.

usage: job_worker.py FLAG_FILE PLACE NAME JOURNAL JOB_MS
"""

import os
import pathlib
import select
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/apps/python"))
import attachment  # noqa: E402
import leader_flag  # noqa: E402

FLAG_FILE, PLACE, NAME, JOURNAL, JOB_MS = sys.argv[1:]
is_asked_to_end = False


def on_signal(*_):
    global is_asked_to_end  # pylint: disable=global-statement
    is_asked_to_end = True


def note(what, number, token):
    with open(JOURNAL, "ab", buffering=0) as journal:
        journal.write(f"{NAME}.{os.getpid()} {what} {number} {token}\n".encode())


def run_a_job(flag, token):
    """The journal is read behind begin(): whoever worked before has handed over, and ended."""
    numbers = [int(line.split()[2]) for line in pathlib.Path(JOURNAL).read_text().splitlines()]
    number = max(numbers, default=0) + 1
    note("began", number, token)
    time.sleep(int(JOB_MS) / 1000)
    note("ended" if flag.still(token) else "cut", number, token)


def work(flag, mine):
    while not is_asked_to_end:
        token = flag.begin(0.001)
        if token is not None:
            run_a_job(flag, token)
        elif select.select([mine], [], [], 0.1)[0]:
            events = mine.take()
            for event in events or ():
                if event.type == attachment.DRAIN:
                    attachment.drained(PLACE, event)
            if events is None:
                return


for ending in (signal.SIGTERM, signal.SIGINT):
    signal.signal(ending, on_signal)
opened = leader_flag.open_flag(FLAG_FILE)
while not is_asked_to_end:
    try:
        with attachment.attach(PLACE, NAME) as attached:
            work(opened, attached)
    except OSError:
        time.sleep(0.05)  # the sidecar starts, or starts again
