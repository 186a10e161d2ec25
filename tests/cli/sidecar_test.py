#!/usr/bin/env python3
"""The subcommands that ask a running sidecar, against one that says what the test wants.

usage: sidecar_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import json
import os
import re
import socket

from command_line import FAILURE, USAGE, CommandLine, main
from fake_sidecar import (APPLICATION, EXPLANATION, FORGOTTEN, LEADER, MEMBERS, STATUS, STORE, TcpFake,
                          UnixFake, member)
from terminal import on_terminal

CONFIG_INVALID = 3


class Sidecar(CommandLine):
    def setUp(self):
        super().setUp()
        self.sidecar = TcpFake().start()
        self.addCleanup(self.sidecar.stop)

    def ask(self, *arguments):
        return self.succeed(*arguments, "--api", self.sidecar.url)

    def refused(self, code, *arguments):
        return self.fail_with(code, *arguments, "--api", self.sidecar.url)


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
        self.assertIn("\ncommands  refused over TCP: api.token_file /t is missing\n",
                      self.ask("status"))
        for vote, line in ((FORGOTTEN, "forgotten: this voter has no vote: it asks in 7s"),
                           (FORGOTTEN | {"state": "in force", "why": None}, "in force")):
            self.sidecar.answers["/v1/status"] = (200, STATUS | {"vote": vote})
            self.assertIn(f"\nvote     {line}\n", self.ask("status"))
        self.sidecar.answers["/v1/status"] = (200, STATUS | {
            "vote": FORGOTTEN, "is_ready": False, "why_not_ready": FORGOTTEN["why"]})
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
            "is_ready": False, "why_not_ready": "it does not let us get"})
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


class Commands(Sidecar):
    def posted(self):
        return [request for request, _ in self.sidecar.requests]

    def test_step_down(self):
        self.sidecar.answers["/v1/step-down"] = (200, {"result": "stepped down", "hold": "30s"})
        self.assertEqual(self.ask("step-down"), "stepped down; stays out for 30s\n")
        self.ask("step-down", "--hold", "10m")
        self.assertEqual(self.posted(), ["POST /v1/step-down {}",
                                         'POST /v1/step-down {"hold":"10m"}'])

    def test_hold_that_is_no_duration(self):
        for hold in ("soon", "", "30", "-1s"):
            line = self.refused(USAGE, "step-down", f"--hold={hold}")
            self.assertIn("--hold", line)
        self.assertEqual(self.posted(), [])

    def test_transfer(self):
        self.sidecar.answers["/v1/transfer"] = (200, {"result": "handing over", "to": "orders-1"})
        self.assertEqual(self.ask("transfer", "orders-1"), "handing over to orders-1\n")
        self.assertEqual(self.posted(), ['POST /v1/transfer {"to":"orders-1"}'])

    def test_transfer_to_nobody(self):
        self.assertIn("NAME is required", self.refused(USAGE, "transfer"))

    def test_elect(self):
        self.sidecar.answers["/v1/elect"] = (200, {"result": "election started"})
        self.assertEqual(self.ask("elect"), "election started\n")

    def test_forget(self):
        path = "/v1/members/orders-4/forget"
        self.sidecar.answers[path] = (200, {"result": "forgotten", "name": "orders-4"})
        self.assertEqual(self.ask("forget", "orders-4"), "forgotten: orders-4\n")
        self.assertEqual(self.posted(), [f"POST {path} {{}}"])

    def test_forget_encodes_what_a_stranger_has_called_itself(self):
        self.assertEqual(self.refused(FAILURE, "forget", "a b/c%?#"), "no such path")
        self.assertEqual(self.posted(), ["POST /v1/members/a%20b%2Fc%25%3F%23/forget {}"])

    def test_forget_nobody(self):
        self.assertIn("NAME is required", self.refused(USAGE, "forget"))
        self.sidecar.answers["/v1/members//forget"] = (400, {"error": "NAME has 1 to 63"})
        self.assertEqual(self.refused(FAILURE, "forget", ""), "NAME has 1 to 63")

    def test_reload(self):
        self.sidecar.answers["/v1/reload"] = (200, {
            "changed": [{"key": "log.level", "before": '"info"', "after": '"debug"'}],
            "pending_restart": [{"key": "node.priority", "before": "1", "after": "2"}],
            "warnings": []})
        self.assertEqual(self.ask("reload"), 'log.level: "info" -> "debug"\n'
                         "node.priority: 1 -> 2 (waits for a restart)\nreloaded\n")

    def test_reload_of_a_wrong_configuration_shows_every_error(self):
        self.sidecar.answers["/v1/reload"] = (422, {"error": "it is refused",
                                                    "errors": ["b.toml:1:1: x", "b.toml:2:1: y"]})
        result = self.run_program("reload", "--api", self.sidecar.url)
        self.assertEqual(result.returncode, FAILURE)
        self.assertEqual(result.stderr, "bellwether: it is refused\nb.toml:1:1: x\nb.toml:2:1: y\n")

    def test_a_refusal_is_all_that_is_printed(self):
        for command in (["transfer", "x"], ["forget", "x"], ["step-down"], ["elect"], ["reload"]):
            result = self.run_program(*command, "--api", self.sidecar.url)
            self.assertEqual((result.stdout, result.stderr), ("", "bellwether: no such path\n"))

    def test_refusal_of_the_sidecar_is_shown_in_its_own_words(self):
        for status in (400, 403, 404, 409, 412, 503):
            self.sidecar.answers["/v1/elect"] = (status, {"error": f"because {status}"})
            self.assertEqual(self.refused(FAILURE, "elect"), f"because {status}")


class Finding(Sidecar):
    def config(self, api):
        return self.write("b.toml", '[group]\nname = "orders"\n[node]\nname = "n"\n'
                          'listen = "127.0.0.1:7946"\nadvertise = "127.0.0.1:7946"\n'
                          f"[api]\n{api}\n")

    def test_by_every_form_of_address(self):
        host = f"127.0.0.1:{self.sidecar.port}"
        for api in (host, f"http://{host}", f"http://{host}/", f"localhost:{self.sidecar.port}"):
            self.assertIn("orders-2 leads", self.succeed("status", "--api", api))
        self.assertEqual(self.sidecar.requests[0][1]["Host"], host)

    def test_by_a_unix_socket(self):
        path = self.folder / "api.sock"
        sidecar = UnixFake(path).start()
        self.addCleanup(sidecar.stop)
        for api in (path, f"unix:{path}"):
            self.assertIn("orders-2 leads", self.succeed("status", "--api", api))
        config = self.config(f'listen = ""\nsocket = "{path}"')
        self.assertIn("orders-2 leads", self.succeed("status", "--config", config))

    def test_by_the_configuration(self):
        config = self.config(f'listen = "127.0.0.1:{self.sidecar.port}"')
        self.assertIn("orders-2 leads", self.succeed("status", "--config", config))

    def test_of_every_address_loopback_is_asked(self):
        config = self.config(f'listen = "0.0.0.0:{self.sidecar.port}"\ninsecure = true')
        self.assertIn("orders-2 leads", self.succeed("status", "--config", config))
        self.assertTrue(self.sidecar.requests[0][1]["Host"].startswith("127.0.0.1:"))

    def test_configuration_that_is_wrong(self):
        result = self.run_program("status", "--config", self.config("listn = 3"))
        self.assertEqual(result.returncode, CONFIG_INVALID)
        self.assertIn("b.toml:8:1: error: api.listn", result.stderr)

    def test_configuration_that_does_not_exist(self):
        line = self.fail_with(FAILURE, "status", "--config", "none.toml")
        self.assertEqual(line, "cannot read none.toml: No such file or directory")

    def test_what_is_no_address(self):
        for api in ("nonsense", "http://", "127.0.0.1:0", "https://127.0.0.1:x"):
            line = self.fail_with(USAGE, "status", "--api", api)
            self.assertIn(f'--api: "{api}" ', line)
            self.assertIn("; give http://HOST:PORT, https://HOST:PORT or the path of a unix socket",
                          line)


class NobodyThere(CommandLine):
    def test_no_sidecar_runs(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))  # taken, but nobody listens
            where = f"127.0.0.1:{free.getsockname()[1]}"
            for command in (["status"], ["explain"], ["watch"], ["watch", "--once"],
                            ["step-down"], ["transfer", "x"], ["elect"], ["reload"],
                            ["forget", "x"]):
                line = self.fail_with(FAILURE, *command, "--api", where)
                self.assertEqual(line, f"no sidecar answers at {where}: connection refused; "
                                       "is `bellwether run` running?")

    def test_no_socket(self):
        path = self.folder / "none.sock"
        line = self.fail_with(FAILURE, "status", "--api", path)
        self.assertEqual(line, f"no sidecar answers at {path}: no such file or directory; "
                               "is `bellwether run` running?")

    def test_a_path_that_is_too_long(self):
        line = self.fail_with(FAILURE, "status", "--api", "/" + "x" * 200)
        self.assertIn("the path is too long for a unix socket", line)

    def test_a_name_that_is_unknown(self):
        line = self.fail_with(FAILURE, "status", "--api", "nobody.invalid:1")
        self.assertIn("no sidecar answers at nobody.invalid:1: ", line)

    def listen(self, answer):
        """A server that says these bytes to one client, and closes."""
        pid_end, own_end = os.pipe()
        server = socket.create_server(("127.0.0.1", 0))
        child = os.fork()
        if child == 0:
            client, _ = server.accept()
            client.recv(65536)
            client.sendall(answer)
            client.shutdown(socket.SHUT_WR)
            os.read(pid_end, 1)
            os._exit(0)
        self.addCleanup(os.close, pid_end)
        self.addCleanup(os.waitpid, child, 0)
        self.addCleanup(os.write, own_end, b"x")
        self.addCleanup(server.close)
        return f"127.0.0.1:{server.getsockname()[1]}"

    def test_something_that_speaks_no_http(self):
        where = self.listen(b"220 mail.example ESMTP\r\n")
        self.assertIn(f"no sidecar answers at {where}: its answer is not HTTP",
                      self.fail_with(FAILURE, "status", "--api", where))

    def test_an_answer_that_is_nested_without_an_end(self):
        body = b'{"leader":' + 50000 * b"[" + 50000 * b"]" + b"}"
        where = self.listen(b"HTTP/1.0 200 OK\r\n\r\n" + body)
        self.assertIn(f"what answers at {where} is not a sidecar (status 200)",
                      self.fail_with(FAILURE, "status", "--api", where))

    def test_an_address_that_cannot_be_one(self):
        line = self.fail_with(USAGE, "status", "--api", "unix:")
        self.assertTrue(
            line.startswith('--api: "unix:" lacks the path after the colon; give http://'), line)

    def test_an_answer_that_is_cut_off(self):
        where = self.listen(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        self.assertIn(f"no sidecar answers at {where}: it closed the connection",
                      self.fail_with(FAILURE, "status", "--api", where))

    def test_another_server_that_answers_everything_with_an_object(self):
        body = b"HTTP/1.0 200 OK\r\n\r\n{}"
        for command in (("status",), ("status", "--json"), ("explain",), ("watch", "--once"),
                        ("step-down",), ("transfer", "a"), ("elect",), ("forget", "a"),
                        ("reload",)):
            with self.subTest(command=command):
                where = self.listen(body)
                line = self.fail_with(FAILURE, *command, "--api", where)
                self.assertEqual(line, f"what answers at {where} is not a sidecar (status 200); "
                                       "is that its [api] listen?")

    def test_another_http_server(self):
        where = self.listen(b"HTTP/1.0 404 Not Found\r\n\r\n<html>nothing here</html>")
        line = self.fail_with(FAILURE, "status", "--api", where)
        self.assertEqual(line, f"what answers at {where} is not a sidecar (status 404); "
                               "is that its [api] listen?")

    def test_somebody_who_never_answers(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            where = f"127.0.0.1:{silent.getsockname()[1]}"
            line = self.fail_with(FAILURE, "elect", "--api", where)
        self.assertEqual(line, f"no sidecar answers at {where}: no whole answer within 5s; "
                               "is `bellwether run` running?")


class HelpOfSidecarCommands(CommandLine):
    def test_every_command_has_help_with_examples_and_exit_status(self):
        for command in ("status", "explain", "watch", "step-down", "transfer", "elect", "reload",
                        "forget"):
            text = self.succeed(command, "--help")
            self.assertIn(f"Usage: bellwether {command} [OPTIONS]", text)
            self.assertIn(f"\n  bellwether {command}", text)
            self.assertIn("Exit status:", text)
            self.assertLessEqual(max(map(len, text.splitlines())), 100, command)
            self.assertIn(f"\n  {command} ", self.succeed("--help"))


if __name__ == "__main__":
    main()
