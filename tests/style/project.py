"""The files of a project as the style rules see them: paths, text, code without comments."""

import pathlib
import re
import subprocess

# C and C++; what the rules call code.
CODE_SUFFIXES = {".c", ".cc", ".h", ".hh"}

_COMMENT_OR_LITERAL = re.compile(
    r"""//[^\n]* | /\*.*?\*/                          # comments
      | R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"  # raw strings
      | "(?:\\.|[^"\\\n])*"                           # strings
      | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'           # characters, but not 1'000
    """,
    re.DOTALL | re.VERBOSE,
)
_INCLUDE = re.compile(r"""^\s*#\s*include\s*[<"]([^>"]+)[>"]""")


class Project:
    """A folder; in a git checkout only what git tracks, or would track, counts."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.paths = sorted(path for path in self._list() if (self.root / path).is_file())

    def _list(self):
        if not (self.root / ".git").exists():
            paths = [path.relative_to(self.root) for path in self.root.rglob("*")]
            return [path for path in paths if path.parts[0] != "build"]
        # CI may check out as another user than it tests.
        listing = subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "-z",
             "--cached", "--others", "--exclude-standard"],
            cwd=self.root, check=True, capture_output=True, text=True)
        return {pathlib.Path(name) for name in listing.stdout.split("\0") if name}

    def below(self, *folders, suffixes=None):
        """The paths below one of the folders ("." for all), with one of the suffixes if given."""
        for path in self.paths:
            if any(path.is_relative_to(folder) for folder in folders):
                if suffixes is None or path.suffix in suffixes:
                    yield path

    def lines(self, path):
        """Numbered lines; none for a file that is not text."""
        try:
            return list(enumerate((self.root / path).read_text("utf-8").splitlines(), start=1))
        except UnicodeDecodeError:
            return []

    def code_lines(self, path):
        """Numbered lines of C or C++ with comments and the contents of literals blanked out."""
        text = "\n".join(line for _, line in self.lines(path))
        blank = lambda match: "\n" * match.group().count("\n")
        return list(enumerate(_COMMENT_OR_LITERAL.sub(blank, text).split("\n"), start=1))

    def includes(self, path):
        """(line number, header) of every #include."""
        for number, line in self.lines(path):
            if match := _INCLUDE.match(line):
                yield number, match.group(1)
