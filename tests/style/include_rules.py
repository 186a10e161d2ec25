"""Whoever names what a header of the program declares includes that header, directly or through
others.  The presets of CI compile many files as one, where a header that is missing in one file is
there by another; whoever builds without unity files is then the first to find out."""

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
FUNCTION = re.compile(r"^( *)(?!(?:co_)?return\b|throw\b|else\b|delete\b|new\b|case\b|using\b)"
                      r"[\w:\[](?!.*&& )[\w:<>,&*\[\] ]*[ &*>]([a-z]\w*_\w+)\(")
# Ahead of what another header declares, a template's, or a lambda.
LOCAL = re.compile(r"\b(?:class|struct|enum class|enum)\s+(\w+)(?:\s*:\s*\w+)?\s*;"
                   r"|\b(?:typename|class)\s+(\w+)(?=[^{]*>)|\bauto&?\s+(\w+)\s*=")
# Not a member, which is its class's.
NAME = re.compile(r"(?<![\w.])(?<!->)((?:\w+::)*)(\w+)\b(\()?")
NAMESPACE = re.compile(r"^(?:inline )?namespace ([\w:]+)")
MADE = {"wire"}  # of what protoc makes; its headers are in the build


def names_are_included(project):
    """Only names that stand for one thing are looked at; of functions those of several words."""
    paths = list(project.below(*PROGRAM, suffixes=SUFFIXES))
    headers = {path for path in paths if path.suffix == ".hh"}
    lines = {path: project.code_lines(path) for path in paths}
    homes = homes_of(headers, lines)
    ours = namespaces_of(lines)
    includes = {path: included_by(project, path, headers) for path in paths}
    for path in paths:
        known = reached_from(path, includes)
        told = {name for _, line in lines[path] for names in LOCAL.findall(line) for name in names}
        for number, line in lines[path]:
            for scope, name, call in NAME.findall(line):
                home, is_function = homes.get(name, (None, False))
                if home is None or home in known or name in told or (is_function and not call):
                    continue
                if not ours.issuperset(filter(None, scope.split("::"))):
                    continue
                told.add(name)
                yield path, number, (f"'{name}' is declared in {home}, which is not included "
                                     "(or give what is meant here another name)")


def namespaces_of(lines):
    return {part for path in lines for _, line in lines[path]
            for name in NAMESPACE.findall(line) for part in name.split("::")} - MADE


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
