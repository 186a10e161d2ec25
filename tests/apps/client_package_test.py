#!/usr/bin/env python3
"""The clients as packages of their ecosystems: each is built from a copy of the source tree, put
where its language finds packages, and imported from there.  Nothing is fetched.

usage: client_package_test.py [CASE...]; a case is Class.test_name
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import languages

PATIENCE_S = 300
# Every function, and every method of every class, says the types of its parameters and its answer.
HINTS = """
import inspect
from bellwether_client import attachment, leader_flag

def functions(owner, module):
    for value in vars(owner).values():
        if inspect.isfunction(value) and value.__module__ == module.__name__:
            yield value
        elif inspect.isclass(value) and value.__module__ == module.__name__:
            yield from functions(value, module)

for module in (attachment, leader_flag):
    found = list(functions(module, module))
    assert len(found) > 10, module
    for function in found:
        named = {*inspect.signature(function).parameters, "return"} - {"self", "_cls", "cls"}
        missing = named - function.__annotations__.keys()
        assert not missing, (module.__name__, function.__qualname__, missing)
"""
USER_IN_GO = """package main

import (
	"fmt"

	"example.org/bellwether/attachment"
	"example.org/bellwether/leaderflag"
)

func main() {
	flag, err := leaderflag.OpenWhenReady("/nowhere", leaderflag.Anybody)
	mine, failure := attachment.Open("/nowhere", "user", nil)
	fmt.Println(flag, err, mine, failure)
}
"""


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
        self.assertEqual(sorted(str(file.relative_to(built)) for file in built.rglob("*.*")),
                         [f"bellwether_client/{name}" for name in (
                             "__init__.py", "attachment.py", "leader_flag.py", "py.typed")])
        self.run_in(self.folder, sys.executable, "-c", HINTS, PYTHONPATH=str(built))

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
        for module in ("attachment", "leader_flag"):
            types = (user / f"node_modules/bellwether-client/{module}.d.ts").read_text()
            declared = re.findall(r"export (?:declare )?(?:class|function|const) (\w+)", types)
            exported = self.run_in(
                user, languages.tool("node"), "-p",
                f"Object.keys(require('bellwether-client/{module}')).join(' ')").stdout.split()
            self.assertEqual(sorted(declared), sorted(exported), module)

    def test_go(self):
        try:
            go = languages.tool("go")
        except languages.Missing as missing:
            self.skipTest(str(missing))
        source, user = self.copy("go"), self.folder / "user"
        user.mkdir()
        (user / "main.go").write_text(USER_IN_GO)
        environment = {"GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local",
                       "GOCACHE": str(self.folder / "cache"), "GOPATH": str(self.folder / "path"),
                       "CGO_ENABLED": "0"}
        self.run_in(user, go, "mod", "init", "example.org/user", **environment)
        self.run_in(user, go, "mod", "edit", "-require", "example.org/bellwether@v0.1.0",
                    "-replace", f"example.org/bellwether={source}", **environment)
        self.run_in(user, go, "build", "-o", "user", ".", **environment)
        self.run_in(source, go, "vet", "./...", **environment)


if __name__ == "__main__":
    languages.main(sys.argv[1:])
