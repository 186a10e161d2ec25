#!/usr/bin/env python3
"""`bellwether check` as a user meets it: exit codes, what goes where, and both formats.

usage: check_test.py BELLWETHER [CASE...]; a case is Class.test_name
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest

NOBODY = 65534
OK, FAILURE, USAGE, INVALID, DOUBTFUL = 0, 1, 2, 3, 4

SOUND = """[group]
name = "orders"
[voters]
orders-0 = "10.0.0.7:7946"
orders-1 = "10.0.0.8:7946"
orders-2 = "10.0.0.9:7946"
[tls]
secret_file = "${SECRET}"
[node]
name = "${POD_NAME}"
"""
ROWS = ["sidecar killed, connection refused", "machine of the leader dies",
        "leader cut off from the others", "leader hears nobody, all hear it",
        "sidecar stopped (SIGSTOP)",
        "leader and the next in line silent", "planned hand-over",
        "planned hand-over, successor silent", "cold start"]


class Check(unittest.TestCase):
    program = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.secret = self.folder / "orders.secret"
        self.secret.touch(mode=0o600)
        self.secret.write_text("0" * 64)

    def check(self, text, *options, pod_name="orders-0"):
        (self.folder / "b.toml").write_text(text, "utf-8")
        return self.run_program("check", *options, "b.toml", pod_name=pod_name)

    def run_program(self, *arguments, pod_name="orders-0"):
        environment = {**os.environ, "POD_NAME": pod_name, "SECRET": str(self.secret)}
        return subprocess.run([self.program, *arguments], cwd=self.folder, env=environment,
                              text=True, capture_output=True, check=False)

    def test_of_a_store_the_slowest_answer_is_told(self):
        result = self.check("""
[group]
name = "orders"
[etcd]
endpoints = ["http://127.0.0.1:2379"]
""")
        self.assertIn("With a store that takes longer than 4s (2/5 lease)", result.stdout)
        self.assertIn("leader and next cut off from the store", result.stdout)
        self.assertNotIn("votes", result.stdout)

    def test_a_sound_file_is_printed_as_toml_in_silence(self):
        result = self.check(SOUND)
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        tables = tomllib.loads(result.stdout)
        self.assertEqual(tables["node"]["name"], "orders-0")
        self.assertEqual(tables["election"]["lease"], "1s")
        self.assertEqual(tables["flag"]["mode"], 0o640)

    def test_what_is_printed_is_sound_and_printed_alike(self):
        first = self.check(SOUND).stdout
        second = self.check(first, pod_name="other")
        self.assertEqual((second.returncode, second.stderr), (OK, ""))
        self.assertEqual(tomllib.loads(first), tomllib.loads(second.stdout))

    def test_every_kind_of_failover_has_its_time_and_its_sum(self):
        text = self.check(SOUND).stdout
        for row in ROWS:
            self.assertRegex(text, rf"\n#   {re.escape(row)}  +(\d+m?s \+ )?\d RTT  +\S")

    def test_what_the_application_decides_is_said(self):
        self.assertNotIn("application is", self.check(SOUND).stdout)
        text = self.check(SOUND + "[application]\nattach = true\n"
                          'health = "http://127.0.0.1:8080/healthz"\n').stdout
        self.assertRegex(text, r"\n#   application ends  +40ms \+ 2 RTT  +off before")
        self.assertRegex(text, r"\n#   application hangs  +1790ms \+ 2 RTT  +off before")
        self.assertIn("\n# This node leads only while its application is attached, and "
                      "http://127.0.0.1:8080/healthz answers with 200 to 299.\n", text)

    def test_warnings_go_to_stderr_and_change_the_exit_code(self):
        result = self.check(SOUND + '[api]\nlisten = "0.0.0.0:4040"\ninsecure = true\n')
        self.assertEqual(result.returncode, DOUBTFUL)
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertTrue(result.stderr.startswith("b.toml:13:12: warning: api.insecure: "))
        self.assertEqual(tomllib.loads(result.stdout)["api"]["listen"], "0.0.0.0:4040")

    def test_a_plugin_that_is_not_on_this_machine_is_a_warning(self):
        result = self.check(SOUND + '[election]\nplugin = "nope"\n')
        self.assertEqual(result.returncode, DOUBTFUL)
        self.assertIn("b.toml:12:10: warning: election.plugin: a sidecar on this machine would "
                      "not start; plugin ", result.stderr)
        self.assertIn("/bellwether-nope.so does not exist", result.stderr)

    def test_files_of_tls_that_are_of_no_use_here_are_a_warning(self):
        self.secret.chmod(0o644)
        result = self.check(SOUND)
        self.assertEqual(result.returncode, DOUBTFUL)
        self.assertRegex(result.stderr, "b.toml:8:15: warning: tls.secret_file: a sidecar with the "
                         "rights of this user would join no group with these files; "
                         "tls.secret_file .* may be read by everybody; chmod go=")

    def test_the_file_has_an_option_as_elsewhere(self):
        result = self.check(SOUND, "--config")
        self.assertEqual((result.returncode, result.stderr), (OK, ""))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_root_judges_with_the_rights_of_the_sidecars_user(self):
        os.chmod(self.folder, 0o755)
        state = self.folder / "state"
        state.mkdir()
        text = SOUND + f'state_dir = "{state}"\n'
        os.chown(self.secret, NOBODY, NOBODY)
        self.assertRegex(self.check(text).stderr, f"belongs to user {NOBODY}, who may change it")
        os.chown(state, NOBODY, NOBODY)
        result = self.check(text)
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        os.chown(self.secret, 0, 0)
        self.assertRegex(self.check(text).stderr, "rights of nobody would join no group with these "
                                                  "files; tls.secret_file .* Permission denied")
        self.assertEqual(self.check(text, "--user", "root").stderr, "")

    def test_a_file_without_an_end_is_refused(self):
        result = self.run_program("check", "/dev/zero")
        self.assertEqual(result.returncode, FAILURE)
        # Before that it says what it waits for, where a machine is slow.
        self.assertRegex(result.stderr,
                         r"\A(bellwether: cannot go on: /dev/zero keeps it waiting; .*\n)?"
                         r"bellwether: /dev/zero has no end, or is too long\n\Z")

    def test_errors_go_to_stderr_all_at_once_and_nothing_is_printed(self):
        result = self.check(SOUND + 'priority = -1\nlisten = "x"\n')
        self.assertEqual((result.returncode, result.stdout), (INVALID, ""))
        self.assertEqual([line[:16] for line in result.stderr.splitlines()],
                         ["b.toml:11:12: er", "b.toml:12:10: er"])

    def test_syntax_errors_are_errors(self):
        result = self.check("[group\n")
        self.assertEqual((result.returncode, result.stdout), (INVALID, ""))
        self.assertRegex(result.stderr, r"\Ab\.toml:1:\d+: error: .*; repair the TOML syntax\n\Z")

    def test_variables_come_from_the_environment(self):
        result = self.check(SOUND, pod_name="orders-9")
        self.assertEqual(result.returncode, DOUBTFUL)
        self.assertIn('this node, "orders-9", is not among its own [voters]',
                      result.stdout + result.stderr)

    def test_json_of_a_sound_file(self):
        result = self.check(SOUND + '[[hook]]\nurl = "http://a/"\n', "--json")
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        report = json.loads(result.stdout)
        self.assertTrue(report["valid"])
        self.assertEqual((report["errors"], report["warnings"]), ([], []))
        self.assertEqual(report["guard"], "majority")
        self.assertEqual(report["config"]["node"]["priority"], 100)
        self.assertEqual(report["config"]["flag"]["mode"], "0o640")
        self.assertEqual(report["config"]["membership"]["peers"], [])
        self.assertEqual(report["config"]["hook"], [
            {"url": "http://a/", "timeout": "2s", "ca": "", "cert": "", "key": "", "secret_file": "",
             "shared_folder": "off"}])
        self.assertEqual(report["config"]["voters"]["orders-1"], "10.0.0.8:7946")
        self.assertIn("node.name", report["given"])
        self.assertNotIn("node.priority", report["given"])
        self.assertEqual([row["failure"] for row in report["failover"]], ROWS)
        self.assertEqual(report["failover"][1]["at_most_ms"], 1000)
        self.assertEqual(report["failover"][1]["at_most_after_pause_ms"], 1640)

    def test_json_with_warnings(self):
        result = self.check('[group]\nname = "g"\n', "--json")
        self.assertEqual((result.returncode, result.stderr), (DOUBTFUL, ""))
        report = json.loads(result.stdout)
        self.assertTrue(report["valid"])
        self.assertIn("voters", [warning["key"] for warning in report["warnings"]])

    def test_json_with_errors(self):
        result = self.check(SOUND + "priority = -1\n", "--json")
        self.assertEqual((result.returncode, result.stderr), (INVALID, ""))
        report = json.loads(result.stdout)
        self.assertFalse(report["valid"])
        self.assertEqual(report["errors"], [
            {"line": 11, "column": 12, "key": "node.priority", "what": "-1 is out of range",
             "remedy": "give a whole number from 0 to 65535"}])

    def test_a_file_that_cannot_be_read(self):
        result = self.run_program("check", "nowhere.toml")
        self.assertEqual((result.returncode, result.stdout), (FAILURE, ""))
        self.assertEqual(result.stderr,
                         "bellwether: cannot read nowhere.toml: No such file or directory\n")

    def test_wrong_usage(self):
        for arguments in (["--nonsense"], ["a", "b"], ["a", "--config", "a"], ["--keys", "a"],
                          ["--keys", "--json"]):
            with self.subTest(arguments=arguments):
                result = self.run_program("check", *arguments)
                self.assertEqual((result.returncode, result.stdout), (USAGE, ""))
                self.assertTrue(result.stderr.startswith("bellwether: "), result.stderr)

    def test_keys_are_listed_with_their_help(self):
        result = self.run_program("check", "--keys")
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        tables = tomllib.loads(self.check(SOUND).stdout)
        for table, keys in tables.items():
            for key in keys if table != "voters" else []:
                self.assertIn(f"{table}.{key}\n    ", result.stdout)
        for word in ("[voters] NAME", "[[hook]]", "hook.url\n", "is applied while running"):
            self.assertIn(word, result.stdout)

    def test_help(self):
        result = self.run_program("check", "--help")
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        self.assertIn("Usage: bellwether check [OPTIONS] [FILE]", result.stdout)
        self.assertIn("Exit status:", result.stdout)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 100)


if __name__ == "__main__":
    Check.program = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
