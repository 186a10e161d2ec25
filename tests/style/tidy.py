#!/usr/bin/env python3
"""Runs clang-tidy over one file, unless the same text has passed before.

usage: tidy.py BUILD_FOLDER MEMORY_FOLDER FILE
       tidy.py --remember BUILD_FOLDER MEMORY_FOLDER

The checks cost seconds a file, nearly all in the headers of the standard library.  So a file
that passed is remembered by a hash of all of ours that the result depends on: its text, the texts
of the headers that it includes, and the settings.  The memory is a folder of the build tree, and
the list tidy_passed.txt beside this script, which saves a fresh checkout (CI) the work for files
that have not changed; --remember writes it from the folder.  With BELLWETHER_TIDY_ALL=1 in the
environment nothing is skipped.
"""

import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIST = HERE / "tidy_passed.txt"


def check(build, memory, file):
    if os.environ.get("BELLWETHER_TIDY_ALL") != "1":
        key = fingerprint(build, file)
        if pathlib.Path(memory, key).exists() or key in listed():
            print(f"{file} has not changed since it passed")
            return 0
    result = subprocess.run(["clang-tidy-14", "-p", build, "--quiet", file], check=False)
    if result.returncode == 0:
        pathlib.Path(memory).mkdir(parents=True, exist_ok=True)
        pathlib.Path(memory, fingerprint(build, file)).touch()
    return result.returncode


def remember(build, memory):
    """Lists the files that pass as they are now."""
    known = listed()
    lines = []
    for entry in json.loads(pathlib.Path(build, "compile_commands.json").read_text("utf-8")):
        path = pathlib.Path(entry["file"])
        if not path.is_relative_to(ROOT) or path.is_relative_to(build):
            continue
        key = fingerprint(build, entry["file"])
        if pathlib.Path(memory, key).exists() or key in known:
            lines.append(f"{key} {path.relative_to(ROOT)}\n")
    head = "# Files that clang-tidy has passed, by a hash of what its verdict depends on.\n"
    lines = sorted(set(lines), key=lambda line: line.split()[1])
    LIST.write_text(head + "".join(lines), "utf-8")
    print(f"{len(lines)} files are listed")
    return 0


def listed():
    if not LIST.exists():
        return set()
    lines = LIST.read_text("utf-8").splitlines()
    return {line.split()[0] for line in lines if not line.startswith("#")}


def fingerprint(build, file):
    parts = [pathlib.Path(ROOT, ".clang-tidy").read_bytes()]
    for path in own_files(build, file):
        parts += [str(path.relative_to(ROOT)).encode(), path.read_bytes()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def own_files(build, file):
    """The file and every header of this project that it includes, in a fixed order; as ninja
    remembers from compiling it."""
    result = subprocess.run(["ninja", "-t", "deps", object_file(build, file)], cwd=build,
                            check=True, capture_output=True, text=True).stdout
    headline, *names = result.splitlines()
    if "(VALID)" not in headline:
        sys.exit(f"{build} has not compiled {file} as it is now: {headline}")
    paths = {pathlib.Path(build, name.strip()).resolve() for name in names if name}
    return sorted(path for path in paths
                  if path.is_relative_to(ROOT) and not path.is_relative_to(build))


def object_file(build, file):
    for entry in json.loads(pathlib.Path(build, "compile_commands.json").read_text("utf-8")):
        if entry["file"] == file:
            words = shlex.split(entry["command"])
            return words[words.index("-o") + 1]
    sys.exit(f"{file} is not compiled in {build}")


if __name__ == "__main__":
    if sys.argv[1] == "--remember":
        sys.exit(remember(str(pathlib.Path(sys.argv[2]).resolve()), sys.argv[3]))
    sys.exit(check(*sys.argv[1:]))
