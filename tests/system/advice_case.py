"""What tests of advice have in common.  A flaw is made as a text describes it; it is told with its
remedy, by the doctor, `check`, status or the log; that is done to the letter; and a group of three
is whole again.  tests/README.md has the table of all advice."""

import contextlib
import http.server
import json
import re
import subprocess
import threading
import time

from harness import PATIENCE_S, Unreachable, wait_until
from system_case import CALM, PATIENT
from tls_case import TlsCase

FIX_THE_FILE = "fix the file; the sidecar reads it again by itself"
INVALID, UNUSABLE, STATE_UNUSABLE, UNAVAILABLE = 3, 6, 7, 9  # exit statuses
# A voter without its vote waits for 10 s before it asks the others.
LONG_S = 120


class Answering:
    """A server that is nobody's: it answers all that is asked with `status`, after `delay_s`; a
    context manager."""

    def __init__(self, status=404):
        self.status, self.delay_s, self.asked = status, 0, 0
        answering = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # pylint: disable=invalid-name
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                answering.asked += 1
                time.sleep(answering.delay_s)
                with contextlib.suppress(OSError):  # it waits no longer
                    self.send_response(answering.status)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
            do_GET = do_POST

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class AdviceCase(TlsCase):
    # --- groups ---

    @contextlib.contextmanager
    def led(self, size=3, extra=CALM, **options):
        """Three that follow the highest of them, further ones are not started; of voters all flags
        are watched, to the end."""
        with self.group(size, extra=extra, **options) as group:
            if group.voters:
                group.observe(self.observer)
            for sidecar in group.sidecars[:3]:
                sidecar.start(*(["--bootstrap"] if group.voters else []))
            group.await_leader(group.sidecars[2])
            yield group
            if group.voters:
                self.assertEqual(group.observer.doubles_since(0), [])

    def voters(self, size=3, **options):
        return self.led(size, voters=3, **options)

    def issue(self, sidecar, authority=None, names=(), **wish):
        """Gives the member a certificate with the address of its own host, and these names."""
        authority = authority or self.authority
        return self.identity(sidecar).take(
            *authority.issue([f"IP:{sidecar.address}", *names], **wish), authority.pem())

    def certified_hosts(self, size=3):
        """Voters, each at an address of its own, and a certificate for that."""
        group = self.group(size, extra=PATIENT, voters=size, tls=lambda _: "")
        for number, sidecar in enumerate(group.sidecars, start=1):
            sidecar.address = f"127.0.0.{number}"
            self.issue(sidecar)
        group.tls = lambda each: self.identity(each).table()
        for sidecar in group.sidecars:
            sidecar.write_config(group.config_of(sidecar))
        return group

    def await_ready(self, group):
        for sidecar in group.running:
            wait_until(f"{sidecar.name} is ready", sidecar.is_ready, LONG_S)

    def await_votes(self, sidecars):
        for sidecar in sidecars:
            wait_until(f"{sidecar.name} has its vote",
                       lambda each=sidecar: each.vote() == "in force", LONG_S)

    def await_whole(self, group, leader=None):
        """One leads, and all are there, ready, and have their votes."""
        group.await_leader(leader, LONG_S)
        self.await_ready(group)
        self.await_votes(group.running[:group.voters])
        names = {sidecar.name for sidecar in group.running}
        for sidecar in group.running:
            wait_until(f"{sidecar.name} sees all alive", lambda each=sidecar: {
                name for name, member in each.members().items() if member["state"] == "alive"
            } == names, LONG_S)
        return group.await_leader(leader, LONG_S)

    # --- what operators do ---

    def command(self, sidecar, *words):
        """On its host, if it has one of its own."""
        host = sidecar.prefix if sidecar.prefix[:2] == ["ip", "netns"] else []
        return subprocess.run([*host, self.program, *map(str, words), "--config",
                               str(sidecar.config_file)], text=True, check=False,
                              capture_output=True, timeout=PATIENCE_S)

    def commanded(self, sidecar, *words):
        """The same, and it succeeds; what it prints."""
        result = self.command(sidecar, *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def reload(self, sidecar, text):
        sidecar.write_config(text)
        status, _, answer = sidecar.request("POST", "/v1/reload")
        self.assertEqual(status, 200, answer)

    def configure(self, group, table_of):
        """Gives each this table [tls], one after the other, as an operator does it."""
        group.tls = table_of
        for sidecar in group.running:
            self.reload(sidecar, group.config_of(sidecar))

    def edit(self, sidecar, *changes):
        """Of its file, (old, new) each; returns what it was."""
        before = text = sidecar.config_file.read_text()
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        sidecar.write_config(text)
        return before

    def restart(self, group, sidecar, *arguments):
        """As an upgrade does it: the next one when this one is back."""
        self.assertEqual(sidecar.stop(), 0)
        sidecar.start(*arguments)
        group.await_leader(patience_s=LONG_S)
        wait_until(f"{sidecar.name} is ready", sidecar.is_ready, LONG_S)
        self.await_votes([sidecar] if sidecar.vote() else [])

    # --- what is told ---

    def refused_start(self, sidecar, code, *patterns):
        """It ends with this exit status, and the last line of its log has these."""
        sidecar.start()
        sidecar.is_wanted = False
        self.assertEqual(sidecar.await_exit(), code, sidecar.log())
        last = sidecar.log().splitlines()[-1]
        for pattern in patterns:
            self.assertRegex(last, pattern)

    def told(self, sidecar):
        """Why it is not ready; empty: it is."""
        return (sidecar.get("/v1/status") or {}).get("why_not_ready") or ""

    def await_told(self, sidecar, pattern):
        wait_until(f"{sidecar.name} is not ready: {pattern}",
                   lambda: re.search(pattern, self.told(sidecar)))

    def findings(self, sidecar, check):
        """[(verdict, what the doctor has seen, remedy)]"""
        result = self.command(sidecar, "doctor", "--json")
        return [(each["verdict"], each["seen"], each["remedy"])
                for each in json.loads(result.stdout)["checks"] if each["check"] == check]

    def await_advice(self, sidecar, check, seen, remedy):
        found = []

        def is_given():
            found[:] = self.findings(sidecar, check)
            return any(re.search(seen, what) and verdict in ("warning", "problem")
                       and remedy in advice for verdict, what, advice in found)
        try:
            wait_until(f"the doctor sees {seen} and advises: {remedy}", is_given)
        except AssertionError as error:
            raise AssertionError(f"{error}; it says {found}") from error

    def await_health(self, sidecar, check):
        wait_until(f"the doctor finds nothing in {check}", lambda: all(
            verdict == "ok" for verdict, _, _ in self.findings(sidecar, check)))

    def await_metric(self, sidecar, series, value):
        """What an alert goes by."""
        def is_so():
            with contextlib.suppress(Unreachable):
                return sidecar.metrics().get(series) == value
            return False
        wait_until(f"{series} of {sidecar.name} is {value}", is_so)
