#!/usr/bin/env python3
"""What an application hears of a takeover: webhooks, long polls, event streams, the leader
elector's answer, and HAProxy, which routes by it.

usage: hooks_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import http.server
import json
import shutil
import socket
import subprocess
import threading
import urllib.error
import urllib.request

from harness import PATIENCE_S, free_ports, wait_until
from system_case import CALM, SystemCase, main


class Receiver:
    """An application with a webhook; a context manager."""

    def __init__(self, failures=0, failure=503):
        self.requests = []  # (content type, body), in the order in which they came
        receiver = self
        failing = [failures]

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # pylint: disable=invalid-name
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if failing[0] > 0:
                    failing[0] -= 1
                    self.send_response(failure)
                else:
                    receiver.requests.append((self.headers["Content-Type"], json.loads(body)))
                    self.send_response(204)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/leadership"
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def leaders(self):
        """Names, and None for each time without one."""
        return [body["data"]["leader"] and body["data"]["leader"]["name"]
                for _, body in self.requests]


class Stream:
    """A client of /v1/events; a context manager."""

    def __init__(self, sidecar, last_id=None):
        self.connection = sidecar.connect(PATIENCE_S)
        self.connection.request("GET", "/v1/events", headers={
            "Host": "localhost", **({"Last-Event-ID": last_id} if last_id else {})})
        self.response = self.connection.getresponse()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.connection.close()

    def next(self):
        """(id, data) of the next event."""
        fields = {}
        while True:
            line = self.response.readline().decode().rstrip("\n")
            if line == "" and "data" in fields:
                return fields["id"], json.loads(fields["data"])
            name, _, value = line.partition(":")
            fields[name] = value.strip()

    def until_leader(self, name):
        """The id of the event that says so."""
        while True:
            event_id, data = self.next()
            if data["leader"] and data["leader"]["name"] == name:
                return event_id


class Listening(SystemCase):
    def test_webhooks_tell_of_a_takeover_in_order(self):
        with contextlib.ExitStack() as stack:
            receiver = stack.enter_context(Receiver())
            group = stack.enter_context(self.group(extra=f'[[hook]]\nurl = "{receiver.url}"\n'))
            lowest, successor, leader = group.sidecars
            for sidecar in (successor, leader):  # one witness
                text = group.config_of(sidecar, extra="")
                sidecar.write_config(text)
            group.start().await_leader(leader)
            wait_until("the leader was told", lambda: receiver.leaders()[-1:] == ["n2"])
            leader.kill()
            wait_until("the successor was told", lambda: receiver.leaders()[-1:] == ["n1"])
            group.await_leader(successor)

            sequences = [body["sequence"] for _, body in receiver.requests]
            self.assertEqual(sequences, sorted(set(sequences)))
            epochs = [body["data"]["epoch"] for _, body in receiver.requests]
            self.assertEqual(epochs, sorted(epochs))
            tokens = [body["data"]["fencing_token"] for _, body in receiver.requests]
            self.assertEqual(tokens, [body["data"]["leader"] and body["data"]["epoch"]
                                      for _, body in receiver.requests])
            self.assertIsInstance(tokens[-1], int)
            for content_type, body in receiver.requests:
                self.assertIn("application/cloudevents+json", content_type)
                self.assertEqual(body["specversion"], "1.0")
                self.assertEqual(body["source"], "/bellwether/test/n0")
                self.assertRegex(body["type"], r"^io\.bellwether\.leader\.(elected|lost|changed)$")
            wait_until("it counts what was delivered", lambda: lowest.count(
                "bellwether_hook_deliveries_total", result="delivered") == len(receiver.requests))

    def test_a_webhook_that_fails_hears_the_newest(self):
        with Receiver(failures=3) as receiver:
            with self.group(extra=f'[[hook]]\nurl = "{receiver.url}"\n') as group:
                *_, leader = group.sidecars
                for sidecar in group.sidecars[1:]:
                    sidecar.write_config(group.config_of(sidecar, extra=""))
                group.start().await_leader(leader)
                wait_until("it was told", lambda: receiver.leaders()[-1:] == ["n2"])
                self.assertGreaterEqual(group.sidecars[0].count(
                    "bellwether_hook_deliveries_total", result="failed"), 3)

    def test_a_webhook_that_wants_no_more_is_asked_again_after_a_reload(self):
        """A proxy before the application may have said it, while that was deployed."""
        with Receiver(failures=1, failure=410) as receiver:
            with self.group(1, extra=f'[[hook]]\nurl = "{receiver.url}"\n') as group:
                sidecar, = group.start().sidecars
                group.await_leader(sidecar)
                wait_until("it was refused for good", lambda: sidecar.count(
                    "bellwether_hook_deliveries_total", result="gone") == 1)
                sidecar.await_log(r"warn .*answered 410 \(gone\).*remedy=.*reload")
                self.assertEqual(receiver.leaders(), [])
                for _ in range(2):  # one that is well is told nothing twice
                    self.assertEqual(sidecar.request("POST", "/v1/reload")[0], 200)
                    wait_until("it is told", lambda: receiver.leaders() == ["n0"])

    def test_a_long_poll_ends_with_the_takeover(self):
        with self.group() as group:
            lowest, successor, leader = group.start().sidecars
            group.await_leader(leader)
            seen = lowest.get("/v1/leader")
            answers = []
            path = f"/v1/leader?index={seen['index']}&wait=60s"
            waiter = threading.Thread(target=lambda: answers.append(
                lowest.request("GET", path, timeout_s=PATIENCE_S)))
            waiter.start()
            leader.kill()
            waiter.join()
            status, _, text = answers[0]
            self.assertEqual(status, 200)
            self.assertGreater(json.loads(text)["index"], seen["index"])
            group.await_leader(successor)
            # An index of the past is answered at once.
            status, _, text = lowest.request("GET", path)
            self.assertEqual((status, json.loads(text)["leader"]["name"]), (200, "n1"))

    def test_an_event_stream_goes_on_where_it_broke(self):
        with self.group() as group:
            lowest, successor, leader = group.start().sidecars
            group.await_leader(leader)
            with Stream(lowest) as stream:
                last_id = stream.until_leader("n2")
            leader.kill()  # nobody listens
            group.await_leader(successor)
            with Stream(lowest, last_id) as stream:
                missed_id, data = stream.next()
                epoch, index = map(int, last_id.split("."))
                self.assertEqual(int(missed_id.split(".")[1]), index + 1)
                if data["leader"] is None:
                    missed_id, data = stream.next()
                self.assertEqual(data["leader"]["name"], "n1")
                self.assertGreater(data["epoch"], epoch)
                leader.start()
                stream.until_leader("n2")

    def test_clients_of_the_leader_elector_follow(self):
        """Its contract: `name` of the answer to GET / is the leader's host name."""
        with self.group(extra=CALM) as group:
            group.start().await_leader(group.sidecars[-1])

            def believers():
                return [sidecar.name for sidecar in group.running
                        if sidecar.get("/")["name"] == sidecar.name]
            self.assertEqual(believers(), ["n2"])
            group.sidecars[-1].kill()
            group.await_leader(group.sidecars[1])
            self.assertEqual(believers(), ["n1"])

    def test_a_client_of_the_leader_elector_works_unchanged(self):
        """It compares the answer with the name of its host, which is the sidecar's unless the
        configuration gives it another."""
        with self.group(1) as group:
            sidecar, = group.sidecars
            text = sidecar.config_file.read_text()
            nameless = text.replace(f'name = "{sidecar.name}"\n', "")
            self.assertNotEqual(nameless, text)
            sidecar.write_config(nameless)
            sidecar.start()

            def is_leader():
                with urllib.request.urlopen(sidecar.api_url, timeout=5) as answer:
                    return json.load(answer)["name"] == socket.gethostname()

            wait_until("the sidecar leads", sidecar.is_leader)
            self.assertTrue(is_leader())


class Application:
    """Answers every request with its name; a context manager."""

    def __init__(self, name):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # pylint: disable=invalid-name
                self.send_response(200)
                self.send_header("Content-Length", str(len(name)))
                self.end_headers()
                self.wfile.write(name.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def haproxy_config(port, pairs):
    servers = "\n".join(
        f"    server {sidecar.name} 127.0.0.1:{application.server.server_port} check inter 100ms "
        f"fall 1 rise 1 addr {sidecar.address} port {sidecar.api_port}"
        for sidecar, application in pairs)
    return f"""
defaults
    mode http
    timeout connect 1s
    timeout client 10s
    timeout server 10s
listen orders
    bind 127.0.0.1:{port}
    option httpchk GET /leader
    http-check expect status 200
{servers}
"""


class Balancer(SystemCase):
    def test_haproxy_routes_to_the_leader(self):
        if not shutil.which("haproxy", path="/usr/sbin:/usr/bin:/usr/local/sbin"):
            self.skipTest("there is no haproxy")
        with contextlib.ExitStack() as stack:
            group = stack.enter_context(self.group())
            applications = [stack.enter_context(Application(sidecar.name))
                            for sidecar in group.sidecars]
            _, successor, leader = group.start().sidecars
            group.await_leader(leader)
            port, = free_ports(1)
            config = group.folder / "haproxy.cfg"
            config.write_text(haproxy_config(port, list(zip(group.sidecars, applications))))
            proxy = subprocess.Popen(["/usr/sbin/haproxy", "-db", "-f", config],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(proxy.wait)
            stack.callback(proxy.kill)

            def routed_to():
                try:
                    url = f"http://127.0.0.1:{port}/"
                    with urllib.request.urlopen(url, timeout=5) as response:
                        return response.read().decode()
                except (urllib.error.URLError, OSError):
                    return None

            def await_all_at(name):
                # Until the first check a server counts as up, and a dead one until the next.
                wait_until(f"only {name} is asked",
                           lambda: {routed_to() for _ in range(20)} == {name})
            await_all_at("n2")
            leader.kill()
            group.await_leader(successor)
            await_all_at("n1")


if __name__ == "__main__":
    main()
