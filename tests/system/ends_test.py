#!/usr/bin/env python3
"""Every way out of a sidecar: first its flag is off, then its connections end; nothing holds it up.

usage: ends_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import base64
import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from core_dumps import core_dumps
from harness import PATIENCE_S, now_ns, wait_until
from system_case import CALM, IS_SANITIZED, SystemCase, main

INVARIANT_BROKEN, STATE_UNAVAILABLE = 8, 9
F_SETPIPE_SZ = 1031


def slow(**milliseconds):
    """The environment in which some system calls take so long (slow_calls.c)."""
    if IS_SANITIZED:
        raise unittest.SkipTest("a sanitizer has to be the first library")
    return {"LD_PRELOAD": os.environ["BELLWETHER_TEST_SLOW_CALLS"],
            **{name.upper(): str(ms) for name, ms in milliseconds.items()}}


@contextlib.contextmanager
def full_pipe():
    """The end of a pipe into which nothing more fits, and that nobody reads."""
    reader, writer = os.pipe()
    try:
        fcntl.fcntl(writer, F_SETPIPE_SZ, 4096)
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"." * 4096)
        os.set_blocking(writer, True)
        yield writer
    finally:
        os.close(reader)
        os.close(writer)


class Signals(SystemCase):
    def send_at_once(self, sidecar, *numbers):
        """All of them wait when it looks for the first."""
        sidecar.is_wanted = False
        sidecar.send_signal(signal.SIGSTOP)
        for number in numbers:
            sidecar.send_signal(number)
        sidecar.send_signal(signal.SIGCONT)

    def test_a_second_signal_turns_the_flag_off_before_connections_end(self):
        with self.group(voters=3, extra=CALM + '[log]\nlevel = "debug"\n') as group:
            *followers, leader = group.sidecars
            for follower in followers:
                follower.start("--bootstrap")
            leader.start("--bootstrap", environment=slow(slow_socket_close_ms=50))
            group.await_leader(leader)
            group.observe(self.observer)
            group.await_leader(leader)
            began_ns = now_ns()
            self.send_at_once(leader, signal.SIGTERM, signal.SIGINT)
            self.assertEqual(leader.await_exit(), 1)
            self.assertIn("stopping at once", leader.log())
            self.check_off_before_others_know(group, leader, began_ns)

    def hanging(self, **what):
        if IS_SANITIZED:
            raise unittest.SkipTest("a sanitizer has to be the first library")
        return {"LD_PRELOAD": os.environ["BELLWETHER_TEST_FAULTY_CALLS"],
                **{name.upper(): str(value) for name, value in what.items()}}

    def test_a_configuration_that_does_not_answer_holds_up_nothing(self):
        """As one on a network file system whose server has gone."""
        with self.group(1) as group:
            sidecar, = group.sidecars
            sidecar.start(environment=self.hanging(hanging_file=sidecar.config_file))
            group.await_leader(sidecar)
            marker = pathlib.Path(f"{sidecar.config_file}.hangs")
            for ends in (False, True):
                marker.touch()
                status, _, text = sidecar.request("POST", "/v1/reload")
                self.assertEqual(status, 503, text)
                self.assertIn("does not answer", text)
                wait_until("it is told of", lambda: sidecar.metrics()[
                    "bellwether_config_last_reload_successful"] == 0)
                self.assertTrue(sidecar.is_leader())
                if not ends:
                    marker.unlink()
                    wait_until("it is read again", lambda: sidecar.metrics()[
                        "bellwether_config_last_reload_successful"] == 1)
                    self.assertEqual(sidecar.request("POST", "/v1/reload")[0], 200)
            self.assertEqual(sidecar.stop(), 0)

    def test_files_that_do_not_answer_hold_up_no_vote(self):
        """Each file that is read again may keep a thread; the state has its own."""
        hooks = "".join(f'[[hook]]\nurl = "http://127.0.0.1:9/{number}"\nsecret_file = "{{0}}"\n'
                        for number in range(8))
        with self.group(voters=3) as group:
            secret = group.folder / "hook.secret"
            secret.touch(mode=0o600)
            secret.write_text("whsec_" + base64.b64encode(os.urandom(32)).decode() + "\n")
            for sidecar in group.sidecars:
                sidecar.write_config(group.config_of(sidecar, extra=hooks.format(secret)))
                sidecar.start("--bootstrap", environment=self.hanging(hanging_file=secret))
            leader = group.await_leader(group.sidecars[-1])
            pathlib.Path(f"{secret}.hangs").touch()
            for sidecar in group.sidecars:
                sidecar.request("POST", "/v1/reload")
                wait_until("it is told of", lambda each=sidecar: (
                    f"{secret} cannot be read: the disk" in each.log()))
            leader.kill()
            group.await_leader(group.sidecars[-2])

    def test_a_socket_that_does_not_answer_holds_up_nothing(self):
        """Its file may be on such a disk, too."""
        with self.group(voters=3) as group:
            sockets = {}
            for sidecar in group.sidecars:
                sockets[sidecar] = sidecar.socket_file
                sidecar.start("--bootstrap",
                              environment=self.hanging(hanging_file=sidecar.socket_file))
            leader = group.await_leader(group.sidecars[-1])
            epoch = leader.epoch()
            markers = [pathlib.Path(f"{file}.hangs") for file in sockets.values()]
            for marker in markers:
                marker.touch()
            for sidecar in group.sidecars:
                sidecar.await_log("the API's socket cannot be looked at")
            self.assertTrue(leader.is_leader())
            self.assertEqual(leader.epoch(), epoch)
            markers[-1].unlink()
            leader.await_log("the API's socket is in its place again")
            self.assertEqual(leader.stop(), 0)
            self.assertFalse(sockets[leader].exists())
            self.assertEqual(group.sidecars[0].stop(), 0)

    def test_a_command_says_which_file_keeps_it_waiting(self):
        with self.group(1) as group:
            sidecar, = group.sidecars
            marker = pathlib.Path(f"{sidecar.config_file}.hangs")
            marker.touch()
            for command in (["check", sidecar.config_file],
                            ["status", "--config", sidecar.config_file],
                            ["doctor", "--config", sidecar.config_file]):
                with self.subTest(command=command[0]), subprocess.Popen(
                        [self.program, *command], stderr=subprocess.PIPE, text=True,
                        env=os.environ | self.hanging(hanging_file=sidecar.config_file)) as asked:
                    self.assertRegex(
                        asked.stderr.readline(),
                        f"cannot go on: {sidecar.config_file} keeps it waiting; look at the disk")
                    asked.send_signal(signal.SIGTERM)
                    self.assertEqual(asked.wait(PATIENCE_S), -signal.SIGTERM)

    def test_a_disk_that_does_not_answer_does_not_hold_up_the_end(self):
        with self.group(1) as group:
            sidecar, = group.sidecars
            hangs = group.folder / "hangs"
            sidecar.start(environment=self.hanging(hanging_disk=hangs))
            group.await_leader(sidecar)
            hangs.touch()
            before = sidecar.epoch()
            self.assertEqual(sidecar.request("POST", "/v1/elect")[0], 200)
            wait_until("it has an epoch to be stored", lambda: sidecar.epoch() != before)
            self.assertEqual(sidecar.stop(), 0)

    def test_a_start_that_hangs_says_where_and_can_be_ended(self):
        """Whatever it opens may be on a network file system whose server has gone."""
        with self.group(1) as group:
            sidecar, = group.sidecars
            secret, plugin = group.folder / "secret", group.folder / "plugin.so"
            secret.touch(mode=0o600)
            secret.write_text(os.urandom(32).hex() + "\n")
            shutil.copy(os.environ["BELLWETHER_TEST_WAITING_PLUGIN"], plugin)
            flag_folder = sidecar.flag_file.parent
            config = group.config_of(sidecar)
            election = config.replace("[election]", f'[election]\nplugin = "{plugin}"')
            places = {sidecar.config_file: config, plugin: election, flag_folder: config,
                      secret: f'{config}[tls]\nsecret_file = "{secret}"\n'}
            for place, text in places.items():
                with self.subTest(place=place.name):
                    sidecar.write_config(text)
                    marker = pathlib.Path(f"{place}.hangs")
                    marker.touch()
                    self.ends_where_it_hangs(sidecar, place, hanging_file=place)
                    marker.unlink()
            sidecar.write_config(config)
            with self.subTest(place="state"):
                marker.touch()
                self.ends_where_it_hangs(sidecar, sidecar.state_folder, hanging_disk=marker)
                marker.unlink()
            sidecar.start()
            group.await_leader(sidecar)

    def ends_where_it_hangs(self, sidecar, place, **what):
        sidecar.start(environment=self.hanging(**what))
        wait_until("it is told of", lambda: re.search(
            f"cannot start yet: {place}.* keeps it waiting; look at the disk", sidecar.log()))
        self.assertTrue(sidecar.is_running)
        sidecar.is_wanted = False
        sidecar.send_signal(signal.SIGTERM)
        self.assertEqual(sidecar.await_exit(), 0, sidecar.log())
        self.assertIn("told to end before it had started", sidecar.log())

    def test_a_signal_that_comes_too_early_is_not_lost(self):
        """Not even where the sidecar is the first process, which the kernel spares what it has no
        handler for."""
        with self.group(1, extra=CALM) as group:
            sidecar, = group.sidecars
            sidecar.prefix = self.unshare_pid()
            sidecar.start(environment=slow(slow_sync_ms=300))
            first = wait_until("it starts", lambda: self.first_of(sidecar.process.pid))
            wait_until("it makes its state", sidecar.state_folder.exists)
            sidecar.is_wanted = False
            os.kill(first, signal.SIGTERM)
            self.assertEqual(sidecar.await_exit(), 0, sidecar.log())
            # Of a disk that is slower still it does not wait for the end of its start.
            self.assertRegex(sidecar.log(),
                             r"( left the group|told to end before it had started)\n\Z")

    def test_signals_that_come_while_it_ends_change_nothing(self):
        """A supervisor that loses its patience when the sidecar has just done all it had to."""
        with self.group(1, extra=CALM) as group:
            sidecar, = group.sidecars
            for pause_s in (0.001, 0.002, 0.003, 0.005) * 3:
                sidecar.start()
                group.await_leader(sidecar)
                sidecar.is_wanted = False
                sidecar.send_signal(signal.SIGTERM)
                time.sleep(pause_s)
                with contextlib.suppress(ProcessLookupError):
                    sidecar.send_signal(signal.SIGINT)
                self.assertIn(sidecar.await_exit(), (0, 1), sidecar.log())

    def test_the_first_process_buries_orphans(self):
        with self.group(1, extra=CALM) as group:
            sidecar, = group.sidecars
            sidecar.prefix = self.unshare_pid()
            sidecar.start()
            first = wait_until("it starts", lambda: self.first_of(sidecar.process.pid))
            group.await_leader(sidecar)
            for _ in range(3):
                subprocess.run(["nsenter", f"--target={first}", "--pid", "sh", "-c",
                                "sleep 0.1 & exit 0"], check=True)
            orphans = pathlib.Path(f"/proc/{first}/task/{first}/children")
            keeper = 1
            wait_until("they are gone", lambda: len(orphans.read_text().split()) <= keeper)
            sidecar.is_wanted = False
            os.kill(first, signal.SIGTERM)
            self.assertEqual(sidecar.await_exit(), 0, sidecar.log())

    def unshare_pid(self):
        unshare = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode != 0:
            self.skipTest("cannot make PID namespaces")
        return unshare

    def first_of(self, unshare):
        """The first process of its namespace, once it is the sidecar."""
        children = pathlib.Path(f"/proc/{unshare}/task/{unshare}/children").read_text().split()
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for child in children:
                if pathlib.Path(f"/proc/{child}/comm").read_text() == "bellwether\n":
                    return int(child)
        return None


class FullStderr(SystemCase):
    """Whoever should read the log has come to a halt."""

    def start(self, sidecar, stderr, *arguments):
        sidecar.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [sidecar.program, "run", "--config", sidecar.config_file, *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr)
        sidecar.is_wanted = True

    def test_it_leads_and_leaves_all_the_same(self):
        with self.group(2, extra=CALM) as group, full_pipe() as pipe:
            follower, leader = group.sidecars
            follower.start()
            self.start(leader, pipe)
            group.await_leader(leader)
            self.assertEqual(leader.stop(), 0)
            group.await_leader(follower)

    def test_it_ends_when_it_is_wrong_about_itself(self):
        plugin = os.environ["BELLWETHER_TEST_WAITING_PLUGIN"]
        with self.group(1, extra=f'plugin = "{plugin}"\n') as group, full_pipe() as pipe:
            leader, = group.sidecars
            self.start(leader, pipe)
            group.await_leader(leader)
            leader.is_wanted = False
            self.run_program("elect", "--api", leader.api_url)
            self.assertEqual(leader.await_exit(), INVARIANT_BROKEN)

    def test_it_ends_when_it_cannot_start(self):
        with self.group(1, extra=CALM) as group, full_pipe() as pipe:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            self.start(second := group.add(), pipe)  # without a configuration
            second.is_wanted = False
            self.assertEqual(second.await_exit(), 1)
            ports = group.config_of(second, peers=[])
            second.write_config(ports.replace(str(second.flag_file), str(sidecar.flag_file)))
            self.start(second, pipe)
            second.is_wanted = False
            self.assertEqual(second.await_exit(), STATE_UNAVAILABLE)


class Crash(SystemCase):
    def dumps_core(self, setting):
        with core_dumps() as folder, self.group(1, extra=CALM) as group:
            sidecar, = group.sidecars
            sidecar.write_config(group.config_of(sidecar).replace("[node]", f"[node]\n{setting}"))
            group.start().await_leader(sidecar)
            sidecar.is_wanted = False
            sidecar.send_signal(signal.SIGABRT)
            self.assertEqual(sidecar.await_exit(), -signal.SIGABRT)
            return (folder / f"core.{sidecar.process.pid}").exists()

    def test_leaves_no_core_dump_by_itself(self):
        self.assertFalse(self.dumps_core(""))

    @unittest.skipIf(IS_SANITIZED, "a sanitizer's memory is too large for a dump")
    def test_leaves_one_when_it_is_asked_for(self):
        self.assertTrue(self.dumps_core('core_dumps = "on"'))


if __name__ == "__main__":
    main()
