#!/usr/bin/env python3
"""Every error and every warning of a configuration: `check` says it with its remedy, a group of
three refuses the file (of an error) and goes on; what the remedy says is done, and it is taken.

usage: advice_config_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import re

from advice_case import INVALID, AdviceCase
from harness import wait_until
from system_case import main

WARNED = 4
RELOADED = "bellwether_config_last_reload_successful"
HOOK = '[[hook]]\nurl = "http://localhost:1/{}"\n'


def changed(text, changes):
    """(old, new) each; an old of None is the end, a new of None takes the old out."""
    for old, new in changes:
        if old is None:
            text += new
            continue
        assert old in text, f"no {old} in {text}"
        text = text.replace(old, new or "")
    return text


class ConfigCase(AdviceCase):
    def check(self, group, text):
        """(exit status, what it prints, in one line)"""
        file = group.folder / "checked.toml"
        file.write_text(text)
        result = self.run_program("check", file)
        return result.returncode, " ".join((result.stdout + result.stderr).split())

    def try_one(self, group, flaw, words, repair):
        """Of an error or a warning."""
        odd = group.sidecars[0]
        bad = changed(group.config_of(odd), flaw)
        code, said = self.check(group, bad)
        self.assertRegex(said, words)
        odd.write_config(bad)
        status, _, answer = odd.request("POST", "/v1/reload")
        self.assertEqual(status, 422 if code == INVALID else 200, answer)
        if code == INVALID:
            self.assertEqual(odd.metrics()[RELOADED], 0)
        fixed = changed(bad, repair)
        code, said = self.check(group, fixed)
        self.assertIn(code, (0, WARNED), said)
        self.assertNotRegex(said, words)
        self.reload(odd, fixed)
        self.assertEqual(odd.metrics()[RELOADED], 1)

    def try_all(self, group, rows):
        odd = group.sidecars[0]
        with self.unmoved(group) as leader:
            for flaw, words, repair in rows:
                with self.subTest(words):
                    self.try_one(group, flaw, words, repair)
            self.reload(odd, group.config_of(odd))
            self.await_whole(group, leader)

    def try_by_check(self, group, text, rows):
        """Where nobody of the group could use it: the text alone."""
        for flaw, words, repair in rows:
            with self.subTest(words):
                bad = changed(text, flaw)
                code, said = self.check(group, bad)
                self.assertIn(code, (INVALID, WARNED))
                self.assertRegex(said, words)
                _, said = self.check(group, changed(bad, repair))
                self.assertNotRegex(said, words)


class Errors(ConfigCase):
    def test_of_the_node_and_the_voters(self):
        with self.voters() as group:
            odd, other, leader = group.sidecars
            voter = {each: f'{each.name} = "127.0.0.1:{each.peer_port}"'
                     for each in group.sidecars}
            more = "".join(f'm{number} = "127.0.0.1:{number}"\n' for number in range(1, 8))
            ninth = 'm7 = "127.0.0.1:7"\n'
            self.try_all(group, (
                ([("[node]", '[node]\nadvertise = "0.0.0.0:7946"')],
                 "is every address of a host; nobody can connect to it; give the address where "
                 "peers reach this node", [("0.0.0.0:7946", f"127.0.0.1:{odd.peer_port}")]),
                ([(voter[leader], None)], "2 voters are no better than 1: .*; name 1 voter or at "
                 "least 3", [(voter[other], f"{voter[other]}\n{voter[leader]}")]),
                ([(voter[leader], f"{voter[leader]}\n{more}")], "10 voters are too many, .*; name "
                 "at most 9; further members follow without a vote", [(ninth, None)]),
                ([(voter[other], f'n1 = "0.0.0.0:{other.peer_port}"')], "nobody can connect to "
                 "it; give the address where others reach this voter", [("0.0.0.0", "127.0.0.1")]),
                ([(voter[other], f'n1 = "127.0.0.1:{odd.peer_port}"')], "is the address of n0, "
                 "too; give each voter its own",
                 [(f'n1 = "127.0.0.1:{odd.peer_port}"', voter[other])]),
                ([(f'state_dir = "{odd.state_folder}"', 'state_dir = ""')],
                 "a voter that forgets its vote at a restart can vote twice; give a folder that "
                 "outlives the process", [('state_dir = ""', f'state_dir = "{odd.state_folder}"')]),
                ([("[election]", '[election]\nvariant = "modifed"')], "has no variant \"modifed\"; "
                 'give .*did you mean "modified"', [("modifed", "modified")]),
                ([("[node]", '[node]\nprority = 1')],
                 r"node.prority: is unknown; did you mean priority\?", [("prority = 1", None)]),
                ([("[node]", "[node")], "repair the TOML syntax", [("[node", "[node]")]),
                ([("peers = [", "peers = [" + "".join(
                    f'"a-host-with-a-long-name-{i}.example.org:7946", ' for i in range(900)))],
                 "a configuration has at most .*; name fewer peers, or one name", [
                     (f'"a-host-with-a-long-name-{i}.example.org:7946", ', None)
                     for i in range(900)])))

    def test_of_timers_and_guards(self):
        with self.voters() as group:
            suspect = 'suspect_after = "4s"'
            self.try_all(group, (
                ([(suspect, f'{suspect}\nheartbeat_interval = "2500ms"')],
                 "is less than two heartbeat_interval, so one late beat deposes a leader; give "
                 "suspect_after at least 5s", [(suspect, 'suspect_after = "5s"'),
                                               ('lease = "6s"', 'lease = "7s"')]),
                ([(suspect, 'suspect_after = "5s"')], "leadership would run out before anybody "
                 "looks for a successor; give lease at least 6250ms",
                 [('lease = "6s"', 'lease = "6250ms"')]),
                ([('lease = "6s"', 'lease = "6s"\nanswer_timeout = "1s"\n'
                   'coordinator_timeout = "1s"')], "give coordinator_timeout more than "
                 "answer_timeout, or leave it out", [('coordinator_timeout = "1s"', None)]),
                ([('lease = "6s"', 'lease = "11s"')], "is longer than leadership among members can "
                 "hold without renewal; give at most 10s", [('lease = "11s"', 'lease = "10s"')]),
                ([('lease = "6s"', 'lease = "6s"\nrenew_interval = "1s"')], "there is nothing to "
                 "renew; remove it", [('renew_interval = "1s"', None)]),
                ([(None, '[etcd]\nendpoints = ["http://127.0.0.1:2379"]\n')],
                 r"would both decide who leads; keep one of \[voters\], \[kubernetes\] and",
                 [('[etcd]\nendpoints = ["http://127.0.0.1:2379"]\n', None)]),
                ([(None, '[application]\nhealth = "http://127.0.0.1:1/"\n'
                   'health_interval = "1s"\nhealth_timeout = "2s"\n')],
                 "give health_timeout at most health_interval",
                 [('health = "http://127.0.0.1:1/"\n', None),
                  ('health_timeout = "2s"', 'health_timeout = "1s"')])))

    def test_of_doors_and_files(self):
        with self.voters() as group:
            odd = group.sidecars[0]
            api, metrics = (f'listen = "127.0.0.1:{port}"' for port in
                            (odd.api_port, odd.metrics_port))
            socket = f'socket = "{odd.socket_file}"'
            self.try_all(group, (
                ([(metrics, api)], "want the same port; give them different ports",
                 [(f"[metrics]\n{api}", f"[metrics]\n{metrics}")]),
                ([(api, 'listen = ""'), (socket, None)], "the API would be nowhere, .*; give "
                 "api.listen, api.socket or both", [('[api]\nlisten = ""', f"[api]\n{api}")]),
                ([(socket, 'writes = "socket"')], "is about the unix socket, of which there is "
                 "none; give api.socket", [('writes = "socket"', f'writes = "socket"\n{socket}')]),
                ([(api, f'{api}\ncert = "/c"')], "api.cert and api.key belong together; give "
                 "api.key, or none of", [('cert = "/c"', None)]),
                ([(metrics, 'listen = ""\ncert = "/c"\nkey = "/k"')], "is about metrics.listen, "
                 'which is ""; remove it, or give metrics.listen',
                 [('cert = "/c"\nkey = "/k"', None)]),
                ([(api, api.replace("127.0.0.1", "0.0.0.0"))], "there is no TLS; give api.cert and "
                 "api.key, listen on 127.0.0.1.*give api.token_file, api.client_ca",
                 [("0.0.0.0", "127.0.0.1")]),
                ([(None, f'[application]\nhealth = "http://localhost:{odd.api_port}/leader"\n')],
                 r"this sidecar itself answers there \(api.listen\), .*; give the application's "
                 "address, or leave health out and let it attach",
                 [(f'health = "http://localhost:{odd.api_port}/leader"\n', None)]),
                ([("[flag]", "[flag]\nmode = 0o400")], "could not open the flag again; give 0o600 "
                 "and more, like 0o640", [("0o400", "0o640")]),
                ([("[flag]", "[flag]\nmode = 0o666")], "could write that they lead; give 0o640 or "
                 "0o644", [("0o666", "0o640")])))

    def test_of_tls_and_hooks(self):
        with self.voters() as group:
            cert, rest = 'cert = "/c"\n', 'key = "/k"\nca = "/a"\n'
            table = self.secret("0" * 64)
            secret = f'secret_file = "{table}"\n'
            one, two = HOOK.format(1), HOOK.format(2)
            self.try_all(group, (
                ([(None, f"{one}{one}")], "hook 1 has the same url; remove one of them",
                 [(f"{one}{one}", one)]),
                ([(None, "".join(HOOK.format(i) for i in range(40)))], "hooks are too many; give "
                 "at most", [(HOOK.format(i), None) for i in range(3, 40)]),
                ([(None, f'{one}ca = "/a"\n')], "is about TLS, and the url is not https; remove "
                 "it, or give an https:// url", [('ca = "/a"\n', None)]),
                ([(None, f"{two}{cert}".replace("http:", "https:"))],
                 "cert and key belong together; give key, or neither", [(cert, None)])))
            text = group.config_of(group.sidecars[0])
            self.try_by_check(group, text, (
                ([(None, f'[tls]\n{cert}ca = "/a"\n')], "lacks key: cert, key and ca belong "
                 "together; give tls.key, or none of the three", [('ca = "/a"\n', rest)]),
                ([(None, f"[tls]\n{cert}{rest}{secret}")], "by certificates or by a secret, not by "
                 "both; remove one of them", [(secret, None)]),
                ([(None, '[tls]\nmode = "strict"\n')], "there is neither a certificate nor a "
                 "secret to use; give tls.cert, tls.key and tls.ca, or tls.secret_file",
                 [('mode = "strict"\n', secret)]),
                ([(None, f'[tls]\n{secret}members = ["a.b"]\n')], "but there are none; remove it, "
                 "or give tls.cert", [('members = ["a.b"]\n', None)])))

    def test_of_stores(self):
        with self.group() as group:
            text = group.config_of(group.sidecars[0])
            etcd = '[etcd]\nendpoints = ["http://127.0.0.1:1"]\n'
            kube = ('[kubernetes]\nserver = "https://127.0.0.1:1"\nnamespace = "shop"\n'
                    'token_file = "/t"\n')
            self.try_by_check(group, text, (
                ([(None, "[etcd]\nendpoints = []\n")], "names nobody; give the URLs of etcd's "
                 "members, like", [("[]", '["https://etcd-0:2379"]')]),
                ([(None, etcd.replace("127.0.0.1:1", "etcd-0:2379"))], "without TLS everybody on "
                 "the way can change who leads; give an https:// URL, or etcd.insecure = \"on\"",
                 [("http://etcd", "https://etcd")]),
                ([(None, etcd.replace('1"]', '1", "http://127.0.0.1:1"]'))], "is named twice; "
                 "remove one of them", [(', "http://127.0.0.1:1"]', "]")]),
                ([(None, f'{etcd}user = "u"\n')], "user and password_file belong together; give "
                 "etcd.password_file, or neither", [('user = "u"\n', None)]),
                ([(None, f'{etcd}cert = "/c"\n')], "belong together; give etcd.key, or neither",
                 [('cert = "/c"\n', None)]),
                ([("[election]", '[election]\nlease = "1s"'), (None, etcd)], "is shorter than a "
                 "store .*; give at least 2s, or leave it out", [('lease = "1s"', 'lease = "2s"')]),
                ([("[election]", '[election]\nrenew_interval = "9s"'), (None, etcd)],
                 "leaves no time for a second try .*; give 100ms to 4s, or leave it out",
                 [('"9s"', '"4s"')]),
                ([(None, kube.replace('server = "https://127.0.0.1:1"\n', ""))], "give "
                 "kubernetes.server, ca and token_file, or run it in a pod",
                 [("[kubernetes]\n", '[kubernetes]\nserver = "https://127.0.0.1:1"\n')]),
                ([(None, kube.replace('namespace = "shop"\n', ""))], "give kubernetes.namespace",
                 [("[kubernetes]\n", '[kubernetes]\nnamespace = "shop"\n')]),
                ([('name = "test"', 'name = "Test_1"'), (None, kube)], "cannot be that of a Lease; "
                 "give kubernetes.lease_name, of lower-case letters, digits",
                 [("[kubernetes]\n", '[kubernetes]\nlease_name = "test-1"\n')]),
                ([(None, kube.replace('token_file = "/t"\n', ""))], "the API server is not told "
                 "who asks, and will refuse; give kubernetes.token_file, or kubernetes.cert",
                 [("[kubernetes]\n", '[kubernetes]\ntoken_file = "/t"\n')]),
                ([(None, f"{etcd}insecure = true\n")], "whoever is on the way to the store can "
                 "change who leads; give https:// URLs, and remove it",
                 [("http://127", "https://127"), ("insecure = true\n", None)])))

    def test_a_start_is_refused_until_it_is_put_right(self):
        """Exit status 3; `configuration` of the doctor; ConfigMismatch: the file was refused."""
        with self.led() as group:
            odd = group.sidecars[0]
            odd.stop()
            good = self.edit(odd, ("priority = 100", "priority = -1"))
            self.refused_start(odd, INVALID, "node.priority")
            self.await_advice(odd, "configuration", "node.priority", "")
            odd.write_config(good)
            odd.start()
            self.await_whole(group, group.sidecars[2])
            missing = group.folder / "nowhere.toml"
            said = self.run_program("doctor", "--config", missing).stdout
            self.assertIn("name the sidecar's configuration with --config", " ".join(said.split()))


class Warnings(ConfigCase):
    def test_of_voters(self):
        with self.voters() as group:
            odd, *others = group.sidecars
            line = f'n2 = "127.0.0.1:{others[1].peer_port}"'
            own = f'n0 = "127.0.0.1:{odd.peer_port}"\n'
            self.try_all(group, (
                ([(line, f'{line}\nn3 = "127.0.0.1:3"')], "4 voters survive no more failures than "
                 "3 do; name an odd number", [('n3 = "127.0.0.1:3"', None)]),
                ([(own, 'm0 = "127.0.0.1:3"\n')], "is not among its own .voters.: it follows, and "
                 "never leads; add it, give it a voter's name as node.name, or set node.priority "
                 "to 0", [('m0 = "127.0.0.1:3"\n', own)]),
                ([("[node]", f'[node]\nadvertise = "127.0.0.1:{odd.api_port}"')],
                 "is advertised, but this voter's address is .*; give the same, or leave "
                 "node.advertise out", [(f'advertise = "127.0.0.1:{odd.api_port}"', None)]),
                ([('lease = "6s"', 'lease = "6s"\npreempt_delay = "0s"')], "take leadership from "
                 'each other again and again; give election.preempt_delay, like "5s"',
                 [('preempt_delay = "0s"', 'preempt_delay = "5s"')]),
                ([('lease = "6s"', 'lease = "6s"\ndeath_proof = "refused"')], "you vouch that no "
                 'firewall .*; give "auto" unless you are sure', [('"refused"', '"auto"')]),
                ([('lease = "6s"', 'lease = "5s"\nanswer_timeout = "2s"')], "a failover takes "
                 "longer than the lease would allow; give lease at least 6s, or shorten the "
                 "others", [('lease = "5s"', 'lease = "6s"')])))
            alone = changed(group.config_of(odd), [
                (f"\n{each.name} = \"127.0.0.1:{each.peer_port}\"", None) for each in others])
            self.try_by_check(group, alone, (
                ([("priority = 100", "priority = 0")], "this is the only voter: nobody will lead; "
                 "give it a priority above 0", [("priority = 0", "priority = 1")]),))

    def test_of_timers_and_members(self):
        with self.led() as group:
            odd, other, _ = group.sidecars
            place = f'"127.0.0.1:{other.peer_port}"'
            suspect = 'suspect_after = "4s"'
            elect = '[election]\nlease = "6s"'
            self.try_all(group, (
                ([(suspect, f'{suspect}\nheartbeat_interval = "1500ms"')], "less than three "
                 "heartbeat_interval: .*; give suspect_after at least 4500ms, better five",
                 [(suspect, 'suspect_after = "4500ms"')]),
                ([(elect, f'{elect}\nanswer_timeout = "1s"\ncoordinator_timeout = "1020ms"')],
                 "although somebody wins; give coordinator_timeout at least 1050ms, or leave it "
                 "out", [('"1020ms"', '"1050ms"')]),
                ([(elect, f'{elect}\npreempt = "never"\npreempt_delay = "1s"')], 'has no effect '
                 'while preempt is "never"; remove it', [('preempt_delay = "1s"', None)]),
                ([(elect, f'{elect}\ndeath_proof = "auto"')], "has no effect without a guard; "
                 "remove it, or give .voters.", [('death_proof = "auto"', None)]),
                ([(place, f"{place}, {place}")], "is named twice; remove one of them",
                 [(f"{place}, {place}", place)]),
                ([(None, '[application]\ngrace = "1s"\n')], "has no effect while attach is off; "
                 'give attach = "on", or remove it', [('grace = "1s"\n', None)]),
                ([(None, "[application]\nhealth_failures = 2\n")], "has no effect without health; "
                 "give health, or remove it", [("health_failures = 2\n", None)]),
                ([(None, '[application]\ndrain_timeout = "1m"\n')], "whoever ends it may be less "
                 "patient: .*; see that they give it more than .*, or shorten drain_timeout",
                 [('"1m"', '"5s"')])))
            text = group.config_of(odd)
            peers = re.search(r"peers = .*", text)[0]
            listen = f'listen = "127.0.0.1:{odd.peer_port}"'
            self.try_by_check(group, text, (
                ([(suspect, 'suspect_after = "40ms"\nheartbeat_interval = "10ms"')], "waits for a "
                 "processor for 40ms is taken for dead; give at least 50ms",
                 [('"40ms"', '"50ms"')]),
                ([(peers, "peers = []")], "there is nobody to connect to: .*; give "
                 "membership.peers, membership.dns or .voters.", [("peers = []", peers)]),
                ([(None, "")], 'without .voters. the guard is "none": .*; if a second leader does '
                 "harm, name the voters, or give", [("[election]", "[voters]\n" + "".join(
                     f'{each.name} = "127.0.0.1:{each.peer_port}"\n' for each in group.sidecars)
                     + "[election]")]),
                ([(listen, 'listen = "[::]:7946"')], "members do not prove who they are: .*; give "
                 ".tls. certificates or a secret_file, or close the port",
                 [("[election]", f'[tls]\nsecret_file = "{self.secret("0" * 64)}"\n[election]')]),
                ([(listen, 'listen = "[::]:7946"\n'), ("[election]", '[tls]\nmode = "permissive"\n'
                  f'secret_file = "{self.secret("0" * 64)}"\n[election]')],
                 'permissive takes members that prove nothing: .*; give "strict" once all members '
                 "have", [('"permissive"', '"strict"')]),
                ([(listen, 'listen = "[::]:7946"')], "made of the host's name, and must be able to "
                 'look it up; give node.advertise, for example', [
                     ("[node]", '[node]\nadvertise = "10.0.0.1:7946"')]),
                ([(peers, 'peers = ["elsewhere.example.org:7946"]')], "peers on other hosts are "
                 "told to find this node at .*, which is themselves; give node.advertise an "
                 "address that they reach",
                 [("[node]", '[node]\nadvertise = "10.0.0.1:7946"')])))

    def test_of_the_api(self):
        with self.led() as group:
            odd = group.sidecars[0]
            api = f'listen = "127.0.0.1:{odd.api_port}"'
            self.try_all(group, (
                ([(api, f"{api}\ninsecure = true")], "has no effect: nothing here is insecure; "
                 "remove it", [("insecure = true", None)]),
                ([(api, f'{api}\nallow_users = ["0"]')], "commands without being one of them; give "
                 'api.writes = "socket", or api.token_file for those on TCP',
                 [('allow_users = ["0"]', 'allow_users = ["0"]\nwrites = "socket"')]),
                ([(api, api.replace("127.0.0.1", "0.0.0.0") + "\ninsecure = true")],
                 "can make the leader step down; listen on 127.0.0.1 or a unix socket, or give "
                 "api.cert", [("0.0.0.0", "127.0.0.1"), ("insecure = true", None)])))
            # What has waited for a restart is in force after it.
            self.edit(odd, (api, f'{api}\nwrites = "socket"'))
            self.restart(group, odd)
            self.assertEqual(odd.request("POST", "/v1/elect")[0], 403)
            wait_until("the socket takes commands", lambda: self.command(
                odd, "elect").returncode == 0)
            odd.write_config(group.config_of(odd))
            self.restart(group, odd)
            self.await_whole(group, group.sidecars[2])


if __name__ == "__main__":
    main()
