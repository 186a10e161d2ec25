#!/usr/bin/env python3
"""Dashboards as files: what Grafana would accept, and a reader would not forgive.

usage: dashboards_test.py [CASE...]
"""

import itertools
import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "metrics" / "grafana").glob("*.json"))
DASHBOARDS = {file.name: json.loads(file.read_text()) for file in FILES}
DATA_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
VARIABLES = ["datasource", "group", "instance"]
COLUMNS = 24


def panels():
    for name, dashboard in DASHBOARDS.items():
        for panel in dashboard["panels"]:
            yield f"{name}: {panel['title']}", panel


def queries():
    for where, panel in panels():
        for target in panel.get("targets", []):
            yield where, target["expr"]


def overlap(one, other):
    return (one["x"] < other["x"] + other["w"] and other["x"] < one["x"] + one["w"] and
            one["y"] < other["y"] + other["h"] and other["y"] < one["y"] + one["h"])


class Dashboards(unittest.TestCase):
    def test_there_are_three_each_with_an_identity_of_its_own(self):
        self.assertEqual(list(DASHBOARDS), ["group.json", "sidecar.json", "variants.json"])
        for key in ("uid", "title"):
            self.assertEqual(len({dashboard[key] for dashboard in DASHBOARDS.values()}), 3, key)

    def test_nothing_is_of_the_server_on_which_it_was_made(self):
        for name, dashboard in DASHBOARDS.items():
            self.assertFalse({"id", "__inputs", "__requires"} & dashboard.keys(), name)
        for where, panel in panels():
            if panel["type"] not in ("row", "text"):
                self.assertEqual(panel["datasource"], DATA_SOURCE, where)

    def test_the_variables_are_the_same_everywhere(self):
        lists = [dashboard["templating"]["list"] for dashboard in DASHBOARDS.values()]
        self.assertEqual([variable["name"] for variable in lists[0]], VARIABLES)
        self.assertTrue(all(variables == lists[0] for variables in lists))
        known = {*VARIABLES, "__rate_interval", "__interval", "__range"}
        for where, query in queries():
            self.assertLessEqual(set(re.findall(r"\$\{?(\w+)", query)), known, where)

    def test_every_query_is_about_the_group_that_was_chosen(self):
        for where, query in queries():
            for selector in re.findall(r"(?:bellwether|process)_\w+(.?[^}]*)", query):
                self.assertTrue(selector.startswith('{group="$group"'), f"{where}: {query}")

    def test_every_panel_explains_itself(self):
        for where, panel in panels():
            self.assertTrue(panel["title"], where)
            if panel["type"] in ("row", "text"):
                continue
            self.assertTrue(panel["description"].endswith("."), where)
            self.assertTrue(panel["fieldConfig"]["defaults"]["unit"], where)
            self.assertTrue(panel["targets"], where)

    def test_every_dashboard_marks_the_changes_of_the_leader(self):
        for name, dashboard in DASHBOARDS.items():
            names = [annotation["name"] for annotation in dashboard["annotations"]["list"]]
            self.assertIn("Leader changes", names, name)

    def test_panels_have_a_place_of_their_own(self):
        for name, dashboard in DASHBOARDS.items():
            ids = [panel["id"] for panel in dashboard["panels"]]
            self.assertEqual(len(ids), len(set(ids)), name)
            for panel in dashboard["panels"]:
                place = panel["gridPos"]
                self.assertLessEqual(place["x"] + place["w"], COLUMNS, panel["title"])
            for one, other in itertools.combinations(dashboard["panels"], 2):
                self.assertFalse(overlap(one["gridPos"], other["gridPos"]),
                                 f"{name}: {one['title']}, {other['title']}")


if __name__ == "__main__":
    unittest.main()
