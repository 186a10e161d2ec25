"""Whoever names what a header of the program declares includes that header, directly or through
others.  The presets of CI compile many files as one, where a header that is missing in one file is
there by another; those who build without such unity files would be the first to know."""

import collections
import pathlib
import re

PROGRAM = ("plugin", "sidecar", "metrics")
SUFFIXES = {".cc", ".hh"}
ROOTS = (pathlib.Path("sidecar"), pathlib.Path("."))  # where the compiler looks

# At the left margin, as all is in namespaces.  A declaration ahead ("class A;") is none.
TYPE = re.compile(r"^( *)(?:class|struct|enum class|enum|union|using)\s+"
                  r"(?:\[\[.*?\]\]\s+|alignas\(.*?\)\s+)?(?:\w+::)*(\w+)(?:\s+final)?\s*"
                  r"(?::[^:]|\{|=|$)")
FUNCTION = re.compile(r"^( *)(?!return\b|throw\b|else\b|delete\b|using\b)"
                      r"[\w:\[][\w:<>,&*\[\] ]*[ &*>]([a-z]\w*_\w+)\(")
# Ahead of what another header declares, or a template's.
LOCAL = re.compile(r"\b(?:class|struct|enum class|enum)\s+(\w+)(?:\s*:\s*\w+)?\s*;"
                   r"|\btypename\s+(\w+)")
# Not a member, which is its class's, nor another library's.
NAME = re.compile(r"(?<![\w.])(?<!->)(?<!std::)(?<!fmt::)(?<!wire::)(\w+)\b(\()?")


def names_are_included(project):
    """Only names that stand for one thing are looked at; of functions those of several words."""
    paths = list(project.below(*PROGRAM, suffixes=SUFFIXES))
    headers = {path for path in paths if path.suffix == ".hh"}
    lines = {path: project.code_lines(path) for path in paths}
    homes = homes_of(headers, lines)
    includes = {path: included_by(project, path, headers) for path in paths}
    for path in paths:
        known = reached_from(path, includes)
        told = {name for _, line in lines[path] for names in LOCAL.findall(line) for name in names}
        for number, line in lines[path]:
            for name, call in NAME.findall(line):
                home, is_function = homes.get(name, (None, False))
                if home is None or home in known or name in told or (is_function and not call):
                    continue
                told.add(name)
                yield path, number, f"'{name}' is declared in {home}, which is not included"


def included_by(project, path, headers):
    return {folder / header for _, header in project.includes(path)
            for folder in (path.parent, *ROOTS) if folder / header in headers}


def reached_from(path, includes):
    """Itself, what it includes, and what that includes."""
    found, rest = {path}, [path]
    while rest:
        further = includes[rest.pop()] - found
        found |= further
        rest += further
    return found


def homes_of(headers, lines):
    """{name: (header, whether it is a function)} of names that stand for one thing in the whole
    program, which that header declares."""
    places = collections.defaultdict(set)
    for path in lines:
        for _, line in lines[path]:
            for pattern in (TYPE, FUNCTION):
                if match := pattern.match(line):
                    margin, name = match.groups()
                    is_seen = path in headers and not margin
                    places[name].add((path.with_suffix(""), is_seen, pattern is FUNCTION))
    homes = {}
    for name, found in places.items():
        seen = [(stem.with_suffix(".hh"), is_function) for stem, is_seen, is_function in found
                if is_seen]
        if len(seen) == 1 and len({stem for stem, _, _ in found}) == 1:
            homes[name] = seen[0]
    return homes


RULES = [names_are_included]
