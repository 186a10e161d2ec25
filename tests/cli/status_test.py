#!/usr/bin/env python3
"""What `status` and `explain` show of what a sidecar answers.

usage: status_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import json
import re

from command_line import USAGE, main
from fake_sidecar import (APPLICATION, EXPLANATION, FORGOTTEN, LEADER, MEMBERS, STATUS, STORE,
                          member)
from sidecar_case import Sidecar
from terminal import on_terminal


class Status(Sidecar):
    def test_is_a_page_for_people(self):
        text = re.sub(r"Z, .* ago: ", "Z, long ago: ", self.ask("status"))
        self.assertEqual(text, """\
group    orders, guard none, variant modified
leader   orders-2 leads, epoch 7
since    2026-01-31T09:00:01.250Z, long ago: a leader was announced
node     orders-0, following, ready
program  bellwether 0.1.0, plugin bully 0.2.0 (ABI 1.0), up 1m 5s
config   8f1b22c4

member    state  role             priority  address        heard     round trip  variant   version
orders-2  alive  leader           100       10.0.0.2:7946  40ms ago  0.312ms     modified  0.1.0
orders-1  alive  follower         100       10.0.0.1:7946  40ms ago  0.312ms     modified  0.1.0
orders-0  alive  follower (here)  100       10.0.0.0:7946  -         -           modified  0.1.0
""")

    def test_names_what_is_wrong(self):
        config = {"hash": "1", "pending_restart": ["node.listen", "node.name"],
                  "mismatches": ["orders-1 has lease 2s"]}
        self.sidecar.answers["/v1/status"] = (200, STATUS | {
            "is_ready": False, "why_not_ready": "the flag cannot be written", "config": config})
        self.sidecar.answers["/v1/leader"] = (200, LEADER | {"leader": None})
        self.sidecar.answers["/v1/members"] = (200, {"members": [member(1, state="down")]})
        text = self.ask("status")
        self.assertIn("leader    there is no leader\nsince     2026-01-31T09:00:01.250Z, ", text)
        self.assertIn("following, not ready: the flag cannot be written\n", text)
        self.assertIn("pending   node.listen\npending   node.name\n", text)
        self.assertIn("mismatch  orders-1 has lease 2s\n", text)
        self.assertRegex(text, r"orders-1  down   -  ")

    def test_tells_the_variant_in_force_from_the_one_that_is_wanted(self):
        self.sidecar.answers["/v1/status"] = (200, STATUS | {"variant": "classic"})
        self.assertIn("group    orders, guard none, variant modified (classic is wanted)\n",
                      self.ask("status"))

    def test_says_what_the_vote_of_a_voter_is_worth(self):
        self.assertNotIn("vote", self.ask("status"), "it is not a voter")
        self.assertNotIn("commands", self.ask("status"))
        self.sidecar.answers["/v1/status"] = (200, STATUS | {
            "commands": {"why_no_token_counts": "api.token_file /t is missing"}})
        self.assertIn("\ncommands  no token counts: api.token_file /t is missing\n",
                      self.ask("status"))
        for vote, line in ((FORGOTTEN, "forgotten: this voter has no vote: it asks in 7s"),
                           (FORGOTTEN | {"state": "in force", "why": None}, "in force")):
            self.sidecar.answers["/v1/status"] = (200, STATUS | {"vote": vote})
            self.assertIn(f"\nvote     {line}\n", self.ask("status"))
        self.sidecar.answers["/v1/status"] = (200, STATUS | {
            "vote": FORGOTTEN, "is_ready": False, "why_not_ready": FORGOTTEN["why"],
            "lacks": "vote"})
        text = self.ask("status")
        self.assertIn(f"not ready: {FORGOTTEN['why']}\n", text)
        self.assertIn("\nvote     forgotten\n", text)

    def test_says_who_holds_the_record_of_the_store_and_what_is_wrong(self):
        self.assertNotIn("store", self.ask("status"), "none decides")
        seen = STORE["record"]
        for record, text in (
                (seen, "held by orders-2, written 1.2s ago"),
                (seen | {"is_watched": False}, "held by orders-2 when it was last looked at"),
                (seen | {"state": "stranger", "holder": "other_1"},
                 "held by other_1, which is not a member, written 1.2s ago"),
                (seen | {"state": "released"}, "released"),
                (seen | {"state": "unknown", "holder": None}, "held by nobody who is known"),
                (None, "no record was seen")):
            self.sidecar.answers["/v1/status"] = (
                200, STATUS | {"store": STORE | {"record": record}})
            self.assertIn(f"\nstore    kubernetes shop/orders, {text}\n", self.ask("status"))
        trouble = STATUS | {"store": STORE | {"trouble": "it does not let us get"}}
        self.sidecar.answers["/v1/status"] = (200, trouble)
        self.assertIn("\n         it does not let us get\n", self.ask("status"))
        self.sidecar.answers["/v1/status"] = (200, trouble | {
            "is_ready": False, "why_not_ready": "it does not let us get", "lacks": "store"})
        self.assertEqual(self.ask("status").count("it does not let us get"), 1)

    def test_says_what_the_application_lets_it_do(self):
        self.assertNotIn("application", self.ask("status"), "an older sidecar says nothing of it")
        idle = APPLICATION | {"attach": False, "attached": [], "health": None, "is_healthy": None,
                              "score": 0}
        self.sidecar.answers["/v1/status"] = (200, STATUS | {"application": idle})
        self.assertNotIn("application", self.ask("status"), "nothing is asked of one")
        flaw = "http://127.0.0.1:8080/healthz answers 503"
        lost = {"is_able": False, "why_not": "absent", "attached": []}
        for application, text in (
                ({}, "worker attached, healthy, score 42"),
                ({"attached": ["a", "b"], "health": None, "score": 0}, "a, b attached"),
                (lost | {"health": None}, "none is attached, score 42, so this node does not lead"),
                ({"health": None, "score": 0, "draining": {
                    "epoch": 7, "reason": "step_down", "successor": "orders-1", "left_ms": 12_500,
                    "waiting_for": ["worker", "other"]}},
                 "worker attached, finishes for step_down, 12s left, waits for worker, other"),
                ({"is_able": False, "why_not": "unhealthy", "is_healthy": False,
                  "why_not_healthy": flaw, "attach": False, "attached": [], "score": -7},
                 f"not healthy: {flaw}, score -7, so this node does not lead")):
            self.sidecar.answers["/v1/status"] = (
                200, STATUS | {"application": APPLICATION | application})
            self.assertIn(f"\napplication  {text}\n", self.ask("status"))

    def test_says_so_when_nobodys_application_is_able(self):
        why = "nobody's application is able"
        self.sidecar.answers["/v1/status"] = (200, STATUS | {"why_nobody_leads": why})
        self.sidecar.answers["/v1/leader"] = (200, LEADER | {"leader": None})
        self.assertIn(f"\nleader   there is no leader: {why}\n", self.ask("status"))

    def test_points_to_a_vote_that_is_missing_where_nobody_leads(self):
        self.sidecar.answers["/v1/leader"] = (200, LEADER | {"leader": None})
        in_force = FORGOTTEN | {"state": "in force", "why": None}
        for vote, end in ((FORGOTTEN, ": see vote"), (in_force, "")):
            self.sidecar.answers["/v1/status"] = (200, STATUS | {"vote": vote})
            self.assertIn(f"\nleader   there is no leader{end}\n", self.ask("status"))
        self.sidecar.answers["/v1/status"] = (200, STATUS | {
            "vote": FORGOTTEN, "why_nobody_leads": "nobody's application is able"})
        self.assertIn("\nleader   there is no leader: see vote\n", self.ask("status"))
        self.sidecar.answers["/v1/leader"] = (200, LEADER)
        self.assertNotIn("see vote", self.ask("status"))

    def test_has_columns_for_the_application_where_members_speak_of_it(self):
        for members, head, row in (
                ([member(2), member(1, is_able=False, why_not_able="absent")],
                 r"role      application  priority",
                 r"orders-1  alive  follower  absent       100"),
                ([member(2, is_draining=True), member(1)], r"role      application  priority",
                 r"orders-2  alive  leader    finishes     100"),
                ([member(2, score=7), member(1, score=-70)],
                 r"role      score  priority", r"orders-1  alive  follower  -70    100")):
            self.sidecar.answers["/v1/members"] = (200, {"members": members})
            text = self.ask("status")
            self.assertIn(head, text)
            self.assertIn(row, text)

    def test_as_json_is_the_three_answers(self):
        answers = json.loads(self.ask("status", "--json"))
        self.assertEqual(answers, {"leader": LEADER, "status": STATUS, "members": MEMBERS})

    def test_tells_ages_as_people_do(self):
        ages = {0: "0ms", 999: "999ms", 3_849: "3.8s", 42_900: "42s", 312_000: "5m 12s",
                11_220_000: "3h 7m", 1_051_200_000: "12d 4h"}
        for heard_ms, text in ages.items():
            members = {"members": [member(1, last_heard_ms=heard_ms)]}
            self.sidecar.answers["/v1/members"] = (200, members)
            self.assertIn(f"  {text} ago  ", self.ask("status"))

    def test_without_a_time_of_change_has_no_age(self):
        for since in (None, "yesterday", "2999-01-31T09:00:01.250Z"):
            self.sidecar.answers["/v1/leader"] = (200, LEADER | {"since": since})
            self.assertIn(f"\nsince    {since or '-'}: a leader was announced", self.ask("status"))

    def test_of_a_sidecar_that_says_less_has_gaps(self):
        for path, least in (("/v1/leader", {"leader": None}), ("/v1/status", {"node": {}}),
                            ("/v1/members", {"members": [{}, 7]})):
            self.sidecar.answers[path] = (200, least)
        self.assertIn("there is no leader\nsince    -: -\n", self.ask("status"))

    def test_does_not_let_a_name_steer_the_terminal(self):
        members = {"members": [member(1, name="a\x1b[2Jb\x7f\n")]}
        self.sidecar.answers["/v1/members"] = (200, members)
        self.assertIn("\na?[2Jb??  alive", self.ask("status"))

    def test_has_colours_when_they_are_wanted_and_none_in_a_pipe(self):
        self.assertNotIn("\x1b", self.ask("status"))
        self.assertNotIn("\x1b", self.ask("status", "--color", "never"))
        text = self.ask("status", "--color", "always")
        self.assertIn("\x1b[1morders-2\x1b[0m", text)
        self.assertIn("\x1b[32malive\x1b[0m", text)
        self.assertEqual(re.sub("\x1b\\[[0-9;]*m", "", text), self.ask("status"))

    def test_has_colours_on_a_terminal_unless_the_user_says_no(self):
        for environment, expected in (({}, True), ({"NO_COLOR": "1"}, False),
                                      ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)):
            text = on_terminal([self.program, "status", "--api", self.sidecar.url],
                               environment=environment)
            self.assertEqual("\x1b[" in text, expected, environment)

    def test_fits_a_narrow_terminal_with_its_most_important_columns(self):
        heads = {120: "member state role priority address heard round trip variant version",
                 80: "member state role priority address heard variant", 40: "member state role"}
        for columns, expected in heads.items():
            text = on_terminal([self.program, "status", "--api", self.sidecar.url], columns,
                               {"NO_COLOR": "1"})
            table = text.splitlines()[-4:]
            self.assertEqual(table[0].split(), expected.split())
            self.assertLessEqual(max(map(len, table)), columns)

    def test_colour_that_does_not_exist(self):
        self.assertEqual(self.refused(USAGE, "status", "--color", "pink"),
                         '--color is one of auto, always, never, not "pink"')


class Explain(Sidecar):
    def test_has_a_line_for_each_member(self):
        self.assertEqual(self.ask("explain"), """\
group    orders, guard none
seen by  orders-0
leader   orders-2

orders-2  It leads, in epoch 7; last heard 40ms ago.
n1        It is down: its host refuses connections, for 12s.
""")

    def test_says_why_nobody_leads_where_all_share_the_reason(self):
        for why, line in ((None, "there is no leader"),
                          ("Nobody's application is able.",
                           "there is no leader. Nobody's application is able.")):
            self.sidecar.answers["/v1/explain"] = (
                200, EXPLANATION | {"leader": None, "why_nobody_leads": why})
            self.assertIn(f"\nleader   {line}\n\n", self.ask("explain"))

    def test_says_why_this_voter_has_no_vote(self):
        for state in ("forgotten", "broken", "shut out"):
            self.sidecar.answers["/v1/explain"] = (
                200, EXPLANATION | {"vote": FORGOTTEN | {"state": state, "why": "it waits"}})
            self.assertIn(f"\nits vote  {state}: it waits\n\n", self.ask("explain"))

    def test_as_json_is_the_answer(self):
        self.assertEqual(json.loads(self.ask("explain", "--json")), EXPLANATION)

    def test_of_a_sidecar_that_says_less_has_gaps(self):
        self.sidecar.answers["/v1/explain"] = (200, {"members": [{}, 7]})
        self.assertIn("\nleader   there is no leader\n\n-  -\n", self.ask("explain"))

    def test_fits_a_narrow_terminal(self):
        text = on_terminal([self.program, "explain", "--api", self.sidecar.url], 40,
                           {"NO_COLOR": "1"})
        self.assertEqual([line.rstrip() for line in text.splitlines()[-4:]],
                         ["orders-2  It leads, in epoch 7; last",
                          "          heard 40ms ago.",
                          "n1        It is down: its host refuses",
                          "          connections, for 12s."])

    def test_has_colours_when_they_are_wanted(self):
        self.assertIn("\x1b[1morders-2", self.ask("explain", "--color", "always"))


if __name__ == "__main__":
    main()
