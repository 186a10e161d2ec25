#!/usr/bin/env python3
"""A cron for a group: runs a command again and again, on the leader only, and puts what it prints
into the guarded store (store.py), together with the fencing token under which it began.

Between the look at the flag and the write anything can happen: the command may take long, this
process may be stopped, another replica may have become the leader and have run the command already.
So nobody looks at the flag once more before the write; that look, too, could be an old one when
the write arrives.  The token goes with it, and the store decides.

usage: leader_cron.py FLAG_FILE NAME STORE_URL EVERY_SECONDS COMMAND [ARGUMENT...]
"""

import pathlib
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
import leader_flag  # pylint: disable=wrong-import-position

PATIENCE_S = 10


def tell(text):
    print(text, flush=True)


def put(url, value, token, leader):
    """Returns the store's answer in a word."""
    request = urllib.request.Request(url, data=value, method="PUT", headers={
        "X-Fencing-Token": str(token), "X-Leader": leader})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S):
            return "written"
    except urllib.error.HTTPError as error:
        return "refused" if error.code == 409 else f"failed: {error}"
    except OSError as error:
        return f"failed: {error}"  # the next turn tries again


def run_once(token, name, url, command):
    """One turn of the leader."""
    tell(f"{name} begins token={token}")
    result = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if result.returncode != 0:
        tell(f"{name} command failed token={token} code={result.returncode}")
        return
    tell(f"{name} {put(url, result.stdout, token, name)} token={token}")


def main(path, name, url, every_s, *command):
    flag = leader_flag.open_flag(path)
    next_s = time.monotonic()
    while True:
        seen = flag.read()
        if seen.role != leader_flag.LEADER:
            flag.wait(seen, timeout_s=1)
        elif time.monotonic() < next_s:
            time.sleep(0.05)
        else:
            next_s = time.monotonic() + float(every_s)
            run_once(seen.fencing_token, name, url, command)


if __name__ == "__main__":
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    main(*sys.argv[1:])
