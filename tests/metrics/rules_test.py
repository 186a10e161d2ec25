#!/usr/bin/env python3
"""Rules and alerts as Prometheus' own tool sees them; each alert is tested and explained.  So are
the two panels that could cry wolf.

usage: rules_test.py [CASE...]
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "metrics" / "prometheus"
SKIPPED = 77


def promtool(*arguments):
    return subprocess.run(["promtool", *map(str, arguments)], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def alerts():
    """{name: its text in alerts.yml}"""
    _, *parts = re.split(r"- alert: (\w+)\n", (RULES / "alerts.yml").read_text())
    return dict(zip(parts[::2], parts[1::2]))


class PromtoolCase(unittest.TestCase):
    def check(self, *arguments):
        result = promtool(*arguments)
        self.assertEqual(result.returncode, 0, result.stdout)


class Rules(PromtoolCase):
    def test_promtool_has_no_complaint(self):
        self.check("check", "rules", "--lint=all", "--lint-fatal", *sorted(RULES.glob("*.yml")))

    def test_the_example_configuration_is_right(self):
        self.check("check", "config", ROOT / "examples" / "grafana" / "prometheus.yml")

    def test_each_story_ends_as_it_should(self):
        self.check("test", "rules", *sorted((RULES / "tests").glob("*.yml")))

    def test_each_alert_has_a_story_in_which_it_fires_and_one_in_which_it_does_not(self):
        stories = (RULES / "tests" / "alerts.yml").read_text().split("  - name: ")[1:]
        for alert in alerts():
            of_alert = [story for story in stories if f"alertname: {alert}\n" in story]
            fires = [story for story in of_alert if "exp_labels:" in story]
            self.assertTrue(fires, alert)
            self.assertTrue([story for story in of_alert if story not in fires], alert)

    def test_each_alert_says_what_is_wrong_and_where_to_read_on(self):
        headings = re.findall(r"^## (\w+)$", (ROOT / "metrics" / "runbook.md").read_text(), re.M)
        self.assertEqual(headings, list(alerts()))
        for alert, text in alerts().items():
            self.assertIn(f"runbook: metrics/runbook.md#{alert.lower()}", text)
            for key in ("severity: ", "summary: ", "description: "):
                self.assertIn(key, text, alert)

    def test_the_table_and_the_guide_have_each_alert(self):
        for page in ("metrics/README.md", "sidecar/OPERATIONS.md"):
            _, section = re.split(r"^##+ Alerts.*$", (ROOT / page).read_text(), flags=re.M)
            named = re.findall(r"runbook\.md#(bellwether\w+)\)", section)
            self.assertEqual(named, [alert.lower() for alert in alerts()], page)

    def test_each_recording_rule_has_a_story(self):
        stories = (RULES / "tests" / "rules.yml").read_text()
        names = re.findall(r"- record: (\S+)", (RULES / "rules.yml").read_text())
        self.assertTrue(names)
        for name in names:
            self.assertIn(f"expr: {name}\n", stories)


class LeadersPanels(PromtoolCase):
    """How many members lead at once, say the panels that turn red at two."""

    def expressions(self):
        panels = json.loads((ROOT / "metrics/grafana/group.json").read_text())["panels"]
        found = [target["expr"].replace("$group", "g") for panel in panels
                 if panel["title"] in ("Leaders", "Split-brain detector")
                 for target in panel["targets"]]
        self.assertEqual(len(found), 2)
        return found

    def leaders(self, expected, *members):
        """A member: {second at which it was scraped: since when it leads, None if it does not}."""
        self.groups(("", expected, *members))

    def groups(self, *groups):
        """A group: the labels of its target (and a comma), leaders that are expected, members."""
        series = []
        for labels, name, scrapes in (
                (labels, name, scrapes) for labels, _, *members in groups
                for name, scrapes in enumerate(members)):
            said = {second: scrapes[second] for second in sorted(scrapes)}
            for metric, value in (
                    ("bellwether_is_leader", lambda since: int(since is not None)),
                    ("bellwether_leader_since_timestamp_seconds", lambda since: since or 0)):
                series.append({
                    "series": f'{metric}{{{labels}group="g", member="{name}"}}',
                    "values": " ".join(str(value(said[second])) if second in said else "_"
                                       for second in range(max(said) + 1))})
        story = {"evaluation_interval": "1s", "tests": [{
            "interval": "1s", "input_series": series,
            "promql_expr_test": [
                {"expr": expression, "eval_time": "30s", "exp_samples": [
                    {"labels": f"{{{labels}}}", "value": expected}
                    for labels, expected, *_ in groups]}
                for expression in self.expressions()]}]}
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump(story, file)
            file.flush()
            self.check("test", "rules", file.name)

    def test_one_leads(self):
        self.leaders(1, {10: 5, 25: 5}, {15: None, 30: None})

    def test_nobody_leads(self):
        self.leaders(0, {10: 5, 25: None}, {15: None, 30: None})

    def test_a_takeover_between_two_scrapes_is_one_leader(self):
        self.leaders(1, {10: 5, 25: 5}, {15: None, 30: 28})

    def test_two_takeovers_between_two_scrapes_are_one_leader(self):
        self.leaders(1, {10: 5, 25: 5}, {12: None, 27: 26}, {15: None, 30: 28})

    def test_the_new_leader_may_have_begun_under_another_address(self):
        self.leaders(1, {10: 5, 25: 5}, {30: 28})

    def test_two_lead_at_once(self):
        self.leaders(2, {10: 5, 25: 5}, {15: None, 30: 21})

    def test_groups_of_one_name_are_counted_apart(self):
        leads = {10: 5, 25: 5}
        self.groups(('job="a", namespace="x",', 1, leads), ('job="a", namespace="y",', 1, leads),
                    ('job="b", namespace="y",', 2, leads, leads))


if __name__ == "__main__":
    if shutil.which("promtool") is None:
        print("skipped: there is no promtool here (Debian: package prometheus)")
        sys.exit(SKIPPED)
    unittest.main()
