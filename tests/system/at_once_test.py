#!/usr/bin/env python3
"""Each key whose change is applied while running: a group of three takes the new value, keeps its
leader and its epoch, and does as the new value says.

usage: at_once_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import functools
import json
import pathlib
import re
import signal
import socket
import ssl
import sys

from advice_case import Answering
from certificates import Identity
from harness import wait_until
from hook_security_test import Receiver, is_signed_by
from system_case import PATIENT, main
from tls_case import HOST_NAMES, TlsCase

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/apps/python"))
import attachment  # noqa: E402: from the examples

HOUR_MS = 3_600_000
CHECKS = "bellwether_application_health_checks_total"


def with_key(text, key, value):
    """The configuration `text` with another value of this key."""
    table, name = key.split(".")
    head = "[[hook]]\n" if table == "hook" else f"[{table}]\n"
    line = f"{name} = {json.dumps(value)}\n"
    before, found, rest = text.partition(head)
    if not found:
        return f"{text}{head}{line}"
    body, *after = re.split(r"^(?=\[)", rest, maxsplit=1, flags=re.MULTILINE)
    body = re.sub(rf"^{name} = .*\n", "", body, flags=re.MULTILINE)
    return "".join((before, head, line, body, *after))


def shows(*keys):
    """What the case changes."""
    def decorate(case):
        @functools.wraps(case)
        def run(self):
            case(self)
            self.assertEqual(self.changed, set(keys))
        run.keys = keys
        return run
    return decorate


def timers(sidecar):
    return (sidecar.get("/v1/status") or {"timers_due_in_ms": {}})["timers_due_in_ms"]


def application(sidecar):
    return sidecar.get("/v1/status")["application"]


class AtOnce(TlsCase):
    def setUp(self):
        super().setUp()
        self.changed = set()

    @contextlib.contextmanager
    def running(self, extra=PATIENT, size=3, priorities=None):
        """Three voters that are led by the highest of them, or by any of equal ones."""
        with self.group(size, extra=extra, voters=3, priorities=priorities,
                        tls=lambda _: "") as group:
            group.observe(self.observer)
            group.start("--bootstrap")
            group.await_leader(None if priorities else group.sidecars[2])
            yield group
            self.assertEqual(group.observer.doubles, [])

    def change(self, group, changes, sidecars=()):
        """{key: value}, on all of them, or on these: one after the other, as an operator does."""
        leader = group.await_leader()
        epoch = leader.epoch()
        for sidecar in sidecars or group.sidecars:
            text = sidecar.config_file.read_text()
            for key, value in changes.items():
                text = with_key(text, key, value)
            sidecar.write_config(text)
            status, _, answer = sidecar.request("POST", "/v1/reload")
            self.assertEqual(status, 200, answer)
            answer = json.loads(answer)
            self.assertEqual(answer["pending_restart"], [], answer)
            told = {change["key"] for change in answer["changed"]}
            for key in changes:
                self.assertIn("hook" if key.startswith("hook.") else key, told)
        self.assertEqual((group.await_leader(), leader.epoch()), (leader, epoch))
        self.changed.update(changes)

    def test_there_is_a_case_for_each_key(self):
        keys = re.findall(r"^(\S+)\n(?: .*\n)*? .*a change is applied while running",
                          self.run_program("check", "--keys").stdout, re.MULTILINE)
        self.assertGreater(len(keys), 30)
        shown = [key for case in vars(type(self)).values()
                 for key in getattr(case, "keys", ())]
        self.assertEqual(sorted(keys), sorted(shown))

    @shows("failure_detector.heartbeat_interval", "failure_detector.suspect_after",
           "election.answer_timeout", "election.coordinator_timeout")
    def test_how_long_is_waited(self):
        with self.running('answer_timeout = "500ms"\nlease = "6s"\n'
                          '[failure_detector]\nsuspect_after = "1s"\n') as group:
            low, middle, leader = group.sidecars
            self.change(group, {"failure_detector.heartbeat_interval": "2s",
                                "failure_detector.suspect_after": "4500ms"})
            wait_until("beats are rarer", lambda: timers(leader).get("heartbeat", 0) > 1000)
            wait_until("silence is suspicious later",
                       lambda: timers(low).get("suspicion", 0) > 3000)
            self.change(group, {"election.answer_timeout": "3s",
                                "election.coordinator_timeout": "20s"})
            leader.send_signal(signal.SIGSTOP)  # and does not answer
            low.request("POST", "/v1/elect")
            for what, least_ms in (("an answer", 1000), ("a claim", 10_000)):
                wait_until(f"{what} is waited for longer",
                           lambda least_ms=least_ms: timers(low).get("election", 0) > least_ms)

    @shows("election.variant", "election.preempt", "election.preempt_delay")
    def test_who_is_taken_over_from(self):
        with self.running('preempt_delay = "1h"\n' + PATIENT) as group:
            _, middle, high = group.sidecars
            self.change(group, {"election.variant": "classic"})
            wait_until("all know it of all", lambda: {
                member["variant"] for each in group.sidecars
                for member in each.members().values()} == {"classic"})
            high.kill()
            group.await_leader(middle)
            self.assertEqual(middle.get("/v1/leader")["variant"], "classic")
            high.start()
            wait_until("it waits", lambda: timers(high).get("preempt", 0) > HOUR_MS / 2)
            self.change(group, {"election.preempt": "never"})
            wait_until("it waits no more", lambda: "preempt" not in timers(high))
            self.change(group, {"election.preempt": "always"})
            wait_until("it waits again", lambda: timers(high).get("preempt", 0) > HOUR_MS / 2)
            self.change(group, {"election.preempt_delay": "20m"})
            wait_until("it waits less", lambda: 0 < timers(high).get("preempt", 0) < HOUR_MS / 2)

    @shows("membership.peers", "membership.dns", "membership.reap_after")
    def test_who_is_a_member(self):
        with self.running(size=4) as group, contextlib.ExitStack() as stack:
            *voters, guest = group.sidecars
            listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0)))
                         for _ in range(2)]
            for listener in listeners:
                listener.settimeout(60)
            peer, name = (listener.getsockname()[1] for listener in listeners)
            places = [f"127.0.0.1:{each.peer_port}" for each in group.sidecars]
            self.change(group, {"membership.peers": [*places, f"127.0.0.1:{peer}"]})
            listeners[0].accept()[0].close()  # somebody looks for a member there
            self.change(group, {"membership.dns": f"localhost:{name}"})
            listeners[1].accept()[0].close()
            self.assertEqual(guest.stop(), 0)
            self.change(group, {"membership.reap_after": "1s"}, voters)
            for sidecar in voters:
                wait_until("who has left is forgotten",
                           lambda each=sidecar: guest.name not in each.members())

    @shows("log.level", "log.format")
    def test_what_is_logged(self):
        with self.running() as group:
            low, *others = group.sidecars
            self.change(group, {"log.level": "debug"})
            self.change(group, {"log.format": "json"}, others)
            low.kill()
            low.start()  # of which the others tell at this level
            for sidecar in others:
                sidecar.await_log(r"(?m)^\{.*connected")
                lines = [json.loads(line) for line in
                         re.findall(r"^\{.*(?=\n)", sidecar.log(), re.MULTILINE)]
                self.assertIn("debug", {line["level"] for line in lines})

    @shows("application.attach", "application.grace", "application.drain_timeout")
    def test_what_is_asked_of_applications(self):
        with self.running() as group:
            low, middle, leader = group.sidecars
            place = str(leader.socket_file)
            keeping = attachment.attach(str(middle.socket_file), "worker")
            self.addCleanup(keeping.close)
            mine = attachment.attach(place, "worker")
            self.change(group, {"application.attach": True})
            wait_until("one without an application is not able",
                       lambda: not leader.members()[low.name]["is_able"])
            self.change(group, {"application.grace": "1m"})
            epoch = leader.epoch()
            mine.close()
            wait_until("it is missed", lambda: application(leader)["attached"] == [])
            self.assertTrue(application(leader)["is_able"])
            mine = attachment.attach(place, "worker")
            self.addCleanup(mine.close)
            self.assertEqual((group.await_leader(leader), leader.epoch()), (leader, epoch))
            self.change(group, {"application.drain_timeout": "1h"})
            leader.request("POST", "/v1/step-down", {})
            drain = next(event for event in mine if event.type == attachment.DRAIN)
            self.assertGreater(drain.left_ms, HOUR_MS / 2)
            self.assertTrue(leader.is_leader())
            attachment.drained(place, drain)
            group.await_leader(middle)

    @shows("application.health", "application.health_interval", "application.health_timeout",
           "application.health_failures")
    def test_how_its_health_is_checked(self):
        with Answering(200) as old, Answering(200) as served, self.running(
                f'{PATIENT}[application]\nhealth = "{old.url}"\nhealth_interval = "1m"\n'
                'health_failures = 100\n') as group:
            low = group.sidecars[0]
            self.change(group, {"application.health": served.url})
            wait_until("another one is asked", lambda: served.asked)
            before = low.count(CHECKS)
            self.change(group, {"application.health_interval": "300ms"})
            wait_until("it is asked often", lambda: low.count(CHECKS) > before + 10)
            served.delay_s = 1
            wait_until("it is too slow", lambda: application(low)["why_not_healthy"])
            self.change(group, {"application.health_interval": "1500ms",
                                "application.health_timeout": "1500ms"})
            wait_until("it has more time", lambda: not application(low)["why_not_healthy"])
            served.delay_s, served.status = 0, 500
            wait_until("it fails", lambda: "500" in (application(low)["why_not_healthy"] or ""))
            self.assertTrue(application(low)["is_healthy"])  # until it has failed for minutes
            self.change(group, {"application.health_failures": 1}, [low])
            wait_until("one failure is enough", lambda: not application(low)["is_healthy"])

    @shows("application.score_margin")
    def test_whose_score_is_high_enough(self):
        with self.running('preempt_delay = "1h"\n' + PATIENT, priorities=[100] * 3) as group:
            best = group.followers()[0]
            attachment.set_score(str(best.socket_file), 500)
            wait_until("it is to take over", lambda: "preempt" in timers(best))
            self.change(group, {"application.score_margin": 1000})
            wait_until("it is not", lambda: "preempt" not in timers(best))
            self.change(group, {"application.score_margin": 499})
            wait_until("it is", lambda: "preempt" in timers(best))

    @shows("tls.mode", "tls.secret_file", "tls.cert", "tls.key", "tls.ca", "tls.members",
           "tls.shared_folder")
    def test_how_members_know_each_other(self):
        with self.running() as group:
            self.await_security(group, "plain")
            self.change(group, {"tls.secret_file": str(self.secret("0" * 64)),
                                "tls.mode": "permissive"})
            self.await_security(group, "psk")
            # Without one of the three there is no TLS by certificates.
            identities = {each: self.identity(each) for each in group.sidecars}
            for sidecar, identity in identities.items():
                self.change(group, {"tls.secret_file": "", "tls.cert": str(identity.cert),
                                    "tls.key": str(identity.key), "tls.ca": str(identity.ca)},
                            [sidecar])
            self.await_security(group, "tls")
            odd, _, leader = group.sidecars
            self.change(group, {"tls.members": ["127.0.0.1", "odd.org"]})
            identities[odd].take(*self.authority.issue([*HOST_NAMES[:1], "DNS:odd.org"]),
                                 self.authority.pem())
            wait_until("it is believed", lambda: "odd.org" in (
                leader.members()[odd.name].get("certificate") or ""))
            identities[odd].key.chmod(0o644)
            wait_until("that is refused", lambda: "may be read by everybody" in (
                odd.get("/v1/status")["tls"]["why_not_in_force"] or ""))
            self.change(group, {"tls.shared_folder": True}, [odd])
            wait_until("it is in force", lambda: (
                odd.get("/v1/status")["tls"]["why_not_in_force"] is None))

    def await_told(self, receiver, condition):
        """Again, in this way."""
        before = len(receiver.requests)
        wait_until("it is told", lambda: any(
            condition(headers, body) for headers, body in receiver.requests[before:]))

    @shows("hook.url", "hook.timeout", "hook.secret_file", "hook.shared_folder")
    def test_who_is_told_and_how_it_is_signed(self):
        text = "a-secret-of-24-characters"
        secret = self.secret(text)
        with Answering(204) as slow, Receiver() as receiver, self.running() as group:
            leader = group.sidecars[2]
            delivered = functools.partial(leader.count, "bellwether_hook_deliveries_total")
            slow.delay_s = 1
            self.change(group, {"hook.url": slow.url, "hook.timeout": "20ms"})
            wait_until("it is too slow", lambda: delivered(result="failed"))
            self.change(group, {"hook.timeout": "30s"})
            wait_until("it has more time", lambda: delivered(result="delivered"))
            receiver.status = 503  # so that it is told again and again
            self.change(group, {"hook.url": receiver.url})
            self.await_told(receiver, lambda headers, _: "webhook-signature" not in headers)
            self.change(group, {"hook.secret_file": str(secret)})
            self.await_told(receiver, functools.partial(is_signed_by, text))
            for sidecar in group.sidecars:
                wait_until("its files count", lambda each=sidecar: each.get(
                    "/v1/status")["tls"]["hooks"]["why_not_in_force"] is None)
            secret.chmod(0o644)
            wait_until("that is refused", lambda: "may be read by everybody" in (
                leader.get("/v1/status")["tls"]["hooks"]["why_not_in_force"] or ""))
            self.change(group, {"hook.shared_folder": True})
            wait_until("it is in force", lambda: (
                leader.get("/v1/status")["tls"]["hooks"]["why_not_in_force"] is None))
            self.await_told(receiver, functools.partial(is_signed_by, text))

    @shows("hook.ca", "hook.cert", "hook.key")
    def test_how_its_receiver_is_known(self):
        """Without one of the three it is told nothing."""
        own = Identity(self.folder / "receiver").take(*self.authority.issue(HOST_NAMES), "")
        sender = Identity(self.folder / "sender").take(
            *self.authority.issue(["DNS:orders"]), self.authority.pem())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(own.cert, own.key)
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(self.authority.certificate)
        with Receiver(context) as receiver, self.running(
                f'{PATIENT}[[hook]]\nurl = "{receiver.url}"\n') as group:
            for sidecar in group.sidecars:
                sidecar.await_log("a webhook failed")
            self.change(group, {"hook.ca": str(sender.ca), "hook.cert": str(sender.cert),
                                "hook.key": str(sender.key)})
            wait_until("it is told by all", lambda: len(
                {json.loads(body)["source"] for _, body in receiver.requests}) == 3)


if __name__ == "__main__":
    main()
