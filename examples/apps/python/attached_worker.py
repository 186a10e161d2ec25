#!/usr/bin/env python3
"""The worker of ../c/attached_worker.c in Python: attached to its sidecar, it says what it is
worth, works in units that it begins only while its flag covers them, and finishes what it has begun
before its node hands over, or itself is asked to end.

usage: attached_worker.py FLAG_FILE PLACE NAME [SCORE [UNIT_MS [UID]]]

Where the API asks for a token, the file in the environment's BELLWETHER_TOKEN_FILE has it.
"""

import os
import select
import signal
import sys
import time

import attachment
import leader_flag

NEED_S = 0.001  # so long the flag has to hold for a unit to begin
ENDINGS = (signal.SIGTERM, signal.SIGINT)
TOKEN_FILE = os.environ.get("BELLWETHER_TOKEN_FILE") or None


def tell(name, what, token, pieces, cut):
    """`cut`: units that the flag did not cover to their end; their results did not count."""
    print(f"{time.time_ns() // 1000} {name} {what} token={token} pieces={pieces} cut={cut}",
          flush=True)


def take_events(place, mine):
    """What the sidecar has said; nothing is under way.  False: it has ended."""
    events = mine.take()
    for event in events or ():
        if event.type == attachment.DRAIN:
            try:
                attachment.drained(place, event, token_file=TOKEN_FILE)
            except attachment.Refused:
                pass  # it has waited long enough
    return events is not None


def work(flag, place, mine, name, unit_s):
    """Until the sidecar ends.  The pause stands for what an application really does."""
    working, pieces, cut = None, 0, 0
    try:
        while True:
            token = flag.begin(NEED_S)
            if token is None:
                if working is not None:
                    tell(name, "stopped", working, pieces, cut)
                working = None
                is_told = select.select([mine], [], [], 1)[0]
                if is_told and not take_events(place, mine):
                    return
                continue
            if working != token:
                tell(name, "works", token, pieces, cut)
            working = token
            signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)  # what was begun is finished
            time.sleep(unit_s)
            counts = flag.still(token)
            pieces += counts
            cut += not counts
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
    finally:
        if working is not None:
            tell(name, "stopped", working, pieces, cut)


def main(path, place, name, score=None, unit_ms="1", user=None):
    flag = leader_flag.open_flag(path, owner=user and int(user))
    while True:
        try:
            with attachment.attach(place, name, score and int(score),
                                   token_file=TOKEN_FILE) as mine:
                work(flag, place, mine, name, int(unit_ms) / 1000)
        except attachment.Refused as refused:
            if refused.status not in (429, 503):
                raise
        except OSError:
            pass
        time.sleep(0.1)  # the sidecar starts, or starts again


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5, 6, 7) or not all(uid.isdecimal() for uid in sys.argv[6:]):
        sys.exit(__doc__)
    for ending in ENDINGS:
        signal.signal(ending, lambda *_: sys.exit(0))
    main(*sys.argv[1:])
