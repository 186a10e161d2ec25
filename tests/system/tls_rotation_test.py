#!/usr/bin/env python3
"""Files and modes of TLS between members change, and the leader stays.

usage: tls_rotation_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import itertools
import os
import unittest

from certificates import Authority, Identity
from harness import VARIANTS, wait_until
from system_case import PATIENT, main
from tls_case import HOST_NAMES, TlsCase

IS_ALL = bool(os.environ.get("BELLWETHER_TEST_CHANGE_OVERS"))


class ChangeOver(TlsCase):
    """From plain to TLS and back, one reload after the other, without losing the leader."""

    def change_over(self, **options):
        secret = self.secret(os.urandom(32).hex())
        with self.group(extra=PATIENT, tls=lambda _: "", **options) as group:
            group.start(*(["--bootstrap"] if options.get("voters") else []))
            with self.unmoved(group):
                self.await_security(group, "plain")
                self.set_mode(group, "permissive", secret)
                self.await_security(group, "psk")
                self.set_mode(group, "strict", secret)
                self.await_security(group, "psk")
                self.set_mode(group, "permissive", secret)
                self.await_security(group, "psk")
                self.set_mode(group, None, secret)
                self.await_security(group, "plain")
                for sidecar in group.sidecars:
                    sidecar.await_log("warn .*.tls. is off from now on")

    # These three have each size, each guard and each variant.
    def test_three_without_voters(self):
        self.change_over(size=3, variant="classic")

    def test_three_voters(self):
        self.change_over(size=3, voters=3, variant="modified")

    def test_five_voters(self):
        self.change_over(size=5, voters=5, variant="classic")

    @unittest.skipUnless(IS_ALL, "only with BELLWETHER_TEST_CHANGE_OVERS=all")
    def test_all_sizes_guards_and_variants(self):
        for size, votes, variant in itertools.product((3, 5), (False, True), VARIANTS):
            with self.subTest(size=size, votes=votes, variant=variant):
                self.change_over(size=size, voters=size if votes else 0, variant=variant)


class Expiry(TlsCase):
    """A certificate that is over while nobody renews it."""

    def test_it_is_told_and_another_one_repairs_it(self):
        with self.certified(2) as group:
            group.start()
            group.await_leader()
            late = group.sidecars[0]
            identity = self.identity(late)
            identity.take(*self.authority.issue(HOST_NAMES, private=None, seconds=8),
                          self.authority.pem())
            late.await_log("the files of .tls. are in force")
            wait_until("it is told", lambda: "has expired; renew it" in (
                late.get("/v1/status")["tls"]["why_not_in_force"] or ""))
            self.assertFalse(late.is_ready())
            self.assertEqual(late.count("bellwether_tls_last_reload_successful", use="members"), 0)
            identity.take(*self.authority.issue(HOST_NAMES), self.authority.pem())
            wait_until("it is ready", late.is_ready)
            self.await_security(group, "tls")


class Rotation(TlsCase):
    """New files come into force while a leader stays; bad ones do not."""

    def expiry(self, sidecar):
        return sidecar.count("bellwether_tls_certificate_expiry_timestamp_seconds")

    def test_certificates_that_are_written_file_by_file(self):
        with self.certified(voters=3) as group:
            group.start("--bootstrap")
            with self.unmoved(group):
                for sidecar in group.sidecars:
                    before = self.expiry(sidecar)
                    certificate, key = self.authority.issue(HOST_NAMES, days=2)
                    identity = self.identity(sidecar)
                    identity.write(identity.key, key)  # a moment in which it does not fit
                    wait_until("the key alone is refused", lambda each=sidecar: each.count(
                        "bellwether_tls_last_reload_successful", use="members") == 0)
                    identity.write(identity.cert, certificate)
                    wait_until("the new one is in force",
                               lambda each=sidecar, old=before: self.expiry(each) > old)
                    self.assertEqual(sidecar.count("bellwether_tls_last_reload_successful",
                                                   use="members"), 1)
                    self.assertIn(f"tls.key {identity.key} does not belong to tls.cert "
                                  f"{identity.cert}", sidecar.log())
                self.await_security(group, "tls")

    def test_one_after_the_other_in_quick_succession(self):
        """Each makes the links anew; with a detector as it is by itself."""
        with self.group(3, tls=lambda each: self.identity(each).table()) as group:
            group.start()
            with self.unmoved(group) as leader:
                for number in range(18):
                    self.identity(leader).take(*self.authority.issue(HOST_NAMES, days=2),
                                               self.authority.pem())
                    wait_until("it is in force", lambda count=number: leader.log().count(
                        "the files of [tls] are in force") > count)
                self.await_security(group, "tls")

    def test_a_folder_whose_link_is_swapped(self):
        """As Kubernetes changes a Secret."""
        with self.certified() as group:
            versions = {}
            for sidecar in group.sidecars:
                identity = self.identity(sidecar)
                versions[sidecar.name] = data = self.folder / f"{sidecar.name}.data"
                identity.folder.rename(self.folder / f"{sidecar.name}.1")
                data.symlink_to(self.folder / f"{sidecar.name}.1")
                identity.folder.symlink_to(data)
            group.start()
            with self.unmoved(group):
                for sidecar in group.sidecars:
                    before = self.expiry(sidecar)
                    following = Identity(self.folder / f"{sidecar.name}.2")
                    following.take(*self.authority.issue(HOST_NAMES, days=2), self.authority.pem())
                    link = self.folder / f"{sidecar.name}.new"
                    link.symlink_to(following.folder)
                    link.rename(versions[sidecar.name])
                    wait_until("the new one is in force",
                               lambda each=sidecar, old=before: self.expiry(each) > old)

    def test_another_authority(self):
        with self.certified(voters=3) as group:
            group.start("--bootstrap")
            with self.unmoved(group):
                other = Authority(self.folder, "other")
                for sidecar in group.sidecars:
                    identity = self.identity(sidecar)
                    identity.write(identity.ca, self.authority.pem() + other.pem())
                wait_until("both are believed", lambda: all(
                    "the files of [tls] are in force" in each.log() for each in group.sidecars))
                for sidecar in group.sidecars:
                    before = self.expiry(sidecar)
                    certificate, key = other.issue(HOST_NAMES, days=2)
                    identity = self.identity(sidecar)
                    identity.write(identity.key, key)
                    identity.write(identity.cert, certificate)
                    wait_until("the new one is in force",
                               lambda each=sidecar, old=before: self.expiry(each) > old)
                self.await_security(group, "tls")
                for sidecar in group.sidecars:
                    identity = self.identity(sidecar)
                    identity.write(identity.ca, other.pem())
                self.await_security(group, "tls")

    def test_a_secret(self):
        old, new = os.urandom(32).hex(), os.urandom(32).hex()
        secret = self.secret(old)
        with self.group(3, extra=PATIENT, voters=3,
                        tls=lambda _: f'[tls]\nsecret_file = "{secret}"') as group:
            group.start("--bootstrap")
            with self.unmoved(group):
                for step, lines in enumerate([(old, new), (new, old), (new,)], start=1):
                    self.secret(*lines)
                    wait_until("all have read it", lambda count=step: all(
                        each.log().count("the files of [tls] are in force") == count
                        for each in group.sidecars))
                    self.await_security(group, "psk")

    def test_a_secret_that_is_lost(self):
        """As OPERATIONS.md has it."""
        secret = self.secret(os.urandom(32).hex())
        with self.group(3, extra=PATIENT, voters=3,
                        tls=lambda _: f'[tls]\nsecret_file = "{secret}"') as group:
            group.start("--bootstrap")
            with self.unmoved(group):
                secret.unlink()
                for sidecar in group.sidecars:
                    sidecar.await_log("tls.secret_file .* cannot be read")
                self.set_mode(group, "permissive", secret)
                self.secret(os.urandom(32).hex())
                for sidecar in group.sidecars:
                    wait_until("it is ready", sidecar.is_ready)
                self.await_security(group, "psk")
                self.set_mode(group, "strict", secret)
                self.await_security(group, "psk")

    def test_what_is_of_no_use_is_refused_and_the_old_stays(self):
        with self.certified() as group:
            group.start()
            with self.unmoved(group) as leader:
                identity = self.identity(leader)
                good = identity.cert.read_text()
                bad = [("is empty", ""),
                       ("holds no certificate", "none\n"),
                       ("cut short or damaged", good[:200]),
                       ("has expired; renew it",
                        self.authority.issue(HOST_NAMES, -1, private=identity.key)[0]),
                       ("does not belong to tls.cert", self.authority.issue(HOST_NAMES)[0])]
                for words, text in bad:
                    identity.write(identity.cert, text)
                    leader.await_log(words)
                    status = leader.get("/v1/status")
                    self.assertIn(words, status["tls"]["why_not_in_force"])
                    self.assertFalse(status["is_ready"])
                identity.write(identity.cert, good)
                wait_until("it is ready", leader.is_ready)


if __name__ == "__main__":
    main()
