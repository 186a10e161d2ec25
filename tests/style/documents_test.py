#!/usr/bin/env python3
"""Links in the documents lead somewhere, what they name is there (tests, files, functions), and
their tables are whole.

usage: documents_test.py PROJECT
"""

import os
import pathlib
import re
import sys
import unittest

from project import Project

# What ctest finds by a name that no Boost.Test suite has.
OTHER_TESTS = {"abi.headers"}


def anchor(heading):
    """The fragment that a forge makes of a heading."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


class Documents(unittest.TestCase):
    project: Project

    @classmethod
    def texts(cls):
        return {path: (cls.project.root / path).read_text("utf-8")
                for path in cls.project.below(".", suffixes={".md"})}

    def test_every_link_leads_to_a_file_and_a_heading(self):
        texts = self.texts()
        anchors = {path: {anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, re.M)}
                   for path, text in texts.items()}
        for path, text in texts.items():
            for link in re.findall(r"\]\(([^)\s]+)\)", text):
                if "://" in link:
                    continue
                name, _, fragment = link.partition("#")
                target = pathlib.Path(os.path.normpath(path.parent / name)) if name else path
                with self.subTest(file=str(path), link=link):
                    self.assertTrue((self.project.root / target).exists())
                    if fragment:
                        self.assertIn(fragment, anchors[target])

    def test_no_row_has_lost_its_table(self):
        """Behind an empty line a table begins, with its head and the line below it."""
        for path, text in self.texts().items():
            lost = re.findall(r"\n\n(\|.*)\n(?!\|[-:| ]+\|\n)", text)
            self.assertEqual(lost, [], str(path))

    def test_the_tests_that_keep_the_promises_are_there(self):
        text = (self.project.root / "include/COMPATIBILITY.md").read_text("utf-8")
        _, section = text.split("## How each promise is tested\n")
        sources = "".join((self.project.root / path).read_text("utf-8")
                          for path in self.project.below("tests", suffixes={".cc"}))
        suites = set(re.findall(r"_TEST_SUITE\((\w+)", sources))
        cases = re.findall(r"_TEST_CASE\((\w+)", sources)
        named = re.findall(r"`(?:([\w.]+)/)?(\w*)…?`", section)
        self.assertGreater(len(named), 15)
        for suite, case in named:
            with self.subTest(suite=suite, case=case):
                if suite not in OTHER_TESTS:
                    self.assertIn(suite.partition(".")[2], suites | {""})
                self.assertTrue(any(each.startswith(case) for each in cases))

    def test_files_and_functions_that_are_named_are_there(self):
        paths = "".join(f"/{path}\n" for path in self.project.paths)
        functions = set()
        for path in self.project.below(".", suffixes={".cc", ".hh", ".h", ".py"}):
            functions |= set(re.findall(r"(\w+)\(", (self.project.root / path).read_text("utf-8")))
        for page in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
            text = (self.project.root / page).read_text("utf-8")
            for name in re.findall(r"`([\w/]+\.(?:cc|hh|h|proto|py|toml|json|md|\*))`", text):
                file = re.escape("/" + name).replace(r"\*", r"\w+")
                is_there = "NAME" in name or re.search(file + "\n", paths)
                self.assertTrue(is_there, f"{page} names {name}")
            for name in re.findall(r"`[^`]*?(\w+)\([^)`]*\)`", text):
                self.assertTrue(name in functions, f"{page} names {name}()")

    def test_the_stories_of_the_edge_cases_are_there(self):
        text = (self.project.root / "ARCHITECTURE.md").read_text("utf-8")
        _, section = text.split("### 5.1 Edge cases\n")
        table, _ = section.split("| what no scenario can show |")
        stories = {str(path) for path in self.project.below("tests/scenarios", suffixes={".txt"})}
        named = 0
        for cell in re.split(r"[|\n]", table):
            folder = None
            for names, story in re.findall(r"`(?:(\w+)/)?(\w+)`", cell):
                folder = names or folder
                if folder is None:
                    continue
                named += 1
                with self.subTest(story=story):
                    self.assertIn(f"tests/scenarios/{folder}/{story}.txt", stories)
        self.assertGreater(named, 60)


if __name__ == "__main__":
    Documents.project = Project(sys.argv.pop(1))
    unittest.main()
