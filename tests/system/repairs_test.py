#!/usr/bin/env python3
"""What the texts advise about TLS and confinement (OPERATIONS, the runbook, the doctor, errors),
done to the letter in a group of three voters.  tests/README.md has the table of all such advice.

usage: repairs_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from advice_case import FIX_THE_FILE, AdviceCase
from certificates import Authority
from harness import wait_until
from system_case import IS_SANITIZED, PATIENT, main


class RepairCase(AdviceCase):
    """A flaw is told with its remedy; that is done; the flaw is gone, and the leader stays."""

    def secret_table(self, mode="strict", lines=None):
        path = self.secret(lines) if lines else self.folder / "secret"
        return f'[tls]\nmode = "{mode}"\nsecret_file = "{path}"'

    def with_secret(self, **options):
        table = self.secret_table(lines=os.urandom(32).hex())
        return self.group(3, extra=PATIENT, voters=3, tls=lambda _: table, **options)


class Keys(RepairCase):
    """OPERATIONS, TLS between members."""

    def test_a_secret_for_certificates_and_back(self):
        with self.with_secret() as group:
            group.start("--bootstrap")
            certified = self.identity
            steps = (("psk", lambda _, mode: self.secret_table(mode)),
                     ("tls", lambda each, mode: certified(each).table(mode)))
            with self.unmoved(group):
                for (old, table_of), (new, next_of) in (steps, steps[::-1]):
                    self.await_security(group, old)
                    self.configure(group, lambda each, of=table_of: of(each, "permissive"))
                    self.configure(group, lambda each, of=next_of: of(each, "permissive"))
                    self.await_security(group, new)
                    self.configure(group, lambda each, of=next_of: of(each, "strict"))
                    self.await_security(group, new)
                    self.await_ready(group)

    def test_one_that_is_strict_at_once_is_alone_until_the_others_follow(self):
        with self.group(3, extra=PATIENT, voters=3, tls=lambda _: "") as group:
            group.start("--bootstrap")
            with self.unmoved(group) as leader:
                hasty = group.followers()[0]
                table = self.secret_table(lines=os.urandom(32).hex())
                group.tls = lambda _: table
                self.reload(hasty, group.config_of(hasty))
                wait_until("it is alone", lambda: hasty.leader() is None)
                self.configure(group, lambda _: self.secret_table("permissive"))
                wait_until("it is not", lambda: hasty.leader() == leader.name)
                self.configure(group, lambda _: table)
                self.await_security(group, "psk")

    def test_a_voter_with_the_certificate_of_another_host_is_given_its_own(self):
        with self.certified_hosts() as group:
            group.start("--bootstrap")
            with self.unmoved(group):
                wrong = group.followers()[0]
                self.identity(wrong).take(*self.authority.issue(["DNS:elsewhere.org"]),
                                          self.authority.pem())
                self.await_advice(wrong, "tls", "the peer's certificate is for elsewhere.org, this "
                                  f"voter is {wrong.address}", FIX_THE_FILE)
                wait_until("it is not ready", lambda: not wrong.is_ready())
                self.issue(wrong)
                self.await_health(wrong, "tls")
                self.await_ready(group)
                self.await_security(group, "tls")


class Files(RepairCase):
    """Files that are of no use: errors, the doctor, TlsFilesRefused."""

    def test_rights_are_set_as_the_error_says(self):
        with self.certified_hosts() as group:
            group.start("--bootstrap")
            with self.unmoved(group) as leader:
                key = self.identity(leader).key
                for mode, words in ((0o644, "may be read by everybody"),
                                    (0o620, "may be written by others than its owner")):
                    key.chmod(mode)
                    self.await_advice(leader, "tls", f"{key} {words}", FIX_THE_FILE)
                    told = wait_until("it is told", lambda text=words: text in (
                        leader.get("/v1/status")["why_not_ready"] or "")
                        and leader.get("/v1/status")["why_not_ready"])
                    change, = re.findall(r"chmod ([a-z]+[-=][a-z]*)", told)
                    subprocess.run(["chmod", change, key], check=True)
                    self.await_health(leader, "tls")
                    wait_until("it is ready", leader.is_ready)

    @unittest.skipIf(os.geteuid() != 0, "only root can give files away")
    def test_a_file_of_somebody_else_is_given_back(self):
        with self.certified_hosts() as group:
            group.start("--bootstrap")
            with self.unmoved(group) as leader:
                cert = self.identity(leader).cert
                os.chown(cert, 54321, 54321)
                self.await_advice(leader, "tls", f"{cert} belongs to user 54321, who may change "
                                  f"it; give it to user {os.geteuid()}, who reads it",
                                  FIX_THE_FILE)
                os.chown(cert, 0, 0)
                self.await_health(leader, "tls")
                wait_until("it is ready", leader.is_ready)

    @unittest.skipIf(os.geteuid() != 0, "only root can mount")
    def test_files_that_the_sidecar_alone_does_not_see_are_mounted(self):
        with self.certified_hosts() as group:
            blind = group.sidecars[0]
            blind.prefix = ["unshare", "--mount", "sh", "-c",
                            f'mount -t tmpfs none "{self.identity(blind).folder}" && exec "$@"',
                            "sh"]
            group.start()
            wait_until("it answers", lambda: blind.get("/v1/status"))
            if not blind.is_running:
                self.skipTest("cannot mount")
            self.await_advice(blind, "tls", "the sidecar cannot use them: .*No such file",
                              "look at the rights of its user, and at what it has mounted")
            self.assertEqual(blind.stop(), 0)
            blind.prefix = []
            blind.start()
            self.await_health(blind, "tls")
            group.await_leader()
            self.await_ready(group)

    def test_one_that_is_almost_over_is_renewed(self):
        with self.certified_hosts() as group:
            group.start("--bootstrap")
            with self.unmoved(group) as leader:
                self.issue(leader, begins_s=-86400, seconds=7200)
                self.await_advice(leader, "tls", r"the certificate of \[tls\] expires in 1 hour",
                                  "find out why it was not renewed")
                self.issue(leader)
                self.await_health(leader, "tls")
                self.await_security(group, "tls")

    def test_those_of_api_metrics_and_hooks_are_put_right(self):
        """BellwetherTlsFilesRefused: the label `use` says whose they are."""
        with self.certified_hosts() as group:
            first = group.sidecars[0]
            identity = self.identity(first)
            served = f'cert = "{identity.cert}"\nkey = "{identity.key}"\n'
            hook = (f'[[hook]]\nurl = "https://localhost:1/"\nca = "{identity.ca}"\n'
                    f'cert = "{identity.cert}"\nkey = "{identity.key}"\n')
            first.write_config(group.config_of(first).replace("[metrics]\n", f"{served}[metrics]\n"
                                                              f"{served}") + hook)
            first.prefix = ["env"]  # so that it is asked on its socket, which stays plain
            group.start("--bootstrap")
            with self.unmoved(group):
                good = identity.key.read_text()
                identity.write(identity.key, "none\n")
                for use in ("members", "api", "metrics", "hooks"):
                    wait_until(f"those of {use} are refused", lambda of=use: first.count(
                        "bellwether_tls_last_reload_successful", use=of) == 0)
                for keys in ("tls", "api", "metrics"):
                    self.await_advice(first, "tls", f"^{keys}.key ", FIX_THE_FILE)
                identity.write(identity.key, good)
                for use in ("members", "api", "metrics", "hooks"):
                    wait_until(f"those of {use} are in force", lambda of=use: first.count(
                        "bellwether_tls_last_reload_successful", use=of) == 1)
                self.await_health(first, "tls")
                self.await_ready(group)

    def test_a_file_of_tokens_is_fixed(self):
        tokens = self.folder / "tokens"
        tokens.touch(mode=0o600)
        tokens.write_text(os.urandom(16).hex() + "\n")
        with self.group(3, extra=PATIENT, voters=3) as group:
            for sidecar in group.sidecars:
                sidecar.write_config(group.config_of(sidecar).replace(
                    "[metrics]", f'token_file = "{tokens}"\n[metrics]'))
            group.start("--bootstrap")
            with self.unmoved(group):
                tokens.chmod(0o604)
                for sidecar in group.sidecars:
                    self.await_advice(sidecar, "sidecar", "commands with a token are refused: .*"
                                      "may be read by everybody; chmod go=", FIX_THE_FILE)
                subprocess.run(["chmod", "o=", tokens], check=True)
                for sidecar in group.sidecars:
                    self.await_health(sidecar, "sidecar")


class Peers(RepairCase):
    """What the doctor says of members that do not, or need not, believe each other."""

    def test_both_sides_are_compared(self):
        with self.with_secret() as group:
            table = group.tls(None)
            other = self.folder / "other"
            other.touch(mode=0o600)
            other.write_text(os.urandom(32).hex() + "\n")
            odd = group.sidecars[0]
            odd.write_config(group.config_of(odd).replace(
                table, f'[tls]\nsecret_file = "{other}"'))
            group.start()
            for sidecar in (odd, group.sidecars[1]):
                self.await_advice(sidecar, "reach", "is connected, but TLS fails: ",
                                  "see its log, which says why")
            other.write_text((self.folder / "secret").read_text())
            group.await_leader()
            self.await_security(group, "psk")
            for sidecar in group.sidecars:
                self.await_health(sidecar, "reach")

    def test_authorities_are_compared(self):
        with self.certified_hosts() as group:
            group.start("--bootstrap")
            with self.unmoved(group) as leader:
                odd = group.followers()[0]
                stranger = Authority(self.folder, "stranger")
                self.issue(odd, stranger)
                for sidecar in (odd, leader):
                    self.await_advice(sidecar, "reach", "is connected, but TLS fails: ",
                                      "change the certificate there, or what is believed here")
                self.issue(odd)
                self.await_security(group, "tls")
                for sidecar in group.sidecars:
                    self.await_health(sidecar, "reach")

    def test_who_is_plain_is_given_tls_then_all_are_strict(self):
        table = self.secret_table("permissive", lines=os.urandom(32).hex())
        with self.group(3, extra=PATIENT, voters=3, tls=lambda _: table) as group:
            plain = group.sidecars[0]
            plain.write_config(group.config_of(plain).replace(table, ""))
            group.start("--bootstrap")
            with self.unmoved(group):
                other = group.sidecars[1]
                self.await_advice(other, "tls", f"connected without TLS: {plain.name}",
                                  'give them [tls], then tls.mode "strict"')
                self.reload(plain, group.config_of(plain))
                self.await_security(group, "psk")
                for sidecar in group.sidecars:
                    wait_until("the doctor says so", lambda each=sidecar: any(
                        seen == 'all members use TLS: tls.mode can be "strict" now'
                        for _, seen, _ in self.findings(each, "tls")))
                self.configure(group, lambda _: self.secret_table())
                self.await_security(group, "psk")
                self.await_ready(group)

    def test_voters_get_names_of_their_own(self):
        with self.certified_hosts() as group:
            ids = ["URI:spiffe://example.org/orders"]
            members = ["spiffe://example.org/orders"]
            for sidecar in group.sidecars:
                self.identity(sidecar).take(*self.authority.issue(ids), self.authority.pem())
            group.tls = lambda each: self.identity(each).table(members=members)
            for sidecar in group.sidecars:
                sidecar.write_config(group.config_of(sidecar))
            group.start("--bootstrap")
            with self.unmoved(group):
                for sidecar in group.sidecars:
                    self.await_advice(sidecar, "tls", "cannot tell voters apart: each can use the "
                                      "name of each", "give each voter one with the DNS name of "
                                      "its host")
                for sidecar in group.sidecars:
                    self.issue(sidecar, names=ids)
                for sidecar in group.sidecars:
                    self.await_health(sidecar, "tls")
                self.await_security(group, "tls")
                self.await_ready(group)


@unittest.skipIf(IS_SANITIZED, "a sanitizer needs what is taken away")
class Confined(RepairCase):
    """OPERATIONS, Confined."""

    def confined(self, election="", node=""):
        group = self.group(3, extra=election + PATIENT, voters=3)
        for sidecar in group.sidecars:
            sidecar.write_config(group.config_of(sidecar).replace("[node]", f"[node]\n{node}"))
        return group

    def shown(self, sidecar):
        text = self.run_program("status", "--config", sidecar.config_file).stdout
        line = re.search(r"^confined (.*(?:\n .*)*)", text, re.MULTILINE)
        return " ".join(line[1].split()) if line else ""

    def test_a_profile_that_forbids_it_is_opened(self):
        with self.confined() as group:
            profile = [sys.executable, os.path.join(os.path.dirname(__file__), "forbidding.py")]
            for sidecar in group.sidecars:
                sidecar.prefix = profile
            group.start("--bootstrap").await_leader()
            for sidecar in group.sidecars:
                shown = self.shown(sidecar)
                self.assertIn("no Landlock for this process: Operation not permitted", shown)
                self.assertIn("seccomp: Operation not permitted", shown)
                self.await_advice(sidecar, "confinement", "Operation not permitted",
                                  "allow seccomp(2) and landlock_restrict_self(2)")
            for sidecar in group.sidecars:
                sidecar.prefix = []
                self.restart(group, sidecar)
                self.assertTrue(self.shown(sidecar).startswith("seccomp"), self.shown(sidecar))

    def test_without_the_kernels_part_nothing_else_is_lost(self):
        with self.confined() as group:
            leader = group.start("--bootstrap").await_leader()
            if "no Landlock" not in self.shown(leader):
                self.skipTest("this kernel has Landlock")
            self.await_advice(leader, "confinement", "no Landlock", 'or set confine = "off"')
            for sidecar in group.sidecars:
                sidecar.write_config(group.config_of(sidecar).replace(
                    "[node]", '[node]\nconfine = "off"'))
                self.restart(group, sidecar)
                self.await_health(sidecar, "confinement")

    def test_core_dumps_are_switched_off_again(self):
        with self.confined(node='core_dumps = "on"') as group:
            group.start("--bootstrap").await_leader()
            for sidecar in group.sidecars:
                self.assertIn('node.core_dumps is "on"', self.shown(sidecar))
                sidecar.write_config(group.config_of(sidecar))
                self.restart(group, sidecar)
                self.assertNotIn("core_dumps", self.shown(sidecar))

    def test_a_plugin_with_a_file_and_a_program_gets_them_back(self):
        # Not where flags or states are: there the sidecar may write.
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        jottings = pathlib.Path(folder.name) / "jottings"
        os.environ["BELLWETHER_TEST_JOTTINGS"] = str(jottings)
        self.addCleanup(os.environ.pop, "BELLWETHER_TEST_JOTTINGS")
        plugin = os.environ["BELLWETHER_TEST_JOTTING_PLUGIN"]
        election = f'plugin = "{plugin}"\n'
        with self.confined(election=election) as group:
            group.start("--bootstrap").await_leader()
            for sidecar in group.sidecars:
                sidecar.await_log("the plugin's program: Operation not permitted")
                if "no Landlock" not in self.shown(sidecar):
                    sidecar.await_log("the plugin's file: Permission denied")
            for sidecar in group.sidecars:
                sidecar.write_config(group.config_of(sidecar).replace(
                    "[node]", '[node]\nconfine = "off"'))
                told = sidecar.log().count("the plugin's")
                jotted = len(jottings.read_text()) if jottings.exists() else 0
                self.restart(group, sidecar)
                self.assertEqual(sidecar.log().count("the plugin's"), told)
                self.assertGreater(len(jottings.read_text()), jotted)


if __name__ == "__main__":
    main()
