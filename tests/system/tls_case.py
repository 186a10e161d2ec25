"""What the tests of TLS between members have in common."""

import contextlib
import functools
import pathlib
import tempfile

from certificates import Authority, Identity
from harness import wait_until
from system_case import PATIENT, SystemCase

HOST_NAMES = ["IP:127.0.0.1", "DNS:localhost"]


class TlsCase(SystemCase):
    """A folder for authorities, and groups whose members have certificates."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.identities = {}

    @functools.cached_property
    def authority(self):
        return Authority(self.folder)

    def identity(self, sidecar, **wish):
        found = self.identities.get(sidecar.name)
        if found is None:
            found = Identity(self.folder / sidecar.name)
            found.take(*self.authority.issue(HOST_NAMES, **wish), self.authority.pem())
            self.identities[sidecar.name] = found
        return found

    def certified(self, size=3, **options):
        return self.group(size, extra=PATIENT, tls=lambda each: self.identity(each).table(),
                          **options)

    @staticmethod
    def table_of(mode, secret):
        """What makes each sidecar's table; `mode` None: no [tls]."""
        table = "" if mode is None else f'[tls]\nmode = "{mode}"\nsecret_file = "{secret}"'
        return lambda _: table

    def set_mode(self, group, mode, secret):
        """On one after the other, each as an operator does it."""
        group.tls = self.table_of(mode, secret)
        for sidecar in group.running:
            sidecar.write_config(group.config_of(sidecar))
            status, _, text = sidecar.request("POST", "/v1/reload")
            self.assertEqual(status, 200, text)

    def await_security(self, group, security):
        def are_all():
            return all(member["security"] == security for sidecar in group.running
                       for member in sidecar.members().values() if not member["is_self"])
        wait_until(f"all links are {security}", are_all)

    @contextlib.contextmanager
    def unmoved(self, group):
        """Whatever happens within, the leader and its epoch stay."""
        leader = group.await_leader(group.running[-1])
        epoch, elections = leader.epoch(), leader.elections()
        yield leader
        self.assertIs(group.await_leader(leader), leader)
        self.assertEqual((leader.epoch(), leader.elections()), (epoch, elections))

    @contextlib.contextmanager
    def unmoved_by(self, sidecars):
        """The same, as these see it."""
        before = [(each.leader(), each.epoch()) for each in sidecars]
        yield
        self.assertEqual([(each.leader(), each.epoch()) for each in sidecars], before)

    def await_rejected(self, sidecar, reason, more_than=0):
        wait_until(f"{sidecar.name} counts {reason}", lambda: sidecar.count(
            "bellwether_rejected_frames_total", reason=reason) > more_than)

    def secret(self, *lines):
        secret = self.folder / "secret"
        secret.touch(mode=0o600)
        secret.write_text("".join(f"{line}\n" for line in lines))
        return secret
