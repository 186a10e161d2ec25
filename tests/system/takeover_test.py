#!/usr/bin/env python3
"""Leaders that die, hang, leave or are asked to step aside; and the group without them.

usage: takeover_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name

That two flags were on at once is judged by the observer's `double` lines, not by the times at which
it saw each: an observer that did not get the processor in between sees changes in its own order.
Under guard none a higher member that takes over from a lower one that leads is no such case: its
victory counts when it is announced, so both flags are on until the lower one has heard of it.
"""

import contextlib
import json
import signal

from harness import VARIANTS, now_ns, wait_until
from system_case import CALM, SystemCase, main


class Takeover(SystemCase):
    @contextlib.contextmanager
    def led_group(self, variant, size=3, extra=""):
        """A group that follows its highest member; its flags are watched."""
        with self.subTest(variant=variant), self.group(size, variant, extra) as group:
            group.start().observe(self.observer)
            group.await_leader(group.sidecars[-1])
            yield group

    def command(self, *arguments):
        """What a subcommand prints, which must succeed."""
        result = self.run_program(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        return result.stdout

    def await_flag(self, group, sidecar, is_on, after_ns):
        """When it was seen."""
        number = group.sidecars.index(sidecar)
        return wait_until(f"{sidecar.name}'s flag is {'on' if is_on else 'off'}",
                          lambda: group.observer.first(number, is_on, after_ns))

    def await_state(self, member, state, *seen_by):
        for sidecar in seen_by:
            sidecar.await_state_of(member, state)

    def test_a_killed_leader_is_succeeded(self):
        for variant in VARIANTS:
            with self.led_group(variant) as group:
                _, successor, leader = group.sidecars
                epoch = leader.epoch()
                killed_ns = now_ns()
                leader.kill()
                self.await_flag(group, leader, False, killed_ns)
                self.await_flag(group, successor, True, killed_ns)
                group.await_leader(successor)
                self.assertGreater(successor.epoch(), epoch)
                self.assertEqual(group.observer.doubles_since(killed_ns), [])

                restarted_ns = now_ns()
                epoch = successor.epoch()
                leader.start()
                group.await_leader(leader)
                self.await_flag(group, leader, True, restarted_ns)
                self.assertGreater(leader.epoch(), epoch)

    def test_the_two_highest_of_five_are_killed(self):
        for variant in VARIANTS:
            with self.led_group(variant, 5) as group:
                *_, successor, second, leader = group.sidecars
                epoch = leader.epoch()
                killed_ns = now_ns()
                second.kill()
                leader.kill()
                group.await_leader(successor)
                self.assertGreater(successor.epoch(), epoch)
                self.assertEqual(group.observer.doubles_since(killed_ns), [])

    def test_a_killed_follower_changes_nothing(self):
        for variant in VARIANTS:
            with self.led_group(variant, extra=CALM) as group:
                follower, other, leader = group.sidecars
                before = leader.get("/v1/leader")
                elections = leader.elections() + other.elections()
                follower.kill()
                self.await_state(follower, "down", leader, other)
                follower.start()
                self.await_state(follower, "alive", leader, other)
                group.await_leader(leader)
                self.assertEqual(leader.get("/v1/leader"), before)
                self.assertEqual(leader.elections() + other.elections(), elections)

    def test_a_stopped_leader_is_succeeded_and_comes_back(self):
        for variant in VARIANTS:
            with self.led_group(variant) as group:
                _, successor, leader = group.sidecars
                epoch = leader.epoch()
                stopped_ns = now_ns()
                leader.send_signal(signal.SIGSTOP)
                self.await_flag(group, leader, False, stopped_ns)
                self.await_flag(group, successor, True, stopped_ns)
                group.await_leader(successor)
                self.assertGreater(successor.epoch(), epoch)

                epoch = successor.epoch()
                leader.send_signal(signal.SIGCONT)
                group.await_leader(leader)
                wait_until("it has learnt of the epochs in between", lambda: leader.epoch() > epoch)
                group.await_leader(leader)

    def test_a_terminated_leader_hands_over(self):
        for variant in VARIANTS:
            with self.led_group(variant) as group:
                follower, successor, leader = group.sidecars
                asked_ns = now_ns()
                self.assertEqual(leader.stop(), 0, leader.log())
                off_ns = self.await_flag(group, leader, False, asked_ns)
                on_ns = self.await_flag(group, successor, True, asked_ns)
                print(f"without a leader for {(on_ns - off_ns) / 1e6:.3f} ms")
                group.await_leader(successor)
                self.assertEqual(group.observer.doubles_since(asked_ns), [])
                self.await_state(leader, "left", follower, successor)

    def test_a_leader_steps_down_for_a_while(self):
        for variant in VARIANTS:
            with self.led_group(variant) as group:
                _, successor, leader = group.sidecars
                asked_ns = now_ns()
                self.command("step-down", "--api", leader.api_url, "--hold", "2s")
                on_ns = self.await_flag(group, successor, True, asked_ns)
                doubles = [double for double in group.observer.doubles_since(asked_ns)
                           if double[0] <= on_ns]
                self.assertEqual(doubles, [])
                self.await_flag(group, leader, True, on_ns)
                group.await_leader(leader)

    def test_leadership_is_transferred_to_the_lowest(self):
        for variant in VARIANTS:
            with self.led_group(variant) as group:
                lowest, _, leader = group.sidecars
                asked_ns = now_ns()
                self.command("transfer", "--api", leader.api_url, lowest.name)
                group.await_leader(lowest)
                # Whoever comes back meanwhile does not take it over.
                leader.kill()
                leader.start()
                wait_until("it is back", lambda: leader.is_ready() and leader.leader())
                group.await_leader(lowest)
                self.assertEqual(group.observer.doubles_since(asked_ns), [])
                lowest.kill()
                group.await_leader(leader)

    def test_commands_show_who_leads_and_hold_an_election(self):
        with self.group(extra=CALM) as group:
            lowest, _, leader = group.start().sidecars
            group.await_leader(leader)
            page = json.loads(self.command("status", "--json", "--api", lowest.api_url))
            self.assertEqual(page["leader"]["leader"]["name"], leader.name)
            self.assertEqual(page["status"]["node"]["name"], lowest.name)
            self.assertEqual({member["name"] for member in page["members"]["members"]},
                             {sidecar.name for sidecar in group.sidecars})
            shown = self.command("watch", "--once", "--api", lowest.socket_file)
            self.assertRegex(shown, rf"^group test: {leader.name} leads, epoch {leader.epoch()} ")

            epoch = leader.epoch()
            self.command("elect", "--api", lowest.api_url)
            wait_until("somebody won it", lambda: leader.epoch() > epoch)
            group.await_leader(leader)

    def test_a_command_reloads_and_says_what_has_changed(self):
        with self.group(1) as group:
            sidecar, = group.sidecars
            # The link's folder is watched, in which nothing happens: only the command has it read.
            file = sidecar.config_file
            (group.folder / "watched").mkdir()
            sidecar.config_file = group.folder / "watched" / "bellwether.toml"
            sidecar.config_file.symlink_to(file)
            group.start().await_leader(sidecar)
            good = file.read_text()
            file.write_text(good + "bogus = 1\n")
            result = self.run_program("reload", "--api", sidecar.api_url)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn("bogus: is unknown", result.stderr)
            file.write_text(good + '[log]\nlevel = "debug"\n')
            result = self.run_program("reload", "--api", sidecar.api_url)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout, 'log.level: "info" -> "debug"\nreloaded\n')

    def test_only_a_leader_can_be_asked(self):
        with self.group() as group:
            lowest, _, leader = group.start().sidecars
            group.await_leader(leader)
            said = f"this node does not lead; {leader.name} does"
            for command, body in (("step-down", {"hold": "1s"}), ("transfer", {"to": "n1"})):
                status, _, text = lowest.request("POST", f"/v1/{command}", body)
                self.assertEqual(status, 409, text)
                self.assertIn(said, text)
                arguments = ["n1"] if command == "transfer" else []
                result = self.run_program(command, "--api", lowest.api_url, *arguments)
                self.assertEqual(result.returncode, 1, result.stdout)
                self.assertIn(said, result.stderr)
            result = self.run_program("transfer", "--api", leader.api_url, "nobody")
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertIn("there is no member of this name", result.stderr)
            self.assertIs(group.agreed_leader(), leader)


if __name__ == "__main__":
    main()
