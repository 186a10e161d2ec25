#!/usr/bin/env python3
"""Members know each other: by certificates, or by one secret.  Members whose files are of no use
change nothing but counters.

usage: tls_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

from certificates import Authority
from harness import wait_until
from system_case import PATIENT, main
from tls_case import HOST_NAMES, TlsCase


class Members(TlsCase):
    """A group by TLS is a group like any other."""

    def test_a_killed_leader_is_succeeded_among_certificates(self):
        with self.certified(voters=3) as group:
            group.start("--bootstrap")
            leader = group.await_leader(group.sidecars[-1])
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
        self.assertIn(f"{secret} cannot be made: File exists; it may be in use", again.stderr)
        unset = self.run_program("keygen", "--output", "")
        self.assertEqual((unset.returncode, unset.stdout), (2, ""))
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
            # It would not use such a certificate for the host that its configuration has for it.
            honest = group.config_of(impostor).replace(
                identity.table(), identity.table(members=members))
            place = f'{impostor.name} = "127.0.0.1:'
            self.assertIn(place, honest)
            impostor.write_config(honest.replace(place, f'{impostor.name} = "elsewhere.org:'))
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


    def test_a_voter_with_the_certificate_of_another_host_is_not_ready_and_says_why(self):
        with self.certified(1, voters=1) as group:
            sidecar, = group.sidecars
            identity = self.identity(sidecar)
            identity.take(*self.authority.issue(["DNS:elsewhere.org"]), self.authority.pem())
            sidecar.write_config(group.config_of(sidecar).replace(
                identity.table(), identity.table(members=["elsewhere.org"])))
            wrong = (f"tls.cert {identity.cert} would be refused: the peer's certificate is for "
                     "elsewhere.org, this voter is 127.0.0.1")
            check = self.run_program("check", sidecar.config_file)
            self.assertEqual(check.returncode, 4)
            self.assertIn(wrong, check.stderr)
            sidecar.start()
            status = wait_until("it answers", lambda: sidecar.get("/v1/status"))
            self.assertFalse(sidecar.is_ready())
            self.assertIn(wrong, status["why_not_ready"])


class Refused(TlsCase):
    """By members, whatever this one thinks of its own files."""

    def test_alone_it_is_not_ready_and_says_what_to_change(self):
        other = Authority(self.folder, "other")
        both = self.authority.pem() + other.pem()
        with self.certified(voters=3) as group:
            group.start("--bootstrap").await_leader()
            odd, *rest = group.sidecars
            self.assertEqual(odd.stop(), 0)
            self.identity(odd).take(*other.issue(HOST_NAMES), both)
            odd.start()
            why = wait_until("it is not ready and says why", lambda: "no TLS with the peer at" in (
                (odd.get("/v1/status") or {}).get("why_not_ready") or "")
                and odd.get("/v1/status")["why_not_ready"])
            self.assertRegex(why, "it does not trust the authority of this side's certificate; "
                             "add that to its bundle|the peer ended the connection")
            self.assertFalse(odd.is_ready())
            for sidecar in rest:
                self.identity(sidecar).write(self.identity(sidecar).ca, both)
            group.await_leader(rest[1])
            wait_until("it is ready", odd.is_ready)

    def test_check_tells_that_nobody_would_believe_it(self):
        with self.certified(1) as group:
            sidecar, = group.sidecars
            identity = self.identity(sidecar)
            identity.take(*self.authority.issue(["DNS:elsewhere.org"]), self.authority.pem())
            wrong = ("members with the same configuration would refuse this one: the peer's "
                     "certificate is for elsewhere.org; peers and voters are at")
            self.assertIn(wrong, self.run_program("check", sidecar.config_file).stderr)
            identity.take(*self.authority.issue(HOST_NAMES), self.authority.pem())
            self.assertNotIn(wrong, self.run_program("check", sidecar.config_file).stderr)

    def test_an_address_among_the_names_of_members(self):
        with self.group(2, extra=PATIENT, tls=lambda each: self.identity(each).table(
                members=["127.0.0.1"])) as group:
            group.start().await_leader()
            self.await_security(group, "tls")


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
            sidecar.await_log("error .*may be read by everybody; chmod go=")
            self.assertFalse(sidecar.is_ready())
            key.chmod(0o600)
            wait_until("it is ready", sidecar.is_ready)


if __name__ == "__main__":
    main()
