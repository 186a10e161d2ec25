"""Rules on what files say.  A rule yields (path, line number, complaint)."""

import re

from project import CODE_SUFFIXES

# How a file of this kind opens its first comment; others are not judged.
COMMENT_OPENERS = {
    **dict.fromkeys([".c", ".cc", ".h", ".hh", ".inc", ".js", ".go", ".proto", ".pml", ".map"],
                    ("//", "/*")),
    **dict.fromkeys([".cmake", ".sh", ".toml", ".yaml", ".yml", ".service", ".conf", ".in",
                     ".txt"], ("#",)),
    ".py": ("#", '"""'),
    ".html": ("<!--",),
}
MAX_COLUMNS = 100
# The folders whose names are in `bellwether` itself, because all others speak with them.
SPOKEN_BY_ALL = {"base", "config", "core"}
ABBREVIATION = re.compile(
    r"(?:\b|_|(?<=[a-z0-9]))(mgr|Mgr|cfg|Cfg|tmp|Tmp|ctx|Ctx)(?=\b|_|[A-Z0-9])")


def files_open_with_a_comment(project):
    for path in project.paths:
        openers = COMMENT_OPENERS.get(path.suffix)
        if openers is None:
            continue
        lines = [line for _, line in project.lines(path) if not line.startswith("#!")]
        if lines and not lines[0].startswith(openers):
            yield path, 1, "a file opens with a comment: what it is"


def private_folders_are_not_mentioned(project):
    """What lies beside the checkout is not there for a reader; tests may look for its data."""
    allowed = re.compile(r"\.\./shared[/]data\b")
    for path in project.paths:
        for number, line in project.lines(path):
            if path.parts[0] == "tests":
                line = allowed.sub("", line)
            if re.search(r"\bshared[/]", line):
                yield path, number, "mentions a folder outside the project"


def nothing_is_left_to_do(project):
    for path in project.paths:
        for number, line in project.lines(path):
            if match := re.search(r"\b(TO[D]O|FIX[M]E|XX[X])\b", line):
                yield path, number, f"{match.group()}: do it, or say what is missing in an issue"


def words_are_full(project):
    for path in project.below(".", suffixes=CODE_SUFFIXES):
        is_c = path.suffix in {".c", ".h"}
        for number, line in project.code_lines(path):
            if line.lstrip().startswith("#"):
                continue
            for word in ABBREVIATION.findall(line):
                if not (is_c and word == "ctx"):
                    yield path, number, f"'{word}' is not a word"


def lines_are_short(project):
    """clang-format sees to C and C++; an address cannot be broken."""
    for path in project.below(".", suffixes={".py", ".sh", ".cmake"}):
        for number, line in project.lines(path):
            if len(line) > MAX_COLUMNS and "://" not in line:
                yield path, number, f"{len(line)} columns; {MAX_COLUMNS} are allowed"


def code_is_in_our_namespace(project):
    for path in project.below("plugin", "sidecar", "metrics", suffixes={".hh"}):
        text = "\n".join(line for _, line in project.code_lines(path))
        folder = {"plugin": "bully", "sidecar": path.parts[1]}.get(path.parts[0], path.parts[0])
        is_of_all = folder in SPOKEN_BY_ALL or folder == path.name
        wanted = "bellwether" if is_of_all else f"bellwether::{folder}"
        if not re.search(rf"^namespace {wanted}\b", text, re.MULTILINE):
            yield path, 1, f"declares nothing in namespace {wanted}"
        if not re.search(r"^#pragma once$", text, re.MULTILINE):
            yield path, 1, "lacks #pragma once"


def checks_stay_on_in_release(project):
    for path in project.below("sidecar", "plugin", "metrics", suffixes=CODE_SUFFIXES):
        for number, line in project.code_lines(path):
            if re.search(r"(?<![\w.:])assert\(", line):
                yield path, number, "assert vanishes in release; use check"


def sharing_is_explained(project):
    for path in project.below("plugin", "sidecar", "metrics", suffixes={".hh"}):
        comments = [line.partition("//")[2] for _, line in project.lines(path)]
        if any(re.search(r"\bshar(e|es|ed|ing)\b", comment) for comment in comments):
            continue
        for number, line in project.code_lines(path):
            if "shared_ptr<" in line:
                yield path, number, "shared_ptr: no comment of this file says who shares"


def silenced_warnings_have_a_reason(project):
    reason = re.compile(r"NOLINT(NEXTLINE|BEGIN)?\([\w\-.,* ]+\):? \S+ \S+|NOLINTEND")
    for path in project.below(".", suffixes=CODE_SUFFIXES):
        for number, line in project.lines(path):
            if "NOLINT" in line and not reason.search(line):
                yield path, number, "NOLINT(check): needs the check and a reason"


RULES = [
    files_open_with_a_comment,
    private_folders_are_not_mentioned,
    nothing_is_left_to_do,
    words_are_full,
    lines_are_short,
    code_is_in_our_namespace,
    checks_stay_on_in_release,
    sharing_is_explained,
    silenced_warnings_have_a_reason,
]
