#!/usr/bin/env python3
"""What attaches, in each language, and is answered as no sidecar answers: it says why it ends, or
tries again after a moment; it neither waits for ever nor asks all the time.

usage: odd_answer_test.py LANGUAGE FOLDER_OF_PROGRAMS BELLWETHER [CASE...]; a case is
Class.test_name
"""

import contextlib
import pathlib
import socket
import subprocess
import sys
import threading
import time
import unittest

import languages
from harness import CALM, Group, wait_until

LANGUAGE, PROGRAMS, PROGRAM = "", "", ""
ALONE = "[election]\n" + CALM + "[application]\nattach = true\n"
PAUSE_S = 0.1  # of the workers, between two tries

EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
GOOD = EVENTS + b'event: attached\ndata: {"name":"worker"}\n\nevent: follow\ndata: {"epoch":7}\n\n'
REFUSAL = (b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"
           b'Content-Length: 21\r\n\r\n{"error":"bad names"}')
REFUSAL_IN_CHUNKS = (b"HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n"
                     b"5\r\n{\"err\r\n4\r\nor\":\r\n4\r\n\"no\"\r\n1\r\n}\r\n0\r\n\r\n")
# After these the connection ends,
ENDED = {
    "nothing": b"",
    "half a head": b"HTTP/1.1 200 OK\r\nContent-Type: text/ev",
    "busy": b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy",
    "another protocol": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "no number": b"HTTP/1.1 OK\r\n\r\n",
    "a long head": b"HTTP/1.1 200 OK\r\nX: " + 100_000 * b"x" + b"\r\n\r\n",
    "a page": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html></html>\n\n",
    "no JSON": EVENTS + b"event: lead\ndata: {[\n\n",
    "other JSON": EVENTS + b"event: lead\ndata: [1]\n\nevent: \xff\ndata: null\n\n",
    "an event without an end": EVENTS + b"event: lead\ndata: " + 100_000 * b"x",
}
# and after these nothing more is heard.
SILENT = {
    "silence": b"",
    "half a head": b"HTTP/1.1 200 OK\r\nContent-Type: text/ev",
    "only an interim answer": b"HTTP/1.1 100 Continue\r\n\r\n",
    "half a refusal": b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 99\r\n\r\nhalf",
    "a page": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n<html>",
}


class Server:
    """Answers every request with the same bytes."""

    def __init__(self, path, answer, is_ended, is_dripping=False):
        self.answer, self.is_ended, self.is_dripping = answer, is_ended, is_dripping
        self.began, self.connections = time.monotonic(), []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                self.connections.append(client)
                threading.Thread(target=self.reply, args=(client,), daemon=True).start()

    def reply(self, client):
        with contextlib.suppress(OSError):
            client.recv(4096)
            if self.is_dripping:
                for byte in self.answer:
                    client.sendall(bytes([byte]))
                    time.sleep(0.2)
            client.sendall(self.answer)
            if self.is_ended:
                client.close()

    def close(self):
        self.listener.close()
        for client in self.connections:
            client.close()


class OddAnswer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.command = languages.or_skip(languages.attached_worker, LANGUAGE, PROGRAMS)
        # Its flag is off: nobody is attached to it.
        group = cls.enterClassContext(Group(PROGRAM, 1, ALONE))
        cls.sidecar, = group.start().sidecars
        cls.count = 0

    @contextlib.contextmanager
    def answered(self, answer, **options):
        """A server, and a worker that is attached to it, or wants to be."""
        type(self).count += 1
        place = pathlib.Path(self.sidecar.folder) / f"odd{self.count}.sock"
        with contextlib.closing(Server(place, answer, **options)) as server:
            process = subprocess.Popen(
                [*self.command, self.sidecar.flag_file, place, "worker"],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            try:
                yield server, process
            finally:
                process.kill()
                process.communicate()

    def check_that_it_tries_again(self, answer, **options):
        with self.answered(answer, **options) as (server, process):
            wait_until("it tries again", lambda: len(server.connections) > 2)
            self.assertIsNone(process.poll())
            tries = (time.monotonic() - server.began) / PAUSE_S
            self.assertLess(len(server.connections), tries + 2)

    def test_whoever_is_refused_says_why(self):
        for answer in (REFUSAL, REFUSAL_IN_CHUNKS):
            with self.subTest(answer), self.answered(answer, is_ended=True) as (_, process):
                self.assertEqual(process.wait(30), 1)
                self.assertIn(answer[9:12], process.stderr.read())

    def test_what_has_ended_is_tried_again(self):
        for name, answer in ENDED.items():
            with self.subTest(name):
                self.check_that_it_tries_again(answer, is_ended=True)

    def test_silence_is_not_waited_for(self):
        for name, answer in SILENT.items():
            with self.subTest(name):
                self.check_that_it_tries_again(answer, is_ended=False)

    def test_a_head_that_drips_is_not_waited_for(self):
        self.check_that_it_tries_again(1000 * b"HTTP/1.1 ", is_ended=False, is_dripping=True)

    def test_an_interim_answer_is_none(self):
        with self.answered(b"HTTP/1.1 100 Continue\r\n\r\n" + GOOD, is_ended=False) as (server, _):
            wait_until("it is there", lambda: server.connections)
            time.sleep(3)  # longer than an answer is waited for
            self.assertEqual(len(server.connections), 1)


if __name__ == "__main__":
    LANGUAGE, PROGRAMS, PROGRAM = sys.argv[1:4]
    languages.main(sys.argv[4:])
