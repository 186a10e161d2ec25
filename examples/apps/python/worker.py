#!/usr/bin/env python3
"""The worker of ../c/worker.c in Python: one replica at a time may work, and asks the leader flag
before every piece of work.

usage: worker.py FLAG_FILE NAME [UID]
"""

import signal
import sys
import time

import leader_flag


def tell(name, what, token, pieces):
    print(f"{time.time_ns() // 1000} {name} {what} token={token} pieces={pieces}", flush=True)


def do_a_piece_of_work():
    """The pause stands for what an application really does."""
    time.sleep(0.0001)


def main(path, name, user=None):
    flag = leader_flag.open_flag(path, owner=user and int(user))
    while True:
        seen = flag.read()
        if seen.role != leader_flag.LEADER:
            flag.wait(seen, timeout_s=1)
            continue
        token, pieces = seen.fencing_token, 0
        tell(name, "works", token, pieces)
        try:
            while flag.still(token):
                do_a_piece_of_work()
                pieces += 1
        finally:
            tell(name, "stopped", token, pieces)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or not all(uid.isdecimal() for uid in sys.argv[3:]):
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    main(*sys.argv[1:])
