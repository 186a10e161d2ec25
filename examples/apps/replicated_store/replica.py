#!/usr/bin/env python3
"""A replica of a small store of names and values.  One leads and takes writes; the others pull its
log, and each tells its sidecar how far it has come: when the leader dies, the freshest one leads.

    PUT /NAME     the body is the value.  200 when another replica has it, too; 503 where this one
                  does not lead; 504 when nobody has confirmed it: it may survive, or not
    GET /NAME     200 and the value, as far as this replica has come, or 404
    GET /status   {"leads", "position", "is_in_sync"}
    GET /log?from=POSITION&epoch=EPOCH   for replicas: what comes behind their last entry

What is promised, and what is not, stands in README.md.

usage: replica.py FLAG_FILE PLACE LOG_FILE LISTEN PEER... [--pull-every SECONDS]
LISTEN and PEER are HOST:PORT; PLACE is the sidecar's socket or address.
"""

import argparse
import http.client
import http.server
import json
import pathlib
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import attachment  # noqa: E402: copied beside this file in your application
import leader_flag  # noqa: E402

CONFIRM_S = 2.0  # for another replica to have a write
POLL_S = 0.5  # for which the leader lets a pull wait for a write
PAUSE_S = 0.01  # between pulls, so that there are no more than 100 scores a second
ASK_S = 2.0
MAX_BODY_BYTES = 1 << 20
# A replica that has not compared its log with a leader's since it started, or since it led itself,
# may have entries that nobody else has.  So any that has done so ranks above it.
NOT_IN_SYNC = 1 << 40


class Log:
    """Entries [epoch, name, value], each a line of a file, and the values that follow from them.
    It outlives the process, but not the machine: nothing waits for the disk."""

    def __init__(self, path):
        self._file = open(path, "a+b")  # pylint: disable=consider-using-with
        self._file.seek(0)
        self.entries, self._ends = [], [0]
        for line in self._file:
            if line.endswith(b"\n"):  # the last one may have been cut off
                self._add(json.loads(line), len(line))
        self.truncate(len(self.entries))

    def _add(self, entry, size):
        self.entries.append(entry)
        self._ends.append(self._ends[-1] + size)

    def append(self, entry):
        line = json.dumps(entry).encode() + b"\n"
        self._file.write(line)
        self._file.flush()
        self._add(entry, len(line))

    def truncate(self, position):
        """Forgets what comes behind."""
        del self.entries[position:], self._ends[position + 1:]
        self._file.truncate(self._ends[-1])

    def epoch(self):
        """Of the last entry."""
        return self.entries[-1][0] if self.entries else 0

    def common(self, position, epoch):
        """How much of it a replica can have whose last entry is here, of this epoch; all of what it
        has if that is `position`.  An entry's place and epoch tell what is in it and before it:
        an epoch has one leader, which only ever appends."""
        keep = min(position, len(self.entries))
        while keep > 0 and self.entries[keep - 1][0] > epoch:
            keep -= 1
        is_same = keep == position and (keep == 0 or self.entries[keep - 1][0] == epoch)
        return keep if is_same else min(keep, position - 1)

    def value(self, name):
        for _, key, value in reversed(self.entries):
            if key == name:
                return value
        return None


class Replica:
    """The log, and what this replica is about to do with it; `changed` guards all of it."""

    def __init__(self, options):
        self.flag = leader_flag.open_flag(options.flag)
        self.place, self.peers, self.pull_every_s = options.place, options.peers, options.pull_every
        self.log = Log(options.log)
        self.changed = threading.Condition()
        self.confirmed = 0  # so many entries another replica has, too
        self.is_in_sync = False  # with the log of the leader that was there last
        self.told = None  # the score
        self.is_woken = False

    def leads(self):
        return self.flag.token() is not None

    def score(self):
        position = len(self.log.entries)
        return position if self.is_in_sync else position - NOT_IN_SYNC

    # --- the leader's side ---

    def write(self, name, value):
        """(status, answer)"""
        with self.changed:
            token = self.flag.begin(0)
            if token is None:
                return 503, {"error": "this replica does not lead"}
            self.log.append([token, name, value])
            position = len(self.log.entries)
            self.changed.notify_all()
            is_safe = self.changed.wait_for(lambda: self.confirmed >= position, CONFIRM_S)
        if not is_safe or not self.flag.still(token):
            return 504, {"error": "nobody has confirmed it", "position": position}
        return 200, {"position": position}

    def entries_after(self, position, epoch):
        """What a replica asks for whose last entry is this one."""
        if not self.leads():
            return 503, {"error": "this replica does not lead"}
        with self.changed:
            keep = self.log.common(position, epoch)
            if keep < position:
                return 409, {"keep": keep}
            self.confirmed = max(self.confirmed, position)
            self.changed.notify_all()
            self.changed.wait_for(lambda: len(self.log.entries) > position, POLL_S)
            entries = self.log.entries[position:]
        # An entry that came while it led no longer is nobody's.
        return (200, {"entries": entries}) if self.leads() else (503, {"error": "not any more"})

    # --- the follower's side ---

    def run(self):
        """Leads or follows, and tells what this replica is worth, for ever."""
        led = False
        while True:
            try:
                if self.leads():
                    led = self.is_in_sync = True
                    pause_s = PAUSE_S
                else:
                    self.is_in_sync = self.is_in_sync and not led
                    led = False
                    is_late = not self.follow()
                    pause_s = PAUSE_S if is_late else max(PAUSE_S, self.pull_every_s)
                self.tell()
                self.pause(pause_s)
            except OSError:
                self.pause(0.1)  # a sidecar that starts, or starts again

    def follow(self):
        """Pulls once from whoever leads; says whether it has all that there was.  What was pulled
        is told the sidecar before the next pull confirms it."""
        for peer in self.peers:
            position, epoch = len(self.log.entries), self.log.epoch()
            status, answer = ask(peer, f"/log?from={position}&epoch={epoch}")
            if status not in (200, 409):
                continue
            with self.changed:
                if self.leads():
                    return False
                self.is_in_sync = status == 200
                if status == 200:
                    for entry in answer["entries"]:
                        self.log.append(entry)
                else:
                    self.log.truncate(answer["keep"])
                    self.confirmed = min(self.confirmed, answer["keep"])
            return status == 200
        return False

    def tell(self):
        score = self.score()
        if score != self.told:
            attachment.set_score(self.place, score)
            self.told = score

    def pause(self, seconds):
        """Not longer than until somebody else leads."""
        with self.changed:
            self.changed.wait_for(lambda: self.is_woken, seconds)
            self.is_woken = False

    def stay_attached(self):
        """Says that this replica is there, and wakes it when somebody else leads."""
        while True:
            try:
                with attachment.attach(self.place, "replica", self.score()) as mine:
                    for _ in mine:
                        with self.changed:
                            self.told, self.is_woken = None, True
                            self.changed.notify_all()
            except OSError:
                pass
            time.sleep(0.1)  # the sidecar starts, or starts again


def ask(peer, target):
    """(status, answer); (0, None): nobody is there."""
    connection = http.client.HTTPConnection(peer, timeout=ASK_S)
    try:
        connection.request("GET", target)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    except (OSError, ValueError, http.client.HTTPException):
        return 0, None
    finally:
        connection.close()


class Handler(http.server.BaseHTTPRequestHandler):
    """One request, on a thread of its own."""

    protocol_version = "HTTP/1.1"
    timeout = 10

    def do_GET(self):  # pylint: disable=invalid-name
        replica = self.server.replica
        path, _, query = self.path.partition("?")
        if path == "/log":
            seen = dict(urllib.parse.parse_qsl(query))
            try:
                position, epoch = int(seen["from"]), int(seen["epoch"])
            except (KeyError, ValueError):
                return self.answer(400, {"error": "from and epoch are numbers"})
            return self.answer(*replica.entries_after(position, epoch))
        if path == "/status":
            return self.answer(200, {"leads": replica.leads(),
                                     "position": len(replica.log.entries),
                                     "is_in_sync": replica.is_in_sync})
        value = replica.log.value(path[1:])
        return self.answer(404 if value is None else 200, {"value": value})

    def do_PUT(self):  # pylint: disable=invalid-name
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            return self.answer(413, {"error": f"a value of at most {MAX_BODY_BYTES} bytes"})
        value = self.rfile.read(int(length)).decode(errors="replace")
        return self.answer(*self.server.replica.write(self.path[1:], value))

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Nobody reads it."""


class Server(http.server.ThreadingHTTPServer):
    """Serves its replica."""

    daemon_threads = True

    def __init__(self, host, port, replica):
        super().__init__((host, port), Handler)
        self.replica = replica

    def handle_error(self, *_):
        """A client has gone, which is its own affair."""


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    for name in ("flag", "place", "log", "listen"):
        parser.add_argument(name)
    parser.add_argument("peers", nargs="+")
    parser.add_argument("--pull-every", type=float, default=0.0)
    options = parser.parse_args()
    replica = Replica(options)
    host, port = options.listen.rsplit(":", 1)
    server = Server(host, int(port), replica)
    for work in (replica.stay_attached, replica.run):
        threading.Thread(target=work, daemon=True).start()
    print(f"serves at {options.listen}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
