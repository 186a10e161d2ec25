"""Rules on where things are and who knows whom.  A rule yields (path, line number, complaint)."""

import re

from project import CODE_SUFFIXES

TOP_LEVEL = {
    "plugin", "sidecar", "include", "metrics", "tests", "examples",
    "CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE", "ARCHITECTURE.md",
    "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md",
}
EMPTY_NAMES = {"util", "utils", "common", "helper", "helpers", "manager", "managers", "misc"}
MAX_LINES = 450

# The pure parts are told the time and the randomness; they wait for nobody.
PURE = ("sidecar/core", "sidecar/simulator")
IMPURE_HEADER = re.compile(
    r"uv\.h|uv/.*|(sys|netinet|net|arpa|linux)/.*|(unistd|poll|netdb|pthread|signal|fcntl|time)\.h"
    r"|thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|stop_token"
    r"|ctime|csignal|(.*/)?(io|api)/.*")
IMPURE_NAME = re.compile(
    r"\brandom_device\b|\b(steady|system|high_resolution|utc|tai|gps|file)_clock\b"
    r"|\b(clock_gettime|gettimeofday|getrandom|nanosleep|sleep_for|sleep_until)\b")

FLOORS = {"api", "base", "cli", "config", "core", "daemon", "doctor", "io", "simulator"}
LOWER_FLOORS = {
    "sidecar/base": {"base"},
    "sidecar/core": {"base", "core"},
    "sidecar/config": {"base", "core", "config", "io/flag", "io/tls"},
    "sidecar/io": {"base", "core", "io"},
    "sidecar/daemon": {"api", "base", "config", "core", "daemon", "io"},
}


def top_level_is_as_agreed(project):
    for path in project.paths:
        top = path.parts[0]
        if top not in TOP_LEVEL and not top.startswith("."):
            yield path, 1, f"'{top}' is not one of the agreed entries of the top level"


def suffixes_tell_c_from_cxx(project):
    """.h is C and installed, .hh and .cc are C++ and private; tests and examples may have C too."""
    for path in project.below("."):
        folder, suffix = path.parts[0], path.suffix
        if suffix in {".cpp", ".cxx", ".hpp", ".hxx", ".C", ".H"}:
            yield path, 1, "C++ files end in .cc and .hh"
        elif folder == "include" and suffix in CODE_SUFFIXES - {".h"}:
            yield path, 1, "include/ holds the installed C headers (.h) only"
        elif folder not in {"include", "tests", "examples"} and suffix in {".c", ".h"}:
            yield path, 1, "C belongs into include/, tests/ and examples/; C++ is .cc and .hh"


def files_are_snake_case(project):
    for path in project.below("plugin", "sidecar", "include", "metrics", "tests",
                              suffixes=CODE_SUFFIXES | {".py", ".sh"}):
        if not re.fullmatch(r"[a-z][a-z0-9_]*", path.stem):
            yield path, 1, "file names are snake_case"


def names_say_something(project):
    for path in project.paths:
        for part in path.parts:
            words = re.split(r"[_.\-]", part.lower())
            if found := EMPTY_NAMES.intersection(words):
                yield path, 1, f"'{found.pop()}' says nothing about what is in there"


def sources_are_short(project):
    for path in project.below(".", suffixes=CODE_SUFFIXES | {".py", ".sh", ".cmake", ".go", ".js"}):
        count = len(project.lines(path))
        if count > MAX_LINES:
            yield path, count, f"{count} lines; more than {MAX_LINES} are two files"


def plugin_knows_only_the_interface(project):
    """plugin/ includes bellwether/ headers, its own, and the standard library."""
    for path in project.below("plugin", suffixes=CODE_SUFFIXES):
        for number, header in project.includes(path):
            is_interface = header.startswith("bellwether/")
            is_standard = re.fullmatch(r"[a-z_]+|std(def|int|bool)\.h", header)
            is_own = (project.root / path.parent / header).is_file() and ".." not in header
            if not (is_interface or is_standard or is_own):
                yield path, number, f"plugin/ may not include {header}"


def sidecar_does_not_know_the_plugin(project):
    """Neither its headers nor its variants, which it asks it for; help texts may name them."""
    plugin_headers = {path.name for path in project.below("plugin")}
    for path in project.below("sidecar", "metrics", suffixes=CODE_SUFFIXES):
        for number, line in project.lines(path):
            if match := re.search(r'"(classic|modified)"', line):
                yield path, number, f"ask the plugin for its variants, not for {match[1]}"
        for number, header in project.includes(path):
            is_own = any((project.root / folder / header).is_file()
                         for folder in (path.parent, "sidecar"))
            names_plugin = "plugin" in header.split("/")[:-1]
            if names_plugin or (header in plugin_headers and not is_own):
                yield path, number, f"sidecar/ may not include plugin/ ({header})"


def core_and_simulator_are_pure(project):
    for path in project.below(*PURE, suffixes=CODE_SUFFIXES):
        for number, header in project.includes(path):
            if IMPURE_HEADER.fullmatch(header):
                yield path, number, f"pure code may not include {header}"
        for number, line in project.code_lines(path):
            if match := IMPURE_NAME.search(line):
                yield path, number, f"pure code may not use {match.group()}"


def floors_stand_on_lower_ones(project):
    """Which folders of sidecar/ another may include; the rest follows from what links."""
    for floor, known in LOWER_FLOORS.items():
        for path in project.below(floor, suffixes=CODE_SUFFIXES):
            for number, header in project.includes(path):
                folders = header.rpartition("/")[0].split("/")
                is_known = known.intersection({folders[0], "/".join(folders[:2])})
                if folders[0] in FLOORS and not is_known:
                    yield path, number, f"{floor}/ may not include {header}"


RULES = [
    top_level_is_as_agreed,
    suffixes_tell_c_from_cxx,
    files_are_snake_case,
    names_say_something,
    sources_are_short,
    plugin_knows_only_the_interface,
    sidecar_does_not_know_the_plugin,
    core_and_simulator_are_pure,
    floors_stand_on_lower_ones,
]
