#!/usr/bin/env python3
"""Opens connections by TLS without a certificate, one after the other.

usage: handshake_flood.py HOST PORT COUNT
"""

import contextlib
import socket
import ssl
import sys

host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
context.set_alpn_protocols(["bellwether/1"])
for _ in range(count):
    with contextlib.suppress(OSError), socket.create_connection((host, port)) as plain:
        with context.wrap_socket(plain) as stream:
            stream.recv(1)
