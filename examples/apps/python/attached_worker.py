#!/usr/bin/env python3
"""The worker of ../c/attached_worker.c in Python: attached to its sidecar, it says what it is
worth, and works in units that it begins only while its flag covers them.

usage: attached_worker.py FLAG_FILE PLACE NAME [SCORE]
"""

import select
import signal
import sys
import time

import attachment
import leader_flag

UNIT_S = 0.001  # of work; the pause stands for what an application really does


def tell(name, what, token, pieces):
    print(f"{time.time_ns() // 1000} {name} {what} token={token} pieces={pieces}", flush=True)


def work(flag, mine, name):
    """Until the sidecar ends."""
    working, pieces = None, 0
    while True:
        token = flag.begin(UNIT_S)
        if token is None:
            if working is not None:
                tell(name, "stopped", working, pieces)
            working = None
            is_told = select.select([mine], [], [], 1)[0]
            if is_told and mine.take() is None:
                return
            continue
        if working != token:
            tell(name, "works", token, pieces)
        working = token
        time.sleep(UNIT_S)
        pieces += flag.still(token)  # then its result counts


def main(path, place, name, score=None):
    flag = leader_flag.open_flag(path)
    while True:
        try:
            with attachment.attach(place, name, score and int(score)) as mine:
                work(flag, mine, name)
        except attachment.Refused as refused:
            if refused.status != 503:
                raise
        except OSError:
            pass
        time.sleep(0.1)  # the sidecar starts, or starts again


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    main(*sys.argv[1:])
