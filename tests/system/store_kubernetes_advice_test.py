#!/usr/bin/env python3
"""A guard on a Lease: what `status` and the doctor say of roles, tokens, namespaces, addresses and
strangers at an API server with RBAC is done, and nothing has to be restarted for what is there.

usage: store_kubernetes_advice_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import re

from advice_case import Answering
from harness import wait_until
from store_advice_test import ADDRESS, OWN_RECORD, StoreAdviceCase
from store_group import NAMESPACE, KubernetesCase
from store_kubernetes_test import Elector
from store_servers import lease_rules
from system_case import main

ROLES = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/roles/"


class OnKubernetes(StoreAdviceCase, KubernetesCase):
    def allow(self, guarded, rules):
        self.server.request("PATCH", ROLES + guarded.name, {"rules": rules},
                            "application/merge-patch+json")

    def rules_of(self, words):
        """As the sentence ends with them."""
        listed = r"(\[[^]]*\])"
        named = re.search(f"verbs {listed} with resourceNames {listed}, and verbs {listed}", words)
        self.assertIsNotNone(named, words)
        verbs, names, create = ([*map(str, re.findall(r'"(.*?)"', group))]
                                for group in named.groups())
        free = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
        return [{**free, "verbs": verbs, "resourceNames": names}, {**free, "verbs": create}]

    def test_the_rules_are_added_that_the_sentence_names(self):
        with self.led_group(name="rules") as guarded:
            group = guarded.group
            leader = group.sidecars[2]
            for verbs in (["get", "watch"], []):
                with self.subTest(verbs):
                    rules = lease_rules(guarded.name)
                    rules[0]["verbs"] = verbs or ["list"]
                    self.allow(guarded, rules)
                    said = self.await_trouble(leader, "does not let us (get|patch|watch) Lease")
                    self.await_advice(leader, "store", "does not let us (get|patch|watch) Lease",
                                      "grant what it names; nothing has to be restarted")
                    self.allow(guarded, self.rules_of(said))
                    self.await_whole(group)
                    self.await_no_trouble(group)
                    self.await_health(leader, "store")

    def test_a_token_is_given_and_replaced(self):
        with self.led_group() as guarded:
            group = guarded.group
            leader, tokens = group.sidecars[2], self.store.token_files[guarded.name]
            good, line = tokens.read_text(), f'token_file = "{tokens}"\n'
            with self.subTest("replaced"):
                tokens.write_text("not-a-token")
                for sidecar in group.sidecars:
                    self.assertEqual(sidecar.stop(), 0)
                    sidecar.start()
                self.await_trouble(leader, f"does not believe the token of .*{tokens}.*: it is "
                                   "over, or of another cluster, or its account was deleted")
                self.await_advice(leader, "store", "does not believe the token", "replace the "
                                  "token or the password; the file is read again by itself")
                tokens.write_text(good)
                self.await_whole(group)
            with self.subTest("given"):
                for sidecar in group.sidecars:
                    self.assertEqual(sidecar.stop(), 0)
                    self.edit(sidecar, (line, ""))
                    sidecar.start()
                wait_until("it says so", lambda: re.search(
                    "wants to know who asks; give kubernetes.token_file|"
                    "takes us for system:anonymous",
                    self.trouble(leader)))

                def give():
                    for sidecar in group.sidecars:
                        sidecar.write_config(group.config_of(sidecar))
                self.restart_all(group, between=give)
                self.await_health(leader, "store")

    def test_the_address_is_that_of_an_api_server(self):
        with self.led_group() as guarded, Answering() as stranger:
            group = guarded.group
            odd = group.sidecars[0]
            self.assertEqual(odd.stop(), 0)
            good = odd.config_file.read_text()
            odd.write_config(re.sub(r'server = "https://127.0.0.1:\d+"',
                                    f'server = "{stranger.url}"', good))
            odd.start()
            self.await_advice(odd, "store", "is kubernetes.server the address of an API server",
                              ADDRESS)
            self.assertEqual(odd.stop(), 0)
            odd.write_config(good)
            odd.start()
            self.await_whole(group, group.sidecars[2])
            self.await_health(odd, "store")

    def test_a_namespace_that_is_missing_is_made(self):
        with self.led_group() as guarded:
            group = guarded.group
            leader = group.sidecars[2]
            account = f"system:serviceaccount:{NAMESPACE}:{guarded.name}"
            self.server.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", {
                "metadata": {"name": guarded.name}, "rules": lease_rules(guarded.name)})
            self.server.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
                "metadata": {"name": guarded.name},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                            "name": guarded.name},
                "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io",
                              "name": account}]})
            for sidecar in group.sidecars:
                self.assertEqual(sidecar.stop(), 0)
                self.edit(sidecar, (f'namespace = "{NAMESPACE}"', 'namespace = "mart"'))
            for sidecar in group.sidecars:
                sidecar.start()
            self.await_trouble(leader, "has no namespace mart; make it, or give "
                               "kubernetes.namespace")
            self.server.request("POST", "/api/v1/namespaces", {"metadata": {"name": "mart"}})
            self.await_whole(group)
            self.await_no_trouble(group)

    def test_another_client_is_ended_or_it_gets_another_lease(self):
        with self.led_group() as guarded:
            group = guarded.group
            leader, own = group.sidecars[2], f"{guarded.name}-2"
            with Elector(self.server, guarded.name, "operator_1") as elector:
                for sidecar in group.sidecars:
                    self.assertEqual(sidecar.stop(), 0)
                wait_until("the other one leads", lambda: elector.leads)
                for sidecar in group.sidecars:
                    sidecar.start()
                self.await_metric(leader, "bellwether_store_record_is_strange", 1)
                self.assertIn("operator", self.commanded(leader, "status"))
                self.await_advice(leader, "store", "which is not a member", OWN_RECORD)
                with self.subTest("lease_name"):
                    self.allow(guarded, lease_rules(guarded.name) + lease_rules(own))
                    for sidecar in group.sidecars:
                        self.assertEqual(sidecar.stop(), 0)
                        self.edit(sidecar, ("[kubernetes]",
                                            f'[kubernetes]\nlease_name = "{own}"'))
                    for sidecar in group.sidecars:
                        sidecar.start()
                    self.await_whole(group)
                    self.await_health(leader, "store")
                    for sidecar in group.sidecars:
                        self.assertEqual(sidecar.stop(), 0)
                        sidecar.write_config(group.config_of(sidecar))
                    for sidecar in group.sidecars:
                        sidecar.start()
                    self.await_metric(leader, "bellwether_store_record_is_strange", 1)
            self.await_whole(group)


if __name__ == "__main__":
    main()
