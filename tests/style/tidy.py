#!/usr/bin/env python3
"""Runs clang-tidy over the sources of some folders.

usage: tidy.py BUILD_FOLDER SOURCE_FOLDER...

Nearly all of what clang-tidy takes for one file goes into the headers of the standard library.  So
the files are examined as one, which includes them all: ten times faster.  It is called
UnifiedSource, because clang's static analyzer then takes the sources that it includes for the
program's own; into other included files it does not look.  Of the files with a main() the first is
among them, each other one is examined alone.  Two files that cannot stand in one (both have a
function of the same name, say) are an error: one of the names is to change.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main(build, *folders):
    commands = {}
    for folder in folders:
        commands |= commands_of(build, folder)
    programs = [path for path in commands if "int main(" in path.read_text("utf-8")]
    joined = [path for path in commands if path not in programs[1:]]
    unified = pathlib.Path(build, "tests/style/tidy/UnifiedSource.cc")
    unified.parent.mkdir(parents=True, exist_ok=True)
    unified.write_text("".join(f'#include "{path}"\n' for path in joined), "utf-8")
    flags = [flag for path in joined for flag in commands[path]]
    statuses = [tidy(unified, list(dict.fromkeys(flags)))]
    statuses += [tidy(path, commands[path]) for path in programs[1:]]
    return int(any(statuses))


def commands_of(build, folder):
    """What each source of the folder is compiled with: {path: [flag, ...]}."""
    commands = {}
    database = pathlib.Path(build, "compile_commands.json").read_text("utf-8")
    for entry in json.loads(database):
        for path in sources_of(pathlib.Path(entry["file"])):
            if path.parent == ROOT / folder:
                commands[path] = flags_of(entry["command"])
    missing = set((ROOT / folder).glob("*.cc")) - set(commands)
    if missing or not commands:
        sys.exit(f"{build} does not compile {missing or folder}")
    return commands


def sources_of(path):
    """Of a unity build, what is compiled as one."""
    if path.parent.name != "Unity":
        return [path]
    included = re.findall(r'^#include "(.*)"$', path.read_text("utf-8"), re.MULTILINE)
    return [pathlib.Path(each) for each in included]


def flags_of(command):
    """-D, -I, -std and the like, each as one word; neither compiler nor files."""
    flags, words = [], iter(shlex.split(command))
    for word in words:
        if word == "-isystem":
            flags.append(word + next(words))
        elif word.startswith(("-D", "-I", "-W", "-f", "-std=", "-O")):
            flags.append(word)
    return flags


def tidy(path, flags):
    return subprocess.run(
        ["clang-tidy-14", "--quiet", f"--config-file={ROOT}/.clang-tidy",
         "--checks=-bugprone-suspicious-include", str(path), "--", *flags],
        check=False, stderr=subprocess.STDOUT).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
