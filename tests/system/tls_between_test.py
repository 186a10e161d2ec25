#!/usr/bin/env python3
"""Somebody stands between members, or is a member that does not behave: no frame is taken that was
not said, connections end and are made anew, and the leader stays.

usage: tls_between_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import os
import signal
import socket
import ssl
import threading
import time

import meddling
import tls_clients
from certificates import Authority, Identity
from forged_frames import Impostor, fields_of, fixed, text, varint, voters_hash
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


def life_in(hello):
    """(id, boot, machine and network as HELLO has them) of who says this HELLO."""
    frame = fields_of(hello[32:32 + int.from_bytes(hello[4:6], "little")])
    member, ends = fields_of(frame[2]), fields_of(frame[13])
    return member[1], member[5], fixed(3, ends[3]) + fixed(4, ends[4])


class Members(BetweenCase):
    """That have what they need, and use it badly."""

    def context(self, identity, purpose):
        context = ssl.SSLContext(purpose)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.load_cert_chain(identity.cert, identity.key)
        context.set_alpn_protocols([tls_clients.PROTOCOL])
        return context

    def life_of(self, sidecar, identity, voters):
        context = self.context(identity, ssl.PROTOCOL_TLS_CLIENT)
        with socket.create_connection(("127.0.0.1", sidecar.peer_port), PATIENCE_S) as plain, \
                context.wrap_socket(plain) as stream:
            stream.sendall(Impostor("plain").hello(voters=voters))
            return life_in(stream.recv(16384))

    def greet(self, listener, identity, life, voters):
        """Answers the first member that dials, in the name "plain", as if it was that life."""
        member_id, boot, host = life
        plain, client = listener.accept()
        plain.settimeout(PATIENCE_S)
        here, there = (f"{host}:{port}" for host, port in (listener.getsockname(), client))
        fraud = Impostor("plain", identity=member_id, address=here)
        fraud.boot = boot
        with self.context(identity, ssl.PROTOCOL_TLS_SERVER).wrap_socket(
                plain, server_side=True) as stream:
            stream.recv(16384)
            stream.sendall(fraud.hello(voters=voters, more=varint(10, 1) + text(
                13, text(1, here) + text(2, there) + host)))
            return stream.recv(16384)

    def test_the_end_of_who_uses_the_leader_s_id_is_not_the_leader_s(self):
        """A voter has been started again, and the leader has not come back to it yet."""
        identity = Identity(self.folder / "plain")
        identity.take(*self.authority.issue(["DNS:plain.org"]), self.authority.pem())
        tables = {}
        def table(sidecar):
            return tables.setdefault(sidecar.name, self.identity(sidecar).table(
                members=["localhost", "plain.org"]))
        debug = '[log]\nlevel = "debug"\n'
        with self.group(3, extra=PATIENT + debug, voters=3, tls=table) as group, \
                socket.create_server(("127.0.0.1", free_ports(1)[0])) as listener:
            listener.settimeout(PATIENCE_S)
            group.start("--bootstrap")
            leader = group.await_leader()
            voters = voters_hash(sidecar.name for sidecar in group.sidecars)
            life = self.life_of(leader, identity, voters)
            witness = group.followers()[0]
            witness.kill()
            leader.send_signal(signal.SIGSTOP)
            witness.write_config(group.config_of(witness).replace(
                "peers = [", f'peers = ["127.0.0.1:{listener.getsockname()[1]}", '))
            witness.start()
            self.assertNotEqual(self.greet(listener, identity, life, voters), b"")
            listener.close()
            witness.await_log("connected peer=plain")
            leader.send_signal(signal.SIGCONT)
            group.await_leader()
            witness.await_state_of(leader, "alive")
            self.assertNotIn("proof of death", witness.log())

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
                target.await_log("renews keys and tickets, and says little")
                self.assertEqual(target.count(REJECTED, reason="tls_protocol"), 1)


if __name__ == "__main__":
    main()
