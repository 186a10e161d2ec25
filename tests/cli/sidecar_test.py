#!/usr/bin/env python3
"""The subcommands that ask a running sidecar, against one that says what the test wants.

usage: sidecar_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import os
import socket

from command_line import FAILURE, USAGE, CommandLine, main
from fake_sidecar import UnixFake
from sidecar_case import Sidecar

CONFIG_INVALID = 3


class Commands(Sidecar):
    def posted(self):
        return [request for request, _ in self.sidecar.requests]

    def test_step_down(self):
        path = "/v1/step-down?wait=30s"
        self.sidecar.answers[path] = (200, {"result": "stepped down", "hold": "30s"})
        self.assertEqual(self.ask("step-down"), "stepped down, stays out for 30s\n")
        self.ask("step-down", "--hold", "10m")
        self.ask("step-down", "--now")
        self.assertEqual(self.posted(), [f"POST {path} {{}}", f'POST {path} {{"hold":"10m"}}',
                                         f'POST {path} {{"now":true}}'])

    def test_who_does_not_wait_hears_that_it_has_begun(self):
        self.sidecar.answers["/v1/step-down?wait=0s"] = (
            202, {"result": "stepping down", "hold": "30s"})
        self.assertEqual(self.ask("step-down", "--wait", "0s"),
                         "stepping down, stays out for 30s\n")

    def test_what_takes_longer_than_one_waits_has_not_succeeded(self):
        self.sidecar.answers["/v1/transfer?wait=90s"] = (
            202, {"result": "handing over", "to": "orders-1"})
        self.assertEqual(self.refused(FAILURE, "transfer", "orders-1", "--wait", "90s"),
                         "handing over to orders-1: not over yet, and goes on; see `bellwether "
                         "status`")

    def test_who_waits_is_told_for_what(self):
        self.sidecar.answers["/v1/step-down?wait=30s"] = (
            200, {"result": "stepped down", "hold": "30s"})
        self.sidecar.takes_s = 2.5
        result = self.run_program("step-down", "--api", self.sidecar.url)
        self.assertEqual((result.returncode, result.stdout),
                         (0, "stepped down, stays out for 30s\n"))
        self.assertIn("waits for the next leader; Ctrl-C ends the waiting, not the hand-over\n",
                      result.stderr)

    def test_what_came_to_nothing(self):
        error = "nobody has taken over: this node leads"
        self.sidecar.answers["/v1/step-down?wait=30s"] = (409, {"error": error})
        self.assertEqual(self.refused(FAILURE, "step-down"), error)

    def test_what_is_no_duration(self):
        for text in ("soon", "", "30", "-1s"):
            for command in (["step-down", "--hold"], ["step-down", "--wait"],
                            ["transfer", "orders-1", "--wait"]):
                line = self.refused(USAGE, *command[:-1], f"{command[-1]}={text}")
                self.assertIn(command[-1], line)
        self.assertEqual(self.posted(), [])

    def test_transfer(self):
        path = "/v1/transfer?wait=30s"
        self.sidecar.answers[path] = (200, {"result": "handed over", "to": "orders-1"})
        self.assertEqual(self.ask("transfer", "orders-1"), "handed over to orders-1\n")
        self.assertEqual(self.posted(), [f'POST {path} {{"to":"orders-1"}}'])

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
