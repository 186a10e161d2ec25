#!/usr/bin/env python3
"""The quick start, with a program that is built already: what it shows, and what it leaves behind.

usage: quickstart_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import languages
from harness import PATIENCE_S, free_ports, wait_until

PROGRAM = ""
SCRIPT = languages.APPS.parent / "quickstart/run.sh"
PORTS = 9
PATIENCE_OF_SCRIPT_S = 100


def ports_in_a_row():
    """The first of them."""
    ports = free_ports(PORTS)
    while ports[-1] - ports[0] != PORTS - 1:
        ports = ports[1:] + free_ports(1)
    return ports[0]


def flag_folders():
    return set(pathlib.Path("/dev/shm").glob("bellwether-quickstart.*"))


class QuickStart(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bellwether-test."))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_script(self, *arguments):
        """What it printed."""
        run = subprocess.run(
            [SCRIPT, "--program", PROGRAM, "--port", str(ports_in_a_row()), *arguments],
            env={**os.environ, "TMPDIR": str(self.folder)}, timeout=PATIENCE_OF_SCRIPT_S,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout)
        return run.stdout

    def living(self):
        """The processes that this quick start began: the folder is in their command lines."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes()
            except OSError:  # it has ended
                continue
            if str(self.folder).encode() in command and int(process.name) != os.getpid():
                found.append(int(process.name))
        return found

    def test_two_takeovers_are_shown_and_nothing_is_left(self):
        before = flag_folders()
        said = self.run_script()
        for variant in ("modified", "classic"):
            story = said.split(f"which leads; variant {variant}\n")[1].split("\n== ")[0]
            self.assertRegex(story, r"after [\d.]+ ms the application of orders-2 had stopped")
            self.assertRegex(story, r"after [\d.]+ ms the application of orders-1 works, "
                                    r"fencing token [1-9]")
            self.assertRegex(story, r"COORDINATOR [1-9]\d*, together [1-9]")
            self.assertIn("the sidecar of orders-2 is started again", story)
        self.assertIn("everything is stopped and removed", said)
        self.assertEqual(self.living(), [])
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertEqual(flag_folders() - before, set())

    def test_kept_pods_can_be_looked_at_killed_and_ended(self):
        said = self.run_script("--keep")
        ending = re.search(r"to end it: kill ([\d ]+); rm -r (\S+) (\S+)", said)
        processes = [int(word) for word in ending[1].split()]
        self.addCleanup(shutil.rmtree, ending[3])
        try:
            pages = re.findall(r"  (orders-\d): (http://\S+)/ui, ", said)
            self.assertEqual([name for name, _ in pages], ["orders-0", "orders-1", "orders-2"])
            for _, place in pages:
                with urllib.request.urlopen(f"{place}/ui", timeout=PATIENCE_S) as answer:
                    self.assertIn(b"<html", answer.read())
            leader = re.search(r"orders-2.toml; kill -9 (\d+) ends its sidecar", said)
            os.kill(int(leader[1]), signal.SIGKILL)

            def successor_leads():
                with urllib.request.urlopen(f"{pages[0][1]}/v1/leader",
                                            timeout=PATIENCE_S) as answer:
                    return b'"orders-1"' in answer.read()
            wait_until("orders-1 leads", successor_leads)
        finally:
            for process in processes:
                if process in self.living():
                    os.kill(process, signal.SIGTERM)
        wait_until("all have ended", lambda: not self.living())

    def test_a_wrong_argument_is_refused(self):
        for arguments in (["--kepe"], ["--program", "/nowhere"], ["--program"], ["--port", "x"]):
            run = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False,
                                 timeout=PATIENCE_S)
            self.assertEqual(run.returncode, 2, arguments)
            self.assertIn("usage: ", run.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    languages.main(sys.argv[2:])
