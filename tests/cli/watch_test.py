#!/usr/bin/env python3
"""`bellwether watch`: lines, the page on a terminal, Ctrl-C, a sidecar that goes and comes back.

usage: watch_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import json
import os
import pty
import re
import select
import signal
import subprocess
import time

from command_line import FAILURE, OK, CommandLine, main
from fake_sidecar import (APPLICATION, FORGOTTEN, LEADER, MEMBERS, STATUS, STORE, TcpFake,
                          election, member)
from terminal import resize

PATIENCE = 10  # seconds
LEADS = "2026-01-31T09:00:01.250Z  orders-2 leads, epoch 7 (a leader was announced)\n"
ELECTION = ("2026-01-31T09:00:08.000Z  election by modified, leader_lost: followed, orders-2 leads "
            "epoch 8; here ELECTION 2, ANSWER 1, HANDOVER 0, COORDINATOR 1, in 12ms\n")
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z  "
                  r"(?=orders-\d is |vote |kubernetes |application |nobody's |no sidecar)", re.M)
ENTER, LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"


class Watching(CommandLine):
    def setUp(self):
        super().setUp()
        self.sidecar = TcpFake().start()
        self.addCleanup(lambda: self.sidecar.stop())

    def watch(self, stdout, *options):
        process = subprocess.Popen([self.program, "watch", *options, "--api", self.sidecar.url],
                                   stdout=stdout, stderr=subprocess.PIPE,
                                   env=os.environ | {"NO_COLOR": "1"})
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def read_until(self, source, wanted, seen=""):
        """What came up to and with `wanted`, and a little more perhaps."""
        end = time.monotonic() + PATIENCE
        while wanted not in seen:
            ready, _, _ = select.select([source], [], [], max(0, end - time.monotonic()))
            self.assertTrue(ready, f"no {wanted!r} in {seen!r}")
            data = os.read(source, 65536)
            self.assertTrue(data, f"no {wanted!r} in {seen!r}")
            seen += data.decode()
        return seen

    def interrupt(self, process, number=signal.SIGINT):
        process.send_signal(number)
        self.assertEqual(process.wait(PATIENCE), OK, process.stderr.read())


class Lines(Watching):
    def setUp(self):
        super().setUp()
        self.output, inner = os.pipe()
        self.process = self.watch(inner)
        os.close(inner)
        self.addCleanup(os.close, self.output)

    def next(self, wanted):
        """Without the times of what was seen just now."""
        return TIME.sub("", self.read_until(self.output, wanted))

    def test_tell_of_the_leader_and_the_members_and_then_of_changes(self):
        self.sidecar.send_event(LEADER)
        seen = self.next("orders-2 is alive\n")
        self.assertEqual(seen, LEADS + "orders-0 is alive\norders-1 is alive\norders-2 is alive\n")

        changed = {"members": [member(2, state="suspect"), member(1)]}
        self.sidecar.answers["/v1/members"] = (200, changed)
        self.assertEqual(self.next("forgotten\n"), "orders-2 is suspect\norders-0 is forgotten\n")

        self.sidecar.send_event(LEADER | {"leader": None, "index": 13, "since": "then",
                                          "reason": "the leader was lost"})
        self.assertEqual(self.next("lost)\n"), "then  there is no leader (the leader was lost)\n")
        self.interrupt(self.process)

    def test_tell_when_the_vote_is_worth_something_else_and_not_how_the_time_passes(self):
        self.sidecar.send_event(LEADER)
        self.next("orders-2 is alive\n")
        self.sidecar.answers["/v1/status"] = (200, STATUS | {"vote": FORGOTTEN})
        self.assertEqual(self.next("7s\n"),
                         "vote forgotten: this voter has no vote: it asks in 7s\n")
        self.sidecar.answers["/v1/status"] = (200, STATUS | {"vote": FORGOTTEN | {"why": "6s"}})
        polls = len(self.sidecar.requests)
        while len(self.sidecar.requests) < polls + 6:
            time.sleep(0.05)
        for state in ("broken", "shut out"):
            self.sidecar.answers["/v1/status"] = (
                200, STATUS | {"vote": FORGOTTEN | {"state": state, "why": "why"}})
            self.assertEqual(self.next("why\n"), f"vote {state}: why\n")
        self.sidecar.answers["/v1/status"] = (
            200, STATUS | {"vote": FORGOTTEN | {"state": "in force", "why": None}})
        self.assertEqual(self.next("force\n"), "vote in force\n")
        self.interrupt(self.process)

    def test_tell_of_trouble_with_the_store_and_of_its_end(self):
        self.sidecar.send_event(LEADER)
        self.next("orders-2 is alive\n")
        for store, text in ((STORE | {"trouble": "it is away"}, "it is away"),
                            (STORE, "well again"),
                            (STORE | {"record": STORE["record"] | {
                                "state": "stranger", "holder": "other_1"}},
                             "held by other_1, which is not a member")):
            self.sidecar.answers["/v1/status"] = (200, STATUS | {"store": store})
            self.assertEqual(self.next(f"{text}\n"), f"kubernetes shop/orders: {text}\n")
        self.interrupt(self.process)

    def test_tell_of_the_application_and_of_those_of_members(self):
        self.sidecar.send_event(LEADER)
        self.next("orders-2 is alive\n")
        for application, text in ((APPLICATION, "worker attached, healthy, score 42"),
                                  (APPLICATION | {"is_able": False, "why_not": "absent",
                                                  "attached": []},
                                   "none is attached, healthy, score 42")):
            self.sidecar.answers["/v1/status"] = (200, STATUS | {"application": application})
            self.assertEqual(self.next(f"{text}\n"), f"application {text}\n")
        gone = {"members": [member(2), member(1, is_able=False, why_not_able="absent"), member(0)]}
        self.sidecar.answers["/v1/members"] = (200, gone)
        self.assertEqual(self.next("absent\n"),
                         "orders-1 is alive, its application is absent\n")
        draining = {"members": [member(2, is_draining=True), member(1), member(0)]}
        self.sidecar.answers["/v1/members"] = (200, draining)
        self.assertEqual(self.next("finishes\n"),
                         "orders-1 is alive\norders-2 is alive, its application finishes\n")
        why = "nobody's application is able"
        self.sidecar.answers["/v1/status"] = (200, STATUS | {"application": APPLICATION,
                                                             "why_nobody_leads": why})
        self.assertEqual(self.next("score 42\n"),
                         f"{why}\napplication worker attached, healthy, score 42\n")
        self.interrupt(self.process)

    def test_tell_of_each_election_that_ends_with_its_messages_and_of_no_earlier_one(self):
        self.sidecar.answers["/v1/history"] = (200, {"elections": [election(6), election(5)]})
        self.sidecar.send_event(LEADER)
        seen = self.next("orders-2 is alive\n")
        self.sidecar.answers["/v1/history"] = (
            200, {"elections": [election(8), election(7, winner=None, duration_ms=None),
                                election(6), election(5)]})
        seen += self.next(ELECTION)
        self.assertIn("2026-01-31T09:00:07.000Z  election by modified, leader_lost: followed; here "
                      "ELECTION 2, ANSWER 1, HANDOVER 0, COORDINATOR 1\n" + ELECTION, seen)
        self.assertNotIn("09:00:06", seen)
        self.interrupt(self.process)

    def test_end_with_a_signal_to_terminate_too(self):
        self.sidecar.send_event(LEADER)
        self.next("orders-2 is alive\n")
        self.interrupt(self.process, signal.SIGTERM)

    def test_a_sidecar_that_goes_is_waited_for_and_its_last_event_is_named(self):
        self.sidecar.send_event(LEADER)
        self.next("orders-2 is alive\n")
        port = self.sidecar.port
        self.sidecar.stop()
        where = f"no sidecar answers at 127.0.0.1:{port}: "
        self.next(where)

        self.sidecar = TcpFake(port).start()
        self.sidecar.send_event(LEADER)
        seen = self.next(LEADS)
        self.assertNotIn(where, seen, "said more than once")
        asked = [headers for request, headers in self.sidecar.requests if "/v1/events" in request]
        self.assertEqual(asked[0]["Last-Event-ID"], "7.12")
        self.interrupt(self.process)

    def test_an_interrupt_ends_the_wait_for_a_sidecar_that_has_gone(self):
        self.sidecar.send_event(LEADER)
        self.next("orders-2 is alive\n")
        self.sidecar.stop()
        self.next("no sidecar answers")
        self.interrupt(self.process)
        self.sidecar = TcpFake().start()  # for the end of the test


class Objects(Watching):
    def setUp(self):
        super().setUp()
        self.output, inner = os.pipe()
        self.process = self.watch(inner, "--json")
        os.close(inner)
        self.addCleanup(os.close, self.output)

    def test_are_one_a_line_for_each_change(self):
        self.sidecar.send_event(LEADER)
        seen = self.read_until(self.output, '"members"')
        self.sidecar.answers["/v1/history"] = (200, {"elections": [election(8)]})
        seen = self.read_until(self.output, '"election"', seen)
        port = self.sidecar.port
        self.sidecar.stop()
        seen = self.read_until(self.output, "no sidecar answers at", seen)
        self.sidecar = TcpFake(port).start()
        self.interrupt(self.process)
        objects = [json.loads(line) for line in seen.splitlines()]
        self.assertEqual([each["event"] for each in objects],
                         ["leader", "members", "election", "trouble"])
        self.assertEqual([each["data"] for each in objects[:3]], [LEADER, MEMBERS, election(8)])
        for each in objects:
            self.assertRegex(each["time"], r"^\d{4}-.*Z$")


class Refused(Watching):
    def test_a_stream_that_is_refused_at_first_ends_it(self):
        self.sidecar.answers["/v1/events"] = (503, {"error": "too many clients"})
        self.assertEqual(self.fail_with(FAILURE, "watch", "--api", self.sidecar.url),
                         "too many clients")


class Once(Watching):
    def test_prints_the_page_and_ends(self):
        text = self.succeed("watch", "--once", "--api", self.sidecar.url)
        lines = text.splitlines()
        self.assertEqual(lines[0], "group orders: orders-2 leads, epoch 7  "
                                   f"(seen by 127.0.0.1:{self.sidecar.port})")
        self.assertTrue(lines[2].startswith("member    state  role"))
        self.assertEqual(len(lines), 8)
        self.assertEqual(lines[-1] + "\n", LEADS)
        self.assertNotIn("\x1b", text)

    def test_shows_earlier_elections_by_time(self):
        self.sidecar.answers["/v1/history"] = (200, {"elections": [election(8), election(0)]})
        lines = self.succeed("watch", "--once", "--api", self.sidecar.url).splitlines(True)
        self.assertEqual(lines[-3:-1], [ELECTION, LEADS])
        self.assertTrue(lines[-1].startswith("2026-01-31T09:00:00.000Z  election"), lines[-1])

    def test_as_objects(self):
        text = self.succeed("watch", "--once", "--json", "--api", self.sidecar.url)
        self.assertEqual([json.loads(line)["event"] for line in text.splitlines()],
                         ["leader", "members"])

    def test_says_what_the_application_does(self):
        self.sidecar.answers["/v1/status"] = (200, STATUS | {
            "application": APPLICATION, "why_nobody_leads": "nobody's application is able"})
        lines = self.succeed("watch", "--once", "--api", self.sidecar.url).splitlines()
        self.assertEqual(lines[1:3], ["nobody's application is able",
                                      "application: worker attached, healthy, score 42"])

    def test_in_colours(self):
        text = self.succeed("watch", "--once", "--color", "always", "--api", self.sidecar.url)
        self.assertIn("\x1b[1morders-2 leads, epoch 7\x1b[0m", text)


class Page(Watching):
    def setUp(self):
        super().setUp()
        self.terminal, inner = pty.openpty()
        resize(self.terminal, 140)
        self.addCleanup(os.close, self.terminal)
        self.process = self.watch(inner)
        os.close(inner)

    def test_is_drawn_anew_and_leaves_the_terminal_as_it_was(self):
        self.sidecar.send_event(LEADER)
        seen = self.read_until(self.terminal, LEADS.strip())
        self.assertTrue(seen.startswith(ENTER), seen)
        self.assertIn("\x1b[Hgroup orders: ", seen)
        self.sidecar.answers["/v1/members"] = (
            200, MEMBERS | {"members": [member(2, state="down")]})
        self.read_until(self.terminal, "down")
        self.process.send_signal(signal.SIGINT)
        self.assertTrue(self.read_until(self.terminal, LEAVE).endswith(LEAVE))
        self.assertEqual(self.process.wait(PATIENCE), OK)

    def test_says_when_the_sidecar_has_gone_and_when_it_is_back(self):
        self.sidecar.send_event(LEADER)
        self.read_until(self.terminal, "orders-2 leads")
        port = self.sidecar.port
        self.sidecar.stop()
        self.read_until(self.terminal, "no sidecar answers at")
        self.sidecar = TcpFake(port).start()
        self.sidecar.send_event(LEADER | {"epoch": 8, "index": 1})
        self.read_until(self.terminal, "orders-2 leads, epoch 8")
        self.interrupt(self.process)

    def test_follows_the_size_of_the_terminal(self):
        self.sidecar.send_event(LEADER)
        self.read_until(self.terminal, "version")
        resize(self.terminal, 40)
        # One that was begun before is drawn to its end; of it there may be a rest.
        page = "version"
        for _ in range(PATIENCE):
            if "version" not in page:
                break
            drawn = self.read_until(self.terminal, "\x1b[J")
            if "\x1b[H" in drawn:
                page = drawn.rsplit("\x1b[H", 1)[-1]
        self.assertNotIn("version", page)
        self.assertIn("orders-2 leads", page)
        for line in re.sub("\x1b\\[[KJ]", "", page).splitlines():
            self.assertLessEqual(len(line), 40, line)
        self.interrupt(self.process)


class Job(Watching):
    """The page, started by a shell that can suspend it."""

    def test_gives_the_terminal_back_while_it_is_suspended(self):
        process, terminal = pty.fork()
        if process == 0:
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"],
                      os.environ | {"PS1": "ready> ", "TERM": "xterm", "NO_COLOR": "1"})
        self.addCleanup(os.waitpid, process, 0)
        self.addCleanup(os.close, terminal)  # which ends the shell, and its job
        resize(terminal, 140)
        self.sidecar.send_event(LEADER)
        os.write(terminal, f"{self.program} watch --api {self.sidecar.url}\n".encode())
        shown = self.read_until(terminal, "orders-2 leads")
        for _ in range(2):
            self.assertIn(ENTER, shown)
            os.write(terminal, b"\x1a")  # Ctrl-Z
            self.assertIn(LEAVE, self.read_until(terminal, "Stopped"))
            os.write(terminal, b"fg\n")
            shown = self.read_until(terminal, "orders-2 leads")
        os.write(terminal, b"\x03")
        self.assertIn(LEAVE, self.read_until(terminal, "ready> "))


if __name__ == "__main__":
    main()
