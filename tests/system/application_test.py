#!/usr/bin/env python3
"""The application leads, not the sidecar: real applications beside real sidecars are killed, hang,
start slowly, crash in a loop, and say what they are worth.

usage: application_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import http.server
import json
import pathlib
import socket
import subprocess
import sys
import threading
import time
import unittest

from harness import free_ports, wait_until
from namespaces import Hosts, can_make_namespaces
from system_case import CALM, SystemCase, main

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/apps"
sys.path.insert(0, str(EXAMPLES / "python"))
import attachment  # noqa: E402: from the examples

ATTACH = CALM + "[application]\nattach = true\n"
# Attaches and stays; what it does on SIGKILL is nothing.
APPLICATION = """
import sys, time
sys.path.insert(0, sys.argv[1])
import attachment
mine = attachment.attach(sys.argv[2], "worker")
print("attached", flush=True)
for event in mine: pass
"""
CHECKS = "bellwether_application_health_checks_total"
REFUSED = ((400, "a/b", None), (400, "x" * 65, None), (400, "\u00e9", None), (400, "", None))


def await_door(sidecar):
    """Until applications can attach to it; a leader it has only then."""
    wait_until(f"{sidecar.name} is served", sidecar.socket_file.exists)


class Application:
    """A process that is attached to this sidecar."""

    def __init__(self, sidecar):
        await_door(sidecar)
        self.process = subprocess.Popen(
            (sys.executable, "-c", APPLICATION, str(EXAMPLES / "python"), str(sidecar.socket_file)),
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout.readline() == "attached\n"

    def send_signal(self, number):
        self.process.send_signal(number)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class ApplicationCase(SystemCase):
    def application(self, sidecar):
        application = Application(sidecar)
        self.addCleanup(application.end)
        return application

    def await_no_leader(self, group):
        wait_until("nobody leads", lambda: not any(s.is_leader() for s in group.running) and
                   all((s.get("/v1/leader") or {"leader": "?"})["leader"] is None
                       for s in group.running))


class Attach(ApplicationCase):
    def check_that_leadership_follows(self, voters):
        with self.group(extra=ATTACH, **({"voters": 3} if voters else {})) as group:
            sidecars = group.start().sidecars
            self.await_no_leader(group)
            low, middle, high = (self.application(sidecar) for sidecar in sidecars)
            group.await_leader(sidecars[2])
            high.end()
            group.await_leader(sidecars[1])
            self.assertEqual(sidecars[2].get("/v1/status")["application"],
                             {"is_able": False, "why_not": "absent", "attach": True,
                              "attached": [], "health": None, "is_healthy": None,
                              "why_not_healthy": None, "score": 0, "draining": None})
            self.assertIn("No application is attached", json.dumps(sidecars[2].get("/v1/explain")))
            middle.end()
            group.await_leader(sidecars[0])
            low.end()
            self.await_no_leader(group)
            for sidecar in sidecars:
                wait_until("it says why nobody leads", lambda: sidecar.get(
                    "/v1/explain")["why_nobody_leads"] == "Nobody's application is able.")
                self.assertEqual({(member["is_able"], member["why_not_able"]) for member in
                                  sidecar.get("/v1/members")["members"]}, {(False, "absent")})
            self.application(sidecars[1])
            group.await_leader(sidecars[1])
            self.assertEqual(sidecars[1].get("/v1/status")["application"]["attached"], ["worker"])

    def test_leadership_goes_where_an_application_lives(self):
        self.check_that_leadership_follows(voters=False)

    def test_leadership_of_voters_goes_where_an_application_lives(self):
        self.check_that_leadership_follows(voters=True)

    def test_one_that_is_back_within_its_grace_costs_nothing(self):
        with self.group(extra=ATTACH + 'grace = "30s"\n') as group:
            sidecars = group.start().sidecars
            applications = [self.application(sidecar) for sidecar in sidecars]
            group.await_leader(sidecars[2])
            epoch = sidecars[2].epoch()
            applications[2].end()
            wait_until("it is missed", lambda: sidecars[2].metrics()[
                "bellwether_application_attachments"] == 0)
            self.application(sidecars[2])
            self.assertTrue(sidecars[2].is_leader())
            self.assertEqual(sidecars[2].epoch(), epoch)

    def test_a_follower_without_an_application_has_no_grace(self):
        with self.group(extra=ATTACH + 'grace = "60s"\n') as group:
            sidecars = group.start().sidecars
            applications = [self.application(sidecar) for sidecar in sidecars]
            group.await_leader(sidecars[2])
            applications[1].end()
            wait_until("all know that it cannot", lambda: all(
                [m["is_able"] for m in s.get("/v1/members")["members"] if m["name"] == "n1"] ==
                [False] for s in sidecars))
            sidecars[2].kill()
            group.await_leader(sidecars[0])

    def test_whoever_leads_no_longer_has_no_grace(self):
        with self.group(extra=ATTACH + 'grace = "60s"\n') as group:
            sidecars = group.start().sidecars
            applications = [self.application(sidecar) for sidecar in sidecars]
            group.await_leader(sidecars[2])
            applications[2].end()
            wait_until("it is missed", lambda: sidecars[2].metrics()[
                "bellwether_application_attachments"] == 0)
            sidecars[2].request("POST", "/v1/step-down", {"hold": "0s"})
            group.await_leader(sidecars[1])
            wait_until("it cannot lead", lambda: not sidecars[2].metrics()[
                "bellwether_application_able"])

    def test_a_crash_loop_does_not_take_leadership_along(self):
        with self.group(extra=ATTACH) as group:
            sidecars = group.start().sidecars
            for sidecar in sidecars[:2]:
                self.application(sidecar)
            crashing = self.application(sidecars[2])
            group.await_leader(sidecars[2])
            before = sidecars[0].epoch()
            for _ in range(8):
                crashing.end()
                crashing = self.application(sidecars[2])
            crashing.end()  # on a busy machine it might lead again by now
            group.await_leader(sidecars[1])
            self.assertLess(sidecars[0].epoch() - before, 6)

    def test_32_may_attach_and_the_last_one_counts(self):
        with self.group(1, extra=ATTACH) as group:
            sidecar, = group.start().sidecars
            await_door(sidecar)
            place = str(sidecar.socket_file)
            all_of_them = [attachment.attach(place, f"a{number}") for number in range(32)]
            group.await_leader(sidecar)
            with self.assertRaises(attachment.Refused) as refused:
                attachment.attach(place)
            self.assertEqual(refused.exception.status, 503)
            self.assertEqual(sidecar.count("bellwether_limit_hits_total", limit="attachments"), 1)
            for one in all_of_them[:31]:
                one.close()
            wait_until("one is left", lambda: sidecar.get("/v1/status")["application"][
                "attached"] == ["a31"])
            self.assertTrue(sidecar.is_leader())
            all_of_them[31].close()
            self.await_no_leader(group)

    def test_it_is_told_who_leads(self):
        with self.group(extra=ATTACH) as group:
            sidecars = group.start().sidecars
            high = self.application(sidecars[2])
            await_door(sidecars[0])
            with attachment.attach(str(sidecars[0].socket_file), "low") as mine:
                events = iter(mine)
                self.assertEqual(next(events).type, attachment.ATTACHED)
                group.await_leader(sidecars[2])
                high.end()
                lead = next(event for event in events if event.type == attachment.LEAD)
                self.assertEqual(lead.epoch, sidecars[0].epoch())

    def test_one_that_never_reads_counts_until_it_goes_and_holds_nobody_up(self):
        with self.group(extra=ATTACH) as group:
            sidecars = group.start().sidecars
            for sidecar in sidecars[:2]:
                self.application(sidecar)
            await_door(sidecars[2])
            with socket.socket(socket.AF_UNIX) as deaf:
                deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
                deaf.connect(str(sidecars[2].socket_file))
                deaf.sendall(b"POST /v1/application/attach?name=deaf HTTP/1.1\r\n"
                             b"Host: localhost\r\nContent-Length: 0\r\n\r\n")
                group.await_leader(sidecars[2])
                with attachment.attach(str(sidecars[2].socket_file), "hears") as mine:
                    sidecars[2].request("POST", "/v1/step-down", {"hold": "1s"})
                    told = [next(event.type for event in mine if event.type == wanted)
                            for wanted in (attachment.FOLLOW, attachment.LEAD)]
                    self.assertEqual(told, [attachment.FOLLOW, attachment.LEAD])
                    self.assertEqual(sidecars[2].get("/v1/status")["application"]["attached"],
                                     ["deaf", "hears"])
                wait_until("the other one has gone", lambda: sidecars[2].get(
                    "/v1/status")["application"]["attached"] == ["deaf"])
                self.assertTrue(sidecars[2].is_leader())
            group.await_leader(sidecars[1])

    def test_bad_input_is_refused_and_said(self):
        with self.group(1, extra=ATTACH) as group:
            sidecar, = group.start().sidecars
            await_door(sidecar)
            place = str(sidecar.socket_file)
            for status, name, score in REFUSED:
                with self.assertRaises(attachment.Refused) as refused:
                    attachment.attach(place, name, score)
                self.assertEqual(refused.exception.status, status)
            form = "a score is a whole number from -(2^53 - 1) to 2^53 - 1"
            for body, words in (({"score": 1.5}, form), ({"score": "7"}, form), ({}, form),
                                ({"score": 2**53}, form), ({"score": -10**20}, form),
                                (7, "not a JSON object"),
                                ({"score": 1, "more": 2}, 'no use for \\"more\\"')):
                status, _, answer = sidecar.request("PUT", "/v1/application/score", body)
                self.assertEqual(status, 400)
                self.assertIn(words, answer)
            self.assertEqual(sidecar.request("POST", "/v1/application/score", "")[0], 405)


class FarAway(ApplicationCase):
    def setUp(self):
        super().setUp()
        if not can_make_namespaces():
            self.skipTest("cannot make network namespaces")

    def test_one_whose_host_is_cut_off_has_gone(self):
        with Hosts(2) as hosts, self.group(1, extra=ATTACH, hosts=hosts) as group:
            sidecar, = group.start().sidecars
            await_door(sidecar)
            place = f"{sidecar.address}:{sidecar.api_port}"
            application = subprocess.Popen(
                (*hosts.command_prefix(1), sys.executable, "-c", APPLICATION,
                 str(EXAMPLES / "python"), place),
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            self.addCleanup(application.stdout.close)
            self.addCleanup(application.wait)
            self.addCleanup(application.kill)
            self.assertEqual(application.stdout.readline(), "attached\n")
            group.await_leader(sidecar)
            hosts.cut((0, 1), (1, 0))
            self.await_no_leader(group)


class Score(ApplicationCase):
    def test_the_best_leads_by_more_than_the_margin(self):
        with self.group(extra=CALM + "[application]\nscore_margin = 10\n",
                        priorities=[100] * 3) as group:
            sidecars = group.start().sidecars
            group.await_leader()
            places = [str(sidecar.socket_file) for sidecar in sidecars]
            attachment.set_score(places[0], 50)
            group.await_leader(sidecars[0])
            attachment.set_score(places[1], 60)
            wait_until("all know it", lambda: all(
                s.metrics()["bellwether_leader_known"] for s in sidecars))
            self.assertTrue(sidecars[0].is_leader())
            attachment.set_score(places[1], 61)
            group.await_leader(sidecars[1])
            self.assertEqual(sidecars[1].metrics()["bellwether_application_score"], 61)


class Health(ApplicationCase):
    """An application that cannot attach: an HTTP server that answers, says no, or hangs."""

    def server(self, port):
        case = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if case.answers[port] == "hang":
                    time.sleep(3)
                    return
                if case.answers[port] in ("gigabyte", "drip"):
                    self.go_on_and_on(case.answers[port])
                    return
                self.send_response(case.answers[port])
                self.end_headers()

            def go_on_and_on(self, how):
                """All of a gigabyte as fast as it is read, or the head a byte at a time."""
                with contextlib.suppress(OSError):
                    if how == "drip":
                        while True:
                            self.wfile.write(b"H")
                            time.sleep(0.01)
                    self.send_response(200)
                    self.send_header("Content-Length", str(1 << 30))
                    self.end_headers()
                    for _ in range(1 << 14):
                        self.wfile.write(bytes(1 << 16))
                        time.sleep(0.001)

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)

    def test_another_check_changes_nothing_until_it_has_a_verdict(self):
        ports = free_ports(3)
        self.answers = dict(zip(ports, (200, "hang", 503)))
        for port in ports:
            self.server(port)
        with self.group(1, extra=CALM) as group:
            sidecar, = group.sidecars

            def check(port, failures=100):
                sidecar.write_config(
                    group.config_of(sidecar) + f'[application]\nhealth_failures = {failures}\n'
                    f'health = "http://127.0.0.1:{port}/healthz"\n')
            check(ports[0])
            group.start()
            group.await_leader(sidecar)
            epoch = sidecar.epoch()
            check(ports[1])
            self.assertEqual(sidecar.request("POST", "/v1/reload")[0], 200)
            self.assertTrue(sidecar.is_leader())
            check(ports[0])
            self.assertEqual(sidecar.request("POST", "/v1/reload")[0], 200)
            self.assertEqual((sidecar.is_leader(), sidecar.epoch()), (True, epoch))
            check(ports[2], failures=2)
            self.assertEqual(sidecar.request("POST", "/v1/reload")[0], 200)
            self.await_no_leader(group)

    def test_leadership_follows_health(self):
        ports = free_ports(3)
        self.answers = dict.fromkeys(ports, 200)
        for port in ports:
            self.server(port)
        with self.group(extra=CALM) as group:
            for sidecar, port in zip(group.sidecars, ports):
                sidecar.write_config(
                    sidecar.config_file.read_text() +
                    f'[application]\nhealth = "http://127.0.0.1:{port}/healthz"\n'
                    'health_interval = "100ms"\nhealth_timeout = "100ms"\n')
            low, middle, high = group.start().sidecars
            group.await_leader(high)
            resident_mib = high.resident_mib()
            # Its status is good, and the rest is not waited for.
            self.answers[ports[2]] = "gigabyte"
            passed = high.count(CHECKS, result="passed")
            wait_until("it is asked", lambda: high.count(CHECKS, result="passed") > passed + 3)
            self.assertTrue(high.is_leader())
            self.answers[ports[2]] = "drip"
            group.await_leader(middle)
            self.assertIn("no whole answer within 100ms",
                          high.get("/v1/status")["application"]["why_not_healthy"])
            self.answers[ports[2]] = 200
            group.await_leader(high)
            self.assertLess(high.resident_mib(), resident_mib + 2)
            self.answers[ports[2]] = 503
            group.await_leader(middle)
            self.assertIn("answers 503", high.get("/v1/status")["application"]["why_not_healthy"])
            self.answers[ports[1]] = "hang"
            group.await_leader(low)
            self.answers[ports[1]] = 204
            group.await_leader(middle)
            self.assertGreaterEqual(high.count(CHECKS, result="failed"), 3)


if __name__ == "__main__":
    main()
