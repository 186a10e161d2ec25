#!/usr/bin/env python3
"""Shows that clang-format and clang-tidy, as they are set up here, find what they shall find.

usage: tools_test.py FOLDER (with .clang-format and .clang-tidy)
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import check_format

CLEAN = "// Clean.\nint twice(int number) { return 2 * number; }\n"

# What clang-tidy has to object to: the check, and code.
FLAWS = [
    ("readability-identifier-naming", "class snake_case {};"),
    ("readability-identifier-naming", "int CamelCase() { return 0; }"),
    ("readability-identifier-naming", "constexpr int kRight = 1;\nconstexpr int wrong = kRight;"),
    ("readability-identifier-naming", "enum class Colour { kRed, green };"),
    ("readability-identifier-naming", "class A {\n int size = 0;\n};"),
    ("readability-function-size", "void f(int& i) {\n" + "  ++i;\n" * 71 + "}"),
    ("bugprone-infinite-loop", "void f() {\n  int i = 0;\n  while (i < 9) {\n  }\n}"),
    ("clang-analyzer-core.DivideZero", "int f(int i) { return i == 0 ? 1 / i : i; }"),
]


class Tools(unittest.TestCase):
    root = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in (".clang-format", ".clang-tidy"):
            shutil.copy(pathlib.Path(self.root, name), self.folder)
        self.file = self.folder / "code.cc"

    def tidy(self, code):
        self.file.write_text(code, "utf-8")
        result = subprocess.run(
            ["clang-tidy-14", "--quiet", str(self.file), "--", "-std=c++20"],
            check=False, capture_output=True, text=True)
        return result.returncode, result.stdout

    def test_clang_tidy_is_silent_about_clean_code(self):
        self.assertEqual(self.tidy(CLEAN), (0, ""))

    def test_clang_tidy_fails_at_each_flaw(self):
        for check, code in FLAWS:
            with self.subTest(check=check, code=code):
                status, output = self.tidy(code + "\n")
                self.assertNotEqual(status, 0)
                self.assertIn(f"[{check},-warnings-as-errors]", output)

    def test_clang_format_tells_code_that_is_formatted_from_code_that_is_not(self):
        self.file.write_text(CLEAN, "utf-8")
        self.assertEqual(check_format.main(self.folder), 0)
        self.file.write_text(CLEAN.replace(" { ", "\n{\n"), "utf-8")
        self.assertNotEqual(check_format.main(self.folder), 0)


if __name__ == "__main__":
    Tools.root = sys.argv.pop(1)
    unittest.main()
