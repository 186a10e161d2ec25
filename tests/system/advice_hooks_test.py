#!/usr/bin/env python3
"""Webhooks that fail or are gone, commands that are refused, a socket in whose place something
else is: what the runbook (HookFailing, HookGone), OPERATIONS and the errors advise.

usage: advice_hooks_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import json
import subprocess

from advice_case import LONG_S, AdviceCase
from certificates import Authority
from harness import UnixConnection, free_ports, wait_until
from hook_security_test import Https, Receiver, is_signed_by
from system_case import CALM, main
from tls_case import HOST_NAMES

DELIVERIES = "bellwether_hook_deliveries_total"
STRANGER = 54321


def hook(url, *lines):
    return "\n".join(["[[hook]]", f'url = "{url}"', *lines, ""])


class Hooks(AdviceCase):
    def telling(self, *tables):
        return self.led(extra=CALM + "".join(tables))

    def set_hook(self, sidecar, group, table):
        self.reload(sidecar, group.config_of(sidecar, extra="[election]\n" + CALM + table))

    def await_told(self, receiver, more_than=0):
        wait_until("it is told", lambda: len(receiver.requests) > more_than)
        return receiver.requests[-1]

    def delivered(self, sidecar, result="delivered"):
        return sidecar.count(DELIVERIES, result=result)

    def test_the_url_is_corrected(self):
        """HookFailing: does the URL answer?"""
        nobody, = free_ports(1)
        with Receiver() as receiver, self.telling(hook(f"http://127.0.0.1:{nobody}/")) as group:
            leader = group.sidecars[2]
            wait_until("it is counted", lambda: self.delivered(leader, "failed") > 1)
            leader.await_log("a webhook failed .*why=")
            self.set_hook(leader, group, hook(receiver.url))
            self.await_told(receiver)
            self.await_whole(group, leader)

    def test_a_refusal_and_a_redirect_are_put_right(self):
        """HookFailing: a 4xx is retried every 30 seconds; a redirect is not followed."""
        with Receiver() as one, Receiver() as other, self.telling() as group:
            asked = {group.sidecars[1]: (one, 403), group.sidecars[2]: (other, 302)}
            for sidecar, (receiver, status) in asked.items():
                receiver.status = status
                self.set_hook(sidecar, group, hook(receiver.url))
            for sidecar, (receiver, status) in asked.items():
                sidecar.await_log(f"a webhook failed .*the answer was {status}")
                receiver.status = 204
            for sidecar in asked:
                wait_until("it is told", lambda each=sidecar: self.delivered(each) > 0, LONG_S)
            self.await_whole(group)

    def test_a_reload_tells_one_that_is_gone_by_mistake(self):
        with Receiver() as receiver:
            receiver.status = 410
            with self.telling(hook(receiver.url)) as group:
                leader = group.sidecars[2]
                wait_until("it is gone", lambda: self.delivered(leader, "gone") >= 1)
                leader.await_log(r"answered 410 \(gone\).*remedy=.reload to have it told again")
                receiver.status = 204
                told = len(receiver.requests)
                self.commanded(leader, "reload")
                _, body = self.await_told(receiver, told)
                self.assertEqual(json.loads(body)["data"]["leader"]["name"], leader.name)
                self.await_whole(group, leader)

    def test_one_that_meant_it_is_taken_out(self):
        with Receiver() as receiver:
            receiver.status = 410
            with self.telling(hook(receiver.url)) as group:
                for sidecar in group.sidecars:
                    wait_until("it is gone", lambda each=sidecar: self.delivered(each, "gone") > 0)
                for sidecar in group.sidecars:
                    self.set_hook(sidecar, group, "")
                told = len(receiver.requests)
                self.await_able(group.sidecars[2], group.sidecars[0])
                self.commanded(group.sidecars[2], "transfer", "n0")
                self.await_whole(group, group.sidecars[0])
                self.assertEqual(len(receiver.requests), told)

    def test_tls_with_the_receiver_is_put_right(self):
        """Of another authority: `ca`; that calls for a certificate: `cert` and `key`."""
        believed, senders = self.authority, Authority(self.folder, "senders")
        stranger = Authority(self.folder, "stranger")
        context = Https.context(self, HOST_NAMES, senders)
        with Receiver(context) as receiver, self.telling(
                hook(receiver.url, f'ca = "{stranger.certificate}"')) as group:
            leader = group.sidecars[2]
            leader.await_log("a webhook failed .*not signed by an authority that is trusted here")
            self.set_hook(leader, group, hook(receiver.url, f'ca = "{believed.certificate}"'))
            leader.await_log("a webhook failed .*TLS")
            self.assertEqual(receiver.requests, [])
            sender = self.identity(leader)
            sender.take(*senders.issue(["DNS:orders"]), "")
            self.set_hook(leader, group, hook(receiver.url, f'ca = "{believed.certificate}"',
                                              f'cert = "{sender.cert}"', f'key = "{sender.key}"'))
            self.await_told(receiver)
            self.await_whole(group, leader)

    def test_its_secret_is_made_kept_and_replaced(self):
        old, new = (self.run_program("keygen", "--webhook").stdout.split()[-1] for _ in range(2))
        path = self.secret("")
        with Receiver() as receiver, self.telling(
                hook(receiver.url, f'secret_file = "{path}"')) as group:
            leader = group.sidecars[2]
            leader.await_log('the files of a webhook cannot be used.*holds no key; make one with '
                             '.*bellwether keygen --webhook')
            self.assertEqual(receiver.requests, [])
            self.secret(old)
            self.assertTrue(is_signed_by(old, *self.await_told(receiver)))
            for lines, signed_by, not_by in (((new, old), (old, new), ()),
                                             ((new,), (new,), (old,))):
                self.secret(*lines)

                def is_so(signed=signed_by, unsigned=not_by):
                    told = len(receiver.requests)
                    leader = group.await_leader()
                    other = next(each for each in group.sidecars if each is not leader)
                    self.await_able(leader, other)
                    self.commanded(leader, "transfer", other.name)
                    last = self.await_told(receiver, told)
                    return all(is_signed_by(each, *last) for each in signed) and not any(
                        is_signed_by(each, *last) for each in unsigned)
                wait_until("it is signed so", is_so)
            self.await_whole(group)


class Commands(AdviceCase):
    """What an answer says that refuses, done."""

    def test_a_token_is_made_given_and_replaced(self):
        """Who may command; `sidecar` of the doctor."""
        tokens = self.secret("")
        with self.group(3, extra=CALM) as group:
            for sidecar in group.sidecars:
                self.edit(sidecar, ("[metrics]", f'token_file = "{tokens}"\n[metrics]'))
            leader = group.start().await_leader(group.sidecars[2])
            for sidecar in group.sidecars:
                self.await_advice(sidecar, "sidecar", "commands with a token are refused: .*holds "
                                  'no token; make one with "bellwether keygen"', "fix the file; "
                                  "the sidecar reads it again by itself")
            old, new = (self.run_program("keygen").stdout.split()[-1] for _ in range(2))

            def elect(token=None):
                headers = {"Authorization": f"Bearer {token}"} if token else {}
                return leader.request("POST", "/v1/elect", headers=headers)[0]
            self.secret(old)
            wait_until("it is accepted", lambda: elect(old) == 200)
            self.assertEqual(elect(), 401)
            refused = self.run_program("elect", "--api", leader.api_url)
            self.assertRegex(refused.stderr, "a command needs a token")
            self.assertEqual(self.run_program("elect", "--api", leader.api_url, "--token-file",
                                              tokens).returncode, 0)
            self.secret(new, old)
            wait_until("both are", lambda: elect(new) == 200)
            self.assertEqual(elect(old), 200)
            self.secret(new)
            wait_until("the old one is not", lambda: elect(old) == 401)
            self.assertEqual(elect(new), 200)
            for sidecar in group.sidecars:
                self.await_health(sidecar, "sidecar")
            self.await_whole(group, leader)

    def test_the_right_member_is_asked_and_ended_first(self):
        with self.led() as group:
            low, middle, leader = group.sidecars
            refused = self.command(low, "step-down")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("this node does not lead; n2 does", refused.stderr)
            self.commanded(leader, "step-down", "--hold", "1s")
            group.await_leader(middle)
            self.await_whole(group, leader)
            refused = self.command(leader, "forget", low.name)
            self.assertIn("that member is alive or connected; end its process first",
                          refused.stderr)
            low.kill()
            leader.await_state_of(low, "down")
            self.commanded(leader, "forget", low.name)
            wait_until("it is gone", lambda: leader.state_of(low.name) is None)
            low.start()
            self.await_whole(group, leader)

    def test_a_host_name_of_its_own_or_its_address_is_used(self):
        with self.led() as group:
            leader = group.sidecars[2]
            status, _, text = leader.request("GET", "/leader", headers={"Host": "evil.org"})
            self.assertEqual(status, 403)
            self.assertIn("use its address, or n2", text)
            for host in ("127.0.0.1", "n2"):
                self.assertEqual(leader.request("GET", "/leader", headers={"Host": host})[0], 200)
            self.await_whole(group, leader)

    def test_a_user_is_let_in(self):
        """Be the sidecar's user; allow_users."""
        self.require_other_user(STRANGER)
        with self.led() as group:
            leader = group.sidecars[2]
            group.folder.chmod(0o755)

            def status_as_stranger():
                return subprocess.run([self.program, "elect", "--api", str(leader.socket_file)],
                                      user=STRANGER, group=0, extra_groups=[], cwd="/",
                                      capture_output=True, text=True, check=False)
            self.edit(leader, ("[metrics]", 'allow_users = ["0"]\nwrites = "socket"\n[metrics]'))
            self.restart(group, leader)
            leader.socket_file.chmod(0o660)
            self.assertEqual(status_as_stranger().returncode, 1)
            leader.await_log("refused a command command=elect")
            self.edit(leader, ('allow_users = ["0"]', f'allow_users = ["0", "{STRANGER}"]'))
            self.restart(group, leader)
            group.await_leader(leader)
            result = status_as_stranger()
            self.assertEqual(result.returncode, 0, result.stderr)
            self.await_whole(group, leader)

    def test_what_is_in_the_sockets_place_is_removed(self):
        with self.led() as group:
            leader = group.sidecars[2]
            leader.socket_file.unlink()
            leader.await_log("the API's socket was removed .*in its place again")
            wait_until("it answers there", leader.socket_file.is_socket)
            leader.socket_file.unlink()
            leader.socket_file.write_text("precious")
            leader.await_log("nobody can connect to it; remove what is in its place")
            leader.socket_file.unlink()
            wait_until("it answers there again", leader.socket_file.is_socket)
            asked = UnixConnection(leader.socket_file, 5)
            asked.request("GET", "/leader")
            self.assertEqual(asked.getresponse().status, 200)
            asked.close()
            self.await_whole(group, leader)


if __name__ == "__main__":
    main()
