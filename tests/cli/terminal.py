"""A program on a terminal of a certain size, to its end."""

import fcntl
import os
import pty
import struct
import subprocess
import termios


def resize(terminal, columns, rows=24):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def on_terminal(command, columns=100, environment=None):
    """What it wrote; the environment is this one's, without NO_COLOR, and with what is given."""
    variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    terminal, inner = pty.openpty()
    resize(terminal, columns)
    process = subprocess.Popen([str(word) for word in command], stdin=inner, stdout=inner,
                               stderr=inner,
                               env=variables | {"TERM": "xterm"} | (environment or {}))
    os.close(inner)
    text = b""
    try:
        while data := os.read(terminal, 65536):
            text += data
    except OSError:  # how Linux says that nobody has the other end any more
        pass
    os.close(terminal)
    process.wait()
    return text.decode()
