#!/usr/bin/env python3
"""Whoever is not a member is refused for its reason, in the counter and in the log's words, and
changes nothing.  The clients are other people's programs.

usage: tls_strangers_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import dataclasses
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys

import forged_frames
import tls_clients
from certificates import Authority, Identity
from harness import PATIENCE_S, wait_until
from system_case import PATIENT, main
from tls_case import TlsCase
from tls_clients import client_hello, curl, gnutls, has_gnutls, s_client

HERE = pathlib.Path(__file__).resolve().parent
REJECTED = "bellwether_rejected_frames_total"
LIMITS = "bellwether_limit_hits_total"
DOMAIN = "orders.shop"
CA_LEAF = ("basicConstraints=critical,CA:TRUE", "keyUsage=critical,digitalSignature,keyCertSign")
RECORD_TOO_LONG = b"\x16\x03\x01" + (2**14 + 1).to_bytes(2, "big") + bytes(2**14 + 1)
FLOOD, FLOODS = 10_000, 4  # connections in all, and processes that make them


@dataclasses.dataclass
class Stranger:
    """Why a client is refused; it is a function of the port that it connects to."""

    reason: str
    words: str
    client: object  # gives a command, or bytes
    says: bytes = b""


class StrangersCase(TlsCase):
    """Members are told by a wildcard, and each refusal is looked for in another member's log: a log
    has one line a minute for each reason."""

    def member_names(self, sidecar):
        return ["IP:127.0.0.1", f"DNS:{sidecar.name}.{DOMAIN}"]

    def identity(self, sidecar, **wish):
        if sidecar.name not in self.identities:
            self.identities[sidecar.name] = self.bearer(names=self.member_names(sidecar), **wish)
        return self.identities[sidecar.name]

    def certified_by_domain(self, size=5):
        return self.group(size, extra=PATIENT, tls=lambda sidecar: self.identity(sidecar).table(
            members=[f"*.{DOMAIN}"]))

    def bearer(self, authority=None, names=(f"DNS:n9.{DOMAIN}",), **wish):
        authority = authority or self.authority
        identity = Identity(self.folder / f"bearer{len(list(self.folder.iterdir()))}")
        return identity.take(*authority.issue(list(names), **wish), authority.pem())

    def meet(self, target, stranger):
        before = target.count(REJECTED, reason=stranger.reason)
        logged = len(target.log())
        found = stranger.client(target.peer_port)
        if isinstance(found, bytes):
            tls_clients.say(target.peer_port, found)
        else:
            with tls_clients.running(found, stranger.says):
                pass
        self.await_rejected(target, stranger.reason, before)
        wait_until(f"{target.name}'s log says {stranger.words}",
                   lambda: re.search(rf'reason="?{stranger.reason}"?.*{stranger.words}',
                                     target.log()[logged:]))

    def meet_all(self, group, strangers):
        """One after the other, each reason at one member after the other."""
        met = {}
        for stranger in strangers:
            number = met.get(stranger.reason, 0)
            met[stranger.reason] = number + 1
            with self.subTest(reason=stranger.reason, words=stranger.words):
                self.meet(group.sidecars[number], stranger)


class Certificates(StrangersCase):
    """Of a group by certificates."""

    def strangers_by_certificate(self):
        def bears(identity, *arguments):
            return lambda port: s_client(port, *arguments, identity=identity)
        other = Authority(self.folder, "other")
        own = Identity(self.folder / "own")
        own.take(other.pem(), other.key.read_text(), "")
        yield Stranger("tls_unknown_ca", "authority that is trusted", bears(self.bearer(other)))
        yield Stranger("tls_unknown_ca", "authority that is trusted", bears(own))  # self-signed
        yield Stranger("tls_expired", "has expired; renew it", bears(self.bearer(days=-1)))
        yield Stranger("tls_expired", "not valid yet; look at the clocks",
                       bears(self.bearer(begins_s=3600, seconds=7200)))
        for name in ("n9.payments.shop", DOMAIN, f"a.b.{DOMAIN}", f"*.*.{DOMAIN}"):
            yield Stranger("tls_wrong_name", f"is for {re.escape(name)}; tls.members are",
                           bears(self.bearer(names=[f"DNS:{name}"])))
        yield Stranger("tls_wrong_name", "is for no name; tls.members are",
                       bears(self.bearer(names=[], common_name=f"n9.{DOMAIN}")))
        yield Stranger("tls_bad_certificate", "that of an authority",
                       bears(self.bearer(extensions=CA_LEAF)))
        yield Stranger("tls_bad_certificate", "has 2 URI names", bears(self.bearer(
            names=[f"DNS:n9.{DOMAIN}", "URI:spiffe://a.b/c", "URI:spiffe://a.b/d"])))
        yield Stranger("tls_bad_certificate", "key too (small|weak)",
                       bears(self.bearer(key="RSA-1024"), *tls_clients.WEAK))

    def test_certificates_that_are_not_a_members(self):
        with self.certified_by_domain(5) as group:
            group.start()
            with self.unmoved(group):
                self.meet_all(group, self.strangers_by_certificate())

    def test_a_member_s_certificate_is_not_enough(self):
        """It must speak TLS 1.3, and this protocol, and of this group."""
        member = self.bearer()
        hello = forged_frames.Impostor("n9", group="other").hello()
        long_chain = self.folder / "chain.pem"
        long_chain.write_text("".join(
            Authority(self.folder, f"link{number}").pem() for number in range(3)) * 14)
        strangers = [
            Stranger("tls_protocol", "does not speak TLS 1.3",
                     lambda port: s_client(port, "-tls1_2", identity=member)),
            Stranger("tls_protocol", "does not offer the protocol bellwether/1",
                     lambda port: curl(port, identity=member)),
            Stranger("tls_protocol", "does not offer the protocol bellwether/1",
                     lambda port: curl(port, "--no-alpn", identity=member)),
            Stranger("tls_protocol", "a longer chain of certificates than 16 KiB",
                     lambda port: s_client(port, "-cert_chain", long_chain, identity=member)),
            Stranger("tls_protocol", "broke the rules of TLS", lambda _: RECORD_TOO_LONG),
            Stranger("tls_plaintext", "does not speak TLS", lambda port: curl(port, scheme="http")),
            Stranger("tls_no_certificate", "shows no certificate", s_client),
            Stranger("foreign_group", "other", lambda port: s_client(port, identity=member), hello),
            Stranger("too_early", "", lambda port: s_client(port, identity=member),
                     forged_frames.frame("test", forged_frames.COORDINATOR, epoch=1 << 40)),
        ]
        with self.certified_by_domain(5) as group:
            group.start()
            with self.unmoved(group):
                self.meet_all(group, strangers)

    def test_programs_of_another_library(self):
        if not has_gnutls():
            self.skipTest("there is no gnutls-cli (package gnutls-bin)")
        member, other = self.bearer(), self.bearer(Authority(self.folder, "other"))
        strangers = [
            Stranger("tls_no_certificate", "shows no certificate", gnutls),
            Stranger("tls_unknown_ca", "authority that is trusted",
                     lambda port: gnutls(port, identity=other)),
            Stranger("tls_protocol", "does not speak TLS 1.3", lambda port: gnutls(
                port, identity=member, priority="NORMAL:-VERS-ALL:+VERS-TLS1.2")),
            Stranger("foreign_group", "other", lambda port: gnutls(port, identity=member),
                     forged_frames.Impostor("n9", group="other").hello()),
        ]
        with self.certified_by_domain(1) as group:
            group.start().await_leader()
            self.meet_all(group, strangers)


class Secrets(StrangersCase):
    """Of a group by a secret."""

    def test_other_secrets_and_none(self):
        def by(secret, group="test", key=None):
            identity, own_key = tls_clients.by_secret(secret, group)
            return ["-psk_identity", identity, "-psk", key or own_key]
        own, other = os.urandom(32).hex(), os.urandom(32).hex()
        hello = forged_frames.Impostor("n9", group="other").hello()
        words = "another secret, or certificates"
        strangers = [
            Stranger("tls_wrong_secret", words, lambda port: s_client(port, *by(other))),
            Stranger("tls_wrong_secret", words, lambda port: s_client(port, *by(own, "other"))),
            Stranger("tls_wrong_secret", words, lambda port: s_client(
                port, *by(own, key=tls_clients.by_secret(other)[1]))),
            Stranger("tls_wrong_secret", words,
                     lambda port: s_client(port, identity=self.bearer())),
            Stranger("tls_wrong_secret", words, s_client),
            # It has the right one, and is of another group all the same.
            Stranger("foreign_group", "other", lambda port: s_client(port, *by(own)), hello),
        ]
        secret = self.secret(own)
        with self.group(5, extra=PATIENT,
                        tls=lambda _: f'[tls]\nsecret_file = "{secret}"') as group:
            group.start()
            with self.unmoved(group):
                self.meet_all(group, strangers)


class Plain(StrangersCase):
    """Of a group without TLS."""

    def test_tls_is_not_understood(self):
        with self.group(5, extra=PATIENT, tls=lambda _: "") as group:
            group.start().await_leader()
            clients = [s_client, curl, lambda _: client_hello()] + [gnutls] * has_gnutls()
            strangers = [Stranger("bad_magic", "speaks TLS, but there is no .tls. here", client)
                         for client in clients]
            self.meet_all(group, strangers)


class Bytes(StrangersCase):
    """What no program says, but somebody in between can."""

    def test_a_recorded_session_is_of_no_use(self):
        context = tls_clients.client_context(self.bearer())
        with self.certified_by_domain(1) as group:
            target, = group.start().sidecars
            group.await_leader()
            with tls_clients.Talk(target.peer_port, context) as talk:
                talk.plain.sendall(talk.answer())
                talk.say(forged_frames.Impostor("n9", group="other").hello())
                tls_clients.await_end(talk.plain)
            self.assertEqual(target.count(REJECTED, reason="foreign_group"), 1)
            self.meet(target, Stranger("tls_protocol", "broke the rules", lambda _: talk.sent))
            self.assertEqual(target.count(REJECTED, reason="foreign_group"), 1)

    def test_no_session_is_resumed(self):
        context = tls_clients.client_context(self.bearer())
        with self.certified_by_domain(1) as group:
            target, = group.start().sidecars
            group.await_leader()
            session = None
            for _ in range(2):
                with tls_clients.Talk(target.peer_port, context, session) as talk:
                    talk.plain.sendall(talk.answer())
                    talk.say(b"\0")
                    tls_clients.await_end(talk.plain)
                    session = talk.tls.session
                    self.assertFalse(session.has_ticket)
                    self.assertFalse(talk.tls.session_reused)

    def test_a_handshake_that_stalls_anywhere_is_ended(self):
        """All at once; there is room for no more than 64."""
        context, hello = tls_clients.client_context(self.bearer()), client_hello()
        with self.certified_by_domain(3) as group:
            group.start()
            with self.unmoved(group) as target, contextlib.ExitStack() as stack:
                stalled = []
                for length in range(0, len(hello), len(hello) // 30):
                    plain = stack.enter_context(socket.create_connection(
                        ("127.0.0.1", target.peer_port)))
                    plain.sendall(hello[:length])
                    stalled.append(plain)
                for part in range(30):
                    talk = stack.enter_context(tls_clients.Talk(target.peer_port, context))
                    last = talk.answer()
                    talk.plain.sendall(last[:len(last) * part // 30])
                    stalled.append(talk.plain)
                for plain in stalled:
                    tls_clients.await_end(plain)
                self.assertEqual(target.count(LIMITS, limit="peer_silence"), len(stalled))
                self.assertEqual(target.count(LIMITS, limit="peer_connections"), 0)

    def test_forged_frames_without_tls_change_nothing(self):
        with self.certified() as group, self.unmoved(group.start()) as target:
            for kind in (forged_frames.HELLO, forged_frames.COORDINATOR, forged_frames.LEAVE):
                before = target.count(REJECTED, reason="tls_plaintext")
                tls_clients.say(target.peer_port,
                                forged_frames.frame("test", kind, epoch=1 << 40))
                self.await_rejected(target, "tls_plaintext", before)


class Flood(StrangersCase):
    """Ten thousand connections, each with a handshake to its end."""

    @contextlib.contextmanager
    def flooding(self, targets):
        """Until the block ends; gives a list that then has how many each process has made."""
        command = [sys.executable, HERE / "handshake_flood.py", "127.0.0.1",
                   *(str(target.peer_port) for target in targets)]
        floods = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
                  for _ in range(FLOODS)]
        made = []
        try:
            yield made
            for flood in floods:
                self.assertIsNone(flood.poll())
                flood.send_signal(signal.SIGTERM)
                made.append(int(flood.communicate(timeout=PATIENCE_S)[0]))
        finally:
            for flood in floods:
                flood.kill()
                flood.wait()
                flood.stdout.close()

    def test_a_flood_of_handshakes_while_the_leader_is_killed(self):
        with self.certified(voters=3) as group:
            group.start("--bootstrap")
            leader, epoch = group.await_leader(group.sidecars[-1]), group.sidecars[-1].epoch()
            group.observe(self.observer)
            targets = group.followers()

            def refused():
                return sum(target.count(REJECTED, reason="tls_no_certificate")
                           for target in targets)

            def await_refused(count):
                return wait_until(f"{count} are refused", lambda: refused() >= count,
                                  3 * PATIENCE_S)

            with self.flooding(targets) as made:
                await_refused(FLOOD // 3)
                before = refused()
                leader.kill()
                successor = group.await_leader()
                led_after = refused()
                await_refused(led_after + 100)  # it goes on
                await_refused(FLOOD)
                self.assertIs(group.await_leader(successor), successor)
            self.assertGreater(successor.epoch(), epoch)
            self.assertGreaterEqual(sum(made), FLOOD)
            self.assertEqual(group.observer.doubles, [])
            print(f"{made} connections; the leader was killed after {before}, and another one "
                  f"led after {led_after}")


if __name__ == "__main__":
    main()
