#!/usr/bin/env python3
"""Leadership follows the application, told as one story with a real application in each language:
it starts late, hangs, is killed while its sidecar lives, crashes in a loop; all die, and one comes
back.

usage: lively_test.py LANGUAGE FOLDER_OF_PROGRAMS BELLWETHER [CASE...]; a case is Class.test_name
"""

import signal
import subprocess
import sys
import unittest

import languages
from harness import CALM, Group, free_ports, wait_until

LANGUAGE, PROGRAMS, PROGRAM = "", "", ""
NOBODY = "nobody's application is able"
CRASHES = 6
SETTINGS = "[election]\n" + CALM + "[application]\nattach = true\n" \
    'health_interval = "100ms"\nhealth_timeout = "100ms"\n'


class Application:
    """One beside its sidecar, which asks it at its port."""

    def __init__(self, command, sidecar, port):
        self.command = [*command, sidecar.socket_file, sidecar.name, str(port)]
        self.sidecar, self.process = sidecar, None

    def start(self):
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            self.command, stderr=subprocess.DEVNULL)

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def restart(self):
        self.kill()
        self.start()

    def is_able(self):
        return self.sidecar.get("/v1/status")["application"]["is_able"]

    def await_able(self, is_able=True):
        wait_until(f"{self.sidecar.name} is {'' if is_able else 'un'}able",
                   lambda: self.is_able() == is_able)


class Lively(unittest.TestCase):
    command = None

    @classmethod
    def setUpClass(cls):
        cls.command = languages.or_skip(languages.lively, LANGUAGE, PROGRAMS)

    def applications_of(self, group):
        """With the port of each in the configuration of its sidecar, which starts then."""
        ports = free_ports(len(group.sidecars))
        for sidecar, port in zip(group.sidecars, ports):
            sidecar.write_config(sidecar.config_file.read_text().replace(
                "attach = true\n",
                f'attach = true\nhealth = "http://127.0.0.1:{port}/healthz"\n'))
        group.start()
        for sidecar in group.sidecars:
            wait_until("it is served", sidecar.socket_file.exists)
        found = [Application(self.command, *each) for each in zip(group.sidecars, ports)]
        for application in found:
            self.addCleanup(application.kill)
        return found

    def await_nobody(self, group):
        for sidecar in group.sidecars:
            wait_until(f"{sidecar.name} says why nobody leads", lambda: sidecar.get(
                "/v1/status")["why_nobody_leads"] == NOBODY)  # pylint: disable=cell-var-from-loop
            self.assertFalse(sidecar.is_leader())

    def check_the_story(self, **options):
        with Group(PROGRAM, 3, SETTINGS, **options) as group:
            low, middle, high = applications = self.applications_of(group)
            self.await_nobody(group)
            low.start()  # the others start slowly
            group.await_leader(low.sidecar)
            middle.start()
            group.await_leader(middle.sidecar)
            high.start()
            group.await_leader(high.sidecar)

            high.process.send_signal(signal.SIGSTOP)  # attached as ever
            group.await_leader(middle.sidecar)
            self.assertEqual(high.sidecar.get("/v1/status")["application"]["why_not"], "unhealthy")
            middle.kill()
            group.await_leader(low.sidecar)

            middle.start()
            high.process.send_signal(signal.SIGCONT)
            for each in applications:
                each.await_able()
            epoch = low.sidecar.epoch()
            for _ in range(CRASHES):
                high.kill()
                high.await_able(False)
                high.start()
                high.await_able()
            high.kill()
            group.await_leader(middle.sidecar)
            # It has led twice at most: at once, and once more; each time another one after it.
            self.assertLess(low.sidecar.epoch() - epoch, CRASHES)

            for each in applications:
                each.kill()
            self.await_nobody(group)
            low.start()
            group.await_leader(low.sidecar)

    def test_leadership_follows_the_application(self):
        self.check_the_story()

    def test_leadership_of_voters_follows_the_application(self):
        self.check_the_story(voters=3)


if __name__ == "__main__":
    LANGUAGE, PROGRAMS, PROGRAM = sys.argv[1:4]
    languages.main(sys.argv[4:])
