"""The package's own tests, at a server that answers as a sidecar does: python3 -m unittest."""

import contextlib
import pathlib
import socket
import tempfile
import threading
import time
import typing
import unittest

import attachment
import leader_flag

EVENTS = (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
          b'event: attached\ndata: {"name":"worker"}\n\n: a comment\n\n'
          b'event: lead\ndata: {"epoch":7}\n\n'
          b'event: drain\ndata: {"epoch":7,"reason":"leave","successor":"n2","left_ms":1500,'
          b'"attachment":4711,"drain":2}\n\n')
DRAIN = attachment.Event(attachment.DRAIN, 7, 1500, "leave", "n2", 4711, 2)
DONE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
LATE = b"HTTP/1.1 409 Conflict\r\nContent-Length: 20\r\n\r\n{\"error\":\"too late\"}"


class ClientCase(unittest.TestCase):
    """A folder, and in it the socket of a server."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.place = str(self.folder / "api.sock")
        self.requests: typing.List[str] = []
        self.answer = DONE
        self.connections = 0
        self.most_requests = 1  # over a connection, before it is closed
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.place)
        self.listener.listen()
        server = threading.Thread(target=self.serve)
        server.start()
        self.addCleanup(server.join)
        self.addCleanup(self.listener.shutdown, socket.SHUT_RDWR)

    def serve(self) -> None:
        """Until the listener is shut down; each request comes in one piece, and the last byte
        of each answer goes by itself."""
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                self.listener.close()
                return
            self.connections += 1
            with client, contextlib.suppress(ConnectionError):  # it may not want the whole answer
                for _ in range(self.most_requests):
                    request = client.recv(4096).decode()
                    if not request:
                        break
                    self.requests.append(request)
                    client.sendall(self.answer[:-1])
                    time.sleep(0.01)
                    client.sendall(self.answer[-1:])

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return str(self.folder / name)


class Attachment(ClientCase):
    def test_events_come_until_the_sidecar_ends(self) -> None:
        self.answer = EVENTS
        with attachment.attach(self.place, "worker", score=-3) as mine:
            self.assertEqual(list(mine), [
                attachment.Event(attachment.ATTACHED), attachment.Event(attachment.LEAD, 7),
                DRAIN])
        request, = self.requests
        self.assertTrue(request.startswith(
            "POST /v1/application/attach?name=worker&score=-3 HTTP/1"), request)
        self.assertNotIn("authorization", request.lower())

    def test_score_and_drained_are_sent(self) -> None:
        attachment.set_score(self.place, 42)
        attachment.drained(self.place, DRAIN)
        score, drained = self.requests
        self.assertTrue(score.startswith("PUT /v1/application/score "), score)
        self.assertTrue(score.endswith('\r\n\r\n{"score": 42}'), score)
        self.assertTrue(drained.startswith("POST /v1/application/drained "), drained)
        self.assertTrue(
            drained.endswith('\r\n\r\n{"epoch": 7, "drain": 2, "attachment": 4711}'), drained)

    def test_a_refusal_has_its_status(self) -> None:
        self.answer = LATE
        with self.assertRaisesRegex(attachment.Refused, "too late") as caught:
            attachment.drained(self.place, DRAIN)
        self.assertEqual(caught.exception.status, 409)

    def test_a_token_goes_along_and_its_file_is_read_each_time(self) -> None:
        attachment.set_score(self.place, 1, token="first")
        path = self.write("token", "# replaced now and then\n\n second \nthird\n")
        attachment.set_score(self.place, 1, token_file=path)
        self.write("token", "fourth")
        attachment.drained(self.place, DRAIN, token_file=path)
        self.answer = EVENTS
        attachment.attach(self.place, token_file=path).close()
        for request, token in zip(self.requests, ("first", "second", "fourth", "fourth")):
            self.assertIn(f"\r\nAuthorization: Bearer {token}\r\n", request)

    def test_what_is_no_token_is_neither_sent_nor_said(self) -> None:
        for text in ("", "# none\n", "two words", "a\r\rb", "h\x01lf", "\xe4", 1025 * "x"):
            with self.assertRaises(attachment.NoToken) as caught:
                attachment.set_score(self.place, 1, token_file=self.write("token", text))
            self.assertIn(str(self.folder), str(caught.exception))
            self.assertFalse(text.strip() and text in str(caught.exception))
        with self.assertRaises(attachment.NoToken):
            attachment.attach(self.place, token="half\r\nX: y")
        with self.assertRaisesRegex(attachment.NoToken, "/nowhere"):
            attachment.attach(self.place, token_file="/nowhere")
        self.assertEqual(self.requests, [])


class Place(unittest.TestCase):
    def test_what_is_no_place_is_named(self) -> None:
        for place in ("worker", "localhost", ":4040", "127.0.0.1:http"):
            with self.assertRaisesRegex(ValueError, "HOST:PORT"):
                attachment.set_score(place, 42)


class Scorer(ClientCase):
    def setUp(self) -> None:
        super().setUp()
        self.most_requests = 3

    def test_scores_go_over_one_connection(self) -> None:
        with attachment.Scorer(self.place) as scorer:
            self.assertEqual(self.connections, 0)
            for score in (1, 2, 3):
                scorer.set(score)
        self.assertEqual((self.connections, len(self.requests)), (1, 3))
        for score, request in enumerate(self.requests, 1):
            self.assertTrue(request.startswith("PUT /v1/application/score HTTP/1.1\r\n"), request)
            self.assertTrue(request.endswith(f'\r\n\r\n{{"score": {score}}}'), request)

    def test_one_that_was_closed_is_made_anew(self) -> None:
        with attachment.Scorer(self.place) as scorer:
            for score in range(7):
                scorer.set(score)
        self.assertEqual((self.connections, len(self.requests)), (3, 7))

    def test_it_is_made_anew_once(self) -> None:
        with attachment.Scorer(self.place) as scorer:
            for score in range(3):
                scorer.set(score)
            self.answer = b""
            self.most_requests = 1
            with self.assertRaises(ConnectionResetError):
                scorer.set(3)
            self.answer = DONE
            scorer.set(4)
        self.assertEqual((self.connections, len(self.requests)), (3, 5))

    def test_the_last_answer_and_an_error_close_it(self) -> None:
        with attachment.Scorer(self.place) as scorer:
            self.answer = DONE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
            scorer.set(1)
            self.answer = LATE
            with self.assertRaises(attachment.Refused):
                scorer.set(2)
            self.answer = DONE
            scorer.set(3)
            scorer.close()
            scorer.set(4)
        self.assertEqual((self.connections, len(self.requests)), (4, 4))

    def test_what_is_no_sidecars_is_not_read_for_ever(self) -> None:
        with attachment.Scorer(self.place) as scorer:
            self.answer = b"HTTP/1.1 200 OK\r\nX: " + 100_000 * b"x"
            with self.assertRaises(ConnectionError):
                scorer.set(1)
            self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
            scorer.set(2)
            self.answer = DONE + b"more"
            scorer.set(3)
            scorer.set(4)
        self.assertEqual((self.connections, len(self.requests)), (4, 4))

    def test_the_file_of_the_token_is_read_each_time(self) -> None:
        path = self.write("token", "first")
        with attachment.Scorer(self.place, token_file=path) as scorer:
            scorer.set(1)
            self.write("token", "second")
            scorer.set(2)
        for request, token in zip(self.requests, ("first", "second")):
            self.assertIn(f"\r\nAuthorization: Bearer {token}\r\n", request)
        self.assertEqual(self.connections, 1)


class LeaderFlag(ClientCase):
    def test_what_is_no_flag_is_not_taken_for_one(self) -> None:
        with self.assertRaises(leader_flag.NotAFlag):
            leader_flag.LeaderFlag(self.write("page", 64 * "x"))
        with self.assertRaises(FileNotFoundError):
            leader_flag.LeaderFlag(str(self.folder / "none"))


if __name__ == "__main__":
    unittest.main()
