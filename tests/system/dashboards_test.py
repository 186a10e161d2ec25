#!/usr/bin/env python3
"""The dashboards and rules against a real Prometheus that has watched a group through takeovers of
both variants, one of voters that was cut in two, and one on etcd: no expression errs, and every
one has something to show.

usage: dashboards_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import json
import pathlib
import re
import signal
import socket

from harness import wait_until
from hooks_test import Receiver
from namespaces import Hosts, can_make_namespaces
from prometheus_server import Prometheus, is_installed
from store_servers import Etcd, has_etcd
from system_case import SystemCase, main

METRICS = pathlib.Path(__file__).resolve().parents[2] / "metrics"
DASHBOARDS = sorted((METRICS / "grafana").glob("*.json"))
RULES = [METRICS / "prometheus" / name for name in ("rules.yml", "alerts.yml")]

GROUP = "shop"
# What guard majority has beyond the rest.
VOTES = {"CANVASS", "CANVASS_REPLY", "GRANT"}
MILLISECONDS_OF_2020 = 1_577_836_800_000
LEASE_S = 3
VOTERS = f"""lease = "{LEASE_S}s"
preempt_delay = "500ms"
[failure_detector]
suspect_after = "2s"
"""
LONGEST_SCRAPE_S = 1  # so late may a sidecar have answered
# In these panels only a group with a store has something to show.
STORE = "bellwether_store_"
# What Grafana puts in; its intervals follow from the width of the screen.
VARIABLES = {
    "group": GROUP, "instance": ".*", "datasource": "prometheus",
    "__rate_interval": "20s", "__interval": "3s", "__range": "5m",
}
# Panels of events say so where there are none; here there have been some of every kind.
NOTHING = "none"


def substitute(text):
    return re.sub(r"\$\{?(\w+)\}?", lambda match: VARIABLES[match.group(1)], text)


def panels_of(dashboard):
    for panel in dashboard["panels"]:
        yield panel
        yield from panel.get("panels", [])


class Dashboards(SystemCase):
    def setUp(self):
        if not is_installed():
            self.skipTest("there is no prometheus here (Debian: package prometheus)")

    def test_every_expression_of_every_dashboard_and_rule_has_something_to_show(self):
        with contextlib.ExitStack() as stack:
            receiver = stack.enter_context(Receiver(failures=2))
            hook = f'[[hook]]\nurl = "{receiver.url}"\n'
            group = stack.enter_context(self.group(variant="modified", extra=hook, name=GROUP))
            prometheus = stack.enter_context(Prometheus(group, RULES))
            group.start()
            self.live_through_takeovers(group, prometheus)
            self.switch_variant(group, f'[election]\nvariant = "classic"\n{hook}')
            self.live_through_takeovers(group, prometheus)
            self.be_visited_by_strangers(group.sidecars[0], prometheus)
            for file in DASHBOARDS:
                self.check_dashboard(json.loads(file.read_text()), prometheus)
            self.check_rules(prometheus)

    def test_every_expression_about_elections_has_something_to_show_of_voters(self):
        hosts = Hosts(4) if can_make_namespaces() else contextlib.nullcontext()
        with hosts as places, \
                self.group(extra=VOTERS, name=GROUP, voters=3, hosts=places) as group, \
                Prometheus(group, RULES, hosts=places) as prometheus:
            group.start("--bootstrap")
            self.live_through_takeovers(group, prometheus)
            if places:
                self.be_cut_in_two(group, prometheus, places)
            for file in DASHBOARDS:
                if file.stem != "sidecar":
                    self.check_dashboard(json.loads(file.read_text()), prometheus)
            self.check_rules(prometheus)
            self.check_votes(group, prometheus, was_cut=bool(places))

    def test_every_expression_about_the_store_has_something_to_show_of_a_group_on_etcd(self):
        if not has_etcd():
            self.skipTest("there is no etcd here (Debian: packages etcd-server and etcd-client)")
        with contextlib.ExitStack() as stack:
            etcd = stack.enter_context(Etcd())
            extra = f'lease = "2s"\n[etcd]\nendpoints = ["{etcd.urls[0]}"]\n'
            group = stack.enter_context(self.group(name=GROUP, extra=extra))
            prometheus = stack.enter_context(Prometheus(group, RULES))
            group.start()
            self.see_leader(group, prometheus, group.sidecars[-1])
            group.sidecars[-1].kill()
            self.see_leader(group, prometheus, group.sidecars[-2])
            etcd.members[0].kill()
            wait_until("a request to the store has failed", lambda: sum(
                sidecar.count("bellwether_store_failures_total") for sidecar in group.running))
            etcd.members[0].start()
            group.sidecars[-1].start()
            self.see_leader(group, prometheus, group.sidecars[-1])
            panels = [panel for file in DASHBOARDS
                      for panel in panels_of(json.loads(file.read_text()))
                      if any(STORE in target["expr"] for target in panel.get("targets", []))]
            self.assertGreaterEqual(len(panels), 4)
            for panel in panels:
                for target in panel["targets"]:
                    with self.subTest(panel=panel["title"]):
                        self.check_target(target, prometheus)
            self.check_rules(prometheus)

    def live_through_takeovers(self, group, prometheus):
        """The leader is killed, hangs, and steps down; each time it comes back."""
        first, second, leader = group.sidecars
        self.see_leader(group, prometheus, leader)
        leader.kill()
        self.see_leader(group, prometheus, second)
        leader.start()
        self.see_leader(group, prometheus, leader)
        leader.send_signal(signal.SIGSTOP)
        self.see_leader(group, prometheus, second)
        leader.send_signal(signal.SIGCONT)
        self.see_leader(group, prometheus, leader)
        status, _, text = leader.request("POST", "/v1/step-down?wait=4s", {"hold": "10s"})
        self.assertEqual(status, 200, text)
        self.see_leader(group, prometheus, second)
        self.see_leader(group, prometheus, leader)
        self.assertEqual(first.request("GET", "/leader")[0], 503)

    def see_leader(self, group, prometheus, leader):
        group.await_leader(leader)
        prometheus.await_now(
            f'count(bellwether_leader_info{{leader="{leader.name}"}}) == {len(group.running)}')

    def switch_variant(self, group, settings):
        for sidecar in group.sidecars:
            sidecar.write_config(group.config_of(sidecar, extra=settings))
        wait_until("all want the new variant", lambda: all(
            sidecar.get("/v1/status")["variant"] == "classic" and
            sidecar.metrics()["bellwether_config_mismatch"] == 0 for sidecar in group.sidecars))

    def be_cut_in_two(self, group, prometheus, hosts):
        """The leader is alone; the others, which are a majority, get another one."""
        _, second, leader = group.sidecars
        hosts.partition([0, 1], [2])
        prometheus.await_now(f'bellwether_is_leader{{member="{second.name}"}} == 1')
        prometheus.await_now(f'bellwether_leader_known{{member="{leader.name}"}} == 0')
        hosts.heal()
        self.see_leader(group, prometheus, leader)

    def be_visited_by_strangers(self, victim, prometheus):
        with socket.create_connection((victim.address, victim.peer_port), timeout=5) as stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\nHost: shop\r\n\r\n")
        victim.request("GET", "/leader", headers={"X-Long": "x" * 100_000})
        prometheus.await_now('bellwether_rejected_frames_total{reason="bad_magic"} > 0')
        prometheus.await_now('bellwether_limit_hits_total{limit="http_header"} > 0')

    # --- what there is to see ---

    def check_dashboard(self, dashboard, prometheus):
        for variable in dashboard["templating"]["list"]:
            if variable["type"] == "query":
                self.check_variable(dashboard["title"], variable, prometheus)
        for annotation in dashboard["annotations"]["list"]:
            with self.subTest(dashboard=dashboard["title"], annotation=annotation["name"]):
                self.assertTrue(prometheus.since_start(substitute(annotation["expr"])))
        for panel in panels_of(dashboard):
            for target in panel.get("targets", []):
                if STORE in target["expr"]:
                    continue
                with self.subTest(dashboard=dashboard["title"], panel=panel["title"],
                                  expression=substitute(target["expr"])):
                    self.check_target(target, prometheus)

    def check_variable(self, title, variable, prometheus):
        with self.subTest(dashboard=title, variable=variable["name"]):
            selector, label = re.fullmatch(r"label_values\((.+), (\w+)\)",
                                           variable["query"]["query"]).groups()
            values = prometheus.api(f"label/{label}/values", **{"match[]": substitute(selector)})
            expected = {"group": [GROUP], "instance": ["n0", "n1", "n2"]}
            self.assertEqual(values, expected[variable["name"]])

    def check_target(self, target, prometheus):
        expression = substitute(target["expr"])
        seen = prometheus.now(expression) if target.get("instant") else \
            prometheus.since_start(expression)
        self.assertTrue([labels for labels, _ in seen if NOTHING not in labels.values()])
        for label in re.findall(r"{{(\w+)}}", target.get("legendFormat", "")):
            self.assertTrue(any(label in labels for labels, _ in seen), f"no label {label}")

    def check_votes(self, group, prometheus, was_cut):
        """What the panels of Group tell of guard majority is what there was."""
        panels = {panel["title"]: panel for panel in
                  json.loads((METRICS / "grafana/group.json").read_text())["panels"]}

        def seen(title, label):
            found = prometheus.since_start(substitute(panels[title]["targets"][0]["expr"]))
            return {labels.get(label): [float(value) for value in values]
                    for labels, values in found}

        self.assertLessEqual(VOTES, seen("Messages by kind", "type").keys())
        self.assertIn("lease" if was_cut else "heartbeat", seen("Timeouts by phase", "phase"))
        if was_cut:
            self.assertIn("no_majority", seen("Leader changes by reason", "reason"))
        wait_until("the epoch shown is the group's, to the last digit", lambda: [
            epochs[-1] for epochs in seen("Epoch", None).values()] == [
                float(group.sidecars[-1].epoch())])
        self.assertGreater(group.sidecars[-1].epoch(), MILLISECONDS_OF_2020)
        stairs = seen("Epoch staircase", "member")
        self.assertEqual(stairs.keys(), {sidecar.name for sidecar in group.sidecars})
        self.assertEqual(min(map(min, stairs.values())), 0)
        self.assertLess(max(map(max, stairs.values())), 1000)  # claims, not milliseconds
        for left in seen("Lease left", "member").values():
            self.assertLessEqual(max(left), LEASE_S + LONGEST_SCRAPE_S)

    def check_rules(self, prometheus):
        """Alerts speak in bad cases only, which promtool's tests play: here they must not err."""
        def rules():
            return [rule for file in prometheus.api("rules")["groups"] for rule in file["rules"]]

        wait_until("all rules have been evaluated",
                   lambda: all(rule["health"] != "unknown" for rule in rules()))
        self.assertEqual({rule["type"] for rule in rules()}, {"alerting", "recording"})
        for rule in rules():
            with self.subTest(rule=rule["name"]):
                self.assertEqual((rule["health"], rule.get("lastError")), ("ok", None))
                if rule["type"] == "recording":
                    self.assertTrue(prometheus.now(rule["name"]))


if __name__ == "__main__":
    main()
