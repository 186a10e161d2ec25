#!/usr/bin/env python3
"""Says which C and C++ files clang-format would write differently.

usage: check_format.py FOLDER; to repair: clang-format-14 -i FILE
"""

import subprocess
import sys

from project import CODE_SUFFIXES, Project


def main(root):
    files = [str(path) for path in Project(root).below(".", suffixes=CODE_SUFFIXES)]
    return subprocess.run(
        ["clang-format-14", "--dry-run", "--Werror", "--ferror-limit=20", *files],
        cwd=root, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
