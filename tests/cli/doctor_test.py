#!/usr/bin/env python3
"""`bellwether doctor` against real sidecars: a group in which all is well, and one with each flaw
that can be made here.

usage: doctor_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import contextlib
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading

from command_line import FAILURE, OK, USAGE, CommandLine, main
from terminal import on_terminal

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "system"))
import harness  # noqa: E402
from harness import Group, wait_until  # noqa: E402
from namespaces import Hosts, can_make_namespaces  # noqa: E402

CONFIG_INVALID, DOUBTFUL = 3, 4

# What this machine may be guilty of, and no test of ours.
OF_THE_MACHINE = {"clock", "open files", "processor"}

CALM = "[election]\n" + harness.CALM


class Doctor(CommandLine):
    def examine(self, config, *prefix):
        """{check: [(verdict, what was seen)]} but for those of the machine; and the exit code."""
        result = subprocess.run([*prefix, self.program, "doctor", "--json", "--config", config],
                                text=True, capture_output=True, check=False)
        self.assertEqual(result.stderr, "")
        found = {}
        for each in json.loads(result.stdout)["checks"]:
            self.assertEqual(each["remedy"] is None, each["verdict"] in ("ok", "skipped"), each)
            if each["check"] not in OF_THE_MACHINE:
                found.setdefault(each["check"], []).append((each["verdict"], each["seen"]))
        return found, result.returncode

    def assert_found(self, found, check, verdict, pattern):
        self.assertTrue(any(each[0] == verdict and re.search(pattern, each[1])
                            for each in found[check]), f"no {verdict} {pattern} in {found[check]}")

    def assert_all_well_but(self, found, *checks):
        flaws = {check for check, all_seen in found.items()
                 if any(verdict in ("warning", "problem") for verdict, _ in all_seen)}
        self.assertEqual(flaws, set(checks), found)


class WithGroup(Doctor):
    """Two sidecars; all that is doubtful about them is that nobody votes."""

    def setUp(self):
        super().setUp()
        self.group = self.enterContext(Group(self.program, 2, CALM)).start()
        self.first, self.second = self.group.sidecars
        self.group.await_leader()
        for sidecar in self.group.sidecars:
            wait_until(f"{sidecar.name} is ready", sidecar.is_ready)

    def reconfigure(self, old, new):
        """Gives the first one's file to the doctor as it might be; the sidecar has its own."""
        text = self.group.config_of(self.first)
        self.assertIn(old, text)
        return self.write("changed.toml", text.replace(old, new))


class Healthy(WithGroup):
    def test_group_has_no_flaw_and_does_not_notice(self):
        before = [(sidecar.epoch(), sidecar.elections(), sidecar.log().count("rejected"))
                  for sidecar in self.group.sidecars]
        found, code = self.examine(self.first.config_file)
        self.assert_all_well_but(found, "configuration")
        self.assertEqual(code, DOUBTFUL)
        self.assert_found(found, "sidecar", "ok", "^n0 answers at ")
        self.assert_found(found, "state", "ok", f"in use by process {self.first.process.pid}")
        self.assert_found(found, "flag", "ok", f"in use by process {self.first.process.pid}")
        self.assert_found(found, "reach", "ok", "^1 address of others answered")
        self.assert_found(found, "both ways", "ok", "^n1: connections from here")
        self.assert_found(found, "proxies", "ok", "refused by 127.0.0.1")
        self.assert_found(found, "leader", "ok", r"^n1, epoch \d+: n0 and n1$")
        after = [(sidecar.epoch(), sidecar.elections(), sidecar.log().count("rejected"))
                 for sidecar in self.group.sidecars]
        self.assertEqual(before, after)

    def test_voters_agree(self):
        with Group(self.program, 3, CALM, voters=3) as group:
            group.start("--bootstrap")
            group.await_leader()
            found, _ = self.examine(group.sidecars[0].config_file)
            self.assert_all_well_but(found, "state")  # in memory, as the test has it
            self.assert_found(found, "voters", "ok", "^3 voters, alike on 3 processes$")
            self.assert_found(found, "state", "warning", "in memory: after a reboot")

    def test_report_is_for_people(self):
        result = self.run_program("doctor", "--config", self.first.config_file)
        self.assertEqual((result.returncode, result.stderr), (DOUBTFUL, ""))
        self.assertIn("\nok       reach          1 address of others answered, ", result.stdout)
        self.assertRegex(result.stdout, r"\n\d+ ok, \d+ warnings?, 0 problems, 0 skipped\n$")
        self.assertNotIn("\x1b", result.stdout)

    def test_report_fits_the_terminal_and_has_colours_there(self):
        command = [self.program, "doctor", "--config", self.first.config_file]
        text = on_terminal(command, 80)
        self.assertIn("\x1b[32mok       \x1b[0m", text)
        plain = on_terminal(command, 80, {"NO_COLOR": "1"})
        self.assertNotIn("\x1b[3", plain)
        words = self.group.folder.name  # paths cannot be broken
        for line in plain.splitlines():
            self.assertTrue(len(line) <= 80 or words in line, line)


class Flawed(WithGroup):
    def test_name_that_does_not_resolve(self):
        config = self.reconfigure("peers = [", 'peers = ["nobody.invalid:7946", ')
        found, _ = self.examine(config)
        self.assert_all_well_but(found, "configuration", "names")
        self.assert_found(found, "names", "warning",
                          r"^nobody.invalid:7946 \(membership.peers\) does not resolve")

    def test_member_that_is_gone(self):
        self.second.kill()
        self.first.await_state_of(self.second, "down")
        found, _ = self.examine(self.first.config_file)
        self.assert_all_well_but(found, "configuration", "reach")
        self.assert_found(found, "reach", "warning", r"^n1 \(.*, down\): connection refused$")

    def test_flag_on_a_disk(self):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            kind = subprocess.check_output(["stat", "-f", "-c", "%T", folder], text=True)
            if kind.strip() in ("tmpfs", "ramfs"):
                self.skipTest("no disk here")
            config = self.reconfigure(str(self.first.flag_file), f"{folder}/flag")
            found, _ = self.examine(config)
        self.assert_found(found, "flag", "warning", "is not on a tmpfs")

    def test_another_variant(self):
        self.second.kill()
        election = CALM.replace("[election]", '[election]\nvariant = "classic"')
        self.second.write_config(self.group.config_of(self.second, election))
        self.second.start()
        wait_until("n0 sees n1", lambda: self.first.state_of("n1") == "alive")
        found, _ = self.examine(self.first.config_file)
        self.assert_found(found, "variants", "warning", "^classic: n1; modified: n0$")

    def test_other_voters(self):
        place = f"127.0.0.1:{self.first.peer_port}"
        config = self.reconfigure("[flag]", f'[voters]\nn0 = "{place}"\n[flag]')
        found, code = self.examine(config)
        self.assert_found(found, "voters", "problem", "^n0 .guard none. and n1 .guard none.: other")
        self.assertEqual(code, FAILURE)

    def test_tls_that_cannot_be_used_leaves_peers_alone(self):
        before = [sidecar.log().count("rejected") for sidecar in self.group.sidecars]
        for mode in ("strict", "permissive"):
            table = f'[tls]\nmode = "{mode}"\nsecret_file = "/nowhere/secret"\n'
            found, code = self.examine(self.reconfigure("[flag]", f"{table}[flag]"))
            self.assert_all_well_but(found, "configuration", "tls")
            self.assert_found(found, "tls", "problem", "^tls.secret_file /nowhere/secret")
            for check in ("own address", "reach", "both ways", "identities", "leader"):
                self.assertEqual(found[check], [
                    ("skipped", "[tls] cannot be used here; see the check tls")])
            self.assert_found(found, "proxies", "ok", "refused by 127.0.0.1")
            self.assertEqual(code, FAILURE)
        after = [sidecar.log().count("rejected") for sidecar in self.group.sidecars]
        self.assertEqual(before, after)

    def test_state_of_another_group(self):
        config = self.reconfigure('name = "test"', 'name = "payments"')
        found, code = self.examine(config)
        self.assert_found(found, "state", "problem", "belongs to group test, not payments$")
        self.assert_found(found, "sidecar", "problem", "is n0 of group test, the configuration is")
        self.assert_found(found, "reach", "problem", "n1 .* is connected, but no sidecar of this "
                          "group answers: it closed the connection")
        self.assertEqual(code, FAILURE)

    def test_somebody_else_listens(self):
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as server:
            def hang_up():
                with contextlib.suppress(OSError):
                    while True:
                        server.accept()[0].close()
            threading.Thread(target=hang_up, daemon=True).start()
            place = f"127.0.0.1:{server.getsockname()[1]}"
            found, code = self.examine(self.reconfigure("peers = [", f'peers = ["{place}", '))
            server.shutdown(socket.SHUT_RDWR)
        self.assert_found(found, "reach", "problem", f"^{place} is connected, but no sidecar of")
        self.assert_found(found, "names", "warning", f"knows no member at {place}")
        self.assertEqual(code, FAILURE)

    def test_wrong_advertised_address(self):
        place = f"127.0.0.1:{self.second.peer_port}"
        config = self.reconfigure("[membership]", f'advertise = "{place}"\n[membership]')
        found, _ = self.examine(config)
        self.assert_found(found, "own address", "problem", f"^at {place}, .* answers n1$")

    def test_metrics_that_somebody_else_serves(self):
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as server:
            place = f"127.0.0.1:{server.getsockname()[1]}"
            config = self.reconfigure(f"127.0.0.1:{self.first.metrics_port}", place)
            found, _ = self.examine(config)
        self.assert_found(found, "metrics", "problem", f"at {place}: no whole answer within 2s")

    def test_plugin_that_is_not_there(self):
        config = self.reconfigure("[election]", '[election]\nplugin = "other"')
        found, _ = self.examine(config)
        self.assert_found(found, "plugin", "problem", "bellwether-other.so")

    def test_sidecar_that_hangs(self):
        self.first.send_signal(signal.SIGSTOP)
        found, _ = self.examine(self.first.config_file)
        pid = self.first.process.pid
        self.assert_found(found, "sidecar", "skipped", "no whole answer within 2s")
        self.assert_found(found, "state", "warning", f"is used by process {pid}, but no sidecar")
        self.assert_found(found, "metrics", "skipped", "no sidecar answers here")


class Alone(Doctor):
    def test_before_the_first_start(self):
        with Group(self.program, 2, CALM) as group:
            found, code = self.examine(group.sidecars[0].config_file)
            self.assert_all_well_but(found, "configuration", "reach")
            self.assert_found(found, "state", "ok", "can be made")
            self.assert_found(found, "flag", "ok", "can be made, on a tmpfs")
            for check in ("sidecar", "metrics", "own address", "both ways", "leader"):
                self.assertEqual([verdict for verdict, _ in found[check]], ["skipped"], check)
            self.assertEqual(code, DOUBTFUL)
            self.assertFalse(group.sidecars[0].state_folder.exists())
            self.assertFalse(group.sidecars[0].flag_file.exists())

    def test_configuration_that_is_invalid(self):
        config = self.write("b.toml", '[group]\nname = ""\nnme = 3\n')
        found, code = self.examine(config)
        self.assertEqual(code, CONFIG_INVALID)
        self.assertEqual([verdict for verdict, _ in found["configuration"]], ["problem"] * 2)
        self.assertEqual(found["reach"], [("skipped", "there is no valid configuration")])

    def test_configuration_that_is_not_there(self):
        found, code = self.examine("none.toml")
        self.assertEqual(code, FAILURE)
        self.assert_found(found, "configuration", "problem", "^cannot read none.toml: No such")
        text = self.run_program("doctor", "--config", "none.toml").stdout
        self.assertIn("there is no valid configuration: plugin, sidecar, ports, metrics, tls, ",
                      text)

    def test_help_names_every_exit_status(self):
        text = self.succeed("doctor", "--help")
        self.assertIn("Usage: bellwether doctor [OPTIONS]", text)
        for code in (OK, FAILURE, USAGE, CONFIG_INVALID, DOUBTFUL):
            self.assertRegex(text, rf"(Exit status:|;) {code} ")
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.assertEqual(self.fail_with(USAGE, "doctor", "--color", "pink"),
                         '--color is one of auto, always, never, not "pink"')


class Meshed(Doctor):
    """Hosts of their own, on the first of which a proxy takes all that is sent elsewhere."""

    def test_proxy_that_accepts_for_everybody(self):
        if not can_make_namespaces():
            self.skipTest("no network namespaces here")
        with Hosts(2) as hosts, Group(self.program, 2, CALM, hosts=hosts) as group:
            group.start()
            group.await_leader()
            first = group.sidecars[0]
            found, _ = self.examine(first.config_file, *hosts.command_prefix(0))
            self.assert_found(found, "proxies", "ok", "refused by 10.77.0.2$")
            proxy = subprocess.Popen(
                [*hosts.command_prefix(0), sys.executable, "-c",
                 "import socket, sys\n"
                 "server = socket.create_server(('0.0.0.0', 15001))\n"
                 "print('listens', flush=True)\n"
                 "while True: server.accept()[0].close()\n"], stdout=subprocess.PIPE)
            try:
                self.assertEqual(proxy.stdout.readline(), b"listens\n")
                hosts.enter(0, "nft", "add table ip mesh; add chain ip mesh output { type nat hook "
                            "output priority -100; }; add rule ip mesh output ip daddr 10.77.0.2 "
                            "meta l4proto tcp redirect to :15001")
                found, code = self.examine(first.config_file, *hosts.command_prefix(0))
            finally:
                proxy.kill()
                proxy.wait()
                proxy.stdout.close()
            self.assert_found(found, "proxies", "problem",
                              "^somebody answers for 10.77.0.2 .*Istio's proxy listens on port")
            self.assert_found(found, "reach", "problem", "n1 .* is connected, but no sidecar of")
            self.assertEqual(code, FAILURE)

    def test_connections_that_work_one_way_only(self):
        if not can_make_namespaces():
            self.skipTest("no network namespaces here")
        with Hosts(2) as hosts, Group(self.program, 2, CALM, hosts=hosts) as group:
            # From now on the first can answer the second, but not connect to it.
            hosts.drop_connecting(0, 1)
            group.start()
            group.await_leader()
            found, code = self.examine(group.sidecars[0].config_file, *hosts.command_prefix(0))
            self.assert_found(found, "reach", "problem", r"^n1 \(10.77.0.2:\d+\): no answer")
            self.assert_found(found, "both ways", "problem", "^n1: linked, but only connections fr")
            self.assertEqual(code, FAILURE)
            found, _ = self.examine(group.sidecars[1].config_file, *hosts.command_prefix(1))
            self.assert_found(found, "reach", "ok", "^1 address of others")


if __name__ == "__main__":
    main()
