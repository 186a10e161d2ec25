#!/usr/bin/env python3
"""The clients as packages of their ecosystems: each is built from a copy of the source tree, put
where its language finds packages, and imported from there; its own tests pass, and programs that
use all of it satisfy its language's checker of types (mypy, tsc).  Nothing is fetched.

usage: client_package_test.py FOLDER_OF_PROGRAMS [CASE...]; a case is Class.test_name
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
# Each line with "wrong" is one that the checker has to find.
USER_IN_PYTHON = """
import typing
from bellwether_client import attachment, leader_flag

def use(place: str) -> typing.Optional[int]:
    with attachment.attach(place, "worker", 42, token_file="token") as mine:
        number: int = mine.fileno()
        for event in mine.take() or []:
            print(event.type, event.epoch + number, event.left_ms, event.reason, event.successor)
        for event in mine:
            attachment.drained(place, event, token="text")
    attachment.set_score(place, 43)
    with attachment.Scorer(place, token_file="token") as scorer:
        scorer.set(44)
        scorer.set("wrong")
    attachment.attach(place, score="wrong")
    attachment.set_score(place, 43, wrong=1)
    try:
        flag = leader_flag.open_flag("flag", owner=0)
    except attachment.Refused as refused:
        return refused.status
    except attachment.NoToken:
        return None
    snapshot = flag.wait(flag.read(), 0.5)
    wrong: str = snapshot.epoch
    token = flag.begin(0.001)
    return token if token is not None and flag.still(token) else None
"""
USER_IN_TYPESCRIPT = """
import { NoToken, Refused, Scorer, attach, drained, setScore } from 'bellwether-client/attachment';
import { FlagError, LeaderFlag, openFlag, Role } from 'bellwether-client/leader_flag';

export async function use(place: string): Promise<bigint | number | null> {
  const mine = await attach(place, 'worker', 42, { tokenFile: 'token' });
  for await (const event of mine) {
    if (event.type !== 'drain' || (event.leftMs ?? 0) <= event.epoch) continue;
    await drained(place, event, { token: '' });
  }
  mine.close();
  await setScore(place, 43);
  const scorer = new Scorer(place, { tokenFile: 'token' });
  await scorer.set(44);
  await scorer.set('wrong');
  scorer.close();
  await attach(place, 'worker', 'wrong');
  await setScore(place, 43, { wrong: 1 });
  try {
    const flag: LeaderFlag = await openFlag('flag', { owner: 0 });
    const snapshot = await flag.wait(flag.read(), 500);
    const wrong: number = snapshot.epoch;
    const token = flag.begin(1);
    return snapshot.role === Role.LEADER && token !== null && flag.still(token) ? token : null;
  } catch (error) {
    if (error instanceof FlagError || error instanceof NoToken) return null;
    return error instanceof Refused ? error.status : -1;
  }
}
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
	scorer := attachment.NewScorer("/nowhere", attachment.TokenFile("token"))
	defer scorer.Close()
	fmt.Println(flag, err, mine, failure, scorer.Set(44))
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
        return shutil.copytree(languages.APPS / language, self.folder / language,
                               ignore=shutil.ignore_patterns("__pycache__", "node_modules"))

    def tool(self, name):
        try:
            return languages.tool(name)
        except languages.Missing as missing:
            self.skipTest(str(missing))

    def check_types(self, user, text, *command, **environment):
        """The checker complains of the lines that are wrong, and of no others."""
        user.write_text(text)
        result = subprocess.run([*command, user.name], cwd=user.parent, check=False, text=True,
                                capture_output=True, timeout=PATIENCE_S,
                                env={**os.environ, **environment})
        place = re.escape(user.name) + r"[:(](\d+)"
        wrong = {number for number, line in enumerate(text.split("\n"), 1) if "wrong" in line}
        said = result.stdout + result.stderr
        self.assertEqual({int(line) for line in re.findall(place, said)}, wrong, said)
        self.assertEqual(len(re.findall(r"\berror\b", said)), len(wrong), said)

    def build_python(self):
        """Where Python finds it."""
        source, built = self.copy("python"), self.folder / "built"
        self.run_in(source, sys.executable, "-m", "unittest")
        self.run_in(source, sys.executable, "-W", "ignore", "-c",
                    "import setuptools; setuptools.setup()", "build_py", "--build-lib", str(built))
        self.assertEqual(sorted(str(file.relative_to(built)) for file in built.rglob("*.*")),
                         [f"bellwether_client/{name}" for name in (
                             "__init__.py", "attachment.py", "leader_flag.py", "py.typed")])
        return built

    def test_python(self):
        built = self.build_python()
        self.run_in(self.folder, sys.executable, "-c", HINTS, PYTHONPATH=str(built))

    def test_types_of_python(self):
        mypy = self.tool("mypy")
        self.check_types(self.folder / "user.py", USER_IN_PYTHON, mypy, "--strict",
                         "--cache-dir", str(self.folder / "cache"),
                         MYPYPATH=str(self.build_python()))

    def install_with_npm(self):
        """A package that uses it."""
        npm = self.tool("npm")
        source, user = self.copy("node"), self.folder / "user"
        user.mkdir()
        self.run_in(source, npm, "test")
        (user / "package.json").write_text('{"name":"user","private":true}')
        packed = self.run_in(source, npm, "pack", "--silent").stdout.strip()
        self.run_in(user, npm, "install", "--offline", "--no-audit", "--no-fund",
                    str(source / packed))
        self.assertEqual(
            sorted(file.name for file in (user / "node_modules/bellwether-client").iterdir()),
            ["attachment.d.ts", "attachment.js", "leader_flag.d.ts", "leader_flag.js",
             "package.json"])
        return user

    def test_types_of_node(self):
        tsc = self.tool("tsc")
        self.check_types(self.install_with_npm() / "user.ts", USER_IN_TYPESCRIPT, tsc, "--noEmit",
                         "--strict", "--pretty", "false", "--target", "es2022", "--module",
                         "node16", "--moduleResolution", "node16")

    def test_node(self):
        user = self.install_with_npm()
        for module in ("attachment", "leader_flag"):
            types = (user / f"node_modules/bellwether-client/{module}.d.ts").read_text()
            declared = re.findall(r"export (?:declare )?(?:class|function|const) (\w+)", types)
            exported = self.run_in(
                user, languages.tool("node"), "-p",
                f"Object.keys(require('bellwether-client/{module}')).join(' ')").stdout.split()
            self.assertEqual(sorted(declared), sorted(exported), module)

    def test_go(self):
        go = self.tool("go")
        source, user = self.copy("go"), self.folder / "user"
        user.mkdir()
        (user / "main.go").write_text(USER_IN_GO)
        environment = languages.go_environment(PROGRAMS, self.folder)
        self.run_in(user, go, "mod", "init", "example.org/user", **environment)
        self.run_in(user, go, "mod", "edit", "-require", "example.org/bellwether@v0.1.0",
                    "-replace", f"example.org/bellwether={source}", **environment)
        self.run_in(user, go, "build", "-o", "user", ".", **environment)
        self.run_in(source, go, "vet", "./...", **environment)
        self.run_in(source, go, "test", "./...", **environment)


if __name__ == "__main__":
    PROGRAMS = sys.argv[1]
    languages.main(sys.argv[2:])
