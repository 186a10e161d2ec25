#!/usr/bin/env python3
"""Judges a source tree by the rules of layout_rules.py, include_rules.py and text_rules.py.

usage: check_style.py FOLDER
"""

import sys

import include_rules
import layout_rules
import text_rules
from project import Project

RULES = layout_rules.RULES + include_rules.RULES + text_rules.RULES


def main(root):
    project = Project(root)
    if not project.paths:
        sys.exit(f"{root} has no files")
    complaints = 0
    for rule in RULES:
        for path, line, complaint in rule(project):
            print(f"{path}:{line}: {complaint} [{rule.__name__}]")
            complaints += 1
    print(f"{len(project.paths)} files, {len(RULES)} rules, {complaints} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
