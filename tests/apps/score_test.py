#!/usr/bin/env python3
"""An application in C says by attachment.h what it is worth: to a real sidecar, over its socket,
and over TCP by a token; and over a connection that is kept, also to a server that answers oddly.

usage: score_test.py SCORER BELLWETHER [CASE...]; a case is Class.test_name
"""

import contextlib
import errno
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import languages
from harness import CALM, Group, wait_until

SCORER, PROGRAM = "", ""
REQUEST_BYTES = 4096  # more than a request has
GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
TIMEOUT_S = 2  # ATTACHMENT_TIMEOUT_MS


class Scorer:
    """A process that keeps its connection; a context manager."""

    def __init__(self, place, *token):
        self.process = subprocess.Popen([SCORER, place, "-", *token], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.process.communicate(timeout=60)

    def say(self, score):
        """0, or the errno."""
        self.process.stdin.write(f"{score}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def connection(self):
        """The number of its socket, which no other has; None: it has none."""
        folder = f"/proc/{self.process.pid}/fd"
        found = [os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder)]
        sockets = [name for name in found if name.startswith("socket:")]
        assert len(sockets) < 2, sockets
        return sockets[0] if sockets else None


class Score(unittest.TestCase):
    def setUp(self):
        group = self.enterContext(Group(PROGRAM, 1, "[election]\n" + CALM))
        self.sidecar, = group.sidecars
        self.token = os.urandom(16).hex()
        file = group.folder / "token"
        file.touch(mode=0o600)
        file.write_text(self.token)
        self.sidecar.write_config(group.config_of(self.sidecar).replace(
            "[metrics]", f'token_file = "{file}"\n[metrics]'))
        group.start()
        self.await_service()

    def await_service(self):
        wait_until("it is served", lambda: self.sidecar.get("/v1/status"))

    def say(self, place, score, *token):
        return subprocess.run([SCORER, place, str(score), *token], check=False,
                              timeout=60).returncode

    def check_that_it_is(self, score):
        self.assertEqual(self.sidecar.get("/v1/status")["application"]["score"], score)

    def test_it_is_told_over_the_socket(self):
        for score in (42, -(2**53 - 1)):
            self.assertEqual(self.say(self.sidecar.socket_file, score), 0)
            self.check_that_it_is(score)
        for score in (2**53, -(2**53)):
            self.assertEqual(self.say(self.sidecar.socket_file, score), errno.ERANGE)
        self.assertEqual(self.say("/nowhere", 42), errno.ENOENT)

    def test_it_is_told_over_tcp_by_the_token_alone(self):
        place = f"127.0.0.1:{self.sidecar.api_port}"
        self.assertEqual(self.say(place, 7, self.token), 0)
        self.check_that_it_is(7)
        for token in ((), ("another",)):
            self.assertEqual(self.say(place, 8, *token), errno.EACCES)
        self.assertEqual(self.say(place, 8, "half and half"), errno.ENOKEY)
        self.check_that_it_is(7)

    def check_that_it_is_kept(self, place, *token):
        """And made anew after an error, and when the sidecar has restarted."""
        with Scorer(place, *token) as scorer:
            self.assertIsNone(scorer.connection())
            connections = []
            for score in range(10):
                self.assertEqual(scorer.say(score), 0)
                self.check_that_it_is(score)
                connections.append(scorer.connection())
            self.assertIsNotNone(connections[0])
            self.assertEqual(len(set(connections)), 1)
            self.assertEqual(scorer.say(2**53), errno.ERANGE)
            self.assertEqual(scorer.connection(), connections[0])
            self.sidecar.stop()
            self.assertIn(scorer.say(12), (errno.ENOENT, errno.ECONNREFUSED))
            self.sidecar.start()
            self.await_service()
            self.assertEqual(scorer.say(13), 0)
            kept = scorer.connection()
            self.sidecar.stop()
            self.sidecar.start()
            self.await_service()
            self.assertEqual(scorer.say(14), 0)  # over one that the first has closed
            self.check_that_it_is(14)
            self.assertNotIn(scorer.connection(), (None, kept))

    def test_a_connection_is_kept_over_the_socket(self):
        self.check_that_it_is_kept(self.sidecar.socket_file)

    def test_a_connection_is_kept_over_tcp(self):
        self.check_that_it_is_kept(f"127.0.0.1:{self.sidecar.api_port}", self.token)


class Server:
    """Each connection gets the next of these lists: its members are what answers a request, one
    after another, and each is sent piece by piece; None: silence, until the client closes it.
    After a list the connection is closed."""

    def __init__(self, place, *connections):
        self.connections, self.requests = list(connections), []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(place))
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            for answers in self.connections:
                client = self.listener.accept()[0]
                self.requests.append([])
                with client:
                    self.answer(client, answers)

    def answer(self, client, answers):
        for pieces in answers:
            request = client.recv(REQUEST_BYTES)
            if not request:
                return
            self.requests[-1].append(request)
            if pieces is None:
                client.recv(REQUEST_BYTES)
                return
            for piece in pieces:
                client.sendall(piece)
                time.sleep(0.05)

    def close(self):
        self.listener.close()


class OddAnswer(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bellwether-score."))
        self.addCleanup(shutil.rmtree, self.folder)

    def told(self, scores, *connections):
        """What each score came to, and how many requests each connection had."""
        with contextlib.closing(Server(self.folder / "sock", *connections)) as server, \
             Scorer(self.folder / "sock") as scorer:
            results = [scorer.say(score) for score in range(scores)]
            return results, [len(requests) for requests in server.requests]

    def test_an_answer_in_pieces_is_read_to_its_end(self):
        pieces = [GOOD[:9], GOOD[9:-6], GOOD[-6:-2], GOOD[-2:-1], GOOD[-1:]]
        self.assertEqual(self.told(3, 3 * [pieces]), ([0, 0, 0], [3]))

    def test_one_that_is_the_last_closes_it(self):
        last = GOOD.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        self.assertEqual(self.told(2, 2 * [[last]], [[GOOD]]), ([0, 0], [1, 1]))

    def test_more_than_was_said_is_not_taken_for_the_next(self):
        self.assertEqual(self.told(2, 2 * [[GOOD + b"more"]], [[GOOD]]), ([0, 0], [1, 1]))

    def test_a_head_without_an_end_is_read_no_further(self):
        endless = b"HTTP/1.1 200 OK\r\nX: " + REQUEST_BYTES * b"x"
        self.assertEqual(self.told(2, [[endless]], [[GOOD]]), ([errno.EPROTO, 0], [1, 1]))

    def test_one_that_was_closed_is_made_anew_once(self):
        self.assertEqual(self.told(2, [[GOOD]], [[GOOD]]), ([0, 0], [1, 1]))
        (self.folder / "sock").unlink()
        self.assertEqual(self.told(3, [[GOOD]], [[]], [[GOOD]]),
                         ([0, errno.EPIPE, 0], [1, 1, 1]))

    def test_silence_is_not_waited_for_and_nothing_is_asked_twice(self):
        began = time.monotonic()
        self.assertEqual(self.told(3, [[GOOD], None], [[GOOD]]),
                         ([0, errno.ETIMEDOUT, 0], [2, 1]))
        self.assertGreaterEqual(time.monotonic() - began, TIMEOUT_S)


if __name__ == "__main__":
    SCORER, PROGRAM = sys.argv[1:3]
    languages.main(sys.argv[3:])
