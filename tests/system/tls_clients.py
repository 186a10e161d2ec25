"""Programs that others made, as clients that speak TLS to a sidecar: none of them is a member."""

import contextlib
import hashlib
import hmac
import shutil
import socket
import ssl
import subprocess

from harness import PATIENCE_S

PROTOCOL = "bellwether/1"
# So that what is weak is refused by the sidecar, not by the client itself.
WEAK = ["-cipher", "DEFAULT@SECLEVEL=0"]
GNUTLS_13 = "NORMAL:-VERS-ALL:+VERS-TLS1.3"


def s_client(port, *arguments, identity=None, alpn=PROTOCOL):
    return ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-quiet",
            *(["-alpn", alpn] if alpn else []),
            *(["-cert", identity.cert, "-key", identity.key] if identity else []), *arguments]


def curl(port, *arguments, identity=None, scheme="https"):
    return ["curl", "--silent", "--insecure", "--max-time", str(PATIENCE_S), *arguments,
            *(["--cert", identity.cert, "--key", identity.key] if identity else []),
            f"{scheme}://127.0.0.1:{port}/"]


def gnutls(port, *arguments, identity=None, priority=GNUTLS_13):
    return ["gnutls-cli", "--insecure", "--port", str(port), f"--alpn={PROTOCOL}",
            "--priority", priority, *arguments,
            *(["--x509certfile", identity.cert, "--x509keyfile", identity.key] if identity else []),
            "127.0.0.1"]


def has_gnutls():
    return shutil.which("gnutls-cli") is not None


def derived(secret, purpose, group, size):
    """What a group's secret is turned into (sidecar/io/tls/group_secret.hh): HKDF, without salt."""
    extracted = hmac.digest(bytes(32), bytes.fromhex(secret), hashlib.sha256)
    words = f"bellwether/1 {purpose} {group}\1".encode()
    return hmac.digest(extracted, words, hashlib.sha256)[:size].hex()


def by_secret(secret, group="test"):
    """(identity, key) of a member that has this one, in hexadecimal."""
    return derived(secret, "identity", group, 16), derived(secret, "key", group, 32)


@contextlib.contextmanager
def running(command, says=b""):
    """A client that has said this, and says no more; it must be ended by the other side."""
    with subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as client:
        try:
            with contextlib.suppress(BrokenPipeError):
                client.stdin.write(says)
                client.stdin.flush()
            yield client
            client.wait(PATIENCE_S)
        finally:
            client.kill()


def say(port, says):
    """Without a program.  Returns what the other side answers until it ends the connection."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as plain:
        with contextlib.suppress(ConnectionError):
            plain.sendall(says)
            while part := plain.recv(65536):
                answer += part
    return answer


def client_context(identity=None):
    """Of Python's TLS, which believes everybody."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols([PROTOCOL])
    if identity is not None:
        context.load_cert_chain(identity.cert, identity.key)
    return context


class Talk:
    """A connection by TLS on which all that goes out is kept."""

    def __init__(self, port, context, session=None):
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, session=session)
        self.plain = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self.sent = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.plain.close()

    def pull(self):
        """What is to be sent next."""
        part = self.outgoing.read()
        self.sent += part
        return part

    def answer(self):
        """The handshake up to this side's last part, which is given."""
        with contextlib.suppress(ssl.SSLWantReadError):
            self.tls.do_handshake()
        self.plain.sendall(self.pull())
        while True:
            self.incoming.write(self.plain.recv(65536))
            with contextlib.suppress(ssl.SSLWantReadError):
                self.tls.do_handshake()
                return self.pull()

    def say(self, words):
        self.tls.write(words)
        self.plain.sendall(self.pull())


def client_hello():
    """The bytes that a client begins with."""
    outgoing = ssl.MemoryBIO()
    stream = client_context().wrap_bio(ssl.MemoryBIO(), outgoing)
    with contextlib.suppress(ssl.SSLWantReadError):
        stream.do_handshake()
    return outgoing.read()


def await_end(connection):
    """Until the other side ends it."""
    connection.settimeout(PATIENCE_S)
    with contextlib.suppress(ConnectionError):
        while connection.recv(65536):
            pass
