#!/usr/bin/env python3
"""The proxies' configurations of examples/, with this machine's ports: real ones route by them.

usage: proxy_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import contextlib
import http.client
import http.server
import shutil
import socket
import subprocess
import sys
import threading
import unittest

import languages
from harness import CALM, PATIENCE_S, Group, free_ports, wait_until

try:
    import yaml
except ImportError:
    yaml = None

PROGRAM = ""
EXAMPLES = languages.ROOT / "examples"
NGINX = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{parts}
}}
"""


class Application:
    """Answers every request with its name; a context manager."""

    def __init__(self, name):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"  # connections live on

            def do_GET(self):  # pylint: disable=invalid-name
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.send_response(200)
                self.send_header("Content-Length", str(len(name)))
                self.end_headers()
                self.wfile.write(name.encode())

            do_POST = do_GET

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                """A proxy hung up, as it may."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def with_ports(text, replacements):
    """An example, with what is different here; each must be in it."""
    for old, new in replacements.items():
        assert old in text, f"the example says nothing of {old}"
        text = text.replace(old, new)
    return text


def answer(port, method="GET"):
    """Who answers; None: nobody, or an error."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
        connection.request(method, "/", "body" if method == "POST" else None)
        response = connection.getresponse()
        text = response.read().decode()
        return text if response.status == 200 else None
    return None


def await_all(what, port, names, method="GET"):
    """Until these are the ones who answer, and they alone."""
    wait_until(what, lambda: {answer(port, method) for _ in range(12)} == set(names))


class Proxies(unittest.TestCase):
    def setUp(self):
        self.stack = self.enterContext(contextlib.ExitStack())
        self.group = self.stack.enter_context(Group(PROGRAM, 3, "[election]\n" + CALM))
        self.applications = [self.stack.enter_context(Application(sidecar.name))
                             for sidecar in self.group.sidecars]

    def program(self, name):
        path = shutil.which(name, path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
        if path is None:
            self.skipTest(f"there is no {name}")
        return path

    def start(self, *command):
        with open(self.group.folder / "proxy.log", "wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        self.stack.callback(process.wait, PATIENCE_S)
        self.stack.callback(process.terminate)  # a master ends its workers

    def test_haproxy_routes_writes_to_the_leader_and_reads_to_the_followers(self):
        haproxy = self.program("haproxy")
        leader_port, followers_port = free_ports(2)
        text = with_ports((EXAMPLES / "haproxy/haproxy.cfg").read_text(), {
            "bind :8080": f"bind 127.0.0.1:{leader_port}",
            "bind :8081": f"bind 127.0.0.1:{followers_port}",
            **{f"server orders-{i} 10.0.0.1{i}:8080":
               f"server n{i} 127.0.0.1:{application.port} port {sidecar.api_port}"
               for i, (sidecar, application) in enumerate(zip(self.group.sidecars,
                                                              self.applications))}})
        config = self.group.folder / "haproxy.cfg"
        config.write_text(text)
        self.group.start().await_leader(self.group.sidecars[2])
        self.start(haproxy, "-db", "-f", config)
        await_all("the leader gets the writes", leader_port, ["n2"], "POST")
        await_all("the followers get the reads", followers_port, ["n0", "n1"])
        self.group.sidecars[2].kill()
        await_all("the successor gets the writes", leader_port, ["n1"], "POST")
        await_all("the other one gets the reads", followers_port, ["n0"])

    @unittest.skipIf(yaml is None, "there is no python3-yaml")
    def test_the_leader_service_of_kubernetes_reaches_the_leader_alone(self):
        haproxy = self.program("haproxy")
        port, status_port = free_ports(2)
        servers = "\n    ".join(
            f"server {sidecar.name} 127.0.0.1:{application.port} port {sidecar.api_port}"
            for sidecar, application in zip(self.group.sidecars, self.applications))
        config_map = next(yaml.safe_load_all(
            (EXAMPLES / "kubernetes/leader-service.yaml").read_text()))
        config = self.group.folder / "haproxy.cfg"
        config.write_text(with_ports(config_map["data"]["haproxy.cfg"], {
            "bind :::8404 v4v6": f"bind 127.0.0.1:{status_port}",
            "bind :::8080 v4v6": f"bind 127.0.0.1:{port}",
            'server-template orders- 3 "orders-peers.${POD_NAMESPACE}.svc.cluster.local:8080"':
                servers}))
        first, second, leader = self.group.sidecars
        self.group.start().await_leader(leader)
        self.start(haproxy, "-W", "-db", "-f", config)
        wait_until("the balancer is ready", lambda: self.is_healthy(status_port))
        await_all("the leader is reached", port, ["n2"], "POST")
        with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as to_the_leader:
            to_the_leader.sendall(b"GET / HTTP/1.1\r\nHost: orders\r\n\r\n")
            received = b""
            while not received.endswith(b"n2"):
                received += to_the_leader.recv(1000) or self.fail(received)
            self.assertEqual(leader.request("POST", "/v1/step-down", {"hold": "1h"})[0], 202)
            self.assertEqual(to_the_leader.recv(1), b"")  # ended with the leadership
        await_all("the successor is reached", port, ["n1"], "POST")
        second.kill()
        await_all("the next one is reached", port, ["n0"], "POST")
        first.kill()
        wait_until("nobody is", lambda: answer(port) is None)
        self.assertTrue(self.is_healthy(status_port))  # which is no fault of the balancer's

    @staticmethod
    def is_healthy(port):
        """What the readiness probe asks."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        with contextlib.closing(connection), contextlib.suppress(OSError):
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        return False

    def test_nginx_finds_the_leader(self):
        nginx = self.program("nginx")
        port, *gate_ports = free_ports(4)
        gate = (EXAMPLES / "nginx/gate.conf").read_text()
        gates = [with_ports(gate, {
            "listen 8081": f"listen 127.0.0.1:{gate_port}",
            "http://127.0.0.1:8080": f"http://127.0.0.1:{application.port}",
            "http://127.0.0.1:4040": f"http://127.0.0.1:{sidecar.api_port}"})
                 for gate_port, application, sidecar in zip(gate_ports, self.applications,
                                                            self.group.sidecars)]
        balancer = with_ports((EXAMPLES / "nginx/balancer.conf").read_text(), {
            "listen 8080": f"listen 127.0.0.1:{port}",
            **{f"10.0.0.1{i}:8081": f"127.0.0.1:{gate_port}"
               for i, gate_port in enumerate(gate_ports)}})
        config = self.group.folder / "nginx.conf"
        config.write_text(NGINX.format(folder=self.group.folder,
                                       parts="\n".join([*gates, balancer])))
        self.group.start().await_leader(self.group.sidecars[2])
        self.start(nginx, "-e", "stderr", "-c", config)
        await_all("the leader is asked", port, ["n2"])
        await_all("the leader gets the writes", port, ["n2"], "POST")
        self.assertEqual([answer(gate_port) for gate_port in gate_ports], [None, None, "n2"])
        self.group.sidecars[2].kill()
        await_all("the successor gets the writes", port, ["n1"], "POST")
        self.assertEqual([answer(gate_port) for gate_port in gate_ports], [None, "n1", None])


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    languages.main(sys.argv[2:])
