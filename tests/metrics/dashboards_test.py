#!/usr/bin/env python3
"""Dashboards as files: what Grafana would accept, and a reader would not forgive; and how Grafana
gets them.

usage: dashboards_test.py [CASE...]
"""

import itertools
import json
import pathlib
import re
import unittest

try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "metrics" / "grafana").glob("*.json"))
DASHBOARDS = {file.name: json.loads(file.read_text()) for file in FILES}
EXAMPLE = ROOT / "examples" / "grafana"
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


@unittest.skipIf(yaml is None, "there is no python3-yaml")
class Provisioning(unittest.TestCase):
    """examples/grafana: Grafana ignores a field that it does not know, and a folder that is not
    there, so that nobody would see a dashboard."""

    @staticmethod
    def parsed(path):
        return yaml.safe_load((EXAMPLE / path).read_text())

    def installed(self, what):
        """Where the README's command puts files."""
        readme = (EXAMPLE / "README.md").read_text()
        return re.search(rf"install -D -m 644 -t (\S+) {re.escape(what)}\n", readme).group(1)

    def test_grafana_looks_for_dashboards_where_they_are_put(self):
        file = self.parsed("provisioning/dashboards/bellwether.yml")
        self.assertEqual(file.keys(), {"apiVersion", "providers"})
        self.assertEqual(file["apiVersion"], 1)
        provider, = file["providers"]
        self.assertEqual(provider, {
            "name": "bellwether", "folder": "Bellwether", "type": "file", "allowUiUpdates": False,
            "updateIntervalSeconds": 30,
            "options": {"path": self.installed("../../metrics/grafana/*.json")}})

    def test_prometheus_looks_for_rules_where_they_are_put(self):
        self.assertEqual(self.parsed("prometheus.yml")["rule_files"],
                         [self.installed("../../metrics/prometheus/*.yml") + "/*.yml"])

    def test_grafana_asks_prometheus_as_often_as_that_scrapes(self):
        file = self.parsed("provisioning/datasources/prometheus.yml")
        self.assertEqual(file.keys(), {"apiVersion", "datasources"})
        self.assertEqual(file["apiVersion"], 1)
        source, = file["datasources"]
        interval = self.parsed("prometheus.yml")["global"]["scrape_interval"]
        self.assertEqual(source, {
            "name": "Prometheus", "type": DATA_SOURCE["type"], "access": "proxy",
            "url": "http://localhost:9090", "jsonData": {"timeInterval": interval}})

    def test_the_readmes_commands_are_about_files_that_are_there(self):
        readme = (EXAMPLE / "README.md").read_text()
        words = re.findall(r"(?<=\s)(?:provisioning|\.\./\.\.)/[^\s)]+", readme)
        self.assertGreaterEqual(len(words), 4)
        for word in words:
            self.assertTrue(list(EXAMPLE.glob(word)), word)
        for file in (EXAMPLE / "provisioning").glob("*/*.yml"):
            self.assertIn(f"cp {file.relative_to(EXAMPLE)} /etc/grafana/provisioning/"
                          f"{file.parent.name}/\n", readme)


if __name__ == "__main__":
    unittest.main()
