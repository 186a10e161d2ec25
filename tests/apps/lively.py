"""As lively.c."""

import http.server
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/apps/python"))
import attachment  # noqa: E402


class Well(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def attach(place, name):
    while True:
        try:
            return attachment.attach(place, name)
        except OSError:
            time.sleep(0.01)


server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[3])), Well)
threading.Thread(target=server.serve_forever, daemon=True).start()
with attach(sys.argv[1], sys.argv[2]) as mine:
    for _ in mine:
        pass
