#!/usr/bin/env python3
"""Files and modes of TLS between members change while a group has something to do: commands,
scores, and a member that comes and goes.  The leader stays.

usage: tls_load_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import itertools
import os
import re
import threading
import time

from certificates import Authority
from harness import PATIENCE_S, wait_until
from system_case import PATIENT, main
from tls_case import HOST_NAMES, TlsCase

VOTERS = 3
IN_FORCE = "the files of [tls] are in force"
PAUSE_S = 0.02  # between two commands, and two scores


class Load:
    """A context manager, with a thread for each kind of work, which is done over and over."""

    def __init__(self, group, guest):
        self.members, self.guest = group.sidecars[:VOTERS], guest
        self.works = (self.command, self.score, self.join)
        self.done = {work.__name__: 0 for work in self.works}
        self.failures = []
        self.door = threading.Lock()  # nobody starts with files that are half written
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self.repeat, args=(work,)) for work in self.works]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.is_over.set()
        for thread in self.threads:
            thread.join()
        self.raise_failure()

    def repeat(self, work):
        for number in itertools.count():
            if self.is_over.is_set():
                return
            try:
                work(number)
            except Exception as failure:  # told by the test's own thread
                self.failures.append(failure)
                return
            self.done[work.__name__] += 1

    def raise_failure(self):
        if self.failures:
            raise self.failures[0]

    def await_all(self):
        """Each kind has been done from its beginning to its end since this began."""
        before = dict(self.done)

        def is_done():
            self.raise_failure()
            return all(self.done[name] > count + 1 for name, count in before.items())
        wait_until("commands, scores and a newcomer were taken", is_done)

    def demand(self, sidecar, *request):
        status, _, text = sidecar.request(*request, timeout_s=PATIENCE_S)
        assert status == 200, f"{sidecar.name} {request}: {status} {text}"

    def command(self, number):
        sidecar = self.members[number % VOTERS]
        self.demand(sidecar, "POST", "/v1/reload")
        self.demand(sidecar, "GET", "/v1/explain")
        time.sleep(PAUSE_S)

    def score(self, number):
        """No score outweighs a priority; all members are told each."""
        self.demand(self.members[number % VOTERS], "PUT", "/v1/application/score",
                    {"score": number})
        time.sleep(PAUSE_S)

    def join(self, _):
        leader = self.members[-1]
        before = len(leader.log())
        with self.door:
            self.guest.start()
            wait_until("the newcomer follows", lambda: self.guest.leader() == leader.name)
        leader.await_state_of(self.guest, "alive")
        assert self.guest.stop() == 0
        # While its links are made anew there may be none to carry its LEAVE, and then it is down;
        # but whoever has heard it does not see it come back.

        def seen():
            return re.findall(rf"member name={self.guest.name} state=(\w+)", leader.log()[before:])
        wait_until("it has gone", lambda: seen()[-1:] in (["left"], ["down"]))
        assert "left" not in seen()[:-1], f"{leader.name} saw {seen()}"
        self.demand(leader, "POST", f"/v1/members/{self.guest.name}/forget")


class UnderLoad(TlsCase):
    @contextlib.contextmanager
    def loaded(self, tls):
        """(group, load); the leader stays, and its flag is never off."""
        with self.group(VOTERS, extra=PATIENT, voters=VOTERS, tls=tls,
                        priorities=[100, 101, 102, 50]) as group:
            group.start("--bootstrap")
            with self.unmoved(group) as leader:
                group.observe(self.observer)
                wait_until("its flag is seen", lambda: group.observer.is_on(VOTERS - 1))
                guest = group.add()
                guest.write_config(group.config_of(guest))
                with Load(group, guest) as load:
                    load.await_all()
                    yield group, load
                    load.await_all()
                print(f"done meanwhile: {load.done}")
                self.assertIsNone(group.observer.first(VOTERS - 1, False, 0))
                self.assertEqual(group.observer.doubles, [])
                self.assertTrue(leader.is_leader())

    def await_links(self, group, security):
        """Among the voters; the guest comes and goes."""
        voters = group.sidecars[:VOTERS]
        wait_until(f"all links are {security}", lambda: all(
            sidecar.members().get(other.name, {}).get("security") == security
            for sidecar in voters for other in voters if other is not sidecar))

    @contextlib.contextmanager
    def comes_into_force(self, group, load):
        """What is written within, at all voters; and then there is work for all."""
        voters = group.sidecars[:VOTERS]
        before = [sidecar.log().count(IN_FORCE) for sidecar in voters]
        with load.door:
            yield
        for sidecar, count in zip(voters, before):
            wait_until(f"{sidecar.name} has new files", lambda each=sidecar, old=count: (
                each.log().count(IN_FORCE) > old))
        load.await_all()

    def give_leaves(self, group, authority):
        for sidecar in group.sidecars:
            certificate, key = authority.issue(HOST_NAMES)
            identity = self.identity(sidecar)
            identity.write(identity.key, key)
            identity.write(identity.cert, certificate)

    def believe(self, group, *authorities):
        for sidecar in group.sidecars:
            identity = self.identity(sidecar)
            identity.write(identity.ca, "".join(authority.pem() for authority in authorities))

    def test_certificates_and_their_authority(self):
        other = Authority(self.folder, "other")
        with self.loaded(lambda each: self.identity(each).table()) as (group, load):
            with self.comes_into_force(group, load):
                self.give_leaves(group, self.authority)
            with self.comes_into_force(group, load):
                self.believe(group, self.authority, other)
            with self.comes_into_force(group, load):
                self.give_leaves(group, other)
            with self.comes_into_force(group, load):
                self.believe(group, other)
            self.await_links(group, "tls")

    def test_a_secret(self):
        old, new = os.urandom(32).hex(), os.urandom(32).hex()
        secret = self.secret(old)
        with self.loaded(lambda _: f'[tls]\nsecret_file = "{secret}"') as (group, load):
            for lines in ((old, new), (new, old), (new,)):
                with self.comes_into_force(group, load):
                    self.secret(*lines)
                self.await_links(group, "psk")

    def test_from_plain_to_strict_and_back(self):
        secret = self.secret(os.urandom(32).hex())
        with self.loaded(lambda _: "") as (group, load):
            for mode, security in (("permissive", "psk"), ("strict", "psk"), ("permissive", "psk"),
                                   (None, "plain")):
                group.tls = self.table_of(mode, secret)
                for sidecar in group.sidecars:
                    sidecar.write_config(group.config_of(sidecar))
                for sidecar in group.sidecars[:VOTERS]:
                    load.demand(sidecar, "POST", "/v1/reload")
                self.await_links(group, security)
                load.await_all()  # the guest has started with it


if __name__ == "__main__":
    main()
