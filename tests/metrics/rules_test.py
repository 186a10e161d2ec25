#!/usr/bin/env python3
"""Rules and alerts as Prometheus' own tool sees them; each alert is tested and explained.

usage: rules_test.py [CASE...]
"""

import pathlib
import re
import shutil
import subprocess
import sys
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


class Rules(unittest.TestCase):
    def check(self, *arguments):
        result = promtool(*arguments)
        self.assertEqual(result.returncode, 0, result.stdout)

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


if __name__ == "__main__":
    if shutil.which("promtool") is None:
        print("skipped: there is no promtool here (Debian: package prometheus)")
        sys.exit(SKIPPED)
    unittest.main()
