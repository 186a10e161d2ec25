#!/usr/bin/env python3
"""Who may command a sidecar: tokens over TCP, users on the unix socket; and what is told of both.

usage: api_access_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import os
import pathlib
import subprocess

from harness import UnixConnection, wait_until
from system_case import SystemCase, main

STRANGER = 54321  # a user that nobody has


class Access(SystemCase):
    """Commands need what [api] asks for; looking needs nothing."""

    def guarded(self, extra):
        """A group of one that leads, with these lines in its table [api]."""
        group = self.group(1)
        sidecar, = group.sidecars
        text = group.config_of(sidecar).replace("[metrics]", f"{extra}\n[metrics]")
        sidecar.write_config(text)
        sidecar.start()
        group.await_leader(sidecar)
        return group, sidecar

    def tokens(self, group, *lines):
        path = group.folder / "tokens"
        path.touch(mode=0o600)
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def elect(self, sidecar, token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return sidecar.request("POST", "/v1/elect", headers=headers)[0]

    def test_a_token_is_asked_for_read_again_and_found_by_the_command_line(self):
        old, new = os.urandom(16).hex(), os.urandom(16).hex()
        with self.group(1) as group:
            sidecar, = group.sidecars
            path = self.tokens(group, old)
            sidecar.write_config(group.config_of(sidecar).replace(
                "[metrics]", f'token_file = "{path}"\n[metrics]'))
            sidecar.start()
            group.await_leader(sidecar)
            self.assertEqual((self.elect(sidecar), self.elect(sidecar, new)), (401, 401))
            self.assertEqual(self.elect(sidecar, old), 200)
            self.assertEqual(sidecar.request("GET", "/v1/status")[0], 200)
            result = self.run_program("elect", "--config", sidecar.config_file)
            self.assertEqual(result.returncode, 0, result.stderr)
            result = self.run_program("elect", "--api", sidecar.api_url)
            self.assertEqual(result.returncode, 1)
            self.assertIn("a command needs a token", result.stderr)
            result = self.run_program("elect", "--api", sidecar.api_url, "--token-file", path)
            self.assertEqual(result.returncode, 0, result.stderr)

            self.tokens(group, new, old)
            wait_until("both are accepted", lambda: self.elect(sidecar, new) == 200)
            self.assertEqual(self.elect(sidecar, old), 200)
            self.tokens(group, new)
            wait_until("the old one is not", lambda: self.elect(sidecar, old) == 401)
            path.chmod(0o644)
            wait_until("none is, while others can read them",
                       lambda: self.elect(sidecar, new) == 403)
            sidecar.await_log("error .*no token is accepted .*may be read by everybody")
            self.assertEqual(sidecar.count("bellwether_api_writes_total", verb="elect",
                                           result="refused") > 4, True)
            sidecar.await_log('warn .*refused a command command=elect by=127.0.0.1:[0-9]+ '
                              'because="this token is not in')
            for token in (old, new):
                self.assertNotIn(token, sidecar.log())

    def test_the_socket_alone_takes_commands(self):
        group, sidecar = self.guarded('writes = "socket"')
        with group:
            self.assertEqual(self.elect(sidecar), 403)
            result = self.run_program("elect", "--config", sidecar.config_file)
            self.assertEqual(result.returncode, 0, result.stderr)
            sidecar.await_log(f"a command was asked for command=elect by=\"user {os.geteuid()}, "
                              "process [0-9]+\"")

    def test_what_comes_all_the_time_hides_no_other_command(self):
        """More lines than the log takes of one kind in a row."""
        for setting, event in (("", "a command was asked for"),
                               ('writes = "socket"', "refused a command")):
            group, sidecar = self.guarded(setting)
            with self.subTest(event=event), group:
                for _ in range(1010):
                    sidecar.request("POST", "/v1/application/drained", {"epoch": 1})
                sidecar.request("POST", "/v1/reload")
                sidecar.await_log(f"{event} command=reload")

    def test_users_and_groups_on_the_socket(self):
        self.require_other_user(STRANGER)
        group, sidecar = self.guarded(f'allow_users = ["{STRANGER}"]\n'
                                      f'allow_groups = ["{STRANGER + 1}"]')
        with group:
            sidecar.socket_file.chmod(0o666)
            group.folder.chmod(0o755)
            def status_as(user, *groups):
                result = subprocess.run(
                    ["curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}",
                     "--request", "POST", "--unix-socket", sidecar.socket_file,
                     "http://localhost/v1/elect"], user=user, group=user, extra_groups=groups,
                    capture_output=True, text=True, check=True, cwd="/")
                return int(result.stdout)

            sidecar.socket_file.chmod(0o660)
            result = subprocess.run([self.program, "elect", "--api", str(sidecar.socket_file)],
                                    user=STRANGER, group=STRANGER, extra_groups=[], cwd="/",
                                    capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertIn(f"this user may not open the socket {sidecar.socket_file}; be the "
                          "sidecar's user", result.stderr)
            sidecar.socket_file.chmod(0o666)
            self.assertEqual(status_as(STRANGER), 200)
            self.assertEqual(status_as(STRANGER + 2, STRANGER + 1), 200)
            self.assertEqual(status_as(STRANGER + 2, STRANGER), 403)
            asked = UnixConnection(sidecar.socket_file, 5)
            asked.request("POST", "/v1/elect")
            self.assertEqual(asked.getresponse().status, 200)  # root

    def test_who_is_of_another_user_namespace_is_nobody_that_is_named(self):
        """The kernel shows all of them as one, which is often called nobody."""
        unshare = ["unshare", "--user", "--map-root-user"]
        is_possible = os.geteuid() == 0 and subprocess.run(
            [*unshare, "true"], check=False, capture_output=True).returncode == 0
        if not is_possible:
            self.skipTest("cannot make user namespaces, or be another user")
        overflow = pathlib.Path("/proc/sys/kernel/overflowuid").read_text().strip()
        with self.group(1) as group:
            sidecar, = group.sidecars
            sidecar.write_config(group.config_of(sidecar).replace(
                "[metrics]", f'allow_users = ["{overflow}"]\n[metrics]'))
            group.folder.chmod(0o755)
            sidecar.prefix = unshare
            sidecar.start()
            sidecar.await_log(f"that stands for nobody here name={overflow}")
            wait_until("its socket is there", sidecar.socket_file.exists)
            sidecar.socket_file.chmod(0o666)
            result = subprocess.run(
                ["curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}",
                 "--request", "POST", "--unix-socket", sidecar.socket_file,
                 "http://localhost/v1/elect"], user=STRANGER, group=STRANGER, extra_groups=[],
                capture_output=True, text=True, check=True, cwd="/")
            self.assertEqual(result.stdout, "403")


if __name__ == "__main__":
    main()
