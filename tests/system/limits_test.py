#!/usr/bin/env python3
"""Bounds that hold whatever strangers do: of the log, of connections, of open files; and that a
person is told of those that the machine has set too low.

usage: limits_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import os
import pathlib
import resource
import socket
import threading
import time
import unittest

from cgroups import Threads
from forged_frames import CANVASS, COORDINATOR, RESIGN, Impostor, fixed
from harness import wait_until
from system_case import CALM, IS_SANITIZED, SystemCase, main

LONELY = 54_321  # a user without any other process
LIMITS = "bellwether_limit_hits_total"
CLIENTS = 600  # more than there is room for
FRAMES = 100_000
MOST_LINES = 4000  # of all kinds together: 1000 of each in a row, and a few a minute


class Log(SystemCase):
    """Nobody fills the disk through the log."""

    def flood(self, sidecar, impostor, frames):
        """Sends all these, and reads what comes back so that nobody waits for anybody."""
        with impostor.connect(sidecar) as stranger:
            reader = threading.Thread(target=self.read, args=(stranger,), daemon=True)
            reader.start()
            with contextlib.suppress(ConnectionError):
                stranger.sendall(b"".join(frames))
                stranger.shutdown(1)
            reader.join(60)

    @staticmethod
    def read(stranger):
        with contextlib.suppress(OSError):
            while stranger.recv(65536):
                pass

    def check_log(self, sidecar):
        lines = sidecar.log().splitlines()
        self.assertLess(len(lines), MOST_LINES, "\n".join(lines[-20:]))

    def test_refused_messages_without_an_end(self):
        with self.group(1, voters=1) as group:
            sidecar, = group.start("--bootstrap").sidecars
            group.await_leader(sidecar)
            impostor = Impostor("stranger")
            canvass = impostor.frame(CANVASS, fixed(1, 7) + fixed(2, 99))
            self.flood(sidecar, impostor, [canvass] * FRAMES)
            wait_until("it has read them", lambda: sidecar.state_of("stranger") != "alive")
            sidecar.await_log("refused a message")
            self.check_log(sidecar)
            self.assertTrue(sidecar.is_leader())

    def test_claims_and_resignations_without_an_end(self):
        """Each of them is news, so it would be a line or two."""
        with self.group(1, extra=CALM) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            impostor = Impostor("stranger", priority=60000)
            epoch = sidecar.epoch()
            frames = [impostor.frame(kind, epoch=epoch + number, released=epoch + number - lead)
                      for number in range(1, FRAMES // 2)
                      for kind, lead in ((COORDINATOR, 1), (RESIGN, 0))]
            self.flood(sidecar, impostor, frames)
            wait_until("it has read them", lambda: sidecar.state_of("stranger") != "alive")
            self.check_log(sidecar)
            wait_until("what was left out is counted", lambda: sidecar.count(
                LIMITS, limit="log_lines") > 0)


class Connections(SystemCase):
    """Nobody keeps probes out: the kubelet would kill the sidecar."""

    def test_probes_get_through_a_crowd_of_silent_clients(self):
        with self.group(1) as group, contextlib.ExitStack() as stack:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            for port in (sidecar.metrics_port, sidecar.api_port):
                for _ in range(CLIENTS):
                    stack.enter_context(socket.create_connection((sidecar.address, port), 30))
                for path in ("/livez", "/readyz", "/metrics"):
                    status, _, text = sidecar.request("GET", path, port=port)
                    self.assertEqual(status, 200, text)
            self.assertGreater(sidecar.count(LIMITS, limit="http_connections"), 0)

    def test_probes_get_through_clients_that_wait_trickle_and_do_not_read(self):
        half, whole = b"GET /livez HT", b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with self.group(1) as group, contextlib.ExitStack() as stack:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            for text in (half, whole % b"/v1/events", whole % b"/v1/leader?index=99&wait=60s",
                         whole % b"/metrics" * 50):
                for _ in range(CLIENTS // 2):
                    client = stack.enter_context(socket.socket())
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                    client.connect((sidecar.address, sidecar.api_port))
                    with contextlib.suppress(ConnectionError):  # it has given way
                        client.sendall(text)
            status, _, text = sidecar.request("GET", "/livez")
            self.assertEqual(status, 200, text)


class OpenFiles(SystemCase):
    """The limit is raised, or somebody is told."""

    def started_with(self, group, limits):
        sidecar, = group.sidecars
        sidecar.prefix = ["prlimit", f"--nofile={limits}"]
        group.start().await_leader(sidecar)
        return sidecar

    def test_the_soft_limit_is_raised(self):
        with self.group(1) as group:
            sidecar = self.started_with(group, "256:")
            soft, _ = resource.prlimit(sidecar.process.pid, resource.RLIMIT_NOFILE)
            self.assertEqual(soft, 4096)
            self.assertNotIn("few files", sidecar.log())

    def test_a_hard_limit_with_which_nothing_works_is_refused(self):
        with self.group(1) as group:
            sidecar, = group.sidecars
            for limit in (8, 9, 31):
                sidecar.prefix = ["prlimit", f"--nofile={limit}"]
                sidecar.start()
                self.assertEqual(sidecar.await_exit(), 1, sidecar.log())
                self.assertIn(f"only {limit} files may be open; raise", sidecar.log())
            sidecar.is_wanted = False

    def test_strangers_leave_it_the_files_that_it_needs(self):
        """They would take all, and libuv's loop not come to an end of accepting."""
        with self.group(1) as group:
            sidecar = self.started_with(group, "100:100")
            hello = Impostor("stranger", priority=1).hello(epoch=1)
            ports = {sidecar.peer_port: (b"", hello), sidecar.metrics_port: (b"",),
                     sidecar.api_port: (b"",)}
            end = time.monotonic() + 8
            with contextlib.ExitStack() as stack:
                while time.monotonic() < end:
                    for port, texts in ports.items():
                        for text in texts:
                            with contextlib.suppress(OSError):
                                stranger = stack.enter_context(socket.create_connection(
                                    (sidecar.address, port), timeout=0.3))
                                stranger.sendall(text)
            wait_until("all is well", lambda: sidecar.request("GET", "/readyz")[0] == 200)
            for limit in ("peer_connections", "http_connections"):
                self.assertGreater(sidecar.count(LIMITS, limit=limit), 0)
            self.assertTrue(sidecar.is_leader())
            self.assertEqual(sidecar.stop(), 0)

    def test_too_few_threads_are_refused(self):
        """Not by libuv, which says nothing."""
        with self.group(1) as group:
            self.require_other_user(LONELY)
            sidecar, = group.sidecars
            sidecar.write_config(group.config_of(sidecar))
            for limit in (4, 7, 12):
                sidecar.prefix = ["setpriv", f"--reuid={LONELY}", "--clear-groups", "prlimit",
                                  f"--nproc={limit}"]
                sidecar.start()
                self.assertEqual(sidecar.await_exit(), 1, sidecar.log())
                self.assertRegex(sidecar.log(), "threads more may be started, and it takes 12; "
                                 "allow more .ulimit -u, TasksMax=, pids.max; or memory")
            sidecar.is_wanted = False

    @unittest.skipIf(IS_SANITIZED, "a sanitizer has to be the first library")
    def test_readings_take_no_thread_that_the_loop_needs(self):
        """libuv ends a process in which it cannot make its pool, without a word."""
        hooks, allowed = 16, 18  # not enough for each file to hang, but to start
        with Threads(allowed) as threads, self.group(1) as group:
            sidecar, = group.sidecars
            secret = group.folder / "hook.secret"
            secret.touch(mode=0o600)
            secret.write_text("a secret that takes a minute\n")
            pathlib.Path(f"{secret}.hangs").touch()
            sidecar.write_config(group.config_of(sidecar) + "".join(
                f'[[hook]]\nurl = "http://127.0.0.1:9/{number}"\nsecret_file = "{secret}"\n'
                for number in range(hooks)))
            sidecar.prefix = threads.prefix
            for _ in range(3):
                sidecar.start(environment={
                    "LD_PRELOAD": os.environ["BELLWETHER_TEST_FAULTY_CALLS"],
                    "HANGING_FILE": str(secret)})
                group.await_leader(sidecar)
                self.assertEqual(sidecar.stop(), 0)

    @unittest.skipIf(IS_SANITIZED, "a sanitizer has to be the first library")
    def test_webhooks_that_come_when_no_thread_is_left_cost_nothing_else(self):
        kept = '[[hook]]\nurl = "http://127.0.0.1:9/"\n'
        with Threads(18) as threads, self.group(1) as group:
            sidecar, = group.sidecars
            secret = group.folder / "hook.secret"
            secret.touch(mode=0o600)
            secret.write_text("a secret that takes a minute\n")
            pathlib.Path(f"{secret}.hangs").touch()
            config = group.config_of(sidecar) + kept
            sidecar.write_config(config)
            sidecar.prefix = threads.prefix
            sidecar.start(environment={"LD_PRELOAD": os.environ["BELLWETHER_TEST_FAULTY_CALLS"],
                                       "HANGING_FILE": str(secret)})
            group.await_leader(sidecar)
            sidecar.write_config(config + "".join(
                f'[[hook]]\nurl = "http://127.0.0.1:9/{number}"\nsecret_file = "{secret}"\n'
                for number in range(15)))
            sidecar.await_log("the files of a webhook cannot be used.*there is no thread to read")
            self.assertEqual(sidecar.stop(), 0)

    def test_too_small_a_stack_is_refused(self):
        """Not by the kernel, which says nothing."""
        with self.group(1) as group:
            sidecar, = group.sidecars
            sidecar.write_config(group.config_of(sidecar))
            sidecar.prefix = ["prlimit", f"--stack={128 << 10}"]
            sidecar.start()
            self.assertEqual(sidecar.await_exit(), 1, sidecar.log())
            self.assertIn("the stack may have 128 KiB, and it takes 384; allow more (ulimit -s, "
                          "LimitSTACK=)", sidecar.log())
            sidecar.is_wanted = False

    def test_a_hard_limit_that_is_low_is_told(self):
        with self.group(1) as group:
            sidecar = self.started_with(group, "256:512")
            sidecar.await_log("few files may be open.*limit=512")
            doctor = self.run_program("doctor", "--config", sidecar.config_file)
            self.assertIn("may open 512 files", doctor.stdout)


class StateFolder(SystemCase):
    """Who else can put an older state there is told of."""

    def test_a_folder_that_others_may_write(self):
        with self.group(1) as group:
            sidecar, = group.sidecars
            sidecar.state_folder.mkdir()
            sidecar.state_folder.chmod(0o777)
            group.start().await_leader(sidecar)
            sidecar.await_log("can be written by everybody")
            doctor = self.run_program("doctor", "--config", sidecar.config_file)
            self.assertIn("can be written by everybody", doctor.stdout)

    def test_a_volume_as_kubernetes_gives_it_to_a_group(self):
        with self.group(1) as group:
            sidecar, = group.sidecars
            sidecar.state_folder.mkdir()
            sidecar.state_folder.chmod(0o2770)
            group.start().await_leader(sidecar)
            sidecar.await_log("this node leads")
            self.assertNotIn("can be written", sidecar.log())


if __name__ == "__main__":
    main()
