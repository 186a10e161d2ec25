#!/usr/bin/env python3
"""Other people's implementations of SPIFFE: peers that are made with go-spiffe, and certificates
that Consul has issued.  Skipped where foreign.sh has not fetched them.

usage: tls_foreign_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import json
import subprocess
import urllib.request

import forged_frames
from certificates import Identity, openssl
from foreign import CONSUL, go_program, has_go
from harness import PATIENCE_S, free_ports, wait_until
from system_case import PATIENT, main
from tls_case import TlsCase

GO_SPIFFE = "github.com/spiffe/go-spiffe"
MEMBER = "spiffe://shop.test/orders"
STRANGER = "spiffe://shop.test/payments"
REJECTED = "bellwether_rejected_frames_total"


class ForeignCase(TlsCase):
    """Members share a SPIFFE id."""

    def svid(self, spiffe_id=MEMBER):
        identity = Identity(self.folder / f"svid{len(list(self.folder.iterdir()))}")
        return identity.take(*self.authority.issue([f"URI:{spiffe_id}"]), self.authority.pem())

    def group_of(self, identity, member=MEMBER, size=1):
        return self.group(size, extra=PATIENT, tls=lambda _: identity.table(members=[member]))


class GoSpiffe(ForeignCase):
    """A peer that knows the members' rules from the SPIFFE project's own library."""

    def setUp(self):
        if not has_go(GO_SPIFFE):
            self.skipTest("there is no go-spiffe (see foreign.sh)")
        super().setUp()

    def command(self, way, port, identity, welcome=MEMBER):
        return [go_program("spiffe_peer"), way, f"127.0.0.1:{port}", identity.cert, identity.key,
                identity.ca, welcome]

    def dial(self, sidecar, identity, **words):
        hello = forged_frames.Impostor("n9", group="other").hello()
        return subprocess.run(self.command("dial", sidecar.peer_port, identity, **words),
                              input=hello, check=False, stdout=subprocess.PIPE,
                              timeout=PATIENCE_S).stdout.decode()

    def test_it_dials(self):
        with self.group_of(self.svid()) as group:
            sidecar, = group.start().sidecars
            group.await_leader()
            self.assertEqual(self.dial(sidecar, self.svid()), f"met {MEMBER}\n")
            self.await_rejected(sidecar, "foreign_group")  # which it has said by TLS
            for reason, spiffe_id, words in (
                    ("tls_wrong_name", STRANGER, f"is for {STRANGER}; tls.members are"),
                    ("tls_wrong_name", "spiffe://elsewhere.test/orders", "")):
                before = sidecar.count(REJECTED, reason=reason)
                # It believes the bundle for its own trust domain alone, so for the sidecar's too.
                identity = self.svid(spiffe_id)
                self.assertIn("failed: ", self.dial(sidecar, identity))
                self.await_rejected(sidecar, reason, before)
                sidecar.await_log(words)
            self.assertEqual(sidecar.count(REJECTED, reason="foreign_group"), 1)

    def test_it_dials_and_refuses_the_sidecar(self):
        with self.group_of(self.svid()) as group:
            sidecar, = group.start().sidecars
            group.await_leader()
            self.assertIn("failed: ", self.dial(sidecar, self.svid(), welcome=STRANGER))
            self.await_rejected(sidecar, "tls_refused")

    @contextlib.contextmanager
    def listening(self, identity, **words):
        """Yields its port, and a function that gives its next line."""
        port, = free_ports(1)
        with subprocess.Popen(self.command("listen", port, identity, **words), text=True,
                              stdout=subprocess.PIPE) as peer:
            try:
                self.assertEqual(peer.stdout.readline(), "listens\n")
                yield port, peer.stdout.readline
            finally:
                peer.kill()

    def dialled_from(self, port):
        """A sidecar that has it for its one peer."""
        group = self.group_of(self.svid())
        sidecar, = group.sidecars
        sidecar.write_config(group.config_of(sidecar).replace("peers = [",
                                                              f'peers = ["127.0.0.1:{port}", '))
        return group

    def test_it_is_dialled(self):
        for identity, line, reason in (
                (self.svid(), f"met {MEMBER}\n", None),
                # Not which alert: OpenSSL's clients send it in the clear here, Go reads none such.
                (self.svid(STRANGER), "failed: ", "tls_wrong_name")):
            with self.listening(identity) as (port, next_line), self.dialled_from(port) as group:
                sidecar, = group.start().sidecars
                self.assertIn(line, next_line())
                if reason is not None:
                    group.await_leader()
                    self.await_rejected(sidecar, reason)

    def test_it_is_dialled_and_refuses_the_sidecar(self):
        with self.listening(self.svid(), welcome=STRANGER) as (port, next_line), \
                self.dialled_from(port) as group:
            sidecar, = group.start().sidecars
            self.assertIn("unexpected ID", next_line())
            group.await_leader()
            self.await_rejected(sidecar, "tls_refused")


class Consul(ForeignCase):
    """Its own authority, with certificates for services."""

    def setUp(self):
        if not CONSUL.exists():
            self.skipTest("there is no consul (see foreign.sh)")
        super().setUp()
        self.url = self.enterContext(self.agent())

    @contextlib.contextmanager
    def agent(self):
        http, server, lan, wan = free_ports(4)
        with open(self.folder / "consul.log", "wb") as log, subprocess.Popen(
                [CONSUL, "agent", "-dev", "-bind", "127.0.0.1", "-http-port", str(http),
                 "-server-port", str(server), "-serf-lan-port", str(lan), "-serf-wan-port",
                 str(wan), "-dns-port", "-1", "-grpc-port", "-1"], stdout=log, stderr=log) as agent:
            try:
                yield f"http://127.0.0.1:{http}/v1/agent/connect/ca"
            finally:
                agent.kill()

    def get(self, path):
        try:
            with urllib.request.urlopen(f"{self.url}/{path}", timeout=PATIENCE_S) as answer:
                return json.load(answer)
        except OSError:
            return None

    def issued_to(self, service):
        """(identity, SPIFFE id)"""
        roots = wait_until("consul has an authority",
                           lambda: (self.get("roots") or {}).get("Roots"))
        leaf = wait_until("consul signs", lambda: self.get(f"leaf/{service}"))
        identity = Identity(self.folder / service)
        identity.take(leaf["CertPEM"], leaf["PrivateKeyPEM"],
                      "\n".join(root["RootCert"] for root in roots))
        return identity, leaf["ServiceURI"]

    def test_its_services_are_members_and_strangers(self):
        identity, spiffe_id = self.issued_to("orders")
        stranger, other_id = self.issued_to("payments")
        with self.group_of(identity, spiffe_id, 3) as group:
            group.start().await_leader()
            self.await_security(group, "tls")
            odd = group.sidecars[0]
            self.assertEqual(odd.members()["n1"]["certificate"], spiffe_id)
            odd.kill()
            with self.unmoved(group) as leader:
                odd.write_config(group.config_of(odd).replace(
                    identity.table(members=[spiffe_id]), stranger.table(members=[other_id])))
                odd.start()
                self.await_rejected(leader, "tls_wrong_name")
                odd.kill()

    def test_go_spiffe_believes_them_as_well(self):
        if not has_go(GO_SPIFFE):
            self.skipTest("there is no go-spiffe (see foreign.sh)")
        identity, spiffe_id = self.issued_to("orders")
        old_form = identity.folder / "ec.key"  # which go-spiffe does not read
        identity.key.rename(old_form)
        openssl("pkcs8", "-topk8", "-nocrypt", "-in", old_form, "-out", identity.key)
        with self.group_of(identity, spiffe_id) as group:
            sidecar, = group.start().sidecars
            group.await_leader()
            peer = subprocess.run(
                [go_program("spiffe_peer"), "dial", f"127.0.0.1:{sidecar.peer_port}", identity.cert,
                 identity.key, identity.ca, spiffe_id], input=forged_frames.Impostor(
                     "n9", group="other").hello(), check=False, stdout=subprocess.PIPE,
                timeout=PATIENCE_S)
            self.assertEqual(peer.stdout.decode(), f"met {spiffe_id}\n")
            self.await_rejected(sidecar, "foreign_group")


if __name__ == "__main__":
    main()
