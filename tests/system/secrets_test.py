#!/usr/bin/env python3
"""Keys, secrets and tokens stay where they are: in no core dump, and in nothing that is told.

usage: secrets_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import base64
import hashlib
import hmac
import os
import re
import signal
import subprocess
import unittest

from core_dumps import core_dumps
from harness import wait_until
from system_case import IS_SANITIZED, main
from tls_case import TlsCase


def derived(secret, purpose, group, size):
    """HKDF (RFC 5869) with SHA-256, without a salt, of one block."""
    extracted = hmac.digest(bytes(32), secret, "sha256")
    info = f"bellwether/1 {purpose} {group}".encode()
    return hmac.digest(extracted, info + b"\1", "sha256")[:size]


def scalar(key):
    """The private number of a key on a curve of 256 bits, which is a file in PEM."""
    shown = subprocess.run(["openssl", "pkey", "-in", key, "-noout", "-text"], check=True,
                           capture_output=True, text=True).stdout
    digits = re.search(r"priv:([0-9a-f:\s]+)pub:", shown)[1]
    return bytes.fromhex(re.sub(r"[:\s]", "", digits))[-32:]


def shapes_of_secret(text, group):
    """What a secret of the group must not be seen as, by name."""
    secret = bytes.fromhex(text)
    return {"the secret's line": text.encode(), "its bytes": secret,
            "the key that is derived from it": derived(secret, "key", group, 32)}


def shapes_of_key(pem, key):
    number = scalar(key)
    lines = [line for line in pem.splitlines() if not line.startswith("-")]
    der = base64.b64decode("".join(lines))
    return {"the key's file": lines[0].encode(), "what is in it": der, "its number": number,
            "its number as OpenSSL has it": number[::-1]}


class Crash(TlsCase):
    """What a core dump shows, where it is asked for.  A secret in it is looked for after every way
    in which the sidecar has met it."""

    def setUp(self):
        if IS_SANITIZED:
            self.skipTest("a sanitizer's memory is too large for a dump")
        super().setUp()
        self.token = os.urandom(24).hex()

    def dumping(self, group):
        """Configures the group to dump core, and to ask for a token."""
        tokens = self.folder / "tokens"
        tokens.touch(mode=0o600)
        tokens.write_text(f"{self.token}\n")
        for sidecar in group.sidecars:
            text = group.config_of(sidecar).replace("[node]", '[node]\ncore_dumps = "on"')
            sidecar.write_config(text.replace("[metrics]", f'token_file = "{tokens}"\n[metrics]'))
        return group

    def command(self, sidecar, token):
        headers = {"Authorization": f"Bearer {token}"}
        return sidecar.request("POST", "/v1/elect", headers=headers)[0]

    def dump_of(self, folder, sidecar):
        sidecar.is_wanted = False
        sidecar.send_signal(signal.SIGABRT)
        self.assertEqual(sidecar.await_exit(), -signal.SIGABRT)
        return (folder / f"core.{sidecar.process.pid}").read_bytes()

    def assert_hidden(self, dump, shapes):
        found = [name for name, shape in shapes.items() if shape in dump]
        self.assertEqual(found, [])

    def test_holds_no_secret_and_no_token(self):
        old, new = os.urandom(32).hex(), os.urandom(32).hex()
        file = self.secret(old)
        with core_dumps() as folder, self.dumping(self.group(
                2, tls=lambda _: f'[tls]\nsecret_file = "{file}"')) as group:
            leader = group.start().await_leader(group.sidecars[-1])
            self.await_security(group, "psk")
            self.secret(new, old)
            leader.await_log(r"the files of \[tls\] are in force")
            self.await_security(group, "psk")
            self.assertEqual(self.command(leader, self.token), 200)
            wrong = os.urandom(24).hex()
            self.assertEqual(self.command(leader, wrong), 401)
            dump = self.dump_of(folder, leader)
            for secret in (old, new):
                # Known to everybody who listens, and the proof that this is the right memory.
                self.assertIn(derived(bytes.fromhex(secret), "identity", "test", 16).hex().encode(),
                              dump)
                self.assert_hidden(dump, shapes_of_secret(secret, "test"))
            self.assertIn(hashlib.sha256(len(self.token).to_bytes(8, "little")
                                         + self.token.encode()).hexdigest().encode(), dump)
            self.assert_hidden(dump, {"the token": self.token.encode(), "another": wrong.encode()})

    def test_holds_no_private_key(self):
        with core_dumps() as folder, self.dumping(self.certified(2)) as group:
            leader = group.start().await_leader(group.sidecars[-1])
            self.await_security(group, "tls")
            key = self.identity(leader).key
            before = shapes_of_key(key.read_text(), key)
            self.identities[leader.name].take(
                *self.authority.issue(["IP:127.0.0.1"]), self.authority.pem())
            leader.await_log(r"the files of \[tls\] are in force")
            wait_until("links are renewed", lambda: leader.count(
                "bellwether_peer_connections", security="tls") == 1)
            after = shapes_of_key(key.read_text(), key)
            dump = self.dump_of(folder, leader)
            self.assertIn(str(key).encode(), dump)
            self.assert_hidden(dump, before)
            self.assert_hidden(dump, after)


class Told(TlsCase):
    """What a sidecar and the commands say, whatever is wrong with the files."""

    PLACES = ("/v1/status", "/v1/leader", "/v1/members", "/v1/explain", "/v1/history", "/metrics")

    def setUp(self):
        super().setUp()
        self.hidden = set()
        self.tokens = self.folder / "tokens"

    def hide(self, text):
        """Nobody shall tell this from now on, nor the half of it; returns it."""
        self.hidden.add(text)
        return text

    def new(self, size=32):
        return self.hide(os.urandom(size).hex())

    def write(self, path, *lines, mode=0o600):
        path.touch(mode=mode)
        path.chmod(mode)
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def talkative(self, group):
        """Configures the group to write everything, and to ask for a token."""
        for sidecar in group.sidecars:
            text = group.config_of(sidecar) + '[log]\nlevel = "trace"\n'
            sidecar.write_config(
                text.replace("[metrics]", f'token_file = "{self.tokens}"\n[metrics]'))
        return group

    def command(self, sidecar, token):
        return sidecar.request("POST", "/v1/elect", headers={"Authorization": f"Bearer {token}"})

    def said_by(self, sidecar):
        """Everything, by name."""
        sidecar.send_signal(signal.SIGUSR1)
        sidecar.await_log("info .*state status=")
        said = {place: sidecar.request("GET", place)[2] for place in self.PLACES}
        file = str(sidecar.config_file)
        for words in ("status --json --config", "status --config", "doctor --config",
                      "doctor --json --config", "elect --config", "check", "check --json"):
            result = self.run_program(*words.split(), file)
            said[words] = result.stdout + result.stderr
        for token in (self.new(), self.tokens.read_text().split()[0]):
            said[f"an answer to {token}"] = self.command(sidecar, token)[2]
        said["the log"] = sidecar.log()
        return said

    def assert_untold(self, sidecar):
        for place, text in self.said_by(sidecar).items():
            self.assertTrue(text, f"{place} says something")
            for secret in self.hidden:
                for part in (secret, secret[:len(secret) // 2], secret[len(secret) // 2:]):
                    self.assertNotIn(part, text, f"told by {place}")

    def after(self, sidecar, line, change):
        """Makes a change, waits until the log says so, and looks at all that is told."""
        change()
        sidecar.await_log(line)
        self.assert_untold(sidecar)

    def test_nobody_tells_a_secret_or_a_token(self):
        secret, token = self.new(), self.new(24)
        file = self.secret(secret)
        self.write(self.tokens, token)
        with self.talkative(self.group(
                2, tls=lambda _: f'[tls]\nsecret_file = "{file}"')) as group:
            leader = group.start().await_leader(group.sidecars[-1])
            self.await_security(group, "psk")
            self.assertEqual(self.command(leader, token)[0], 200)
            self.assert_untold(leader)
            self.after(leader, "line 2 is not a secret of 64 hexadecimal digits",
                       lambda: self.write(file, secret, self.new()[:-1] + "x"))
            self.after(leader, "line 1 is not a secret of 64",
                       lambda: self.write(file, secret + secret))
            self.after(leader, "may be read by everybody",
                       lambda: self.write(file, secret, mode=0o644))
            self.after(leader, "tls.secret_file .*cannot be read", file.unlink)
            self.after(leader, "line 1 is not a token of at least",
                       lambda: self.write(self.tokens, self.new(6)))
            self.after(leader, "api.token_file .*may be written by others",
                       lambda: self.write(self.tokens, token, mode=0o660))

    def test_nobody_tells_a_private_key(self):
        self.write(self.tokens, self.new(24))
        with self.talkative(self.certified(2)) as group:
            leader = group.start().await_leader(group.sidecars[-1])
            self.await_security(group, "tls")
            key = self.identity(leader).key
            lines = key.read_text().splitlines()
            self.hidden.update(line for line in lines if not line.startswith("-"))
            self.assert_untold(leader)
            self.after(leader, "tls.key .* holds no private key in PEM",
                       lambda: self.write(key, *lines[:2]))
            self.after(leader, "tls.key .* does not belong to tls.cert", lambda: self.write(
                key, *self.authority.issue(["IP:127.0.0.1"])[1].splitlines()))
            self.after(leader, "tls.key .*may be read by everybody",
                       lambda: self.write(key, *lines, mode=0o644))


if __name__ == "__main__":
    main()
