#!/usr/bin/env python3
"""An application in C says by attachment.h what it is worth, to a real sidecar: over its socket,
and over TCP by a token.

usage: score_test.py SCORER BELLWETHER [CASE...]; a case is Class.test_name
"""

import errno
import os
import subprocess
import sys
import unittest

import languages
from harness import CALM, Group, wait_until

SCORER, PROGRAM = "", ""


class Score(unittest.TestCase):
    def setUp(self):
        group = self.enterContext(Group(PROGRAM, 1, "[election]\n" + CALM))
        self.sidecar, = group.sidecars
        self.token = os.urandom(16).hex()
        file = group.folder / "token"
        file.touch(mode=0o600)
        file.write_text(self.token)
        self.sidecar.write_config(group.config_of(self.sidecar).replace(
            "[metrics]", f'token_file = "{file}"\n[metrics]'))
        group.start()
        wait_until("it is served", self.sidecar.socket_file.exists)

    def say(self, place, score, *token):
        return subprocess.run([SCORER, place, str(score), *token], check=False,
                              timeout=60).returncode

    def check_that_it_is(self, score):
        self.assertEqual(self.sidecar.get("/v1/status")["application"]["score"], score)

    def test_it_is_told_over_the_socket(self):
        for score in (42, -(2**53 - 1)):
            self.assertEqual(self.say(self.sidecar.socket_file, score), 0)
            self.check_that_it_is(score)
        self.assertEqual(self.say(self.sidecar.socket_file, 2**53), errno.EPROTO)
        self.assertEqual(self.say("/nowhere", 42), errno.ENOENT)

    def test_it_is_told_over_tcp_by_the_token_alone(self):
        place = f"127.0.0.1:{self.sidecar.api_port}"
        self.assertEqual(self.say(place, 7, self.token), 0)
        self.check_that_it_is(7)
        for token in ((), ("another",)):
            self.assertEqual(self.say(place, 8, *token), errno.EACCES)
        self.assertEqual(self.say(place, 8, "half and half"), errno.ENOKEY)
        self.check_that_it_is(7)


if __name__ == "__main__":
    SCORER, PROGRAM = sys.argv[1:3]
    languages.main(sys.argv[3:])
