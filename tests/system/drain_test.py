#!/usr/bin/env python3
"""Before a leader hands over, its applications finish: real sidecars, with applications that do,
that never do, that die meanwhile; and a take-over from a working leader, which shows no two flags.

usage: drain_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import concurrent.futures
import itertools
import pathlib
import signal
import sys

from harness import wait_until
from hooks_test import Receiver
from system_case import CALM, SystemCase, main

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/apps"
sys.path.insert(0, str(EXAMPLES / "python"))
import attachment  # noqa: E402: from the examples
import leader_flag  # noqa: E402

APPLICATION = '[application]\ndrain_timeout = "{}"\n'
LONG, SHORT = CALM + APPLICATION.format("1h"), CALM + APPLICATION.format("300ms")


def draining(sidecar):
    """As it says of itself; None: its application is not asked to finish."""
    return (sidecar.get("/v1/status") or {"application": {"draining": None}})[
        "application"]["draining"]


def seen_draining(sidecar):
    """Names, in its list of members."""
    return [name for name, member in sidecar.members().items() if member["is_draining"]]


class DrainCase(SystemCase):
    def attach(self, sidecar, name):
        wait_until(f"{sidecar.name} is served", sidecar.socket_file.exists)
        mine = attachment.attach(str(sidecar.socket_file), name)
        self.addCleanup(mine.close)
        return mine

    def step_down(self, sidecar, **body):
        status, _, answer = sidecar.request("POST", "/v1/step-down", body)
        self.assertIn(status, (200, 202), answer)

    @staticmethod
    def await_drain(mine):
        return next(event for event in mine if event.type == attachment.DRAIN)


class Drain(DrainCase):
    def test_it_waits_for_all_that_are_attached(self):
        with self.group(extra=LONG) as group:
            leader = group.start().await_leader(group.sidecars[2])
            first, second = self.attach(leader, "first"), self.attach(leader, "second")
            flag = leader_flag.open_flag(leader.flag_file)
            token = flag.begin(0)
            self.step_down(leader)
            event = self.await_drain(first)
            self.assertEqual((event.epoch, event.reason, event.successor),
                             (token, "step_down", group.sidecars[1].name))
            self.assertGreater(event.left_ms, 3_000_000)
            other = self.await_drain(second)
            self.assertNotEqual(other.attachment, event.attachment)
            self.assertEqual(other._replace(left_ms=0, attachment=0),
                             event._replace(left_ms=0, attachment=0))
            self.assertEqual(draining(leader)["waiting_for"], ["first", "second"])
            self.assertIsNone(flag.begin(0))
            self.assertTrue(flag.still(token))
            place = str(leader.socket_file)
            self.check_refused(place, event._replace(epoch=token + 1), 409)
            self.check_refused(place, event._replace(attachment=1), 404)
            attachment.drained(place, event)
            attachment.drained(place, event)  # twice does no harm
            self.assertEqual(draining(leader)["waiting_for"], ["second"])
            attachment.drained(place, other)
            group.await_leader(group.sidecars[1])
            self.assertFalse(flag.still(token))
            self.assertEqual(leader.count("bellwether_drains_total", result="drained"), 1)
            self.check_refused(place, other, 409)
            flag.close()

    def check_refused(self, place, drain, status):
        with self.assertRaises(attachment.Refused) as refused:
            attachment.drained(place, drain)
        self.assertEqual(refused.exception.status, status)

    def say_drained_by_name(self, sidecar, name, epoch):
        return sidecar.request("POST", f"/v1/application/drained?name={name}", {"epoch": epoch})[0]

    def test_who_comes_in_the_midst_of_it_neither_ends_it_nor_prolongs_it(self):
        """As a worker does that is started again under its name, while the old one finishes."""
        with self.group(extra=LONG) as group:
            leader = group.start().await_leader(group.sidecars[2])
            old = self.attach(leader, "worker")
            flag = leader_flag.open_flag(leader.flag_file)
            self.addCleanup(flag.close)
            token = flag.begin(0)
            self.step_down(leader)
            event = self.await_drain(old)
            told = [event.type for event in itertools.islice(self.attach(leader, "worker"), 2)]
            self.assertEqual(told, [attachment.ATTACHED, attachment.FOLLOW])
            self.check_refused(str(leader.socket_file),
                               event._replace(attachment=event.attachment + 1), 404)
            self.assertEqual(self.say_drained_by_name(leader, "worker", token), 409)
            self.assertEqual(draining(leader)["waiting_for"], ["worker"])
            self.assertTrue(flag.still(token))
            old.close()
            group.await_leader(group.sidecars[1])
            self.assertEqual(leader.count("bellwether_drains_total", result="drained"), 1)

    def test_one_of_two_of_a_name_does_not_speak_for_the_other(self):
        with self.group(extra=LONG) as group:
            leader = group.start().await_leader(group.sidecars[2])
            first, second = self.attach(leader, "worker"), self.attach(leader, "worker")
            self.step_down(leader)
            drains = self.await_drain(first), self.await_drain(second)
            place = str(leader.socket_file)
            for _ in range(2):
                attachment.drained(place, drains[0])
            self.assertEqual(self.say_drained_by_name(leader, "worker", drains[0].epoch), 409)
            self.assertEqual(draining(leader)["waiting_for"], ["worker"])
            attachment.drained(place, drains[1])
            group.await_leader(group.sidecars[1])

    def test_a_name_that_one_has_is_enough(self):
        with self.group(extra=LONG) as group:
            leader = group.start().await_leader(group.sidecars[2])
            mine = self.attach(leader, "worker")
            self.step_down(leader)
            epoch = self.await_drain(mine).epoch
            self.assertEqual(self.say_drained_by_name(leader, "nobody", epoch), 404)
            self.assertEqual(self.say_drained_by_name(leader, "worker", epoch), 200)
            group.await_leader(group.sidecars[1])

    def test_it_waits_no_longer_than_it_may_and_names_who_did_not_answer(self):
        with self.group(extra=SHORT) as group:
            leader = group.start().await_leader(group.sidecars[2])
            self.attach(leader, "sleeper")
            self.step_down(leader)
            group.await_leader(group.sidecars[1])
            self.assertEqual(leader.count("bellwether_drains_total", result="timeout"), 1)
            leader.await_log(r"the application has not finished in time.*unfinished.*sleeper")

    def test_an_application_that_ends_is_not_waited_for(self):
        with self.group(extra=LONG) as group:
            leader = group.start().await_leader(group.sidecars[2])
            mine = self.attach(leader, "mortal")
            self.step_down(leader)
            self.await_drain(mine)
            mine.close()
            group.await_leader(group.sidecars[1])
            self.assertEqual(leader.count("bellwether_drains_total", result="detached"), 1)

    def test_the_command_waits_until_it_is_done(self):
        with self.group(extra=LONG) as group, \
                concurrent.futures.ThreadPoolExecutor(1) as operator:
            leader = group.start().await_leader(group.sidecars[2])
            mine = self.attach(leader, "worker")
            command = operator.submit(self.run_program, "step-down", "--api", leader.api_url)
            event = self.await_drain(mine)
            self.assertEqual(leader.request("POST", "/v1/step-down", {})[0], 202)
            self.assertFalse(command.done())
            attachment.drained(str(leader.socket_file), event)
            result = command.result()
            self.assertEqual((result.returncode, result.stdout.rstrip()),
                             (0, "stepped down, stays out for 30s"))

    def test_the_command_says_so_though_the_leader_leaves_meanwhile(self):
        with self.group(extra=LONG) as group, \
                concurrent.futures.ThreadPoolExecutor(1) as operator:
            leader = group.start().await_leader(group.sidecars[2])
            mine = self.attach(leader, "worker")
            command = operator.submit(self.run_program, "transfer", "n0", "--api", leader.api_url)
            event = self.await_drain(mine)
            leader.is_wanted = False
            leader.send_signal(signal.SIGTERM)
            leader.await_log("leaving the group")
            attachment.drained(str(leader.socket_file), event)
            result = command.result()
            self.assertEqual((result.returncode, result.stdout), (0, "handed over to n0\n"))
            self.assertEqual(leader.await_exit(), 0)

    def test_the_command_says_that_nobody_took_over(self):
        for command, why in (
                (["step-down"], "nobody has taken over: this node leads"),
                (["transfer", "n0"], "n0 has not taken over: this node leads")):
            with self.subTest(command=command), self.group(2, extra=LONG) as group, \
                    concurrent.futures.ThreadPoolExecutor(1) as operator:
                other, leader = group.start().sidecars
                group.await_leader(leader)
                mine = self.attach(leader, "worker")
                done = operator.submit(self.run_program, *command, "--api", leader.api_url)
                self.await_drain(mine)
                other.kill()
                result = done.result()
                self.assertEqual((result.returncode, result.stderr.splitlines()[-1]),
                                 (1, "bellwether: " + why))
                self.assertTrue(leader.is_leader())

    def test_an_operator_may_want_the_end_at_once(self):
        with self.group(extra=LONG) as group:
            leader = group.start().await_leader(group.sidecars[2])
            mine = self.attach(leader, "worker")
            self.step_down(leader)
            self.await_drain(mine)
            result = self.run_program("step-down", "--now", "--api", leader.api_url)
            self.assertEqual(result.returncode, 0, result.stderr)
            group.await_leader(group.sidecars[1])
            self.assertEqual(leader.count("bellwether_drains_total", result="cut"), 1)

    def check_that_all_see_it(self, group, leader, reason):
        """While it lasts: at the leader all of it, at the others that there is one."""
        self.assertEqual(draining(leader)["reason"], reason)
        self.assertTrue(leader.get("/v1/leader")["draining"])
        self.assertTrue(leader.get("/v1/history")["leaders"][0]["is_draining"])
        self.assertEqual(leader.metrics()["bellwether_application_draining"], 1)
        for sidecar in group.sidecars:
            wait_until(f"{sidecar.name} sees it", lambda each=sidecar: (
                seen_draining(each) == [leader.name]))
            self.assertIn("hands over once its application has finished", self.run_program(
                "explain", "--api", sidecar.api_url).stdout)

    def test_all_members_see_it_while_it_lasts_and_no_longer(self):
        for voters in (0, 3):
            with self.subTest(voters=voters), self.group(extra=LONG, voters=voters) as group:
                leader = group.start().await_leader(group.sidecars[2])
                mine = self.attach(leader, "worker")
                self.step_down(leader)
                event = self.await_drain(mine)
                self.check_that_all_see_it(group, leader, "step_down")
                self.assertEqual(leader.request("GET", "/readyz")[0], 200)
                attachment.drained(str(leader.socket_file), event)
                group.await_leader(group.sidecars[1])
                for sidecar in group.sidecars:
                    wait_until("it is over", lambda each=sidecar: seen_draining(each) == [])
                self.assertEqual(leader.metrics()["bellwether_application_draining"], 0)

    def test_a_second_sigterm_does_not_wait(self):
        with self.group(extra=LONG) as group:
            leader = group.start().await_leader(group.sidecars[2])
            mine = self.attach(leader, "worker")
            leader.send_signal(signal.SIGTERM)
            self.assertEqual(self.await_drain(mine).reason, "leave")
            self.assertTrue(leader.is_leader())
            self.check_that_all_see_it(group, leader, "leave")
            self.assertEqual(leader.request("GET", "/readyz")[0], 503)
            leader.is_wanted = False
            leader.send_signal(signal.SIGTERM)
            self.assertEqual(leader.await_exit(), 0)
            group.await_leader(group.sidecars[1])

    def test_webhooks_hear_of_it(self):
        with Receiver() as receiver, \
                self.group(extra=LONG + f'[[hook]]\nurl = "{receiver.url}"\n') as group:
            leader = group.start().await_leader(group.sidecars[2])
            mine = self.attach(leader, "worker")
            self.step_down(leader)
            self.await_drain(mine)
            body = wait_until("the webhook is told", lambda: next(
                (body for _, body in receiver.requests
                 if body["type"] == "io.bellwether.leader.draining"), None))
            self.assertEqual(body["subject"], leader.name)
            self.assertEqual(body["data"]["draining"]["reason"], "step_down")


class TakeOver(DrainCase):
    """A higher member comes back, while a lower one leads."""

    def test_no_two_flags_are_on(self):
        with self.group(extra=CALM) as group:
            low, middle, high = group.start().sidecars
            # Two that have not met yet may both claim.
            for sidecar in group.sidecars:
                for member in group.sidecars:
                    sidecar.await_state_of(member, "alive")
            observer = group.observe(self.observer)
            for _ in range(10):
                group.await_leader(high)
                high.stop()
                group.await_leader(middle)
                high.start()
            group.await_leader(high)
            self.assertTrue(low.is_running)
            self.assertEqual(observer.doubles_since(0), [])

    def test_it_waits_for_the_application_of_the_leader(self):
        with self.group(extra=LONG) as group:
            _, middle, high = group.start().sidecars
            group.await_leader(high)
            high.stop()
            group.await_leader(middle)
            mine = self.attach(middle, "worker")
            high.start()
            event = self.await_drain(mine)
            self.assertEqual((event.reason, event.successor), ("take_over", high.name))
            self.assertTrue(middle.is_leader())
            attachment.drained(str(middle.socket_file), event)
            group.await_leader(high)

    def test_when_the_one_that_asked_is_gone_the_leader_stays_and_its_application_goes_on(self):
        for voters in (0, 3):
            with self.subTest(voters=voters), self.group(extra=LONG, voters=voters) as group:
                _, middle, high = group.start().sidecars
                group.await_leader(high)
                high.stop()
                group.await_leader(middle)
                mine = self.attach(middle, "worker")
                flag = leader_flag.open_flag(middle.flag_file)
                high.start()
                drain = self.await_drain(mine)
                self.assertIsNone(flag.begin(0))
                high.kill()
                lead = next(event for event in mine if event.type == attachment.LEAD)
                self.assertEqual(lead.epoch, drain.epoch)
                self.assertIsNotNone(flag.begin(0))
                self.assertIsNone(draining(middle))
                self.assertEqual(middle.count("bellwether_drains_total", result="called_off"), 1)
                with self.assertRaises(attachment.Refused) as late:
                    attachment.drained(str(middle.socket_file), drain)
                self.assertEqual(late.exception.status, 409)
                self.assertTrue(middle.is_leader())

    def test_a_step_down_for_nobody_is_called_off(self):
        with self.group(2, extra=LONG) as group:
            low, high = group.start().sidecars
            group.await_leader(high)
            mine = self.attach(high, "worker")
            self.step_down(high, hold="10m")
            epoch = self.await_drain(mine).epoch
            low.kill()
            self.assertEqual(next(event for event in mine if event.type == attachment.LEAD).epoch,
                             epoch)
            self.assertTrue(high.is_leader())
            self.assertIn("It leads", self.run_program("explain", "--api", high.api_url).stdout)

    def test_a_late_word_of_a_drain_that_was_called_off_ends_no_later_one(self):
        """What has begun in between would be cut: the epoch is the same, and so is who says it."""
        with self.group(2, extra=LONG) as group:
            low, high = group.start().sidecars
            group.await_leader(high)
            mine = self.attach(high, "worker")
            flag = leader_flag.open_flag(high.flag_file)
            self.addCleanup(flag.close)
            self.step_down(high)
            called_off = self.await_drain(mine)
            low.kill()
            self.assertEqual(next(iter(mine)).type, attachment.LEAD)
            token = flag.begin(0)
            self.assertEqual(token, called_off.epoch)
            low.start()
            high.await_state_of(low, "alive")
            self.step_down(high)
            event = self.await_drain(mine)
            self.assertEqual((event.epoch, event.attachment),
                             (called_off.epoch, called_off.attachment))
            self.assertEqual(draining(high)["drain"], event.drain)
            place = str(high.socket_file)
            with self.assertRaises(attachment.Refused) as late:
                attachment.drained(place, called_off)
            self.assertEqual(late.exception.status, 409)
            self.assertIn(f"in drain {event.drain}, not in {called_off.drain}",
                          str(late.exception))
            self.assertEqual(draining(high)["waiting_for"], ["worker"])
            self.assertTrue(flag.still(token))
            attachment.drained(place, event)
            group.await_leader(low)


if __name__ == "__main__":
    main()
