#!/usr/bin/env python3
"""Somebody stands between members, or is a member that does not behave: no frame is taken that was
not said, connections end and are made anew, and the leader stays.

usage: tls_between_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import os
import socket
import ssl
import threading
import time

import meddling
import tls_clients
from certificates import Authority, Identity
from harness import PATIENCE_S, free_ports, wait_until
from system_case import PATIENT, main
from tls_case import HOST_NAMES, TlsCase

REJECTED = "bellwether_rejected_frames_total"


class BetweenCase(TlsCase):
    """Flags are watched."""

    @contextlib.contextmanager
    def undisturbed(self, group):
        """The leader stays, and there are never two."""
        group.observe(self.observer)
        with self.unmoved(group) as leader:
            yield leader
        self.assertEqual(group.observer.doubles, [])

    def count(self, group, reason):
        return sum(sidecar.count(REJECTED, reason=reason) for sidecar in group.running)


class Records(BetweenCase):
    """Whoever passes them on."""

    def relayed(self):
        return meddling.RelayedGroup(
            self.program, 3, "[election]\n" + PATIENT, voters=3,
            tls=lambda sidecar: self.identity(sidecar).table())

    def test_what_is_changed_on_its_way_is_not_taken(self):
        with self.relayed() as group:
            group.start("--bootstrap")
            with self.undisturbed(group):
                for meddle in (meddling.flip, meddling.drop, meddling.duplicate, meddling.reorder):
                    before = self.count(group, "tls_protocol")
                    group.meddle(meddle)
                    wait_until(f"{meddle.__name__} is counted", lambda least=before: self.count(
                        group, "tls_protocol") > least)
                    group.meddle(None)
                    self.await_security(group, "tls")
                self.assertEqual(self.count(group, "bad_checksum"), 0)
                self.assertEqual(self.count(group, "malformed"), 0)

    def test_what_is_late_is_taken(self):
        with self.relayed() as group:
            group.start("--bootstrap")
            with self.undisturbed(group):
                before = self.count(group, "tls_protocol")
                for _ in range(3):
                    group.meddle(meddling.delay)
                    wait_until("a record was late", lambda: any(
                        relay.meddling is None for relay in group.relays.values()))
                self.await_security(group, "tls")
                self.assertEqual(self.count(group, "tls_protocol"), before)


class Servers(BetweenCase):
    """Who is dialled in place of a member, and can show a certificate, is told nothing."""

    def serve(self, listener, identity, heard):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(identity.cert, identity.key)
        context.set_alpn_protocols([tls_clients.PROTOCOL])
        with contextlib.suppress(OSError):
            while True:
                plain, _ = listener.accept()
                plain.settimeout(PATIENCE_S)
                with plain, contextlib.suppress(OSError):
                    with context.wrap_socket(plain, server_side=True) as stream:
                        heard.append(stream.recv(1))

    def test_a_server_that_is_no_member_hears_nothing(self):
        other = Authority(self.folder, "other")
        for reason, issued in (("tls_unknown_ca", other.issue(HOST_NAMES)),
                               ("tls_wrong_name", self.authority.issue(["DNS:elsewhere.org"]))):
            identity = Identity(self.folder / reason).take(*issued, other.pem())
            port, = free_ports(1)
            heard = []
            with self.certified(3) as group, socket.create_server(("127.0.0.1", port)) as listener:
                threading.Thread(target=self.serve, args=(listener, identity, heard),
                                 daemon=True).start()
                deceived = group.sidecars[0]
                deceived.write_config(group.config_of(deceived).replace(
                    "peers = [", f'peers = ["127.0.0.1:{port}", '))
                group.start()
                group.await_leader()
                self.await_rejected(deceived, reason)
                listener.shutdown(socket.SHUT_RDWR)
            self.assertEqual(b"".join(heard), b"")


class Members(BetweenCase):
    """That have what they need, and use it badly."""

    def test_renewals_of_keys_without_an_end(self):
        identity = Identity(self.folder / "flooder")
        identity.take(*self.authority.issue(HOST_NAMES), self.authority.pem())
        with self.certified(voters=3) as group:
            group.start("--bootstrap")
            with self.undisturbed(group) as target:
                # Without -quiet, which makes K a word like any other.
                command = [word for word in tls_clients.s_client(
                    target.peer_port, identity=identity) if word != "-quiet"]
                with tls_clients.running(command) as client:
                    while client.poll() is None:
                        with contextlib.suppress(OSError):
                            os.write(client.stdin.fileno(), b"K\n")
                        time.sleep(0.01)  # it looks at the first letter that it reads at once
                target.await_log("renews keys and tickets, and says nothing")
                self.assertEqual(target.count(REJECTED, reason="tls_protocol"), 1)


if __name__ == "__main__":
    main()
