#!/usr/bin/env python3
"""Secrets, certificates and authorities that are of no use, or are refused: each error, and the
log of the side that refuses, says what to do; that is done, and the group is whole again.

usage: advice_secrets_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import os
import re

from advice_case import FIX_THE_FILE, AdviceCase
from certificates import Authority
from harness import wait_until
from system_case import PATIENT, main

DAY = 86400
LEAF = "basicConstraints=critical,CA:FALSE"
SIGNS = "keyUsage=critical,digitalSignature"


def new_secret():
    return os.urandom(32).hex()


class Secrets(AdviceCase):
    def test_a_file_of_secrets_is_fixed(self):
        good = new_secret()
        many = [new_secret() for _ in range(8)]
        flaws = ((("too short",), "line 1 is not a secret of 64 hexadecimal digits; make one with "
                  '"bellwether keygen"'),
                 (("",), 'holds no secret; make one with "bellwether keygen"'),
                 ((good, *many), "holds more than [0-9]+ secrets; take out the oldest"))
        with self.group(3, extra=PATIENT, voters=3,
                        tls=lambda _: f'[tls]\nsecret_file = "{self.secret(good)}"') as group:
            group.start("--bootstrap")
            with self.unmoved(group) as leader:
                for lines, words in flaws:
                    with self.subTest(words):
                        self.secret(*lines)
                        for sidecar in group.sidecars:
                            self.await_told(sidecar, words)
                        self.await_advice(leader, "tls", words, FIX_THE_FILE)
                        made = self.run_program("keygen").stdout.split()[-1]
                        self.assertRegex(made, "^[0-9a-f]{64}$")
                        self.secret(good, made)
                        self.await_whole(group, leader)
                        self.secret(good)

    def test_different_secrets_and_a_secret_beside_certificates(self):
        """Give both the same."""
        with self.group(3, extra=PATIENT, voters=3,
                        tls=lambda _: f'[tls]\nsecret_file = "{self.folder}/secret"') as group:
            self.secret(new_secret())
            odd = group.sidecars[0]
            other = self.folder / "other"
            other.touch(mode=0o600)
            other.write_text(new_secret())
            wrong = (f'secret_file = "{other}"', self.identity(odd).table().replace("[tls]\n", ""))
            group.start("--bootstrap")
            with self.unmoved(group):
                for table in wrong:
                    with self.subTest(table):
                        self.reload(odd, group.config_of(odd).replace(
                            f'secret_file = "{self.folder}/secret"', table))
                        told = re.compile("one side may have a secret and the other certificates, "
                                          "or they have different secrets; give both the same")
                        wait_until("it is said", lambda: any(
                            told.search(each.log()) for each in group.sidecars))
                        self.reload(odd, group.config_of(odd))
                        self.await_security(group, "psk")
                        self.await_whole(group)


class Own(AdviceCase):
    """A member's own files: `why_not_ready`, `tls` of the doctor, TlsFilesRefused."""

    def test_its_own_certificate_is_renewed_or_made_anew(self):
        with self.certified_hosts() as group:
            host = [f"IP:{group.sidecars[0].address}"]
            make = self.authority.issue
            flaws = ((make(host, -1), "has expired; renew it"),
                     (make(host, begins_s=DAY, seconds=2 * DAY),
                      "not valid yet; look at this machine's clock"),
                     (make(host, key="secp256k1"),
                      "with which TLS 1.3 does not sign; make one on P-256"),
                     (make(host, extensions=(LEAF, "extendedKeyUsage=serverAuth")),
                      "is not for clients; issue one with extendedKeyUsage clientAuth|serverAuth "
                      "and clientAuth"))
            group.start("--bootstrap")
            with self.unmoved(group):
                odd = group.sidecars[0]
                for (certificate, key), words in flaws:
                    with self.subTest(words):
                        self.identity(odd).take(certificate, key, self.authority.pem())
                        self.await_told(odd, words)
                        self.await_metric(
                            odd, 'bellwether_tls_last_reload_successful{use="members"}', 0)
                        self.await_advice(odd, "tls", words, FIX_THE_FILE)
                        self.issue(odd)
                        self.await_whole(group)
                self.await_health(odd, "tls")

    def test_one_that_no_member_believes_is_for_the_host_that_others_name(self):
        with self.certified() as group:
            odd = group.sidecars[0]
            self.identity(odd).take(*self.authority.issue(["DNS:elsewhere.org"]),
                                    self.authority.pem())
            group.start()
            self.await_advice(odd, "tls", "members with this configuration refuse this one",
                              "give it a certificate for the host under which peers or [voters] "
                              "name it, or name its own in tls.members")
            for sidecar in group.sidecars[1:]:
                sidecar.await_log("refused a peer reason=tls_wrong_name.*peers and voters are at")
            self.issue(odd)
            self.await_whole(group, group.sidecars[2])
            with self.subTest("named in tls.members"):
                self.identity(odd).take(*self.authority.issue(["DNS:elsewhere.org"]),
                                        self.authority.pem())
                names = ["127.0.0.1", "elsewhere.org"]
                self.configure(group, lambda each: self.identity(each).table(members=names))
                self.await_whole(group, group.sidecars[2])
                self.await_health(odd, "tls")


class Refused(AdviceCase):
    """Refused? The side that refuses says what to change."""

    def test_the_log_says_what_to_change(self):
        with self.certified_hosts() as group:
            odd, other, _ = group.sidecars
            stranger = Authority(self.folder, "stranger")
            group.start("--bootstrap").await_leader(group.sidecars[2])
            host = [f"IP:{odd.address}"]

            def take(certificate, trusted):
                self.identity(odd).take(*certificate, trusted)

            flaws = (
                (lambda: take(stranger.issue(host), stranger.pem() + self.authority.pem()),
                 "tls_unknown_ca", "add its authority to the bundle, or give the peer a "
                 "certificate of this one", "add that to its bundle"),
                (lambda: take(self.authority.issue(host, extensions=(
                    LEAF, "keyUsage=critical,digitalSignature,keyCertSign")), self.authority.pem()),
                 "tls_bad_certificate", "is that of an authority .* give it one for itself", ""))
            for flaw, reason, words, own_words in flaws:
                with self.subTest(reason):
                    flaw()
                    self.assertEqual(odd.stop(), 0)
                    odd.start()
                    other.await_log(f"refused a peer reason={reason}.*{words}")
                    if own_words:
                        odd.await_log(f"reason=tls_refused.*{own_words}")
                    self.issue(odd)
                    self.await_whole(group)
                    self.await_security(group, "tls")

    def test_a_certificate_is_renewed_or_both_clocks_are_looked_at(self):
        """One side's clock is ahead by two days."""
        ahead = {"LD_PRELOAD": os.environ["BELLWETHER_TEST_FAULTY_CALLS"],
                 "CLOCK_AHEAD_S": str(2 * DAY)}
        with self.certified_hosts() as group:
            odd, other, leader = group.sidecars
            for sidecar in (other, leader):
                self.issue(sidecar, days=9)
            group.start("--bootstrap").await_leader(leader)
            with self.subTest("renew it"):
                self.assertEqual(other.stop(), 0)
                other.start(environment=ahead)
                other.await_log("refused a peer .*or one above it, has expired; renew it")
                odd.await_log("tls_refused.*has expired by its clock; renew it, or look at both "
                              "clocks")
                self.issue(odd, days=9)
                self.await_whole(group)
                self.restart(group, other)
            with self.subTest("look at the clocks of both machines"):
                self.assertEqual(odd.stop(), 0)
                self.issue(odd, begins_s=DAY, seconds=9 * DAY)
                odd.start(environment=ahead)
                other.await_log("or one above it, is not valid yet; look at the clocks of both "
                                "machines")
                self.assertEqual(odd.stop(), 0)
                self.issue(odd, days=9)
                odd.start()
                self.await_whole(group)
                self.await_security(group, "tls")

    def test_an_authority_is_added_to_the_bundle(self):
        with self.certified_hosts() as group:
            odd, *others = group.sidecars
            stranger = Authority(self.folder, "stranger")
            group.start("--bootstrap").await_leader(group.sidecars[2])
            both = stranger.pem() + self.authority.pem()
            with self.unmoved_by(others):
                self.identity(odd).take(*stranger.issue([f"IP:{odd.address}"]), both)
                wait_until("it is refused", lambda: any(re.search(
                    "refused a peer reason=tls_unknown_ca.*add its authority to the bundle",
                    other.log()) for other in others))
                for sidecar in others:
                    identity = self.identity(sidecar)
                    identity.write(identity.ca, both)
                self.await_whole(group)
                self.await_security(group, "tls")


if __name__ == "__main__":
    main()
