#!/usr/bin/env python3
"""examples/tls: what it makes, and what others make as it says, is what sidecars take.

usage: certificates_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import languages
from certificates import Authority
from harness import PATIENCE_S, Group, UnixConnection, wait_until
from manifests import KUBERNETES, as_applied, named, of_kind, pod_of, toml_of, yaml
from system_case import PATIENT

PROGRAM = ""
EXAMPLES = languages.ROOT / "examples"
SCRIPT = EXAMPLES / "tls/make_certificates.sh"
README = EXAMPLES / "tls/README.md"
OPERATIONS = languages.ROOT / "sidecar/OPERATIONS.md"
HOST = "127.0.0.1"
SPIRE_ID = "spiffe://example.org/orders"


def tables(path, folder, place):
    """The tables [tls] of a text, which may be a comment in it, with their files in `folder`."""
    lines = [re.sub(r"^# {0,3}", "", line).rstrip() for line in path.read_text().splitlines()]
    for start in [index for index, line in enumerate(lines) if line.startswith("[tls]")]:
        table = []
        for line in lines[start:]:
            if not re.match(r"\[tls\]|#|[a-z_]+ *=", line):
                break
            table.append(line)
        yield "\n".join(table).replace(place, str(folder))


def certificate(path, *what):
    result = subprocess.run(["openssl", "x509", "-in", path, "-noout", *what], text=True,
                            check=True, capture_output=True)
    return result.stdout


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def make(self, *arguments, **environment):
        return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False,
                              timeout=PATIENCE_S, env={**os.environ, **environment})

    @contextlib.contextmanager
    def group_with(self, table):
        """Three that have this table, and a leader that must stay until the end."""
        with Group(PROGRAM, 3, extra="[election]\n" + PATIENT, tls=lambda _: table) as group:
            group.start()
            leader = group.await_leader(group.sidecars[-1])
            epoch = leader.epoch()
            yield group
            self.assertIs(group.await_leader(leader), leader)
            self.assertEqual(leader.epoch(), epoch)

    def await_end(self, group, path):
        """Until all go by the certificate in this file."""
        end = certificate(path, "-enddate", "-dateopt", "iso_8601").split("=")[1].strip()
        end = end.replace(" ", "T")[:19]

        def have_taken_it():
            return all(sidecar.get("/v1/status")["tls"]["certificate_expires"].startswith(end)
                       for sidecar in group.running)
        wait_until(f"all have the certificate until {end}", have_taken_it)


class Script(Case):
    def test_members_with_its_certificates_elect_a_leader_which_stays_when_they_are_renewed(self):
        result = self.make(self.folder, HOST)
        self.assertEqual(result.returncode, 0, result.stderr)
        files = self.folder / HOST
        self.assertEqual(sorted(path.name for path in files.iterdir()),
                         ["ca.crt", "tls.crt", "tls.key"])
        table, = [each for each in tables(README, files, "/etc/bellwether/tls")
                  if str(files) in each]
        with self.group_with(table) as group:
            self.await_end(group, files / "tls.crt")
            authority = (files / "ca.crt").read_text()
            self.assertEqual(self.make(self.folder, HOST, DAYS="30").returncode, 0)
            self.assertEqual((files / "ca.crt").read_text(), authority)
            self.await_end(group, files / "tls.crt")

    def test_a_new_authority_comes_by_the_steps_that_the_readme_has(self):
        """In its own words, but for where the files are and whose."""
        steps = re.search(r"^\./make_certificates.sh new .*?(?=^```)", README.read_text(),
                          re.MULTILINE | re.DOTALL)[0].splitlines()
        self.assertEqual(len(steps), 4)
        self.assertNotIn("authority", " ".join(steps[1:]))  # its folder goes to no member
        self.assertEqual(self.make(self.folder / "certificates", HOST).returncode, 0)
        table, = [each for each in tables(README, "/etc/bellwether/tls", "/etc/bellwether/tls")
                  if "members =" not in each and "ca.crt" in each]
        folders = {}

        def folder_of(sidecar):
            """With what it has got at first, by the command of the readme."""
            if sidecar.name not in folders:
                folders[sidecar.name] = folder = self.folder / sidecar.name
                folder.mkdir(mode=0o700)
                install, = re.findall(r"^install .*certificates/.*$", README.read_text(),
                                      re.MULTILINE)
                run(install, folder)
            return folders[sidecar.name]

        def run(command, folder="none"):
            for words, ours in (("/etc/bellwether/tls", str(folder)), ("./", f"{SCRIPT.parent}/"),
                                ("-o bellwether -g bellwether ", ""), ("/HOST/", f"/{HOST}/")):
                command = command.replace(words, ours)
            command = re.sub(r"orders-\d\.example\.org", HOST, command)
            subprocess.run(["sh", "-euc", command], cwd=self.folder, check=True,
                           capture_output=True)

        def taken(sidecar):
            return sidecar.log().count("the files of [tls] are in force")

        with Group(PROGRAM, 3, extra="[election]\n" + PATIENT, voters=3, tls=lambda each:
                   table.replace("/etc/bellwether/tls", str(folder_of(each)))) as group:
            leader = group.start("--bootstrap").await_leader()
            epoch = leader.epoch()
            run(steps[0])
            for number, step in enumerate(steps[1:], start=1):
                self.assertIn(f"# {number}. on all", step)
                for sidecar in group.sidecars:
                    run(step, folder_of(sidecar))
                wait_until("all have taken it", lambda count=number: all(
                    taken(each) >= count for each in group.sidecars))
                wait_until("all are linked", lambda: all(
                    member["is_self"] or (member["state"], member["security"]) == ("alive", "tls")
                    for each in group.sidecars for member in each.members().values()))
                self.assertIs(group.await_leader(leader), leader)
            self.assertEqual(leader.epoch(), epoch)
            new = (self.folder / "new/authority/ca.crt").read_text()
            for sidecar in group.sidecars:
                self.assertEqual((folder_of(sidecar) / "ca.crt").read_text(), new)
                wait_until("it is ready", sidecar.is_ready)

    def test_an_operator_commands_with_what_operations_has_made(self):
        """In its own words, but for where the files are and whose."""
        text = OPERATIONS.read_text()
        blocks = [block for block in re.findall(r"^```sh\n(.*?)^```", text,
                                                re.MULTILINE | re.DOTALL)
                  if "operators" in block or "keygen; }" in block]
        self.assertEqual(len(blocks), 3)
        folder = self.folder / "etc"
        host = self.folder / "host"  # with what is copied to it
        folder.mkdir()

        def run(block, where):
            for words, ours in (("/etc/bellwether", str(folder)), ("./", f"{SCRIPT.parent}/"),
                                ("-o bellwether -g bellwether ", ""),
                                ("orders-0.example.org", HOST),
                                ("bellwether keygen", f"{PROGRAM} keygen")):
                block = block.replace(words, ours)
            subprocess.run(["sh", "-euc", block], cwd=where, check=True, capture_output=True)

        run(blocks[0], self.folder)
        shutil.copytree(self.folder / "api" / HOST, host)
        shutil.copy(self.folder / "operators/authority/ca.crt", host)
        for block in blocks[1:]:
            run(block, host)
        api, tokens = folder / "api", folder / "tokens"
        lines = [line for line in tokens.read_text().splitlines() if not line.startswith("#")]
        self.assertEqual(len(lines), 2)
        keys = (f'cert = "{api}/tls.crt"\nkey = "{api}/tls.key"\n'
                f'client_ca = "{api}/operators.crt"\ntoken_file = "{tokens}"\n')
        operators, authority = self.folder / "operators", self.folder / "api/authority/ca.crt"
        with Group(PROGRAM, 1) as group:
            sidecar, = group.sidecars
            sidecar.write_config(group.config_of(sidecar).replace("[metrics]",
                                                                  keys + "[metrics]"))
            sidecar.connect = lambda timeout_s, port=None: UnixConnection(sidecar.socket_file,
                                                                          timeout_s)
            sidecar.start()

            def elect(*options):
                return subprocess.run(
                    [PROGRAM, "elect", "--api", f"https://{HOST}:{sidecar.api_port}", "--ca",
                     authority, *options], capture_output=True, text=True, check=False)

            group.await_leader(sidecar)
            for number, name in enumerate(["alice", "bob"]):
                result = elect("--cert", operators / name / "tls.crt", "--key",
                               operators / name / "tls.key")
                self.assertEqual(result.returncode, 0, result.stderr)
                sidecar.await_log(f"command=elect by=.*certificate {name}")
                own = self.folder / f"{name}.token"
                own.touch(mode=0o600)
                own.write_text(lines[number] + "\n")
                result = elect("--token-file", own)
                self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotEqual(elect().returncode, 0)

    def test_names_are_names_and_addresses_are_addresses(self):
        hosts = {"orders-0.example.org": "DNS:orders-0.example.org",
                 "10.0.0.7": "IP Address:10.0.0.7",
                 "n1.dc2.rack3.row4": "DNS:n1.dc2.rack3.row4", "::1": "IP Address:0:0:0:0:0:0:0:1"}
        self.assertEqual(self.make(self.folder, *hosts).returncode, 0)
        for host, name in hosts.items():
            text = certificate(self.folder / host / "tls.crt", "-ext", "subjectAltName")
            self.assertEqual(text.splitlines()[1].strip(), name)
            for secret in (self.folder / host / "tls.key", self.folder / "authority/ca.key"):
                self.assertEqual(secret.stat().st_mode & 0o077, 0)

    def test_what_is_no_host_is_refused_and_leaves_the_files_as_they_are(self):
        for wrong in (["a b"], ["../a"], [""], ["authority"], ["x,DNS:y"], []):
            result = self.make(self.folder, *wrong)
            self.assertEqual(result.returncode, 2, wrong)
            self.assertIn("is not a host" if wrong else "usage", result.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["authority"])


class Spire(Case):
    def test_what_its_helper_writes_one_file_after_the_other_is_taken(self):
        settings = dict(re.findall(r'^(\w+) = "?([^"\n]*)"?$',
                                   (EXAMPLES / "tls/spire.conf").read_text(), re.MULTILINE))
        authority = Authority(self.folder)

        def write(which, mode, text):
            path = self.folder / settings[which]
            path.touch(mode=int(settings[mode], 8))
            path.write_text(text)

        def renew(**life):
            leaf, key = authority.issue([f"URI:{SPIRE_ID}"], **life)
            write("svid_file_name", "cert_file_mode", leaf)
            write("svid_key_file_name", "key_file_mode", key)
            write("svid_bundle_file_name", "cert_file_mode", authority.pem())

        renew(days=1)
        table, = [each for each in tables(README, self.folder, settings["cert_dir"])
                  if SPIRE_ID in each]
        self.assertIn(str(self.folder), table)
        with self.group_with(table) as group:
            renew(days=2)
            self.await_end(group, self.folder / settings["svid_file_name"])


@unittest.skipIf(yaml is None, "there is no python3-yaml")
class Pods(unittest.TestCase):
    def test_a_pods_certificate_has_the_name_of_its_voter(self):
        patch, = as_applied(KUBERNETES / "certificates-patch.yaml")
        volume, = pod_of(patch)["volumes"]
        attributes = volume["csi"]["volumeAttributes"]
        name = attributes["csi.cert-manager.io/dns-names"].replace("${POD_NAME}", "orders-0")
        self.assertIn(f'orders-0 = "{name}:7946"', toml_of(named(of_kind("StatefulSet"), "orders")))
        self.assertEqual(attributes["csi.cert-manager.io/fs-group"],
                         str(pod_of(named(of_kind("StatefulSet"), "orders"))
                             ["securityContext"]["fsGroup"]))
        issuer = attributes["csi.cert-manager.io/issuer-name"]
        authority = named(of_kind("Issuer"), issuer)["spec"]["ca"]["secretName"]
        certificate, = of_kind("Certificate")
        self.assertEqual(certificate["spec"]["secretName"], authority)
        named(of_kind("Issuer"), certificate["spec"]["issuerRef"]["name"])


class Istio(Case):
    def test_what_its_agent_writes_is_taken_though_everybody_can_read_it(self):
        authority = Authority(self.folder)
        leaf, key = authority.issue(["URI:spiffe://cluster.local/ns/shop/sa/orders"])
        for name, text in (("key.pem", key), ("cert-chain.pem", leaf),
                           ("root-cert.pem", authority.pem())):
            path = self.folder / name
            path.write_text(text)
            path.chmod(0o644)
            if os.geteuid() == 0:
                os.chown(path, 1337, 1337)
        patch = KUBERNETES / "istio-certificates-patch.yaml"
        table, = tables(patch, self.folder, "/etc/bellwether-tls")
        self.assertIn("shared_folder", table)
        with self.group_with(table) as group:
            self.await_end(group, self.folder / "cert-chain.pem")


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    languages.main(sys.argv[2:])
