#!/usr/bin/python3
"""Stands for election in ZooKeeper by kazoo's recipe (an ephemeral node in a sequence, a watch on
the one before it); prints when it is in the line, and when it leads.  SIGTERM: it leaves.

    zookeeper_candidate.py HOSTS SESSION_SECONDS
"""

import os
import signal
import sys
import threading
import time

from kazoo.client import KazooClient, KazooState


def say(text):
    print(text, flush=True)


def lead():
    say("leads")
    signal.pause()


def lose(state):
    if state == KazooState.LOST and not is_leaving.is_set():
        say("has lost its session")
        os._exit(1)


def await_line(election, identifier):
    while identifier not in election.contenders():
        time.sleep(0.05)
    say("stands")


def leave(*_):
    is_leaving.set()
    raise SystemExit(0)


is_leaving = threading.Event()
signal.signal(signal.SIGTERM, leave)
client = KazooClient(hosts=sys.argv[1], timeout=float(sys.argv[2]))
client.add_listener(lose)
client.start()
try:
    own_election = client.Election("/bellwether", str(os.getpid()))
    threading.Thread(target=await_line, args=(own_election, str(os.getpid())), daemon=True).start()
    own_election.run(lead)
finally:
    is_leaving.set()
    client.stop()
