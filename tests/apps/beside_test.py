#!/usr/bin/env python3
"""The readers of the flag beside real sidecars, one language at a time: the flag's file goes while
the sidecar runs, and the leader's sidecar hangs right after begin().

usage: beside_test.py LANGUAGE FOLDER_OF_PROGRAMS BELLWETHER FLAG_OBSERVER [CASE...]; a case is
Class.test_name
"""

import signal
import sys
import unittest

import languages
from folders import delete
from harness import CALM, Group, now_ns, wait_until
from probes import Probe
from store_group import LEASE_S, SHORT

LANGUAGE = PROGRAMS = PROGRAM = OBSERVER = ""
ELECTION = "[election]\n"
# Longer than any validity, and long enough for a successor.
TOO_LONG_MS = 60_000


def setUpModule():  # pylint: disable=invalid-name
    Probe.command = languages.or_skip(languages.probe, LANGUAGE, PROGRAMS)


class Beside(unittest.TestCase):
    def setUp(self):
        self.probe = self.enterContext(Probe())

    def token(self):
        return self.probe.ask("read")["fencing_token"]

    def test_it_finds_the_file_that_is_made_again(self):
        """It was removed, with its folder, or replaced by a stranger's."""
        with Group(PROGRAM, 1, ELECTION + CALM) as group:
            sidecar, = group.start().sidecars
            group.await_leader(sidecar)
            file = sidecar.flag_file
            self.assertEqual(self.probe.open(file), "")
            token = self.token()
            self.assertGreater(token, 0)

            def replace():
                other = file.with_name("other")
                other.write_bytes(bytes(file.stat().st_size))
                other.rename(file)
            for remove in (file.unlink, lambda: delete(file.parent), replace):
                inode = file.stat().st_ino
                remove()
                wait_until("it is there again",
                           lambda old=inode: file.exists() and file.stat().st_ino != old)
                wait_until("the reader has found it", lambda: self.token() == token)

    def begin(self):
        """(when, until when, token): work begins that takes nearly as long as the word holds."""
        began = []

        def has_begun():
            asked_ns = now_ns()
            need_ms = (self.probe.ask("read")["valid_until_ns"] - asked_ns) // 1_000_000 - 10
            if need_ms > LEASE_S * 500:
                token = self.probe.ask(f"begin {need_ms}")["token"]
                if token is not None:
                    began.extend((asked_ns, asked_ns + need_ms * 1_000_000, token))
            return began
        wait_until("work begins", has_begun)
        return began

    def test_nobody_else_leads_before_what_it_has_begun_is_over(self):
        with Group(PROGRAM, 3, ELECTION + SHORT, voters=3) as group:
            group.start("--bootstrap").observe(OBSERVER)
            leader = group.await_leader(group.sidecars[-1])
            self.assertEqual(self.probe.open(leader.flag_file), "")
            self.assertIsNone(self.probe.ask(f"begin {TOO_LONG_MS}")["token"])
            asked_ns, until_ns, token = self.begin()
            leader.send_signal(signal.SIGSTOP)
            successor_ns, _ = wait_until("another flag is on", lambda: group.observer.first_on(
                asked_ns, but=group.sidecars.index(leader)))
            self.assertGreaterEqual(successor_ns, until_ns)
            self.assertFalse(self.probe.ask(f"still {token}")["still"])


if __name__ == "__main__":
    LANGUAGE, PROGRAMS, PROGRAM, OBSERVER = sys.argv[1:5]
    languages.main(sys.argv[5:])
