#!/usr/bin/env python3
"""Applications that are missing, ill, refused or too slow to finish: what OPERATIONS, the runbook
(NoApplication, AbleWithoutLeader, DrainTimesOut) and the doctor advise.

usage: advice_application_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import os
import pathlib
import sys

from advice_case import AdviceCase, Answering
from harness import free_ports, wait_until
from system_case import CALM, main

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/apps/python"))
import attachment  # noqa: E402: from the examples

ATTACH = CALM + "[application]\nattach = true\n"
ABLE, KNOWN = "bellwether_application_able", "bellwether_leader_known"
ATTACHED = "bellwether_application_attachments"
NOBODY = "nobody's application is able"
START_IT = "start it, and let it attach: POST /v1/application/attach at [api] socket or listen"


class ApplicationCase(AdviceCase):
    def attach(self, sidecar, name="worker"):
        wait_until(f"{sidecar.name} is served", sidecar.socket_file.exists)
        mine = attachment.attach(str(sidecar.socket_file), name)
        self.addCleanup(mine.close)
        return mine

    def await_nobody(self, group):
        for sidecar in group.sidecars:
            # For a moment each, the vote is missing and the others have not been met.
            wait_until("nobody's application is able", lambda each=sidecar: NOBODY in (
                self.command(each, "status").stdout.lower()))
            self.await_metric(sidecar, ABLE, 0)

    def await_drain(self, mine):
        return next(event for event in mine if event.type == attachment.DRAIN)


class Absent(ApplicationCase):
    """NoApplication."""

    def test_the_first_that_attaches_makes_a_leader(self):
        for voters in (0, 3):
            with self.subTest(voters=voters), self.group(3, extra=ATTACH, voters=voters) as group:
                group.start(*(["--bootstrap"] if voters else []))
                self.await_nobody(group)
                one = group.sidecars[0]
                self.await_advice(one, "application", f"(?i){NOBODY}, so nobody leads",
                                  "see to one of the applications: `bellwether status` says what "
                                  "each lacks")
                self.await_advice(one, "application", "no application is attached", START_IT)
                self.assertIn("absent", self.commanded(one, "status"))
                self.attach(one)
                self.await_whole(group, one)
                self.await_health(one, "application")

    def test_one_that_is_refused_gets_the_sockets_path_or_a_token(self):
        tokens = self.folder / "tokens"
        tokens.touch(mode=0o600)
        tokens.write_text(os.urandom(16).hex() + "\n")
        with self.group(3, extra=ATTACH) as group:
            for sidecar in group.sidecars:
                self.edit(sidecar, ("[metrics]", f'token_file = "{tokens}"\n[metrics]'))
            group.start()
            one = group.sidecars[1]
            self.await_nobody(group)
            status, _, _ = one.request("POST", "/v1/application/attach")
            self.assertEqual(status, 401)
            self.assertEqual(one.count("bellwether_api_writes_total", verb="attach",
                                       result="refused"), 1)
            self.attach(one)
            self.await_whole(group, one)

    def test_more_than_enough_attachments_are_ended(self):
        with self.group(3, extra=ATTACH) as group:
            one = group.start().sidecars[0]
            crowd = [self.attach(one, f"a{number}") for number in range(32)]
            group.await_leader(one)
            with self.assertRaises(attachment.Refused):
                self.attach(one, "late")
            self.assertEqual(one.count("bellwether_limit_hits_total", limit="attachments"), 1)
            for each in crowd[:31]:
                each.close()
            wait_until("there is room", lambda: one.metrics()[ATTACHED] == 1)
            self.attach(one, "late")
            self.await_whole(group, one)

    def test_the_table_is_taken_out_which_is_in_force_at_once(self):
        with self.group(3, extra=ATTACH) as group:
            group.start()
            self.await_nobody(group)
            for sidecar in group.sidecars:
                self.reload(sidecar, group.config_of(sidecar, extra="[election]\n" + CALM))
            self.await_whole(group, group.sidecars[2])

    def test_it_is_given_to_all_by_and_by_and_applications_attach_before(self):
        with self.led() as group:
            for sidecar in group.sidecars:
                self.attach(sidecar)
            with self.unmoved(group):
                for sidecar in group.sidecars:
                    self.reload(sidecar, group.config_of(sidecar, extra="[election]\n" + ATTACH))
                self.await_whole(group)


class AbleWithoutLeader(ApplicationCase):
    def test_those_that_may_lead_get_an_application_too(self):
        """The able ones have priority 0."""
        with self.group(3, extra=ATTACH, priorities=[0, 100, 101]) as group:
            able, able_to_lead, _ = group.start().sidecars
            self.attach(able)
            self.await_metric(able, ABLE, 1)
            self.await_metric(able, KNOWN, 0)
            wait_until("it says why", lambda: "priority is 0" in str(able.get("/v1/explain")) or
                       "priority 0" in str(able.get("/v1/explain")))
            self.attach(able_to_lead)
            self.await_whole(group, able_to_lead)

    def test_a_majority_of_the_voters_is_started(self):
        with self.group(3, extra=ATTACH, voters=3) as group:
            able, *others = group.sidecars
            for sidecar in group.sidecars:
                sidecar.start("--bootstrap")
            self.attach(able)
            group.await_leader(able)
            for sidecar in others:
                sidecar.kill()
            self.await_metric(able, KNOWN, 0)
            self.await_metric(able, ABLE, 1)
            self.assertIn("It reaches 1 of 3 voters", str(able.get("/v1/explain")))
            for sidecar in others:
                sidecar.start()
            self.await_whole(group, able)
            self.assertEqual(able.vote(), "in force")


class Ill(ApplicationCase):
    def test_the_url_is_corrected_and_the_application_seen_to(self):
        nobody_there, = free_ports(1)
        with Answering(200) as clinic:
            wrong = (f'{CALM}[application]\nhealth = "http://127.0.0.1:{nobody_there}/"\n'
                     'health_interval = "1s"\nhealth_timeout = "1s"\n')
            with self.group(3, extra=wrong) as group:
                group.start()
                self.await_nobody(group)
                one = group.sidecars[2]
                self.assertIn("unhealthy", self.commanded(one, "status"))
                self.assertIn("refused", one.get("/v1/status")["application"]["why_not_healthy"])
                self.await_advice(one, "application", "it fails its health checks",
                                  "see to the application, or correct application.health; it is "
                                  "asked from here, with nothing but a GET")
                right = "[election]\n" + wrong.replace(f"http://127.0.0.1:{nobody_there}/",
                                                       clinic.url)
                for sidecar in group.sidecars:
                    self.reload(sidecar, group.config_of(sidecar, extra=right))
                self.await_whole(group, one)
                clinic.status = 503  # as when all of them ask one database
                self.await_nobody(group)
                self.assertIn("503", one.get("/v1/status")["application"]["why_not_healthy"])
                clinic.status = 200
                self.await_whole(group, one)
                self.await_health(one, "application")

    def test_a_longer_health_timeout_for_one_that_is_slow_now_and_then(self):
        with Answering(200) as clinic:
            extra = (f'{CALM}[application]\nhealth = "{clinic.url}"\nhealth_interval = "5s"\n'
                     'health_timeout = "{}"\nhealth_failures = 100\n')
            with self.led(extra=extra.format("300ms")) as group:
                one = group.sidecars[2]
                clinic.delay_s = 1
                self.await_advice(one, "application", "it is healthy, but the last check failed: ",
                                  "if checks fail now and then, raise application.health_timeout")
                for sidecar in group.sidecars:
                    self.reload(sidecar, group.config_of(
                        sidecar, extra="[election]\n" + extra.format("5s")))
                self.await_health(one, "application")
                self.await_whole(group, one)

    def test_members_that_shall_be_compared_by_score_get_one_priority(self):
        with self.led(extra=CALM) as group:
            low = group.sidecars[0]
            attachment.set_score(str(low.socket_file), 42)
            self.await_advice(low, "application", r"its score \(42\) decides nothing: no other "
                              "living member has its priority", "give members that shall be "
                              "compared by score the same node.priority")
            group.priorities = [100] * 3
            for sidecar in group.sidecars:
                sidecar.write_config(group.config_of(sidecar))
                self.restart(group, sidecar)
            attachment.set_score(str(low.socket_file), 42)
            self.await_whole(group, low)
            self.await_health(low, "application")


class Draining(ApplicationCase):
    """DrainTimesOut; Work that is under way."""

    def with_drain(self, timeout):
        return f'{CALM}[application]\ndrain_timeout = "{timeout}"\n'

    def timeouts(self, sidecar):
        return sidecar.count("bellwether_drains_total", result="timeout")

    def test_the_timeout_is_raised_or_it_says_drained(self):
        with self.led(extra=self.with_drain("200ms")) as group:
            _, second, leader = group.sidecars
            mine = self.attach(leader, "slow")
            self.commanded(leader, "step-down", "--hold", "1s", "--wait", "0s")
            self.await_drain(mine)
            group.await_leader(second)
            self.assertEqual(self.timeouts(leader), 1)
            leader.await_log("the application has not finished in time.*unfinished.*slow")
            group.await_leader(leader)
            for sidecar in group.sidecars:
                self.reload(sidecar, group.config_of(
                    sidecar, extra="[election]\n" + self.with_drain("1h")))
            self.commanded(leader, "step-down", "--hold", "1s", "--wait", "0s")
            event = self.await_drain(mine)
            self.assertIn("slow", self.commanded(leader, "status"))
            attachment.drained(str(leader.socket_file), event)
            group.await_leader(second)
            self.assertEqual(self.timeouts(leader), 1)
            self.assertEqual(leader.count("bellwether_drains_total", result="drained"), 1)
            self.await_whole(group, leader)

    def test_only_what_has_work_to_end_is_attached(self):
        """One of several applications is named: it is attached, and does not take part."""
        with self.led(extra=self.with_drain("3s")) as group:
            _, second, leader = group.sidecars
            worker, onlooker = self.attach(leader, "worker"), self.attach(leader, "onlooker")
            for count in (1, 1):
                self.commanded(leader, "step-down", "--hold", "1s", "--wait", "0s")
                event = self.await_drain(worker)
                with contextlib.suppress(attachment.Refused):
                    attachment.drained(str(leader.socket_file), event)
                group.await_leader(second)
                self.assertEqual(self.timeouts(leader), count)
                leader.await_log("unfinished=.?onlooker")
                onlooker.close()
                for sidecar in group.sidecars:
                    self.reload(sidecar, group.config_of(
                        sidecar, extra="[election]\n" + self.with_drain("1h")))
                self.await_whole(group, leader)


if __name__ == "__main__":
    main()
