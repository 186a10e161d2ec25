#!/usr/bin/env python3
"""Webhooks by https, and their signatures, as a receiver checks them that knows the specification
and nothing of Bellwether.

usage: hook_security_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import base64
import contextlib
import hashlib
import hmac
import http.server
import json
import os
import ssl
import threading
import time

from certificates import Authority, Identity
from harness import wait_until
from system_case import main
from tls_case import HOST_NAMES, TlsCase

USE = {"use": "hooks"}


def is_signed_by(secret, headers, body):
    """As standardwebhooks.com has it."""
    key = secret.encode()
    if secret.startswith("whsec_"):
        key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    is_recent = abs(time.time() - int(headers["webhook-timestamp"])) < 300
    return is_recent and any(hmac.compare_digest(signature, f"v1,{expected}")
                             for signature in headers["webhook-signature"].split(" "))


class Receiver:
    """Keeps what it is sent, and answers as it is told; a context manager."""

    def __init__(self, context=None):
        self.requests = []  # (headers, body)
        self.status = 204
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # pylint: disable=invalid-name
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.append((self.headers, body))
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def finish_request(self, request, client_address):
                with contextlib.suppress(ssl.SSLError, OSError):  # a client that refuses it
                    if context is not None:
                        request = context.wrap_socket(request, server_side=True)
                    with request:
                        super().finish_request(request, client_address)

        self.server = Server(("127.0.0.1", 0), Handler)
        scheme = "http" if context is None else "https"
        self.url = f"{scheme}://localhost:{self.server.server_port}/leadership"
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class HookCase(TlsCase):
    @contextlib.contextmanager
    def telling(self, receiver, *lines, size=1):
        """The leader of a group, which tells it."""
        hook = "\n".join(["[[hook]]", f'url = "{receiver.url}"', *lines])
        with self.group(size, extra=hook) as group:
            for follower in group.sidecars[:-1]:
                follower.write_config(group.config_of(follower, extra=""))
            group.start().await_leader(group.sidecars[-1])
            yield group.sidecars[-1]

    def await_told(self, receiver, count=1):
        wait_until("it is told", lambda: len(receiver.requests) >= count)
        return receiver.requests[-1]

    def tell_again(self, sidecar):
        """It steps down, and takes leadership back."""
        wait_until("it leads", sidecar.is_leader)
        sidecar.request("POST", "/v1/step-down", {"hold": "100ms"})

    def secret_file(self, *lines):
        path = self.folder / "hook.secret"
        path.touch(mode=0o600)
        path.write_text("".join(f"{line}\n" for line in lines))
        return path


class Https(HookCase):
    def context(self, names, clients=None):
        identity = Identity(self.folder / "receiver").take(*self.authority.issue(names),
                                                           self.authority.pem())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(identity.cert, identity.key)
        if clients is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(clients.certificate)
        return context

    def test_a_receiver_that_is_believed_is_told(self):
        with Receiver(self.context(HOST_NAMES)) as receiver:
            with self.telling(receiver, f'ca = "{self.authority.certificate}"') as sidecar:
                headers, body = self.await_told(receiver)
                self.assertEqual(json.loads(body)["data"]["leader"]["name"], "n0")
                self.assertIsNone(headers["webhook-signature"])
                self.assertTrue(headers["Host"].startswith("localhost:"))
                self.assertEqual(sidecar.count("bellwether_tls_last_reload_successful", **USE), 1)

    def test_one_of_another_name_or_authority_is_told_nothing(self):
        stranger = Authority(self.folder, "stranger")
        for names, ca, why in (
                (["DNS:elsewhere.shop"], self.authority, "for elsewhere.shop, not for localhost"),
                (HOST_NAMES, stranger, "not signed by an authority that is trusted here")):
            with self.subTest(why=why), Receiver(self.context(names)) as receiver:
                with self.telling(receiver, f'ca = "{ca.certificate}"') as sidecar:
                    sidecar.await_log(f"warn .*a webhook failed .*TLS with localhost:.*{why}")
                    wait_until("it is counted", lambda each=sidecar: each.count(
                        "bellwether_hook_deliveries_total", result="failed") > 1)
                    self.assertEqual(receiver.requests, [])

    def test_without_ca_the_system_decides(self):
        with Receiver(self.context(HOST_NAMES)) as receiver:
            with self.telling(receiver) as sidecar:
                sidecar.await_log("a webhook failed .*(not signed by|no file of authorities)")
                self.assertEqual(receiver.requests, [])
            os.environ["SSL_CERT_FILE"] = str(self.authority.certificate)
            self.addCleanup(os.environ.pop, "SSL_CERT_FILE")
            with self.telling(receiver):
                self.await_told(receiver)

    def test_both_know_each_other_and_a_rotation_needs_no_reload(self):
        senders = Authority(self.folder, "senders")
        sender = Identity(self.folder / "sender").take(*self.authority.issue(["DNS:orders"]),
                                                       self.authority.pem())
        with Receiver(self.context(HOST_NAMES, senders)) as receiver:
            with self.telling(receiver, f'ca = "{self.authority.certificate}"',
                              f'cert = "{sender.cert}"', f'key = "{sender.key}"',
                              size=2) as sidecar:
                sidecar.await_log("a webhook failed")  # its certificate is of the wrong authority
                sender.take(*senders.issue(["DNS:orders"], days=2), "")
                self.await_told(receiver)
                self.assertGreater(sidecar.count(
                    "bellwether_tls_certificate_expiry_timestamp_seconds", **USE),
                    time.time() + 86400)
                sender.write(sender.key, "none")
                wait_until("that is refused", lambda: sidecar.count(
                    "bellwether_tls_last_reload_successful", **USE) == 0)
                self.assertIn(f"hook[1].key {sender.key} holds no private key",
                              sidecar.get("/v1/status")["tls"]["hooks"]["why_not_in_force"])
                told = len(receiver.requests)
                self.tell_again(sidecar)  # with what was in force
                self.await_told(receiver, told + 1)


class Signature(HookCase):
    def test_the_receiver_knows_the_sender_and_a_retry_has_the_same_id(self):
        secret = "whsec_" + base64.b64encode(os.urandom(32)).decode()
        with Receiver() as receiver:
            receiver.status = 503
            with self.telling(receiver, f'secret_file = "{self.secret_file(secret)}"') as sidecar:
                self.await_told(receiver, 3)
                receiver.status = 204
                wait_until("it is delivered", lambda: sidecar.count(
                    "bellwether_hook_deliveries_total", result="delivered") == 1)
                first = receiver.requests[:3]
                self.assertEqual(len({headers["webhook-id"] for headers, _ in first}), 1)
                for headers, body in receiver.requests:
                    self.assertTrue(is_signed_by(secret, headers, body))
                    self.assertEqual(headers["webhook-id"], json.loads(body)["id"])
                    self.assertFalse(is_signed_by(secret, headers, body + b" "))
                    self.assertFalse(is_signed_by("x" * 24, headers, body))
                self.assertNotIn(secret, sidecar.log())

    def test_a_secret_is_replaced_while_both_are_in_force(self):
        old, new = "an-old-secret-of-24-bytes", "whsec_" + "YWJj" * 10
        with Receiver() as receiver:
            path = self.secret_file(old)
            with self.telling(receiver, f'secret_file = "{path}"', size=2) as sidecar:
                self.assertTrue(is_signed_by(old, *self.await_told(receiver)))
                for lines, signed_by, not_by in (((new, old), (old, new), ()),
                                                 ((new,), (new,), (old,))):
                    self.secret_file(*lines)

                    def is_so(signed_by=signed_by, not_by=not_by):
                        told = len(receiver.requests)
                        self.tell_again(sidecar)
                        headers, body = self.await_told(receiver, told + 1)
                        return (all(is_signed_by(secret, headers, body) for secret in signed_by) and
                                not any(is_signed_by(secret, headers, body) for secret in not_by))
                    wait_until(f"signed by {signed_by}", is_so)

    def test_nothing_is_sent_without_a_secret_that_nobody_else_can_read(self):
        path = self.secret_file("a-secret-of-24-characters")
        path.chmod(0o644)
        with Receiver() as receiver:
            with self.telling(receiver, f'secret_file = "{path}"') as sidecar:
                sidecar.await_log(r"error .*the files of a webhook cannot be used.*"
                                  r"hook\[1\].secret_file .* may be read by everybody")
                result = self.run_program("check", sidecar.config_file)
                self.assertIn("may be read by everybody", result.stderr)
                # One more in front of it: its keys have another name.
                sidecar.write_config(sidecar.config_file.read_text().replace(
                    "[[hook]]", '[[hook]]\nurl = "http://127.0.0.1:9/"\n\n[[hook]]', 1))
                wait_until("its number is that of the file", lambda: "hook[2].secret_file" in (
                    sidecar.get("/v1/status")["tls"]["hooks"]["why_not_in_force"] or ""))
                self.assertEqual(receiver.requests, [])
                path.chmod(0o600)
                self.assertIsNotNone(self.await_told(receiver)[0]["webhook-signature"])
                sidecar.await_log("the files of a webhook are in force url=")

    def test_keygen_makes_a_secret_which_an_agent_may_put_into_a_shared_folder(self):
        path = self.folder / "made"
        self.assertEqual(self.run_program("keygen", "--webhook", "--output", path).returncode, 0)
        secret = path.read_text().strip()
        self.assertRegex(secret, "^whsec_[A-Za-z0-9+/]{43}=$")
        path.chmod(0o644)
        if os.geteuid() == 0:
            os.chown(path, 1337, 1337)
        with Receiver() as receiver:
            with self.telling(receiver, f'secret_file = "{path}"', 'shared_folder = "on"'):
                self.assertTrue(is_signed_by(secret, *self.await_told(receiver)))


if __name__ == "__main__":
    main()
