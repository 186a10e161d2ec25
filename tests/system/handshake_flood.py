#!/usr/bin/env python3
"""Opens connections by TLS without a certificate, one after the other and at one port after the
other, until SIGTERM.  Then it prints how many were made: handshakes that this side has ended.

usage: handshake_flood.py HOST PORT...
"""

import contextlib
import itertools
import signal
import socket
import ssl
import sys


def main(host, *ports):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["bellwether/1"])
    signals = []
    signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
    made, places = 0, itertools.cycle((host, int(port)) for port in ports)
    while not signals:
        with contextlib.suppress(OSError), socket.create_connection(next(places)) as plain:
            with context.wrap_socket(plain) as stream:
                made += 1
                stream.recv(1)
    print(made)


if __name__ == "__main__":
    main(*sys.argv[1:])
