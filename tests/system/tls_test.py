#!/usr/bin/env python3
"""Members know each other: by certificates, or by one secret.  Strangers, and members whose files
are of no use, change nothing but counters.

usage: tls_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import os
import signal
import socket
import ssl
import subprocess

import forged_frames
from certificates import Authority, Identity
from harness import PATIENCE_S, wait_until
from system_case import main
from tls_case import HOST_NAMES, TlsCase


class Members(TlsCase):
    """A group by TLS is a group like any other."""

    def test_a_killed_leader_is_succeeded_among_certificates(self):
        with self.certified(voters=3) as group:
            group.start("--bootstrap")
            leader = group.await_leader()
            self.await_security(group, "tls")
            for member in leader.members().values():
                if not member["is_self"]:
                    self.assertEqual(member["certificate"], "localhost, 127.0.0.1")
            leader.kill()
            group.await_leader()

    def test_keygen_makes_the_secret_of_a_group(self):
        secret = self.folder / "made"
        self.assertEqual(self.run_program("keygen", "--output", secret).returncode, 0)
        self.assertEqual(secret.stat().st_mode & 0o777, 0o600)
        again = self.run_program("keygen", "--output", secret)
        self.assertEqual(again.returncode, 1)
        self.assertIn(f"{secret} cannot be made: File exists", again.stderr)
        with self.group(3, tls=lambda _: f'[tls]\nsecret_file = "{secret}"') as group:
            group.start()
            group.await_leader()
            self.await_security(group, "psk")
            for sidecar in group.sidecars:
                self.assertEqual(
                    sidecar.count("bellwether_peer_connections", security="psk"), 2)
                self.assertNotIn(secret.read_text().strip(), sidecar.log())

    def test_the_doctor_asks_members_by_tls(self):
        with self.certified() as group:
            group.start()
            sidecar = group.await_leader()
            result = self.run_program("doctor", "--config", sidecar.config_file, "--json")
            self.assertNotIn('"unreachable"', result.stdout)
            self.assertIn('"check":"reach","verdict":"ok"', result.stdout)
            self.assertEqual(sidecar.count("bellwether_rejected_frames_total",
                                           reason="tls_plaintext"), 0)

    def test_a_voters_name_belongs_to_its_certificate(self):
        """One whose certificate is for another host takes the name of a voter that is gone."""
        with self.certified(voters=3) as group:
            group.start("--bootstrap")
            group.await_leader()
            impostor = group.sidecars[0]
            impostor.kill()
            identity = self.identity(impostor)
            elsewhere = self.authority.issue(["DNS:elsewhere.org"])
            identity.take(*elsewhere, self.authority.pem())
            # The others believe all of the authority's, so only the voter's name is in the way.
            members = ["elsewhere.org", "localhost"]
            impostor.write_config(group.config_of(impostor).replace(
                identity.table(), identity.table(members=members)))
            for sidecar in group.sidecars[1:]:
                sidecar.write_config(group.config_of(sidecar).replace(
                    self.identity(sidecar).table(), self.identity(sidecar).table(members=members)))
                sidecar.await_log(r"the files of \[tls\] are in force")
            with self.unmoved_by(group.sidecars[1:]):
                impostor.start()
                for sidecar in group.sidecars[1:]:
                    self.await_rejected(sidecar, "tls_wrong_name")
                    sidecar.await_log("the peer's certificate is for elsewhere.org, this voter is "
                                      "127.0.0.1")


class Strangers(TlsCase):
    """Whoever is not a member is refused, counted, and changes nothing."""

    def group_and_target(self):
        group = self.certified()
        group.start()
        return group, group.await_leader()

    def shake_hands(self, port, version=ssl.TLSVersion.TLSv1_3, identity=None, alpn=True):
        """As a client of Python's; an error, or what it has got, as text."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.minimum_version = context.maximum_version = version
        if alpn:
            context.set_alpn_protocols(["bellwether/1"])
        if identity is not None:
            context.load_cert_chain(identity.cert, identity.key)
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as plain:
                with context.wrap_socket(plain) as stream:
                    stream.settimeout(PATIENCE_S)
                    stream.sendall(forged_frames.frame("test", forged_frames.LEAVE, epoch=1))
                    return str(stream.recv(1))
        except OSError as error:
            return str(error)

    def stranger(self, authority, names=None, **wish):
        identity = Identity(self.folder / f"stranger{len(list(self.folder.iterdir()))}")
        return identity.take(*authority.issue(HOST_NAMES if names is None else names, **wish),
                             authority.pem())

    def test_each_kind_is_refused_for_its_reason(self):
        other = Authority(self.folder, "other")
        authority = ("basicConstraints=critical,CA:TRUE",
                     "keyUsage=critical,digitalSignature,keyCertSign")
        kinds = [
            ("tls_no_certificate", {}),
            ("tls_protocol", {"version": ssl.TLSVersion.TLSv1_2}),
            ("tls_protocol", {"identity": self.stranger(self.authority), "alpn": False}),
            ("tls_unknown_ca", {"identity": self.stranger(other)}),
            ("tls_wrong_name", {"identity": self.stranger(self.authority, ["DNS:elsewhere.org"])}),
            ("tls_wrong_name", {"identity": self.stranger(self.authority, [])}),
            ("tls_wrong_name", {"identity": self.stranger(self.authority, ["DNS:*.0.0.1"])}),
            ("tls_bad_certificate",
             {"identity": self.stranger(self.authority, extensions=authority)}),
            ("tls_wrong_name", {"identity": self.stranger(
                self.authority, ["URI:spiffe://a.b/c"])}),
            ("tls_bad_certificate", {"identity": self.stranger(
                self.authority, [*HOST_NAMES, "URI:spiffe://a.b/c", "URI:spiffe://a.b/d"])}),
            ("tls_bad_certificate", {"identity": self.stranger(
                self.authority, [*HOST_NAMES, "URI:spiffe://a.b"])}),
        ]
        group, target = self.group_and_target()
        with group, self.unmoved(group):
            for reason, words in kinds:
                before = target.count("bellwether_rejected_frames_total", reason=reason)
                answer = self.shake_hands(target.peer_port, **words)
                self.await_rejected(target, reason, before)
                # By an alert that says why; for a missing ALPN there is none at that point.
                self.assertEqual(answer == "b''", "alpn" in words, f"{reason}: {words}: {answer}")
            target.await_log("the peer's certificate is for elsewhere.org; peers and voters are at")

    def test_forged_frames_without_tls_change_nothing(self):
        group, target = self.group_and_target()
        with group, self.unmoved(group):
            for kind in (forged_frames.HELLO, forged_frames.COORDINATOR, forged_frames.LEAVE):
                before = target.count("bellwether_rejected_frames_total", reason="tls_plaintext")
                with socket.create_connection(("127.0.0.1", target.peer_port)) as plain:
                    plain.sendall(forged_frames.frame("test", kind, epoch=1 << 40))
                    plain.settimeout(PATIENCE_S)
                    with contextlib.suppress(ConnectionError):
                        while plain.recv(100):
                            pass
                self.await_rejected(target, "tls_plaintext", before)

    def test_a_handshake_that_stalls_at_any_byte_is_ended(self):
        """A real one, cut off after each of its first bytes; all at once."""
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        stream = context.wrap_bio(incoming, outgoing)
        with contextlib.suppress(ssl.SSLWantReadError):
            stream.do_handshake()
        hello = outgoing.read()
        group, target = self.group_and_target()
        with group, self.unmoved(group), contextlib.ExitStack() as stack:
            for count in range(1, len(hello), 8):
                plain = stack.enter_context(socket.create_connection(
                    ("127.0.0.1", target.peer_port)))
                plain.sendall(hello[:count])
                plain.settimeout(PATIENCE_S)
                if count % 64 == 1:  # there is room for no more than 64
                    with contextlib.suppress(ConnectionError):
                        self.assertEqual(plain.recv(1), b"")

    def test_a_flood_of_handshakes_while_the_leader_is_killed(self):
        with self.certified(voters=3) as group:
            group.start("--bootstrap")
            leader = group.await_leader()
            target = group.followers()[0]
            flood = subprocess.Popen(
                [os.path.join(os.path.dirname(os.path.abspath(__file__)), "handshake_flood.py"),
                 "127.0.0.1", str(target.peer_port), "10000"])
            try:
                wait_until("the flood is there", lambda: target.count(
                    "bellwether_rejected_frames_total", reason="tls_no_certificate") > 100)
                leader.kill()
                group.await_leader()
            finally:
                flood.send_signal(signal.SIGTERM)
                flood.wait()


class Start(TlsCase):
    """A sidecar whose files are not there yet waits for them, and is no group of its own."""

    def test_without_its_files_it_waits(self):
        with self.certified() as group:
            late = group.sidecars[-1]  # would lead
            folder = self.identity(late).folder
            folder.rename(self.folder / "elsewhere")
            group.start()
            wait_until("the others have a leader",
                       lambda: group.sidecars[0].leader() == group.sidecars[1].name)
            status = wait_until("it answers", lambda: late.get("/v1/status"))
            self.assertFalse(late.is_ready())
            self.assertIn("tls.key", status["why_not_ready"])
            self.assertIsNone(late.leader())
            for path, body in (("/v1/elect", None), ("/v1/step-down", {})):
                self.assertEqual(late.request("POST", path, body)[0], 409)
            (self.folder / "elsewhere").rename(folder)
            group.await_leader(late)

    def test_while_it_waits_it_ends_in_good_order(self):
        with self.certified(1) as group:
            sidecar, = group.sidecars
            self.identity(sidecar).key.unlink()
            sidecar.start()
            wait_until("it answers", lambda: sidecar.get("/v1/status"))
            self.assertEqual(sidecar.stop(), 0)

    def test_a_key_that_others_can_read_is_refused(self):
        with self.certified(1) as group:
            sidecar, = group.sidecars
            key = self.identity(sidecar).key
            key.chmod(0o644)
            sidecar.start()
            sidecar.await_log("error .*may be read by everybody; chmod o=")
            self.assertFalse(sidecar.is_ready())
            key.chmod(0o600)
            wait_until("it is ready", sidecar.is_ready)


if __name__ == "__main__":
    main()
