#!/usr/bin/env python3
"""Strangers and broken clients on every port: the group does not notice, the counters do.

usage: abuse_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import pathlib
import re
import socket
import struct

from harness import Unreachable, now_ns, wait_until
from system_case import CALM, IS_SANITIZED, PATIENT, SystemCase, main

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "fuzz" / "codec"
REJECTED = "bellwether_rejected_frames_total"
REQUESTS = "bellwether_http_requests_total"
LIMITS = "bellwether_limit_hits_total"
MOST_MIB = 32  # half of what the examples for Kubernetes allow a sidecar
NOISE = bytes(range(1, 255)) * 200  # it begins neither a frame nor a request
HEADER_BYTES, LONGEST_FRAME_BYTES = 32, 16384
LAZY_CLIENTS, MOST_STREAMS = 200, 128
MOST_CHANGES = 2000  # several times as many as fill what is kept for a client


def frame_of(name):
    """A frame of the fuzzer's corpus, whose first byte is the fuzzer's own."""
    return (CORPUS / name).read_bytes()[1:]


def oversized():
    """The header of a HELLO (its layout: sidecar/io/wire/wire_format.hh) with too long a body."""
    return struct.pack("<HBBHHQQQ", 0xBE11, 1, 1, LONGEST_FRAME_BYTES, 0, 0, 0, 0)


def indexes(pieces):
    """Of the events that came in these pieces of a stream, in their order."""
    return [int(found) for found in re.findall(rb"id: [0-9]+\.([0-9]+)\n", b"".join(pieces))]


class Abuse(SystemCase):
    @contextlib.contextmanager
    def steady_group(self):
        """A group that must not change while it is abused; its leader is the victim."""
        with self.group(extra=CALM) as group:
            victim = group.start().sidecars[-1]
            group.await_leader(victim)
            before = victim.get("/v1/leader")
            yield group, victim
            for sidecar in group.sidecars:
                self.assertTrue(sidecar.is_running, sidecar.name)
                if not IS_SANITIZED:
                    self.assertLess(sidecar.resident_mib(), MOST_MIB)
            self.assertEqual(victim.get("/v1/leader"), before)
            self.assertIs(group.await_leader(), victim)

    def say(self, sidecar, data, port=None):
        """Says it, on the peer port unless it is another, and waits until the sidecar hangs up."""
        place = (sidecar.address, port or sidecar.peer_port)
        with socket.create_connection(place, timeout=30) as stranger:
            with contextlib.suppress(ConnectionError):
                stranger.sendall(data)
                while stranger.recv(65536):
                    pass

    def silent(self, stack, sidecar, port, count):
        """So many connections that say nothing, open until the stack ends."""
        for _ in range(count):
            with contextlib.suppress(ConnectionError):
                stack.enter_context(socket.create_connection((sidecar.address, port), timeout=30))

    def test_strangers_on_the_peer_port(self):
        sayings = {
            "bad_magic": (NOISE, b"GET / HTTP/1.1\r\nHost: orders\r\n\r\n"),
            "oversized": (oversized(),),
            "foreign_group": (frame_of("hello_of_another_group"),),
            "bad_checksum": (frame_of("hello_of_another_group")[:-1] + b"\0",),
        }
        with self.steady_group() as (_, victim):
            for reason, texts in sayings.items():
                for text in texts:
                    with self.subTest(reason=reason):
                        before = victim.count(REJECTED, reason=reason)
                        self.say(victim, text)
                        wait_until(f"{reason} is counted", lambda why=reason, count=before:
                                   victim.count(REJECTED, reason=why) > count)

    def test_strangers_on_the_other_ports(self):
        with self.steady_group() as (_, victim):
            for port in (victim.api_port, victim.metrics_port):
                for text in (NOISE, oversized(), frame_of("hello_of_another_group")):
                    with self.subTest(port=port, text=text[:8]):
                        before = victim.count(REQUESTS, code="400")
                        self.say(victim, text, port)
                        self.assertEqual(victim.count(REQUESTS, code="400"), before + 1)

    def test_a_frame_that_never_ends(self):
        """Byte by byte, a part of one: the sidecar waits no longer than for any HELLO."""
        with self.steady_group() as (_, victim):
            self.say(victim, frame_of("hello_of_another_group")[:HEADER_BYTES])

    def test_silent_connections_on_every_port(self):
        with self.steady_group() as (group, victim), contextlib.ExitStack() as stack:
            for port in (victim.peer_port, victim.api_port, victim.metrics_port):
                self.silent(stack, victim, port, 300)
            other = group.sidecars[0]
            wait_until("peers' bound was met", lambda: victim.count(
                LIMITS, limit="peer_connections") > 0)
            self.assertEqual(other.leader(), victim.name)
            # A member finds its place among the silent ones.
            other.kill()
            other.start()
            victim.await_state_of(other, "alive")

    def test_more_clients_than_there_is_room_for(self):
        with self.steady_group() as (_, victim):
            with contextlib.ExitStack() as stack:
                self.silent(stack, victim, victim.api_port, 1200)

            def is_bound_met():
                # There may be no room yet for this question either.
                with contextlib.suppress(Unreachable):
                    return victim.count(LIMITS, limit="http_connections") > 0

            wait_until("the bound was met", is_bound_met)

    def follow_events(self, stack, sidecar, receive_bytes=None):
        """A client of the event stream, open until the stack ends."""
        client = stack.enter_context(socket.socket())
        client.settimeout(30)
        if receive_bytes:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        client.connect((sidecar.address, sidecar.api_port))
        client.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return client

    def hand_over(self, leader, successor):
        """The successor need not lead yet when this returns, but the leader no longer does."""
        def is_done():
            return leader.request("POST", "/v1/transfer", {"to": successor.name})[0] in (200, 202)
        wait_until(f"{leader.name} hands over to {successor.name}", is_done)

    def test_event_streams_that_nobody_reads(self):
        """The leader changes until they are full, and cut off.  Meanwhile everybody else is served,
        a client that reads misses nothing, and the elections are what they always are."""
        with self.group(2, extra=PATIENT) as group, contextlib.ExitStack() as stack:
            other, victim = group.start().sidecars
            group.observe(self.observer)
            group.await_leader(victim)
            began_ns = now_ns()
            reader = self.follow_events(stack, victim)
            heard = [reader.recv(65536)]
            for _ in range(LAZY_CLIENTS):
                self.follow_events(stack, victim, receive_bytes=1)  # the least that there is
            wait_until("those are refused for whom there is no room", lambda: victim.count(
                LIMITS, limit="event_streams") == LAZY_CLIENTS + 1 - MOST_STREAMS)
            self.assertEqual(victim.count(LIMITS, limit="http_unsent"), 0)

            changes = 0
            while victim.count(LIMITS, limit="http_unsent") < MOST_STREAMS - 1:
                self.assertLess(changes, MOST_CHANGES)
                for leader, successor in ((victim, other), (other, victim)):
                    self.hand_over(leader, successor)
                    heard.append(reader.recv(65536))
                changes += 2
                if not IS_SANITIZED:
                    self.assertLess(victim.resident_mib(), MOST_MIB)
            print(f"full after {changes} changes, {victim.resident_mib():.1f} MiB")
            self.assertEqual(group.observer.doubles_since(began_ns), [])

            self.hand_over(victim, other)
            group.await_leader(other)
            other.kill()
            group.await_leader(victim)
            # There is room again.
            self.assertIn(b"200 OK", self.follow_events(stack, victim).recv(65536))
            self.assertEqual(victim.count(LIMITS, limit="http_unsent"), MOST_STREAMS - 1)
            last = victim.get("/v1/leader")["index"]
            while indexes(heard)[-1] < last:
                heard.append(reader.recv(65536))
            self.assertEqual(indexes(heard), list(range(indexes(heard)[0], last + 1)))

    def test_requests_that_never_end(self):
        """Slowloris: a header, byte by byte.  Others are served meanwhile."""
        with self.steady_group() as (_, victim), contextlib.ExitStack() as stack:
            clients = [stack.enter_context(socket.create_connection(
                (victim.address, victim.api_port), timeout=60)) for _ in range(100)]
            for byte in b"GET / HTTP/1.1\r\nX-Slow: ":
                for client in clients:
                    client.sendall(bytes([byte]))
            self.assertEqual(victim.leader(), victim.name)
            for client in clients:  # until it is cut off, with or without an answer
                with contextlib.suppress(ConnectionError):
                    while client.recv(4096):
                        pass
            wait_until("silence was counted", lambda: victim.count(LIMITS, limit="http_idle") > 0)

    def test_headers_and_bodies_that_are_too_large(self):
        with self.steady_group() as (_, victim):
            status, _, _ = victim.request("GET", "/", headers={"X-Large": "x" * 10000})
            self.assertEqual(status, 431)
            self.assertGreater(victim.count(LIMITS, limit="http_header"), 0)
            status, _, _ = victim.request("POST", "/v1/step-down", {"hold": "x" * 20000})
            self.assertEqual(status, 413)
            self.assertGreater(victim.count(LIMITS, limit="http_body"), 0)

    def test_web_pages_of_strangers(self):
        with self.steady_group() as (_, victim):
            for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"},
                            {"Sec-Fetch-Site": "cross-site"}):
                with self.subTest(headers=headers):
                    status, _, _ = victim.request("POST", "/v1/step-down", {"hold": "1s"}, headers)
                    self.assertEqual(status, 403)


if __name__ == "__main__":
    main()
