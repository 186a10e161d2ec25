#!/usr/bin/env python3
"""Ports that others have, limits of files and of the processor, programs and files that cannot be
used: what the doctor, exit statuses and OPERATIONS (It ended by itself) advise.

usage: advice_limits_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import os
import socket
import subprocess

from advice_case import UNUSABLE, AdviceCase, Answering
from cgroups import Quota
from harness import free_ports, wait_until
from system_case import CALM, main

FAILED, PLUGIN_REFUSED = 1, 5
OF_ITS_OWN = "give the doctor the configuration of that sidecar, or each its own [api] listen"


class Ports(AdviceCase):
    """Exit status 6; `ports`, `metrics`, `sidecar` of the doctor."""

    def test_another_process_is_ended_or_the_key_gets_another_port(self):
        with self.led() as group:
            odd, _, leader = group.sidecars
            good = odd.config_file.read_text()
            for key, port in (("[node] listen", odd.peer_port), ("[api] listen", odd.api_port),
                              ("[metrics] listen", odd.metrics_port)):
                with self.subTest(key):
                    self.assertEqual(odd.stop(), 0)
                    with socket.create_server(("127.0.0.1", port)):
                        self.refused_start(odd, UNUSABLE, f"127.0.0.1:{port}")
                        self.await_advice(odd, "ports", f"another process listens at .*:{port}",
                                          f"end that process (`ss -ltnp sport = {port}` shows it)")
                        shown = subprocess.run(["ss", "-ltnp", "sport", "=", str(port)], text=True,
                                               check=True, capture_output=True).stdout
                        self.assertIn(f"pid={os.getpid()}", shown)
                        if key == "[metrics] listen":
                            odd.metrics_port, = free_ports(1)
                            odd.write_config(group.config_of(odd))
                            odd.start()
                            self.await_whole(group, leader)
                            odd.stop()
                    odd.start()
                    self.await_whole(group, leader)
                    self.await_health(odd, "ports")
            self.assertNotEqual(odd.config_file.read_text(), good)

    def test_metrics_get_a_port_of_their_own_or_a_restart(self):
        with self.led() as group:
            odd, other, leader = group.sidecars
            good = odd.config_file.read_text()
            with self.subTest("not a sidecar"), Answering() as stranger:
                self.edit(odd, (f":{odd.metrics_port}", f":{stranger.port}"))
                self.await_advice(odd, "metrics", "is not a sidecar .status 404.",
                                  "give [metrics] listen a port of its own")
                odd.write_config(good)
                self.await_health(odd, "metrics")
            with self.subTest("has changed"):
                odd.metrics_port, = free_ports(1)
                odd.write_config(group.config_of(odd))
                self.await_advice(odd, "metrics", "metrics: ", "look for another process on this "
                                  "port, or restart the sidecar if [metrics] listen has changed")
                self.restart(group, odd)
                self.await_health(odd, "metrics")
            with self.subTest("another sidecar"):
                good = self.edit(odd, (f":{odd.api_port}", f":{other.api_port}"),
                                 (f'socket = "{odd.socket_file}"', ""))
                self.await_advice(odd, "sidecar", "what answers at .* is n1 of group test, the "
                                  "configuration is that of n0", OF_ITS_OWN)
                odd.write_config(good)
                self.await_health(odd, "sidecar")
            self.await_whole(group, leader)

    def test_metrics_listen_where_prometheus_reaches_them(self):
        with self.led() as group:
            odd = group.sidecars[0]
            good = self.edit(odd, ("[node]", '[node]\nadvertise = "10.99.0.1:7946"'))
            self.restart(group, odd)
            self.await_advice(odd, "metrics", "where only this host gets them", "let [metrics] "
                              "listen at an address that Prometheus reaches")
            self.edit(odd, (f'"127.0.0.1:{odd.metrics_port}"', f'"[::]:{odd.metrics_port}"'))
            self.restart(group, odd)
            self.await_health(odd, "metrics")
            odd.write_config(good)
            self.restart(group, odd)
            self.await_whole(group, group.sidecars[2])


class Limits(AdviceCase):
    def test_more_files_may_be_open(self):
        """LimitNOFILE=, ulimit -n."""
        with self.led() as group:
            odd, _, leader = group.sidecars
            for limit, words in ((31, None), (100, "may open 100 files"),
                                 (512, "may open 512 files")):
                with self.subTest(limit):
                    odd.stop()
                    # As ulimit does it, and ends up as the sidecar.
                    odd.prefix = ["prlimit", f"--nofile={limit}"]
                    if words is None:
                        self.refused_start(odd, FAILED, "only 31 files may be open; raise that to "
                                           "4096 .LimitNOFILE=, ulimit -n.")
                    else:
                        odd.start()
                        odd.await_log(f"few files may be open.*limit={limit}.*raise it to 4096")
                        self.await_advice(odd, "open files", words,
                                          "raise it to 4096 (LimitNOFILE=, ulimit -n)")
                        odd.stop()
                    odd.prefix = ["prlimit", "--nofile=4096"]
                    odd.start()
                    self.await_whole(group, leader)
                    self.await_health(odd, "open files")

    def test_the_quota_is_raised_or_the_timers_are_longer(self):
        """`processor`: leave limits.cpu out, raise it, or choose profile "wan"."""
        with self.led(extra="") as group:
            odd = group.sidecars[0]
            quota = Quota(odd.process.pid, 100_000, 800_000)
            try:
                self.await_advice(odd, "processor", "so it can stand still for 700ms; peers "
                                  "suspect a silence of", "leave limits.cpu out, raise it, or "
                                  'choose profile "wan" for longer timers')
            finally:
                quota.lift()
            wait_until("it has what it needs", lambda: not any(
                "stand still" in seen for _, seen, _ in self.findings(odd, "processor")))
            self.await_whole(group, group.sidecars[2])


class Programs(AdviceCase):
    """Exit statuses 2 and 5; files that are of no use."""

    def test_a_plugin_is_one_that_can_be_loaded(self):
        with self.led() as group:
            odd = group.sidecars[0]
            odd.stop()
            good = self.edit(odd, ("[election]", '[election]\nplugin = "nobody"'))
            self.refused_start(odd, PLUGIN_REFUSED, "bellwether-nobody.so")
            self.await_advice(odd, "plugin", "nobody",
                              "set election.plugin to one that can be loaded")
            odd.write_config(good)
            odd.start()
            self.await_whole(group, group.sidecars[2])
            self.await_health(odd, "plugin")

    def test_a_configuration_is_a_regular_file_or_a_link_to_one(self):
        with self.led() as group:
            odd = group.sidecars[0]
            file, home = odd.config_file, group.folder / "home.toml"
            file.rename(home)
            os.mkfifo(file)
            status, _, answer = odd.request("POST", "/v1/reload")
            self.assertEqual(status, 422)
            self.assertIn("put a regular file, or a link to one, in its place", answer)
            self.await_metric(odd, "bellwether_config_last_reload_successful", 0)
            file.unlink()
            file.symlink_to(home)
            self.commanded(odd, "reload")
            self.await_metric(odd, "bellwether_config_last_reload_successful", 1)
            self.restart(group, odd)
            self.await_whole(group, group.sidecars[2])

    def test_a_word_that_is_wrong_is_corrected(self):
        with self.led() as group:
            leader = group.sidecars[2]
            result = self.command(leader, "statsu")
            self.assertEqual(result.returncode, 2)
            self.assertIn("statsu is not a subcommand; did you mean status? "
                          "See 'bellwether --help'", result.stderr)
            self.assertIn("status", self.run_program("--help").stdout)
            self.commanded(leader, "status")
            self.await_whole(group, leader)

    def test_a_report_of_a_bug_can_be_written(self):
        """Report a bug: each of its commands answers; SIGUSR1 where the API does not."""
        with self.voters(extra=CALM) as group:
            leader = group.sidecars[2]
            self.assertIn("bellwether", self.run_program("version").stdout)
            for words in (("check",), ("check", "--json"), ("status", "--json")):
                result = self.run_program(*words, "--config", leader.config_file)
                self.assertIn(result.returncode, (0, 4), result.stderr)
                self.assertTrue(result.stdout)
            for path in ("/v1/explain", "/v1/history", "/metrics"):
                self.assertEqual(leader.request("GET", path)[0], 200)
            leader.send_signal(10)
            leader.await_log("state status=")
            self.await_whole(group, leader)


if __name__ == "__main__":
    main()
