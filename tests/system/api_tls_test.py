#!/usr/bin/env python3
"""HTTP by TLS, as curl, openssl and Python's ssl meet it: the API and the metrics.

usage: api_tls_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import http.client
import os
import socket
import ssl
import subprocess
import threading
import time
import unittest

from certificates import Authority, Identity
from harness import UnixConnection, wait_until
from system_case import IS_SANITIZED, main
from tls_case import HOST_NAMES, TlsCase

REFUSALS = "bellwether_http_tls_refusals_total"


class Served(TlsCase):
    """One sidecar whose API has a certificate for this host."""

    def setUp(self):
        super().setUp()
        self.api = Identity(self.folder / "api").take(*self.authority.issue(HOST_NAMES),
                                                      self.authority.pem())
        self.operators = Authority(self.folder, "operators")
        self.operator = Identity(self.folder / "operator").take(
            *self.operators.issue(["DNS:ops.example.org"]), self.operators.pem())

    @contextlib.contextmanager
    def serving(self, api="", metrics="", files=True):
        """A group of one, with these lines in its tables."""
        lines = f'cert = "{self.api.cert}"\nkey = "{self.api.key}"\n' if files else ""
        with self.group(1) as group:
            sidecar, = group.sidecars
            sidecar.write_config(group.config_of(sidecar).replace(
                "[metrics]", f"{lines}{api}\n[metrics]\n{metrics}"))
            # What the harness asks goes by the unix socket.
            sidecar.connect = lambda timeout_s, port=None: UnixConnection(sidecar.socket_file,
                                                                          timeout_s)
            sidecar.start()
            group.await_leader(sidecar)
            yield sidecar

    def curl(self, url, *options, ca=None):
        """(status, what was said, curl's exit code); 0: no answer"""
        result = subprocess.run(
            ["curl", "--silent", "--show-error", "--max-time", "10", "--cacert",
             ca or self.authority.certificate, "--write-out", "\n%{http_code} %{http_version}",
             *map(str, options), url], capture_output=True, text=True, check=False)
        body, _, codes = result.stdout.rpartition("\n")
        return int(codes.split()[0]), body + result.stderr, result.returncode

    def certified(self, identity=None):
        identity = identity or self.operator
        return ["--cert", identity.cert, "--key", identity.key]

    def url(self, sidecar, path, port=None):
        return f"https://127.0.0.1:{port or sidecar.api_port}{path}"

    def handshake(self, port, *options):
        """What openssl s_client says."""
        return subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", *options],
                              input="", capture_output=True, text=True, timeout=20, check=False)

    def await_refused(self, sidecar, reason, more_than=0, listener="api"):
        wait_until(f"it counts {reason}", lambda: sidecar.count(
            REFUSALS, listener=listener, reason=reason) > more_than)


class Api(Served):
    def test_curl_is_answered_and_the_socket_stays_plain(self):
        with self.serving() as sidecar:
            status, text, _ = self.curl(self.url(sidecar, "/v1/leader"))
            self.assertEqual((status, '"name":"n0"' in text), (200, True), text)
            # By a name of the certificate that is none of the node's.
            status, _, _ = self.curl(self.url(sidecar, "/leader"), "--header", "Host: api.shop")
            self.assertEqual(status, 200)
            status, text, code = self.curl(self.url(sidecar, "/leader"),
                                           ca=self.operators.certificate)
            self.assertEqual((status, code), (0, 60), text)
            self.await_refused(sidecar, "tls_refused")
            status, text, _ = self.curl(f"http://127.0.0.1:{sidecar.api_port}/leader")
            self.assertEqual(status, 400)
            self.assertIn("this port speaks https", text)
            self.await_refused(sidecar, "tls_plaintext")
            sidecar.await_log("warn .*refused a client listener=api reason=tls_plaintext "
                              "from=127.0.0.1:[0-9]+")
            self.assertEqual(sidecar.request("GET", "/leader")[0], 200)

    def test_versions_and_protocols(self):
        with self.serving() as sidecar:
            port = sidecar.api_port
            for version in ("-tls1_2", "-tls1_3"):
                result = self.handshake(port, version, "-alpn", "h2,http/1.1", "-CAfile",
                                        str(self.authority.certificate), "-verify_return_error")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("ALPN protocol: http/1.1", result.stdout)
            old = self.handshake(port, "-tls1_1", "-cipher", "ALL:@SECLEVEL=0")
            self.assertNotEqual(old.returncode, 0)
            self.assertIn("no peer certificate available", old.stdout)
            self.await_refused(sidecar, "tls_protocol")
            self.assertNotEqual(self.handshake(port, "-alpn", "h2").returncode, 0)
            self.await_refused(sidecar, "tls_protocol", more_than=1)

    def test_a_client_certificate_may_command_and_without_one_may_look(self):
        token = os.urandom(16).hex()
        tokens = self.folder / "tokens"
        tokens.touch(mode=0o600)
        tokens.write_text(token + "\n")
        stranger = Identity(self.folder / "stranger").take(
            *self.authority.issue(["DNS:stranger"]), self.authority.pem())
        with self.serving(f'client_ca = "{self.operators.certificate}"\n'
                          f'token_file = "{tokens}"') as sidecar:
            def elect(*options):
                return self.curl(self.url(sidecar, "/v1/elect"), "--request", "POST", *options)[0]

            self.assertEqual(self.curl(self.url(sidecar, "/livez"))[0], 200)  # as a probe does
            self.assertEqual(elect(), 401)
            self.assertEqual(elect(*self.certified()), 200)
            self.assertEqual(elect("--header", f"Authorization: Bearer {token}"), 200)
            self.assertEqual(elect(*self.certified(stranger)), 0)
            self.await_refused(sidecar, "tls_unknown_ca")
            sidecar.await_log('a command was asked for command=elect by="127.0.0.1:[0-9]+, '
                              'certificate ops.example.org"')
            self.assertEqual(sidecar.count("bellwether_api_writes_total", verb="elect",
                                           result="allowed"), 2)

    def test_a_page_of_another_site_cannot_use_the_certificate_of_its_reader(self):
        with self.serving(f'client_ca = "{self.operators.certificate}"') as sidecar:
            status, text, _ = self.curl(
                self.url(sidecar, "/v1/step-down"), "--request", "POST", *self.certified(),
                "--header", "Origin: https://evil.example")
            self.assertEqual(status, 403, text)

    def test_new_files_come_into_force_and_bad_ones_do_not(self):
        def shown(sidecar):
            return ssl.get_server_certificate(("127.0.0.1", sidecar.api_port), timeout=5)

        with self.serving() as sidecar:
            first = shown(sidecar)
            expiry = sidecar.get("/v1/status")["tls"]["api"]["certificate_expires"]
            certificate, key = self.authority.issue(HOST_NAMES, days=2)
            self.api.write(self.api.key, key)
            wait_until("the key alone is refused", lambda: sidecar.count(
                "bellwether_tls_last_reload_successful", use="api") == 0)
            flaw = (f"api.key {self.api.key} does not belong to api.cert {self.api.cert}; give the "
                    "two of one pair")
            self.assertEqual(sidecar.get("/v1/status")["tls"]["api"]["why_not_in_force"], flaw)
            sidecar.await_log(r"error .*the files of .api. are refused; what was in force stays "
                              f'error="{flaw}"')
            self.assertEqual(shown(sidecar), first)
            self.assertTrue(sidecar.is_ready())
            self.api.write(self.api.cert, certificate)

            def is_new_shown():
                # A handshake may be under way when the new ones come into force.
                with contextlib.suppress(ConnectionError):
                    return shown(sidecar) != first
            wait_until("the new one is shown", is_new_shown)
            self.assertEqual(shown(sidecar).strip(), certificate.strip())
            tls = sidecar.get("/v1/status")["tls"]["api"]
            self.assertGreater(tls["certificate_expires"], expiry)
            self.assertEqual(sidecar.count("bellwether_tls_last_reload_successful", use="api"), 1)
            self.assertGreater(sidecar.count("bellwether_tls_certificate_expiry_timestamp_seconds",
                                             use="api"), time.time() + 86400)

    def test_files_of_an_agent_are_taken_from_a_shared_folder(self):
        tokens = self.folder / "tokens"
        token = os.urandom(16).hex()
        tokens.write_text(token + "\n")
        for path in (self.api.key, self.api.cert, tokens):
            path.chmod(0o644)
            if os.geteuid() == 0:
                os.chown(path, 1337, 1337)
        served = f'cert = "{self.api.cert}"\nkey = "{self.api.key}"\nshared_folder = "on"\n'
        with self.serving(api=f'{served}token_file = "{tokens}"\n', metrics=served,
                          files=False) as sidecar:
            for port in (sidecar.api_port, sidecar.metrics_port):
                self.assertEqual(self.curl(self.url(sidecar, "/livez", port))[0], 200)
            self.assertEqual(self.curl(self.url(sidecar, "/v1/elect"), "--request", "POST",
                                       "--header", f"Authorization: Bearer {token}")[0], 200)
            result = self.run_program("elect", "--config", sidecar.config_file)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_without_a_usable_certificate_nobody_is_served_over_tcp(self):
        self.api.key.chmod(0o644)
        with self.serving() as sidecar:
            self.assertEqual(self.curl(self.url(sidecar, "/leader"))[0], 0)
            self.assertEqual(self.curl(f"http://127.0.0.1:{sidecar.api_port}/leader")[0], 0)
            sidecar.await_log("error .*files of .api. cannot be used; nobody is served over TCP "
                              'error="api.key .* may be read by everybody')
            self.api.key.chmod(0o600)
            wait_until("it is served",
                       lambda: self.curl(self.url(sidecar, "/leader"))[0] == 200)

    def test_who_says_nothing_is_closed_in_time_and_a_flood_moves_no_leader(self):
        with self.serving() as sidecar:
            started = time.monotonic()
            with socket.create_connection(("127.0.0.1", sidecar.api_port)) as silent:
                silent.settimeout(30)
                silent.send(b"\x16\x03\x01")
                self.assertEqual(silent.recv(1), b"")
            self.assertLess(time.monotonic() - started, 25)  # 10 s, on a machine that has time
            flood = [socket.create_connection(("127.0.0.1", sidecar.api_port))
                     for _ in range(700)]
            self.assertEqual(self.curl(self.url(sidecar, "/leader"))[0], 200)
            for stranger in flood:
                stranger.close()
            self.assertGreater(sidecar.count("bellwether_limit_hits_total",
                                             limit="http_handshakes"), 100)
            self.assertTrue(sidecar.is_leader())

    @unittest.skipIf(IS_SANITIZED, "a sanitizer's bookkeeping is not the sidecar's memory")
    def test_strangers_take_less_memory_than_a_pod_has(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with self.serving(metrics=f'cert = "{self.api.cert}"\nkey = "{self.api.key}"\n') as sidecar:
            ports = (sidecar.api_port, sidecar.metrics_port)
            with contextlib.ExitStack() as stack:
                def begin(port):
                    plain = socket.create_connection(("127.0.0.1", port))
                    stream = context.wrap_socket(stack.enter_context(plain),
                                                 do_handshake_on_connect=False)
                    stream.setblocking(False)
                    with contextlib.suppress(ssl.SSLWantReadError):
                        stream.do_handshake()
                    return stack.enter_context(stream)

                most = 0
                for port in ports:
                    half = [begin(port) for _ in range(500)]
                    self.assertEqual(self.curl(self.url(sidecar, "/livez", port))[0], 200)
                    most = max(most, sidecar.resident_mib())
                    for stream in half:
                        stream.close()
                    for _ in range(500):
                        stream = begin(port)
                        stream.setblocking(True)
                        stream.do_handshake()
                    self.assertEqual(self.curl(self.url(sidecar, "/livez", port))[0], 200)
                # The shipped manifests' limit is 64.
                self.assertLess(max(most, sidecar.resident_mib()), 48)
            self.assertTrue(sidecar.is_leader())

    def test_a_host_that_floods_does_not_keep_others_waiting(self):
        with self.serving() as sidecar:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            is_over = threading.Event()

            def flood():
                while not is_over.is_set():
                    with contextlib.suppress(OSError), socket.create_connection(
                            ("127.0.0.1", sidecar.api_port),
                            source_address=("127.0.0.9", 0)) as plain:
                        with context.wrap_socket(plain, do_handshake_on_connect=False) as stream:
                            stream.setblocking(False)
                            with contextlib.suppress(OSError):
                                stream.do_handshake()  # says HELLO, and goes
            strangers = [threading.Thread(target=flood) for _ in range(4)]
            for stranger in strangers:
                stranger.start()
            try:
                for _ in range(20):
                    self.assertEqual(self.curl(self.url(sidecar, "/livez"))[0], 200)
            finally:
                is_over.set()
                for stranger in strangers:
                    stranger.join()
            self.assertTrue(sidecar.is_leader())


class Metrics(Served):
    def test_only_who_has_a_certificate_is_served(self):
        with self.serving(metrics=f'cert = "{self.api.cert}"\nkey = "{self.api.key}"\n'
                                  f'client_ca = "{self.operators.certificate}"',
                          files=False) as sidecar:
            url = self.url(sidecar, "/metrics", sidecar.metrics_port)
            status, text, _ = self.curl(url, *self.certified())
            self.assertEqual((status, "bellwether_is_leader" in text), (200, True))
            self.assertEqual(self.curl(url)[0], 0)
            self.await_refused(sidecar, "tls_no_certificate", listener="metrics")
            # And the API is plain.
            self.assertEqual(self.curl(sidecar.api_url + "/leader")[0], 200)
            context = ssl.create_default_context(cafile=self.authority.certificate)
            context.load_cert_chain(self.operator.cert, self.operator.key)
            connection = http.client.HTTPSConnection("localhost", sidecar.metrics_port,
                                                     context=context, timeout=10)
            for _ in range(3):  # over one connection
                connection.request("GET", "/readyz")
                self.assertEqual(connection.getresponse().read()[:1], b"{")
            connection.close()


class CommandLine(Served):
    """The program's own client."""

    def run_fails(self, *arguments):
        result = self.run_program(*arguments)
        self.assertEqual(result.returncode, 1, result.stdout)
        return result.stderr

    def test_it_is_told_where_whom_to_believe_and_what_to_show(self):
        with self.serving(f'client_ca = "{self.operators.certificate}"') as sidecar:
            api = self.url(sidecar, "")
            known = ["--api", api, "--ca", self.authority.certificate]
            self.assertIn("n0 leads", self.run_program("status", *known).stdout)
            self.assertIn("a command needs a certificate", self.run_fails("elect", *known))
            result = self.run_program("elect", *known, *self.certified())
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("not signed by an authority that is trusted here", self.run_fails(
                "status", "--api", api, "--ca", self.operators.certificate))
            self.assertIn("TLS with 127.0.0.1:", self.run_fails("status", "--api", api))
            result = self.run_program("status", *known, "--cert", self.operator.cert)
            self.assertEqual(result.returncode, 2)
            self.assertIn("--cert and --key belong together", result.stderr)
            result = self.run_program("status", "--api", api.removeprefix("https://"), *known[2:])
            self.assertEqual(result.returncode, 2)
            self.assertIn("--ca, --cert and --key are for https", result.stderr)
            self.operator.key.chmod(0o644)
            self.assertRegex(self.run_fails("status", *known, *self.certified()),
                             "--key .* may be read by everybody")

    def test_the_name_is_compared(self):
        self.api.take(*self.authority.issue(["DNS:api.shop"]), self.authority.pem())
        with self.serving() as sidecar:
            self.assertIn("the server's certificate is for api.shop, not for 127.0.0.1",
                          self.run_fails("status", "--api", self.url(sidecar, ""), "--ca",
                                         self.authority.certificate))

    def test_by_the_configuration_the_very_certificate_is_known(self):
        """Whatever its name and its authority are; doctor asks so, too."""
        self.api.take(*self.authority.issue(["DNS:api.shop"]), self.authority.pem())
        token = self.folder / "token"
        token.touch(mode=0o600)
        token.write_text(os.urandom(16).hex() + "\n")
        with self.serving(f'token_file = "{token}"', metrics=(
                f'cert = "{self.api.cert}"\nkey = "{self.api.key}"')) as sidecar:
            text = sidecar.config_file.read_text()
            alone = self.folder / "alone.toml"
            alone.write_text(text.replace(f'socket = "{sidecar.socket_file}"', ""))
            for arguments in (["status"], ["elect"], ["watch", "--once"]):
                result = self.run_program(*arguments, "--config", alone)
                self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("api tls", self.run_program("status", "--config", alone).stdout)
            report = self.run_program("doctor", "--config", alone).stdout
            self.assertIn("the files of [api], [metrics] fit together", report)
            self.assertRegex(report, r"served at 127\.0\.0\.1:\d+")
            other = self.folder / "other.toml"
            other.write_text(alone.read_text().replace(str(self.api.cert),
                                                       str(self.operator.cert)))
            self.assertIn("TLS with", self.run_fails("status", "--config", other))


class Exposure(Served):
    """What is not loopback needs TLS, and somebody who may command."""

    def test_a_start_is_refused_without(self):
        with self.group(1) as group:
            sidecar, = group.sidecars
            text = group.config_of(sidecar).replace(f'listen = "127.0.0.1:{sidecar.api_port}"',
                                                    f'listen = "0.0.0.0:{sidecar.api_port}"')
            sidecar.write_config(text)
            result = self.run_program("check", sidecar.config_file)
            self.assertEqual(result.returncode, 3)
            self.assertIn("give api.cert and api.key, listen on 127.0.0.1", result.stderr)
            self.assertIn("give api.token_file, api.client_ca or", result.stderr)
            sidecar.start()
            self.assertEqual(sidecar.await_exit(), 3)
            sidecar.write_config(text.replace("[metrics]", "insecure = true\n[metrics]"))
            sidecar.start()
            group.await_leader(sidecar)
            sidecar.await_log("warn .*api.insecure: whoever reaches 0.0.0.0:")


if __name__ == "__main__":
    main()
