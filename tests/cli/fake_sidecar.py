"""A sidecar that says what a test wants: canned answers, and events that the test sends."""

import http.server
import json
import pathlib
import queue
import socketserver
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "system"))
from harness import free_ports  # noqa: E402

LEADER = {
    "group": "orders",
    "leader": {"name": "orders-2", "id": "2", "address": "10.0.0.2:7946"},
    "is_leader": False, "epoch": 7, "fencing_token": 7, "valid_for_ms": 0,
    "since": "2026-01-31T09:00:01.250Z", "variant": "modified", "guard": "none", "index": 12,
    "reason": "a leader was announced"}

STATUS = {
    "group": "orders", "node": {"name": "orders-0", "id": "0"}, "role": "following",
    "is_ready": True, "why_not_ready": None, "lacks": None,
    "variant": "modified", "active_variant": "modified", "guard": "none",
    "config": {"hash": "8f1b22c4", "pending_restart": [], "mismatches": []},
    "plugin": {"name": "bully", "version": "0.2.0", "abi": "1.0"},
    "version": "0.1.0", "uptime_ms": 65_500}


def member(number, **others):
    return {"name": f"orders-{number}", "id": str(number), "address": f"10.0.0.{number}:7946",
            "priority": 100, "voter": False, "state": "alive", "is_self": number == 0,
            "is_leader": number == 2, "is_draining": False, "may_lead": True, "is_able": True,
            "why_not_able": None, "score": 0,
            "last_heard_ms": None if number == 0 else 40,
            "rtt_ms": None if number == 0 else 0.312, "variant": "modified",
            "version": "0.1.0"} | others


def election(number, **others):
    """The one that ended at the given second."""
    return {"time": f"2026-01-31T09:00:{number:02}.000Z", "trigger": "leader_lost",
            "variant": "modified", "result": "followed",
            "winner": {"name": "orders-2", "id": "2", "address": "10.0.0.2:7946"}, "epoch": number,
            "messages": {"election": 2, "answer": 1, "handover": 0, "coordinator": 1, "total": 4},
            "duration_ms": 12} | others


HISTORY = {"group": "orders", "elections": []}
FORGOTTEN = {"state": "forgotten", "why": "this voter has no vote: it asks in 7s",
             "epoch": 0, "granted_to": None}
STORE = {"name": "kubernetes shop/orders", "server": "https://10.96.0.1:443", "trouble": None,
         "record": {"state": "member", "holder": "orders-2", "id": "2", "epoch": 7,
                    "lease_ms": 10_000, "unchanged_for_ms": 1_234, "is_watched": True}}
APPLICATION = {"is_able": True, "why_not": None, "attach": True, "attached": ["worker"],
               "health": "http://127.0.0.1:8080/healthz", "is_healthy": True,
               "why_not_healthy": None, "score": 42}
EXPLANATION = {
    "group": "orders", "seen_by": "orders-0", "leader": "orders-2", "guard": "none",
    "why_nobody_leads": None,
    "members": [
        {"rank": 1, "name": "orders-2", "id": "2", "priority": 100, "leads": True,
         "why": "It leads, in epoch 7; last heard 40ms ago."},
        {"rank": 2, "name": "n1", "id": "1", "priority": 100, "leads": False,
         "why": "It is down: its host refuses connections, for 12s."}]}
MEMBERS = {"group": "orders", "members": [member(2), member(1), member(0)]}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def address_string(self):
        return ""  # a client on a unix socket has none

    def do_GET(self):
        self.server.requests.append((f"GET {self.path}", dict(self.headers)))
        if self.path == "/v1/events" and self.path not in self.server.answers:
            self.send_events()
        else:
            self.answer()

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length).decode()
        self.server.requests.append((f"POST {self.path} {body}", dict(self.headers)))
        self.answer()

    def answer(self):
        time.sleep(self.server.takes_s)
        status, body = self.server.answers.get(self.path, (404, {"error": "no such path"}))
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_events(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        while (text := self.server.events.get()) is not None:
            data = text.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))


class Fake:
    """Serves until stop(); requests are noted as ("GET /path", headers)."""

    daemon_threads = True
    block_on_close = False

    def start(self):
        self.answers = {"/v1/leader": (200, LEADER), "/v1/status": (200, STATUS),
                        "/v1/members": (200, MEMBERS), "/v1/history": (200, HISTORY),
                        "/v1/explain": (200, EXPLANATION)}
        self.requests = []
        self.takes_s = 0
        self.events = queue.Queue()
        self.thread = threading.Thread(target=self.serve_forever, args=(0.01,))
        self.thread.start()
        return self

    def stop(self):
        self.events.put(None)
        self.shutdown()
        self.thread.join()
        self.server_close()

    def send_event(self, leader):
        self.events.put(f"event: leader\nid: {leader['epoch']}.{leader['index']}\n"
                        f"data: {json.dumps(leader)}\n\n")


class TcpFake(Fake, http.server.ThreadingHTTPServer):
    """At a port that is nobody else's, also while nobody listens there."""

    def __init__(self, port=None):
        port = port or free_ports(1)[0]
        http.server.ThreadingHTTPServer.__init__(self, ("127.0.0.1", port), Handler)

    @property
    def port(self):
        return self.server_address[1]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


class UnixFake(Fake, socketserver.ThreadingUnixStreamServer):
    def __init__(self, path):
        socketserver.ThreadingUnixStreamServer.__init__(self, str(path), Handler)
