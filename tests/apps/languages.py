"""The languages in which there is a reader of the flag and a worker, and how they are run here.

A language that this machine lacks is skipped, with the reason.
"""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

# What CTest takes for "skipped" (SKIP_RETURN_CODE).
SKIPPED = 77

ROOT = pathlib.Path(__file__).parents[2]
APPS = ROOT / "examples/apps"
HERE = ROOT / "tests/apps"
BUILD_PATIENCE_S = 300

sys.path.insert(0, str(ROOT / "tests/system"))


class Missing(Exception):
    """This machine lacks the language."""


def tool(name):
    path = shutil.which(name)
    if path is None:
        raise Missing(f"there is no {name}")
    return path


def built_with_go(built, folder, package_folder=None):
    """A program of the module in examples/apps/go, or of a folder that is lent to it; nothing is
    fetched.  It is kept in `built`, so that the first test that needs it builds it for all."""
    go = tool("go")
    place = pathlib.Path(os.path.abspath(built), "go", folder)
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(place / "module", ignore_errors=True)
        shutil.copytree(APPS / "go", place / "module")
        if package_folder is not None:
            shutil.copytree(package_folder, place / "module" / folder)
        subprocess.run([go, "build", "-o", place / "program", f"./{folder}"], check=True,
                       cwd=place / "module", env=os.environ | go_environment(built, place),
                       timeout=BUILD_PATIENCE_S)
    return [str(place / "program")]


def go_environment(built, place):
    """Nothing is fetched, and what was compiled before is kept in `built`."""
    return {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0",
            "GOCACHE": os.path.abspath(f"{built}/go-cache"), "GOPATH": str(place / "path")}


def probe(language, built):
    """The command that runs a language's probe; `built` is the folder of CMake's programs."""
    if language == "c":
        return [f"{built}/flag_probe"]
    if language == "python":
        return [sys.executable, HERE / "probe.py"]
    if language == "node":
        return [tool("node"), HERE / "probe.js"]
    return built_with_go(built, "probe", HERE / "probe_go")


def worker(language, built):
    """The same of a language's worker."""
    if language in ("c", "cxx"):
        return [f"{built}/worker_{language}"]
    if language == "python":
        return [sys.executable, APPS / "python/worker.py"]
    if language == "node":
        return [tool("node"), APPS / "node/worker.js"]
    return built_with_go(built, "worker")


def attached_worker(language, built):
    """The same of the worker that is attached to its sidecar."""
    if language in ("c", "cxx"):
        return [f"{built}/attached_worker_{language}"]
    if language == "python":
        return [sys.executable, APPS / "python/attached_worker.py"]
    if language == "node":
        return [tool("node"), APPS / "node/attached_worker.js"]
    return built_with_go(built, "attached_worker")


def lively(language, built):
    """An application that is attached, and answers health checks."""
    if language == "c":
        return [f"{built}/lively_c"]
    if language == "python":
        return [sys.executable, HERE / "lively.py"]
    if language == "node":
        return [tool("node"), HERE / "lively.js"]
    return built_with_go(built, "lively", HERE / "lively_go")


def or_skip(command, language, built):
    """One of the above; the tests are skipped where the machine lacks what it needs."""
    try:
        return command(language, built)
    except Missing as missing:
        raise unittest.SkipTest(str(missing)) from missing


def main(arguments):
    """Runs the cases named, of the module that was started."""
    result = unittest.main(module="__main__", argv=[sys.argv[0], *arguments], exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if result.skipped else 0)
