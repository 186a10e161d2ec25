#!/usr/bin/env python3
"""A store that a late leader cannot harm: it refuses a write whose fencing token is lower than the
highest that it has seen, in the same transaction in which it would write.

    PUT /NAME   X-Fencing-Token: 7, X-Leader: <any name of the writer>   the body is the value
                204, or 409 and why
    GET /NAME   200 and the value, with the token that wrote it, or 404

One SQL statement does it, so it works the same in the database that you have:

    UPDATE fence SET token = :token, leader = :leader
     WHERE token < :token OR (token = :token AND leader = :leader)

If it changes no row, somebody newer was here.  The second condition is for the guard "none", under
which a partition may have two leaders with the same token: the first one that writes wins.

usage: store.py DATABASE_FILE PORT
"""

import contextlib
import http.server
import sqlite3
import sys

MAX_BODY_BYTES = 1 << 20
MAX_TOKEN = 2**63 - 1  # of SQLite's integers
TABLES = """
CREATE TABLE IF NOT EXISTS fence (
  only INTEGER PRIMARY KEY CHECK (only = 1), token INTEGER NOT NULL, leader TEXT NOT NULL);
INSERT OR IGNORE INTO fence VALUES (1, 0, '');
CREATE TABLE IF NOT EXISTS entries (
  name TEXT PRIMARY KEY, value BLOB NOT NULL, token INTEGER NOT NULL);
"""
ADVANCE = """
UPDATE fence SET token = :token, leader = :leader
 WHERE token < :token OR (token = :token AND leader = :leader)
"""
WRITE = "INSERT OR REPLACE INTO entries VALUES (:name, :value, :token)"


class TooLate(Exception):
    """A newer leader has written already."""


class Store:
    """The fence and what stands behind it, in one database; survives restarts, as it must: a store
    that forgets the highest token lets the late leader in."""

    def __init__(self, path):
        self.path = path
        with contextlib.closing(self.connect()) as database:
            database.executescript(TABLES)

    def connect(self):
        return sqlite3.connect(self.path, timeout=10)

    def put(self, name, value, token, leader):
        """Raises TooLate when a higher token, or the same of another leader, was here before."""
        values = {"name": name, "value": value, "token": token, "leader": leader}
        with contextlib.closing(self.connect()) as database, database:  # one transaction
            if database.execute(ADVANCE, values).rowcount == 0:
                seen = database.execute("SELECT token, leader FROM fence").fetchone()
                raise TooLate(f"token {token} of {leader}: {seen[1]} was here with {seen[0]}")
            database.execute(WRITE, values)

    def get(self, name):
        """(value, token), or None."""
        with contextlib.closing(self.connect()) as database:
            return database.execute("SELECT value, token FROM entries WHERE name = ?",
                                    (name,)).fetchone()


class Handler(http.server.BaseHTTPRequestHandler):
    """One request; the store is the server's."""

    protocol_version = "HTTP/1.1"
    timeout = 10

    def do_PUT(self):  # pylint: disable=invalid-name
        leader = self.headers.get("X-Leader", "")
        try:
            token = int(self.headers.get("X-Fencing-Token", ""))
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            self.close_connection = True
            self.answer(400, b"a token and a length are needed\n")
            return
        if not (0 < token <= MAX_TOKEN and leader and 0 <= length <= MAX_BODY_BYTES):
            self.close_connection = True
            self.answer(400, b"a token above 0, a leader, and at most 1 MiB are needed\n")
            return
        value = self.rfile.read(length)
        try:
            self.server.store.put(self.path[1:], value, token, leader)
        except TooLate as refusal:
            self.answer(409, f"{refusal}\n".encode())
            return
        self.answer(204)

    def do_GET(self):  # pylint: disable=invalid-name
        found = self.server.store.get(self.path[1:])
        if found is None:
            self.answer(404)
        else:
            self.answer(200, found[0], found[1])

    def answer(self, status, body=b"", token=None):
        self.send_response(status)
        if token is not None:
            self.send_header("X-Fencing-Token", str(token))
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """One line a request would be too much."""


def main(path, port):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
    server.daemon_threads = True
    server.store = Store(path)
    print(f"listens on port {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with contextlib.suppress(KeyboardInterrupt):
        main(*sys.argv[1:])
