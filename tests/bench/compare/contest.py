"""A contest: one system with one setting of its timers and three contenders, and the time from a
signal to the one that leads until another one says that it leads.

A system announces its leader in a line, of its own output or of a program that watches it.  Each
line is stamped as soon as it is read, so no polling interval is part of the result.  The clock is
now_ns(): CLOCK_BOOTTIME, which is CLOCK_MONOTONIC as long as the machine is not suspended.
"""

import contextlib
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import threading
import time
import typing

from harness import now_ns, wait_until

PATIENCE_S = 180
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGSTOP": signal.SIGSTOP, "SIGTERM": signal.SIGTERM}


class Setting(typing.NamedTuple):
    """Timers.  A signal comes at a random moment of a period."""

    name: str
    timers: str
    values: dict
    period_s: float = 1.0


class Process:
    """A program and its lines, each with the moment at which it came.  A signal also reaches the
    processes that it has forked.  It ends with this program, even if that is killed."""

    def __init__(self, *command):
        self.command = ["setpriv", "--pdeathsig", "KILL", "--", *map(str, command)]
        self.process, self.lines = None, []

    def start(self, *arguments):
        self.lines = []
        self.process = subprocess.Popen(
            [*self.command, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        threading.Thread(target=self.read, args=(self.process.stdout, self.lines),
                         daemon=True).start()
        return self

    @staticmethod
    def read(stream, lines):
        with stream:
            for text in stream:
                lines.append((now_ns(), text.rstrip()))

    def is_running(self):
        return self.process.poll() is None

    def has_said(self, text):
        return any(text in line for _, line in list(self.lines))

    def send_signal(self, number):
        os.killpg(self.process.pid, number)

    def end(self):
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self.send_signal(signal.SIGKILL)
        self.process.wait()

    def tail(self):
        return "\n".join(text for _, text in self.lines[-15:])


class Contest:
    """Three contenders and what is measured, round after round.  The subclass of a system sets it
    up, tells when it is whole, and knows the line that announces a leader."""

    system = ""  # its name on the command line
    title = ""
    packages = ()  # of Debian; the version of the first one is printed
    settings = ()
    leads = re.compile("")  # in the line of a contender that leads from now on
    # Columns of the notes:
    signalled = ""  # who gets the signal
    seen = ""  # what tells of the next leader
    tightest = ""  # why there are no tighter timers
    gives = ""  # beside a leader
    needs = ""
    doubles = ""  # can two lead at once?

    def __init__(self, setting, options, stack):
        self.setting, self.values, self.options = setting, setting.values, options
        self.stack = stack  # ends all that is started
        self.folder = pathlib.Path(stack.enter_context(
            tempfile.TemporaryDirectory(prefix="bellwether-compare.", dir="/dev/shm")))
        self.processes = []
        self.unrest = 0  # announcements of a leader without a signal
        self.contenders = self.set_up()

    @classmethod
    def obstacle(cls):
        """Why it cannot run here, beside missing packages; None: it can."""
        return None

    def set_up(self):
        """Starts everything, and returns the three contenders."""
        raise NotImplementedError

    def is_whole(self):
        """Is everything in place for the next round, beside a leader?"""
        raise NotImplementedError

    def run(self, *command, arguments=()):
        """Starts a process that ends with the contest; `arguments` are for this start only."""
        process = Process(*command)
        self.stack.callback(process.end)
        self.processes.append(process)
        return process.start(*arguments)

    def announcements(self):
        """(ns, contender) for each line that announces a leader."""
        return [(time_ns, contender) for contender in self.contenders
                for time_ns, text in list(contender.lines) if self.leads.search(text)]

    def leader(self):
        """The contender that was announced last; None: none was."""
        return max(self.announcements(), key=lambda found: found[0], default=(0, None))[1]

    def successor(self, victim, after_ns):
        """When another contender was announced for the first time after a moment; None: not
        yet."""
        return min((time_ns for time_ns, contender in self.announcements()
                    if time_ns >= after_ns and contender is not victim), default=None)

    def revive(self, victim):
        """Starts it again, as a supervisor does."""
        victim.end()
        victim.start()

    def settle(self):
        """Waits until the system is whole, and returns the leader."""
        def leader():
            for process in self.processes:
                assert process.is_running(), (
                    f"{process.command} has ended by itself:\n{process.tail()}")
            found = self.leader()
            return found if found is not None and self.is_whole() else None
        return wait_until(f"{self.title} is whole", leader, PATIENCE_S)

    def strike(self, number):
        """One round: the milliseconds from the signal until another one leads."""
        self.settle()
        settled_ns = now_ns()
        time.sleep(random.uniform(0, self.setting.period_s))
        victim = self.settle()
        self.unrest += sum(time_ns > settled_ns for time_ns, _ in self.announcements())
        before_ns = now_ns()
        victim.send_signal(number)
        led_ns = wait_until("another one leads", lambda: self.successor(victim, before_ns),
                            PATIENCE_S)
        self.revive(victim)
        return (led_ns - before_ns) / 1e6
