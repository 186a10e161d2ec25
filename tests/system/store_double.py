"""A stand-in for an API server of Kubernetes, as far as Leases are concerned, that also does what a
real one does once a year: it says 429, 410 or 500, half an answer, an answer after a long time, one
of HTTP/1.0, garbage, a gigabyte.  Its ordinary answers are compared with a real one's
(tests/store/store_test.py).
"""

import contextlib
import http.server
import json
import socket
import threading
import time
import urllib.parse

CODES = {"Unauthorized": 401, "Forbidden": 403, "NotFound": 404, "AlreadyExists": 409,
         "Conflict": 409, "Expired": 410, "Invalid": 422, "TooManyRequests": 429,
         "InternalError": 500, "ServiceUnavailable": 503}
API = "/apis/coordination.k8s.io/v1/namespaces/"


class Refusal(Exception):
    def __init__(self, reason, message, kind="leases", retry_after=None):
        super().__init__(message)
        self.code = CODES[reason]
        self.retry_after = retry_after
        self.status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                       "message": message, "reason": reason, "details": {"kind": kind},
                       "code": self.code}


def merged(target, patch):
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


class StoreDouble:
    """A context manager.  `faults` has what is done to the next requests of a verb (get, create,
    patch, watch): a Refusal, or a function that is given the handler and says whether the request
    is answered by it; each is used once."""

    def __init__(self, namespaces=("shop",), token=None):
        self.namespaces, self.token = namespaces, token
        self.lock = threading.Condition(threading.RLock())
        self.version = 100
        self.leases = {}   # (namespace, name): object
        self.events = []   # (version, key, type, object)
        self.oldest = 0    # who wants to go on from an older one is told 410
        self.watch_generation = 0
        self.requests = []  # (verb, name)
        self.faults = {}
        self.is_over = False
        double = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # pylint: disable=invalid-name
                double.serve(self)

            do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):  # a client that has gone
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        with self.lock:
            self.lock.notify_all()
        self.server.shutdown()
        self.server.server_close()

    # --- what a test does ---

    def fail(self, verb, *faults):
        with self.lock:
            self.faults.setdefault(verb, []).extend(faults)

    def change(self, namespace, name, patch):
        with self.lock:
            key = (namespace, name)
            self.store(key, "MODIFIED", merged(self.leases[key], patch))

    def delete(self, namespace, name):
        with self.lock:
            gone = self.leases.pop((namespace, name))
            self.store((namespace, name), "DELETED", gone)

    def forget(self, namespace, name, patch):
        """All watches end, the Lease changes, and to go on from before that is too old."""
        with self.lock:
            self.watch_generation += 1
            self.change(namespace, name, patch)
            self.oldest = self.version

    # --- the API ---

    def serve(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length", "0")))
        url = urllib.parse.urlsplit(handler.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        verb = {"GET": "watch" if "watch" in query else "get", "POST": "create", "PATCH": "patch",
                "PUT": "update", "DELETE": "delete"}[handler.command]
        try:
            namespace, name = self.place(url.path)
            with self.lock:
                self.requests.append((verb, name))
                fault = self.faults[verb].pop(0) if self.faults.get(verb) else None
            if isinstance(fault, Refusal):
                raise fault
            if fault is not None and fault(handler):
                return
            if self.token and handler.headers.get("Authorization") != f"Bearer {self.token}":
                raise Refusal("Unauthorized", "Unauthorized", "")
            if verb == "watch":
                self.watch(handler, namespace, query)
                return
            code, answer = self.answer(verb, namespace, name, body)
            send(handler, code, answer)
        except Refusal as refusal:
            send(handler, refusal.code, refusal.status, refusal.retry_after)

    @staticmethod
    def place(path):
        parts = path.removeprefix(API).split("/")
        if not path.startswith(API) or parts[1:2] != ["leases"]:
            raise Refusal("NotFound", "the server could not find the requested resource", "")
        return parts[0], "/".join(parts[2:])

    def answer(self, verb, namespace, name, body):
        with self.lock:
            if verb == "create":
                wanted = json.loads(body)
                key = (namespace, wanted["metadata"]["name"])
                if namespace not in self.namespaces:
                    raise Refusal("NotFound", f'namespaces "{namespace}" not found', "namespaces")
                if key in self.leases:
                    raise Refusal("AlreadyExists",
                                  f'leases.coordination.k8s.io "{key[1]}" already exists')
                return 201, self.store(key, "ADDED", wanted)
            key = (namespace, name)
            if key not in self.leases:
                raise Refusal("NotFound", f'leases.coordination.k8s.io "{name}" not found')
            current = self.leases[key]
            if verb == "get":
                return 200, current
            wanted = merged(current, json.loads(body))
            if wanted["metadata"]["resourceVersion"] != current["metadata"]["resourceVersion"]:
                raise Refusal("Conflict", "the object has been modified; please apply your changes "
                                          "to the latest version and try again")
            if wanted["spec"].get("leaseDurationSeconds", 1) < 1:
                raise Refusal("Invalid", "spec.leaseDurationSeconds: must be greater than 0")
            return 200, self.store(key, "MODIFIED", wanted)

    def store(self, key, kind, lease):
        """With the lock held."""
        self.version += 1
        stored = merged(lease, {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1",
                                "metadata": {"namespace": key[0], "name": key[1],
                                             "resourceVersion": str(self.version)}})
        if kind != "DELETED":
            self.leases[key] = stored
        self.events.append((self.version, key, kind, stored))
        self.lock.notify_all()
        return stored

    def watch(self, handler, namespace, query):
        key = (namespace, query["fieldSelector"].removeprefix("metadata.name="))
        with self.lock:
            told = int(query.get("resourceVersion", self.version))
            if told < self.oldest:
                raise Refusal("Expired", f"too old resource version: {told} ({self.oldest})", "")
            generation = self.watch_generation
            first = [] if "resourceVersion" in query or key not in self.leases else [
                ("ADDED", self.leases[key])]
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for kind, lease in first:
            say(handler, {"type": kind, "object": lease})
        while not self.is_over:
            with self.lock:
                if self.watch_generation > generation:
                    break
                news = [event for event in self.events if event[0] > told and event[1] == key]
                if not news:
                    self.lock.wait(1)
                    continue
            for version, _, kind, lease in news:
                say(handler, {"type": kind, "object": lease})
                told = version
        handler.wfile.write(b"0\r\n\r\n")


def send(handler, code, answer, retry_after=None):
    body = json.dumps(answer).encode()
    handler.send_response(code)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    if retry_after is not None:
        handler.send_header("Retry-After", str(retry_after))
    handler.end_headers()
    handler.wfile.write(body)


def say(handler, event):
    line = json.dumps(event).encode() + b"\n"
    handler.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
    handler.wfile.flush()


# --- faults; each is a function of a handler, that says whether the request is answered ---

def end_connection(handler):
    handler.close_connection = True
    with contextlib.suppress(OSError):
        handler.connection.shutdown(socket.SHUT_RDWR)
    return True


def raw(answer):
    """These bytes, and no more of the connection."""
    def fault(handler):
        with contextlib.suppress(OSError):
            handler.wfile.write(answer)
        return end_connection(handler)
    return fault


GARBAGE = raw(b"\x16\x03\x01\x02\x00\x01garbage\r\n\r\n" * 20)
HALF_AN_ANSWER = raw(b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"kind":"Lease","meta')
NO_ANSWER = raw(b"")


def a_gigabyte(handler):
    with contextlib.suppress(OSError):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
        for _ in range(1024):
            handler.wfile.write(b" " * (1 << 20))
    return end_connection(handler)


def answer(lease):
    """This one, whatever was asked for, and nothing is done."""
    def fault(handler):
        send(handler, 200, lease)
        return True
    return fault


def after(seconds, release=None):
    """The answer comes so late; or when the event `release` is set."""
    def fault(_):
        if release is not None:
            release.wait(seconds)
        else:
            time.sleep(seconds)
        return False
    return fault


def lose_the_answer(handler):
    """The request is carried out, and its answer lost with the connection."""
    handler.wfile = _Nowhere()
    handler.close_connection = True
    return False


class _Nowhere:
    def write(self, data):
        return len(data)

    def flush(self):
        pass
