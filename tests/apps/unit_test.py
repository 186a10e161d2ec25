#!/usr/bin/env python3
"""The systemd unit of examples/: systemd understands it, and it keeps what others rely on.

usage: unit_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import languages

PROGRAM = ""
EXAMPLES = languages.ROOT / "examples"
PATIENCE_S = 60
# Of `systemd-analyze security`, in tenths: what its authors call "OK" ends at 4.
MAX_EXPOSURE = 15


class Unit(unittest.TestCase):
    def setUp(self):
        self.analyze = shutil.which("systemd-analyze")
        if self.analyze is None:
            self.skipTest("there is no systemd-analyze")
        folder = tempfile.TemporaryDirectory(prefix="bellwether-test.")
        self.addCleanup(folder.cleanup)
        text = (EXAMPLES / "systemd/bellwether.service").read_text()
        self.assertIn("ExecStart=/usr/bin/bellwether ", text)
        self.unit = pathlib.Path(folder.name) / "bellwether.service"
        self.unit.write_text(text.replace("/usr/bin/bellwether ", f"{PROGRAM} "))

    def run_analyze(self, *arguments):
        return subprocess.run([self.analyze, *arguments, self.unit], capture_output=True,
                              text=True, check=False, timeout=PATIENCE_S)

    def test_systemd_understands_every_line(self):
        result = self.run_analyze("verify", "--man=no")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_what_others_rely_on(self):
        """Readers on the flag's file, and allow_users on who connects."""
        settings = self.unit.read_text().splitlines()
        for wanted in ("RuntimeDirectory=bellwether", "RuntimeDirectoryPreserve=yes",
                       "RestartPreventExitStatus=2 3 5 7"):
            self.assertIn(wanted, settings)
        self.assertNotIn("RemoveIPC=yes", settings)
        self.assertNotIn("PrivateUsers=yes", settings)

    def test_it_may_do_little(self):
        result = self.run_analyze("security", "--offline=true", f"--threshold={MAX_EXPOSURE}")
        self.assertEqual(result.returncode, 0, result.stdout[-400:] + result.stderr)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    languages.main(sys.argv[2:])
