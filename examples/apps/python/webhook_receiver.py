#!/usr/bin/env python3
"""An application that is told who leads: the other end of a [[hook]], on loopback.

    [[hook]]
    url = "http://127.0.0.1:8080/leadership"

A hook is for what should follow a change soon: a log line, a cache to warm, a connection to the new
leader.  It comes a moment after the change, so it is no permission to do what only the leader may
do; for that ask the flag (worker.py), and pass the token on.

The sidecar sends one event at a time, in order, again until it is answered with 2xx, and skips what
is outdated by then.  So all that is left to do here is to notice an event that was delivered
already, of which only the answer was lost.

usage: webhook_receiver.py PORT
"""

import contextlib
import http.server
import json
import sys

MAX_BODY_BYTES = 64 * 1024
EVENT_TYPE = "application/cloudevents+json"


def on_leader(leader, epoch, is_this_replica):
    """What the application does with the news; `leader` is None while nobody leads."""
    if leader is None:
        print("nobody leads", flush=True)
    elif is_this_replica:
        print(f"this replica leads, epoch {epoch}", flush=True)
    else:
        print(f"{leader} leads, epoch {epoch}", flush=True)


class Handler(http.server.BaseHTTPRequestHandler):
    """One request; the server is on one thread, so events stay in order."""

    protocol_version = "HTTP/1.1"
    timeout = 10

    def do_POST(self):  # pylint: disable=invalid-name
        if self.path != "/leadership":
            self.refuse(404)
            return
        event = self.event()
        if event is None:
            self.refuse(400)
            return
        if event["id"] != self.server.last_id:
            data = event["data"]
            leader = data["leader"]
            on_leader(leader and leader["name"], data["epoch"], data["is_leader"])
            self.server.last_id = event["id"]
        # Only now: what fails above is sent again.
        self.send_response(204)
        self.end_headers()

    def event(self):
        """The request's body, or None if it is not an event."""
        with contextlib.suppress(ValueError, KeyError, TypeError):
            length = int(self.headers.get("Content-Length", ""))
            if self.headers.get_content_type() != EVENT_TYPE or not 0 < length <= MAX_BODY_BYTES:
                return None
            event = json.loads(self.rfile.read(length))
            if event["specversion"] == "1.0" and event["type"].startswith("io.bellwether.leader."):
                return event
        return None

    def refuse(self, status):
        self.close_connection = True
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        """The news are the log."""


class Server(http.server.HTTPServer):
    """The receiver; it remembers the event that it was told last."""

    last_id = None


def main(port):
    server = Server(("127.0.0.1", int(port)), Handler)
    print(f"listens on port {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with contextlib.suppress(KeyboardInterrupt):
        main(sys.argv[1])
