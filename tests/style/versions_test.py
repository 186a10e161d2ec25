#!/usr/bin/env python3
"""The version stands in several places: in all of them it is that of CMakeLists.txt, and
.github/RELEASING.md names each.

usage: versions_test.py PROJECT
"""

import pathlib
import re
import sys
import unittest

IMAGE = r"bellwether:(\d[\w.]*)"
MODULE = r"example\.org/bellwether@v([\w.]+)"
PLACES = {
    "sidecar/debian/changelog": (r"\Abellwether \((.+)-\d+\)",),
    "examples/kubernetes/Dockerfile": (IMAGE,),
    "examples/kubernetes/README.md": (IMAGE,),
    "examples/kubernetes/statefulset.yaml": (IMAGE,),
    "examples/kubernetes/deployment.yaml": (IMAGE,),
    "examples/kubernetes/try_image.sh": (IMAGE,),
    "README.md": (IMAGE, r"This is (\d[\d.]*\d)"),
    "examples/apps/node/package.json": (r'^  "version": "(.+)"',),
    "examples/apps/python/pyproject.toml": (r'^version = "(.+)"',),
    "examples/apps/README.md": (MODULE,),
    "tests/apps/client_package_test.py": (MODULE,),
    "sidecar/api/README.md": (r'"version":"([^"]+)"',),
}


class Versions(unittest.TestCase):
    project: pathlib.Path

    def text(self, path):
        return (self.project / path).read_text("utf-8")

    def test_every_place_has_that_of_the_project(self):
        version = re.search(r"^  VERSION (\S+)$", self.text("CMakeLists.txt"), re.M).group(1)
        for path, patterns in PLACES.items():
            for pattern in patterns:
                with self.subTest(file=path, pattern=pattern):
                    self.assertEqual(set(re.findall(pattern, self.text(path), re.M)), {version})

    def test_the_recipe_of_a_release_names_them(self):
        _, recipe = self.text(".github/RELEASING.md").split("| file | what |\n")
        named = set()
        for row in re.findall(r"^ *\|([^|]*`[^|]*)\|", recipe, re.M):
            folder, *names = re.findall(r"`([^`]+)`", row)
            named |= {folder + name for name in names} if folder.endswith("/") else {folder, *names}
        self.assertEqual(named, {"CMakeLists.txt", *PLACES})


if __name__ == "__main__":
    Versions.project = pathlib.Path(sys.argv.pop())
    unittest.main()
