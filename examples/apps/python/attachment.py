"""The application's attachment to its sidecar, for Python 3.8 and later on Linux: while it is open,
this node may lead (`[application] attach`).

    with attachment.attach("/run/bellwether/api.sock", "worker") as mine:
        for event in mine:              # blocks; mine.fileno() is for an event loop of your own
            print(event.type, event.epoch)

The open connection is the statement "I am here"; the kernel ends it when the process dies, however
it dies.  A child that is forked (os.fork(), multiprocessing) holds it as well until it ends, unless
it calls close() first of all: this node leads on when only that child is left.  Whether this
replica leads says the flag (leader_flag.py), before each piece of work; the events only wake
whoever waits for that.  Before its node hands leadership over the application is told so (DRAIN,
where `[application] drain_timeout` is set): begin() of the flag refuses from then on, and when what
was begun has ended, drained() says so.  Copy this file into your application; it needs no package.
"""

import json
import socket
import time
import typing
import urllib.parse

ATTACHED, LEAD, FOLLOW, DRAIN = "attached", "lead", "follow", "drain"

# For the sidecar to accept and to answer, on this host.
TIMEOUT_S = 2.0
# No head or body of an answer, and no event, of a sidecar's is longer.
MOST_BYTES = 16384
MOST_TOKEN_BYTES = 1024


class Refused(ConnectionError):
    """The sidecar has refused: `status` says why (400: name or score, 401 and 403: this process may
    not, 404 and 409: nobody waits for it to finish, 429: too many scores a second, 503: too many
    are attached)."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"the sidecar answered {status}: {reason}")
        self.status = status


class NoToken(Exception):
    """The file of the token cannot be read, or there is none in it, or what was given is none."""


class Event(typing.NamedTuple):
    """What the sidecar says.  Ignore types that you do not know."""

    # ATTACHED, LEAD (this node leads `epoch`), FOLLOW (it does not), DRAIN (it is to hand over)
    type: str
    epoch: int = 0  # of the leadership, or of the last one
    left_ms: int = 0  # this and what follows of DRAIN: finish in that time
    reason: str = ""  # "step_down", "transfer", "leave", "take_over"
    successor: str = ""  # as it looks now; empty: nobody can lead
    attachment: int = 0  # who is asked: this one, and nobody else of its name
    drain: int = 0  # its number: an epoch may see more than one


class Attachment:
    """An open attachment, of one thread at a time.  Iterating over it waits for the next event, and
    ends when the sidecar has ended: then attach again, after a moment."""

    def __init__(self, stream: socket.socket, text: bytes) -> None:
        self._stream, self._text = stream, text

    def fileno(self) -> int:
        """Readable when take() has something to say."""
        return self._stream.fileno()

    def take(self) -> typing.Optional[typing.List[Event]]:
        """The events that are there, without waiting; None: the sidecar has ended."""
        self._stream.setblocking(False)
        try:
            while len(self._text) < MOST_BYTES:
                piece = self._stream.recv(4096)
                if not piece:
                    return self._events() or None
                self._text += piece
        except BlockingIOError:
            return self._events()
        except OSError:
            return None
        return self._events() or None

    def __iter__(self) -> typing.Iterator[Event]:
        while len(self._text) < MOST_BYTES:
            yield from self._events()
            self._stream.setblocking(True)
            try:
                piece = self._stream.recv(4096)
            except OSError:
                return
            if not piece:
                return
            self._text += piece

    def close(self) -> None:
        """Detaches: if no other application is attached, this node leads no longer."""
        self._stream.close()

    def __enter__(self) -> "Attachment":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _events(self) -> typing.List[Event]:
        *whole, self._text = self._text.split(b"\n\n")
        events = []
        for text in whole:
            lines = (line.partition(b": ") for line in text.split(b"\n"))
            fields = {name: value for name, colon, value in lines if colon}
            if b"event" not in fields:
                continue
            try:
                data = json.loads(fields.get(b"data", b"{}"))
                events.append(Event(fields[b"event"].decode(), int(data.get("epoch", 0)),
                                    int(data.get("left_ms", 0)), str(data.get("reason", "")),
                                    str(data.get("successor") or ""),
                                    int(data.get("attachment", 0)), int(data.get("drain", 0))))
            except (AttributeError, TypeError, ValueError):
                pass  # no sidecar says that
        return events


def attach(place: str, name: str = "application",
           score: typing.Optional[int] = None, *, token: typing.Optional[str] = None,
           token_file: typing.Optional[str] = None) -> Attachment:
    """Attaches as `name` (1 to 64 letters, digits, '-', '.' and '_').  `place`: the path of the
    API's unix socket, or its address, "127.0.0.1:4040".  Over TCP `[api] token_file` may ask for a
    `token`: it, or the first line of `token_file` that is neither empty nor begins with '#', which
    is read each time, for tokens are replaced.  It is sent as it is: to the sidecar of this host.
    Raises OSError where there is no sidecar, ValueError where `place` is none, Refused, or
    NoToken."""
    worth = "" if score is None else f"&score={score:d}"
    target = f"/v1/application/attach?name={urllib.parse.quote(name, safe='')}{worth}"
    stream, head, text = _ask(place, "POST", target, b"", _authorization(token, token_file))
    if not _header(head, "content-type").startswith("text/event-stream"):
        stream.close()
        raise ConnectionError("what answers is not a sidecar: it sends no events")
    return Attachment(stream, text)


def set_score(place: str, score: int, *, token: typing.Optional[str] = None,
              token_file: typing.Optional[str] = None) -> None:
    """The application is worth this from now on, from -(2^53 - 1) to 2^53 - 1; until it is said,
    also after a restart of the sidecar, it is 0.  Raises as attach()."""
    body = json.dumps({"score": score}).encode()
    stream, _, _ = _ask(place, "PUT", "/v1/application/score", body,
                        _authorization(token, token_file))
    stream.close()


class Scorer:
    """For a score that changes often: keeps the connection, for making one each time is much of
    what a score costs the sidecar.  Of one thread at a time.

        with attachment.Scorer("/run/bellwether/api.sock") as scorer:
            scorer.set(42)"""

    def __init__(self, place: str, *, token: typing.Optional[str] = None,
                 token_file: typing.Optional[str] = None) -> None:
        self._place, self._token, self._token_file = place, token, token_file
        self._stream: typing.Optional[socket.socket] = None

    def set(self, score: int) -> None:
        """As set_score(), and raises the same.  Connects if it has to: at first, after an error,
        and, by itself, where the sidecar has closed the connection or has restarted.  A score that
        could not be said is not kept: say it again when you attach again."""
        body = json.dumps({"score": score}).encode()
        authorization = _authorization(self._token, self._token_file)
        kept, self._stream = self._stream, None
        try:
            self._stream = self._told(body, authorization, kept)
        except _Closed:
            self._stream = self._told(body, authorization, None)  # a score may be said twice

    def close(self) -> None:
        """May be repeated; set() connects anew."""
        if self._stream is not None:
            self._stream.close()
        self._stream = None

    def __enter__(self) -> "Scorer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _told(self, body: bytes, authorization: bytes,
              kept: typing.Optional[socket.socket]) -> typing.Optional[socket.socket]:
        """The connection, if the next score can go over it; what is kept is closed otherwise."""
        stream, head, text = _ask(self._place, "PUT", "/v1/application/score", body, authorization,
                                  version="HTTP/1.1", kept=kept)
        length = _header(head, "content-length")
        whole = int(length) if length.isdigit() else MOST_BYTES + 1
        try:
            while len(text) < whole <= MOST_BYTES:
                piece = stream.recv(4096)
                if not piece:
                    break
                text += piece
        except BaseException:
            stream.close()
            raise
        if len(text) == whole and "close" not in _header(head, "connection"):
            return stream
        stream.close()
        return None


def drained(place: str, drain: Event, *, token: typing.Optional[str] = None,
            token_file: typing.Optional[str] = None) -> None:
    """What was begun has ended, as this event, DRAIN, asked for; may be said twice.  Raises as
    attach(); Refused with status 409: nobody waits for it in this drain (any more)."""
    body = json.dumps({"epoch": drain.epoch, "drain": drain.drain,
                       "attachment": drain.attachment}).encode()
    stream, _, _ = _ask(place, "POST", "/v1/application/drained", body,
                        _authorization(token, token_file))
    stream.close()


def _authorization(token: typing.Optional[str], token_file: typing.Optional[str]) -> bytes:
    """The header with it; empty: none was given.  No error says what is in the file."""
    if token is None and token_file is None:
        return b""
    place = "token" if token_file is None else token_file
    if token is None and token_file is not None:
        try:
            with open(token_file, encoding="latin-1", newline="\n") as file:
                lines = (line.strip(" \t\r\n") for line in file)
                token = next((line for line in lines if line and not line.startswith("#")), "")
        except OSError as error:
            raise NoToken(f"{place}: {error.strerror}") from None
    if not token or len(token) > MOST_TOKEN_BYTES or not all("!" <= c <= "~" for c in token):
        raise NoToken(f"{place}: this is no token")
    return f"Authorization: Bearer {token}\r\n".encode()


def _connect(place: str) -> socket.socket:
    if not place.startswith("/"):
        host, _, port = place.rpartition(":")
        if not host or not port.isdigit():
            raise ValueError(f"{place!r} is neither the path of a socket nor HOST:PORT")
        return socket.create_connection((host.strip("[]"), int(port)), TIMEOUT_S)
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.settimeout(TIMEOUT_S)
    try:
        stream.connect(place)
    except OSError:
        stream.close()
        raise
    return stream


class _Closed(ConnectionError):
    """The connection that was kept has ended, before anything was answered over it."""


def _header(head: bytes, name: str) -> str:
    """Its value, in small letters; empty: it is not there."""
    lines = (line.partition(":") for line in head.decode("latin-1").lower().split("\r\n")[1:])
    return next((value.strip() for key, _, value in lines if key == name), "")


def _ask(place: str, method: str, target: str, body: bytes, authorization: bytes,
         version: str = "HTTP/1.0", kept: typing.Optional[socket.socket] = None
         ) -> typing.Tuple[socket.socket, bytes, bytes]:
    """The connection (the kept one, or else a new one) behind the head of a good answer, the head,
    and what came of the body.  HTTP/1.0, so that it is not cut into chunks.  What is not an answer
    of a sidecar's is an OSError."""
    stream = _connect(place) if kept is None else kept
    until = time.monotonic() + TIMEOUT_S
    status, rest = 100, b""
    try:
        stream.settimeout(TIMEOUT_S)
        stream.sendall(f"{method} {target} {version}\r\nHost: localhost\r\n".encode() +
                       authorization + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        while status < 200:  # what is below announces the answer
            while b"\r\n\r\n" not in rest:
                if len(rest) > MOST_BYTES:
                    raise ConnectionError("the head of the answer does not end")
                stream.settimeout(max(until - time.monotonic(), 0.001))
                piece = stream.recv(4096)
                if not piece:
                    raise ConnectionResetError("the sidecar ended the connection without an answer")
                rest += piece
            head, _, rest = rest.partition(b"\r\n\r\n")
            answer, _, line = head.partition(b" ")
            if not answer.startswith(b"HTTP/1.") or not line[:3].isdigit():
                raise ConnectionError("what answers is not a sidecar")
            status = int(line[:3])
        if status != 200:
            raise Refused(status, rest.decode(errors="replace").strip())
        return stream, head, rest
    except BaseException as error:
        stream.close()
        is_closed = isinstance(error, (BrokenPipeError, ConnectionResetError))
        if kept is not None and is_closed and status == 100 and not rest:
            raise _Closed from None
        raise
