#!/usr/bin/env python3
"""The clients as packages of their ecosystems: each is built from a copy of the source tree, put
where its language finds packages, and imported from there.  Nothing is fetched.

usage: client_package_test.py [CASE...]; a case is Class.test_name
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import languages

PATIENCE_S = 300


class ClientPackage(unittest.TestCase):
    """One case for each language."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bellwether-package."))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_in(self, folder, *command, **environment):
        return subprocess.run(command, cwd=folder, check=True, text=True, timeout=PATIENCE_S,
                              stdout=subprocess.PIPE,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment})

    def copy(self, language):
        return shutil.copytree(languages.APPS / language, self.folder / language)

    def test_python(self):
        source, built = self.copy("python"), self.folder / "built"
        self.run_in(source, sys.executable, "-W", "ignore", "-c",
                    "import setuptools; setuptools.setup()", "build_py", "--build-lib", str(built))
        self.assertEqual(sorted(file.name for file in built.iterdir()),
                         ["attachment.py", "leader_flag.py"])
        self.run_in(self.folder, sys.executable, "-c",
                    "import attachment, leader_flag; attachment.attach, leader_flag.open_flag",
                    PYTHONPATH=str(built))

    def test_node(self):
        try:
            npm = languages.tool("npm")
        except languages.Missing as missing:
            self.skipTest(str(missing))
        source, user = self.copy("node"), self.folder / "user"
        user.mkdir()
        (user / "package.json").write_text('{"name":"user","private":true}')
        packed = self.run_in(source, npm, "pack", "--silent").stdout.strip()
        self.run_in(user, npm, "install", "--offline", "--no-audit", "--no-fund",
                    str(source / packed))
        self.assertTrue((user / "node_modules/bellwether-client/attachment.d.ts").is_file())
        self.run_in(user, languages.tool("node"), "-e",
                    "const { attach } = require('bellwether-client/attachment');"
                    "const { openFlag } = require('bellwether-client/leader_flag');"
                    "if (!attach || !openFlag) process.exit(1)")


if __name__ == "__main__":
    languages.main(sys.argv[1:])
