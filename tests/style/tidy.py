#!/usr/bin/env python3
"""Runs clang-tidy over one file, unless the same text has passed before.

usage: tidy.py BUILD_FOLDER MEMORY_FOLDER FILE

The checks cost seconds a file, nearly all in the headers of the standard library.  So a file
that passed is remembered by a hash of all that the result depends on: its preprocessed text, with
comments because of NOLINT, the settings, and the options it is compiled with.
"""

import hashlib
import json
import pathlib
import shlex
import subprocess
import sys


def main(build, memory, file):
    passed = pathlib.Path(memory, fingerprint(build, file))
    if passed.exists():
        print(f"{file} has not changed since it passed")
        return 0
    result = subprocess.run(["clang-tidy-14", "-p", build, "--quiet", file], check=False)
    if result.returncode == 0:
        passed.parent.mkdir(parents=True, exist_ok=True)
        passed.touch()
    return result.returncode


def fingerprint(build, file):
    command = compile_command(build, file)
    text = subprocess.run([*command, "-E", "-C"], cwd=build, check=True, capture_output=True).stdout
    settings = subprocess.run(
        ["clang-tidy-14", "--dump-config", file], check=True, capture_output=True).stdout
    return hashlib.sha256(b"\0".join([text, settings, " ".join(command).encode()])).hexdigest()


def compile_command(build, file):
    """How the file is compiled, without the compiler cache and the output file."""
    for entry in json.loads(pathlib.Path(build, "compile_commands.json").read_text("utf-8")):
        if entry["file"] == file:
            words = shlex.split(entry["command"])
            start = 1 if pathlib.Path(words[0]).name == "ccache" else 0
            output = words.index("-o")
            return words[start:output] + words[output + 2:]
    sys.exit(f"{file} is not compiled in {build}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
