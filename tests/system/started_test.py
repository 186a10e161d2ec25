#!/usr/bin/env python3
"""What a sidecar and whoever starts it tell each other: how it is doing, and what a crash loop is.
systemd_test.py has the real one.

usage: started_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import os
import pathlib
import signal
import socket
import time

from harness import PATIENCE_S, wait_until
from system_case import SystemCase, main


def note(file, count):
    """As a sidecar does that has been started so often, a moment ago."""
    file.write_bytes(bytes(count))
    os.utime(file, ns=(0, time.clock_gettime_ns(time.CLOCK_BOOTTIME)))


class Started(SystemCase):
    @contextlib.contextmanager
    def manager(self, group, **environment):
        """Waits until the sidecar has told systemd this."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(str(group.folder / "notify"))
            manager.settimeout(PATIENCE_S)
            environment |= {"NOTIFY_SOCKET": str(group.folder / "notify"),
                            "WATCHDOG_USEC": "100000"}
            group.sidecars[0].start(environment=environment)
            heard = set()

            def await_told(*lines):
                deadline = time.monotonic() + PATIENCE_S
                while not heard.issuperset(lines):
                    self.assertLess(time.monotonic(), deadline, f"{lines} not in {heard}")
                    heard.update(manager.recv(1000).decode().splitlines())
            yield await_told

    def test_systemd_hears_of_readiness_and_the_end(self):
        with self.group(1) as group, self.manager(group) as await_told:
            sidecar, = group.sidecars
            await_told("READY=1", "WATCHDOG_USEC=100000", "WATCHDOG=1", "STATUS=ready")
            sidecar.is_wanted = False
            sidecar.send_signal(signal.SIGTERM)
            await_told("STOPPING=1", "STATUS=leaving the group")
            self.assertEqual(sidecar.await_exit(), 0)

    @contextlib.contextmanager
    def crash_loop(self):
        """A sidecar, its folder for the count, and what starts it as one that was started so often
        before, the last time a moment ago."""
        with self.group(1) as group:
            sidecar, = group.sidecars
            runtime = group.folder / "runtime"
            runtime.mkdir()
            starts = runtime / f".starts-{sidecar.config_file.name}"

            def start_after(count):
                note(starts, count)
                sidecar.start(environment={"RUNTIME_DIRECTORY": str(runtime)})
            yield sidecar, starts, start_after

    def test_in_a_crash_loop_it_waits_and_can_be_ended(self):
        words = "has been started 3 times, each time soon after the last; waits 2s before"
        with self.crash_loop() as (sidecar, starts, start_after):
            for count in range(3):
                start_after(count)
                wait_until("it is ready", sidecar.is_ready)
                self.assertEqual(starts.stat().st_size, count + 1)
                sidecar.kill()
            self.assertNotIn(words, sidecar.log())
            sidecar.is_wanted = False
            for number, ending in enumerate((signal.SIGTERM, signal.SIGABRT, signal.SIGQUIT), 1):
                start_after(3)
                wait_until("it waits", lambda: sidecar.log().count(words) == number)
                sidecar.send_signal(ending)
                self.assertEqual(sidecar.await_exit(), 0)
                self.assertEqual(starts.stat().st_size, 0)  # that was wanted

    def test_a_wait_that_is_stopped_goes_on(self):
        with self.crash_loop() as (sidecar, starts, start_after):
            start_after(16)
            wait_until("it waits", lambda: "waits 16s before" in sidecar.log())
            noted = starts.stat().st_mtime_ns
            sidecar.send_signal(signal.SIGSTOP)
            sidecar.send_signal(signal.SIGCONT)
            time.sleep(0.5)  # in which one that does not wait would start
            self.assertEqual(starts.stat().st_mtime_ns, noted)  # which one that begins renews
            sidecar.is_wanted = False
            sidecar.send_signal(signal.SIGTERM)
            self.assertEqual(sidecar.await_exit(), 0)

    def test_systemd_knows_that_it_waits(self):
        with self.group(1) as group:
            note(group.folder / f".starts-{group.sidecars[0].config_file.name}", 16)
            with self.manager(group, RUNTIME_DIRECTORY=str(group.folder)) as await_told:
                await_told("EXTEND_TIMEOUT_USEC=106000000", "WATCHDOG_USEC=106000000",
                           "STATUS=has been started at least 16 times, each time soon after the "
                           "last; waits 16s before it starts again (SIGTERM ends the wait, and "
                           "then the next start is made at once)")

    def test_an_end_that_is_cut_short_was_wanted(self):
        with self.crash_loop() as (sidecar, starts, start_after):
            start_after(1)
            wait_until("it is ready", sidecar.is_ready)
            self.assertEqual(starts.stat().st_size, 2)
            sidecar.is_wanted = False
            for one in (signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGCONT):
                sidecar.send_signal(one)
            self.assertEqual(sidecar.await_exit(), 1)
            self.assertIn("stopping at once", sidecar.log())
            self.assertEqual(starts.stat().st_size, 0)

    def test_systemd_does_not_wait_for_what_is_to_come_from_elsewhere(self):
        """It would end the sidecar after 90 s, again and again."""
        def table(sidecar):
            return f'[tls]\nsecret_file = "{sidecar.state_folder}.secret"'
        with self.group(1, tls=table) as group, self.manager(group) as await_told:
            file = f"{group.sidecars[0].state_folder}.secret"
            await_told("READY=1", "STATUS=not ready: [tls] is not in force: tls.secret_file "
                       f"{file} cannot be read: No such file or directory; put it there, or "
                       "correct the path")
            secret = pathlib.Path(file)
            secret.touch(mode=0o600)
            secret.write_text("c0" * 32 + "\n")
            await_told("STATUS=ready")


if __name__ == "__main__":
    main()
