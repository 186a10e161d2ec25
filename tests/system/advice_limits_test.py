#!/usr/bin/env python3
"""Ports that others have, limits of files and of the processor, programs and files that cannot be
used: what the doctor, exit statuses and OPERATIONS (It ended by itself) advise.

usage: advice_limits_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import os
import pathlib
import re
import socket
import subprocess
import threading
import unittest

from advice_case import UNUSABLE, AdviceCase, Answering
from cgroups import Quota, Threads
from harness import free_ports, wait_until
from system_case import CALM, IS_SANITIZED, main

FAILED, PLUGIN_REFUSED = 1, 5
OF_ITS_OWN = "give the doctor the configuration of that sidecar, or each its own [api] listen"
LONELY = 20_000 + os.getpid() % 20_000 * 2  # it and the next are users without a process
SILENT = f"127.53.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"
THREADS = ("threads more may be started, and it takes 12; allow more .ulimit -u, TasksMax=, "
           "pids.max; or memory: ulimit -v.")
UNPRIVILEGED = pathlib.Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
NONLOCAL = pathlib.Path("/proc/sys/net/ipv4/ip_nonlocal_bind")


class NameServer:
    """Silent until answer(); then every name stands for 127.0.0.1, also in questions that came
    before.  A context manager."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 53))
        self.thread = threading.Thread(target=self.work, daemon=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):  # it is not connected, but this wakes whoever waits
            self.socket.shutdown(socket.SHUT_RDWR)
        if self.thread.is_alive():
            self.thread.join()
        self.socket.close()

    def answer(self):
        self.thread.start()

    def work(self):
        while True:
            query, client = self.socket.recvfrom(512)
            if not query:
                return
            end = query.index(0, 12) + 5  # of the question, behind the header
            is_of_ipv4 = query[end - 4:end - 2] == b"\0\1"
            found = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1" if is_of_ipv4 else b""
            self.socket.sendto(query[:2] + b"\x81\x80\0\1" + bytes([0, is_of_ipv4]) +
                               bytes(4) + query[12:end] + found, client)


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

    def test_an_address_that_is_not_of_this_host_becomes_one_that_is(self):
        if NONLOCAL.read_text().strip() != "0":
            self.skipTest("every address can be had here")
        with self.led() as group:
            odd, _, leader = group.sidecars
            self.assertEqual(odd.stop(), 0)
            own = f"127.0.0.1:{odd.metrics_port}"
            self.edit(odd, (own, "192.0.2.1:9464"))
            self.refused_start(odd, UNUSABLE, "give an address of this host")
            self.edit(odd, ("192.0.2.1:9464", own))
            odd.start()
            self.await_whole(group, leader)

    def test_a_port_that_is_not_for_everybody_becomes_one_above_1023(self):
        if os.geteuid() != 0 or int(UNPRIVILEGED.read_text()) < 1024:
            self.skipTest("everybody may have every port here")
        with self.led() as group:
            odd, _, leader = group.sidecars
            self.assertEqual(odd.stop(), 0)
            odd.prefix = ["setpriv", "--bounding-set=-net_bind_service"]
            self.edit(odd, (f":{odd.metrics_port}", ":1023"))
            self.refused_start(odd, UNUSABLE, "metrics.listen: cannot listen on 127.0.0.1:1023: "
                               "Permission denied; give a port above 1023")
            self.edit(odd, (":1023", f":{odd.metrics_port}"))
            odd.start()
            self.await_whole(group, leader)

    def test_what_answers_for_names_is_looked_at(self):
        """/etc/resolv.conf names a server that is silent; it is made to answer."""
        if os.geteuid() != 0 or subprocess.run(
                ["unshare", "--mount", "mount", "--bind", "/etc/resolv.conf", "/etc/resolv.conf"],
                check=False, capture_output=True).returncode:
            self.skipTest("only who may mount can have a resolv.conf of its own")
        try:
            server = NameServer(SILENT)
        except OSError as error:
            self.skipTest(f"port 53 cannot be had: {error}")
        with server, self.led() as group:
            odd, _, leader = group.sidecars
            self.assertEqual(odd.stop(), 0)
            self.edit(odd, (f"127.0.0.1:{odd.metrics_port}", f"n0.test:{odd.metrics_port}"))
            servers, switch = group.folder / "resolv.conf", group.folder / "nsswitch.conf"
            servers.write_text(f"nameserver {SILENT}\noptions timeout:30 attempts:5\n")
            switch.write_text("hosts: files dns\n")
            odd.prefix = ["unshare", "--mount", "sh", "-c",
                          'mount --bind "$0" /etc/resolv.conf && mount --bind "$1" '
                          '/etc/nsswitch.conf && shift && exec "$@"', servers, switch]
            odd.start()
            odd.await_log("cannot start yet: n0.test keeps it waiting; look at what answers "
                          "for names ./etc/resolv.conf, /etc/hosts.")
            server.answer()
            self.await_whole(group, leader)


class Limits(AdviceCase):
    def given_to(self, group, sidecar, user):
        """Gives a stopped sidecar to the user, with a folder for flag and socket; what starts it
        as that user."""
        own = group.folder / f"of{user}"
        own.mkdir()
        sidecar.flag_file, sidecar.socket_file = own / "flag", own / "socket"
        sidecar.write_config(group.config_of(sidecar))
        subprocess.run(["chown", "-R", f"{user}:{user}", sidecar.state_folder, own], check=True)
        group.folder.chmod(0o755)
        return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]

    def test_more_threads_may_be_started(self):
        """ulimit -u, just as many as it takes; ulimit -v."""
        self.require_other_user(LONELY)
        with self.led() as group:
            odd, _, leader = group.sidecars
            self.assertEqual(odd.stop(), 0)
            lonely = self.given_to(group, odd, LONELY)
            stack = f"--stack={8 << 20}"  # of each thread
            for few, enough in (("--nproc=4", "--nproc=13"),
                                (f"--as={64 << 20}", f"--as={160 << 20}")):
                with self.subTest(few):
                    odd.prefix = [*lonely, "prlimit", stack, few]
                    self.refused_start(odd, FAILED, THREADS)
                    odd.prefix = [*lonely, "prlimit", stack, enough]
                    odd.start()
                    self.await_whole(group, leader)
                    self.assertEqual(odd.stop(), 0)

    def test_more_threads_may_be_in_its_control_group(self):
        """TasksMax=, pids.max; just as many as it takes."""
        with Threads(4) as threads, self.led() as group:
            odd, _, leader = group.sidecars
            self.assertEqual(odd.stop(), 0)
            odd.prefix = threads.prefix
            self.refused_start(odd, FAILED, f"only 3 {THREADS}")
            threads.allow(13)
            odd.start()
            self.await_whole(group, leader)

    @unittest.skipIf(IS_SANITIZED, "a sanitizer has to be the first library")
    def test_a_reading_gets_its_thread(self):
        """In a sidecar that runs.  One is kept for readings; while that hangs at another file there
        is none until more are allowed."""
        self.require_other_user(LONELY + 1)
        with self.led() as group:
            odd, _, leader = group.sidecars
            self.assertEqual(odd.stop(), 0)
            odd.prefix = self.given_to(group, odd, LONELY + 1)
            odd.start(environment={"LD_PRELOAD": os.environ["BELLWETHER_TEST_FAULTY_CALLS"],
                                   "HANGING_FILE": str(odd.socket_file)})
            self.await_whole(group, leader)
            limit = [*odd.prefix, "prlimit", "--pid", str(odd.process.pid)]
            subprocess.run([*limit, "--nproc=1:"], check=True)
            wait_until("it is read by the one that is kept",
                       lambda: odd.request("POST", "/v1/reload")[0] == 200)
            hangs = pathlib.Path(f"{odd.socket_file}.hangs")

            def is_there_none():
                return ("there is no thread to read with; allow more (ulimit -u, TasksMax=, "
                        "pids.max)") in odd.request("POST", "/v1/reload")[2]
            hangs.touch()
            wait_until("there is none", is_there_none)
            subprocess.run([*limit, "--nproc=64:"], check=True)
            self.commanded(odd, "reload")
            hangs.unlink()
            self.await_whole(group, leader)

    def test_the_stack_may_be_larger(self):
        with self.led() as group:
            odd, _, leader = group.sidecars
            self.assertEqual(odd.stop(), 0)
            odd.prefix = ["prlimit", f"--stack={128 << 10}"]
            self.refused_start(odd, FAILED, "the stack may have 128 KiB, and it takes 384; allow "
                               "more .ulimit -s, LimitSTACK=.")
            odd.prefix = ["prlimit", f"--stack={384 << 10}"]
            odd.start()
            self.await_whole(group, leader)

    def test_the_flags_page_may_be_locked(self):
        """ulimit -l, LimitMEMLOCK=."""
        if os.geteuid() != 0:
            self.skipTest("only root can lower it, and raise it again")
        with self.voters() as group:
            odd = group.sidecars[0]
            words = ("its page cannot be locked in memory .*; allow 4096 bytes more .ulimit -l, "
                     "LimitMEMLOCK=")
            unprivileged = ["setpriv", "--bounding-set=-ipc_lock"]
            for limit, is_enough in ((0, False), (4096, True)):
                odd.prefix = [*unprivileged, "prlimit", f"--memlock={limit}"]
                known = len(odd.log())
                self.restart(group, odd)
                self.await_whole(group)
                if is_enough:
                    self.assertIsNone(re.search(words, odd.log()[known:]))
                else:
                    odd.await_log(words)

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

    def test_what_uses_openssl_before_us_is_taken_out(self):
        with self.led() as group:
            odd, _, leader = group.sidecars
            warning = ("a core dump would hold keys; something used OpenSSL before us .*leave "
                       "core_dumps off, and take out what LD_PRELOAD names")
            for environment, is_told in (
                    ({"LD_PRELOAD": os.environ["BELLWETHER_TEST_FAULTY_CALLS"],
                      "EARLY_OPENSSL": "1"}, True), ({}, False)):
                self.assertEqual(odd.stop(), 0)
                known = len(odd.log())
                odd.start(environment=environment)
                self.await_whole(group, leader)
                if is_told:
                    odd.await_log(warning)
                else:
                    self.assertIsNone(re.search(warning, odd.log()[known:]))

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

    def test_a_command_is_told_where_its_sidecar_is(self):
        with self.led() as group:
            leader = group.sidecars[2]
            token = group.folder / "token"
            token.touch(mode=0o600)
            token.write_text(self.run_program("keygen").stdout)
            given = ("--config", leader.config_file)
            flaws = [(("status", "--api", "n2"), "give http://HOST:PORT, https://HOST:PORT or the "
                      "path of a unix socket", ("status", "--api", leader.api_url)),
                     (("elect", "--api", "http://192.0.2.1:4040", "--token-file", token),
                      "everybody on the way could read it; give https://, or run the command there",
                      ("elect", "--api", leader.api_url, "--token-file", token))]
            if not os.path.exists("/etc/bellwether/bellwether.toml"):
                flaws.append((("check",), "give the file with --config", ("check", *given)))
            for flaw, words, repaired in flaws:
                with self.subTest(words):
                    result = self.run_program(*flaw)
                    self.assertNotEqual(result.returncode, 0)
                    self.assertIn(words, " ".join(result.stderr.split()))
                    result = self.run_program(*repaired)
                    self.assertIn(result.returncode, (0, 4), result.stderr)
            status, _, text = leader.request("GET", "/leader", headers={"Host": "elsewhere.org"})
            self.assertIn("names none of this node's names; use its address, or n2", text)
            self.assertNotEqual(status, 200)
            for host in ("127.0.0.1", "n2"):
                self.assertEqual(leader.request("GET", "/leader", headers={"Host": host})[0], 200)
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
