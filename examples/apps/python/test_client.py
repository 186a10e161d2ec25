"""The package's own tests, at a server that answers as a sidecar does: python3 -m unittest."""

import pathlib
import socket
import tempfile
import threading
import typing
import unittest

import attachment
import leader_flag

EVENTS = (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
          b'event: attached\ndata: {"name":"worker"}\n\n: a comment\n\n'
          b'event: lead\ndata: {"epoch":7}\n\n'
          b'event: drain\ndata: {"epoch":7,"left_ms":1500,"reason":"leave","successor":"n2"}\n\n')
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
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.place)
        self.listener.listen()
        server = threading.Thread(target=self.serve)
        server.start()
        self.addCleanup(server.join)
        self.addCleanup(self.listener.shutdown, socket.SHUT_RDWR)

    def serve(self) -> None:
        """Until the listener is shut down; each request comes in one piece."""
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                self.listener.close()
                return
            with client:
                self.requests.append(client.recv(4096).decode())
                client.sendall(self.answer)

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return str(self.folder / name)


class Attachment(ClientCase):
    def test_events_come_until_the_sidecar_ends(self) -> None:
        self.answer = EVENTS
        with attachment.attach(self.place, "worker", score=-3) as mine:
            self.assertEqual(list(mine), [
                attachment.Event(attachment.ATTACHED), attachment.Event(attachment.LEAD, 7),
                attachment.Event(attachment.DRAIN, 7, 1500, "leave", "n2")])
        request, = self.requests
        self.assertTrue(request.startswith(
            "POST /v1/application/attach?name=worker&score=-3 HTTP/1"), request)
        self.assertNotIn("authorization", request.lower())

    def test_score_and_drained_are_sent(self) -> None:
        attachment.set_score(self.place, 42)
        attachment.drained(self.place, "worker", 7)
        score, drained = self.requests
        self.assertTrue(score.startswith("PUT /v1/application/score "), score)
        self.assertTrue(score.endswith('\r\n\r\n{"score": 42}'), score)
        self.assertTrue(drained.startswith("POST /v1/application/drained?name=worker "), drained)
        self.assertTrue(drained.endswith('\r\n\r\n{"epoch": 7}'), drained)

    def test_a_refusal_has_its_status(self) -> None:
        self.answer = LATE
        with self.assertRaisesRegex(attachment.Refused, "too late") as caught:
            attachment.drained(self.place, "worker", 7)
        self.assertEqual(caught.exception.status, 409)

    def test_a_token_goes_along_and_its_file_is_read_each_time(self) -> None:
        attachment.set_score(self.place, 1, token="first")
        path = self.write("token", "# replaced now and then\n\n second \nthird\n")
        attachment.set_score(self.place, 1, token_file=path)
        self.write("token", "fourth")
        attachment.drained(self.place, "worker", 7, token_file=path)
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


class LeaderFlag(ClientCase):
    def test_what_is_no_flag_is_not_taken_for_one(self) -> None:
        with self.assertRaises(leader_flag.NotAFlag):
            leader_flag.LeaderFlag(self.write("page", 64 * "x"))
        with self.assertRaises(FileNotFoundError):
            leader_flag.LeaderFlag(str(self.folder / "none"))


if __name__ == "__main__":
    unittest.main()
