#!/usr/bin/env python3
"""Members whose files or clocks are wrong: the others keep their leader, there are never two, and
whoever is left out says why.

usage: tls_faults_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import contextlib
import os

from certificates import DAY, Authority
from harness import wait_until
from system_case import main
from tls_case import HOST_NAMES, TlsCase


def with_clock(ahead_s):
    return {"LD_PRELOAD": os.environ["BELLWETHER_TEST_FAULTY_CALLS"], "CLOCK_AHEAD_S": str(ahead_s)}


class OneOfThree(TlsCase):
    """The voter that ranks highest comes back, and has something of its own."""

    @contextlib.contextmanager
    def without_the_highest(self):
        """Yields the group, and the one that was left out while the others chose a leader."""
        with self.certified(voters=3) as group:
            group.start("--bootstrap").observe(self.observer)
            odd = group.await_leader(group.sidecars[-1])
            odd.kill()
            with self.unmoved(group) as leader:
                yield odd, leader
            self.assertEqual(group.observer.doubles, [])

    def await_left_out(self, odd, leader, reason, words):
        odd.await_log(f"refused a peer reason={reason} .*{words}")
        self.await_rejected(odd, reason)
        self.await_rejected(leader, "tls_refused")
        self.assertFalse(odd.is_leader())
        self.assertEqual(leader.state_of(odd.name), "down")
        odd.kill()  # whose word about the leader does not count

    def test_whose_authority_is_another_one(self):
        with self.without_the_highest() as (odd, leader):
            other = Authority(self.folder, "other")
            self.identity(odd).take(*other.issue(HOST_NAMES), other.pem())
            odd.start()
            self.await_left_out(odd, leader, "tls_unknown_ca", "authority that is trusted")

    def test_whose_clock_is_days_ahead(self):
        with self.without_the_highest() as (odd, leader):
            # Its own certificate is valid by its clock.
            self.identity(odd).take(*self.authority.issue(HOST_NAMES, days=9), self.authority.pem())
            odd.start(environment=with_clock(3 * DAY))
            self.await_left_out(odd, leader, "tls_expired", "has expired; renew it")

    def test_whose_clock_is_days_behind(self):
        """Neither its own certificate is valid, nor would those of the others be."""
        with self.without_the_highest() as (odd, _):
            odd.start(environment=with_clock(-3 * DAY))
            odd.await_log("is not valid yet; look at this machine.s clock")
            self.assertFalse(odd.is_ready())
            self.assertFalse(odd.is_leader())
            odd.kill()

    def test_whose_certificate_begins_later(self):
        with self.without_the_highest() as (odd, _):
            self.identity(odd).take(
                *self.authority.issue(HOST_NAMES, begins_s=DAY, seconds=2 * DAY),
                self.authority.pem())
            odd.start()
            odd.await_log("is not valid yet; look at this machine.s clock")
            self.assertFalse(odd.is_ready())
            self.identity(odd).take(*self.authority.issue(HOST_NAMES), self.authority.pem())
            wait_until("it is ready", odd.is_ready)
            odd.kill()


class Configured(TlsCase):
    """The files are right, and the configuration is changed under a running group."""

    @staticmethod
    def judgements(sidecar):
        return sidecar.log().count("the files of [tls] are in force")

    def test_voters_that_take_the_place_of_peers_are_members_before_the_restart(self):
        with self.certified(3) as group:
            group.start()
            with self.unmoved(group) as leader:
                group.voters = 3
                for sidecar in group.sidecars:
                    sidecar.write_config(group.config_of(sidecar, peers=[]))
                    sidecar.await_log("a change waits for a restart key=voters")
                    sidecar.await_log("configuration changed key=membership.peers")
                # New connections, which are judged by the configuration.
                for sidecar in group.sidecars:
                    self.identity(sidecar).take(*self.authority.issue(HOST_NAMES),
                                                self.authority.pem())
                    sidecar.await_log("the files of .tls. are in force")
                self.await_security(group, "tls")
                for sidecar in group.sidecars:
                    self.assertEqual(sidecar.count("bellwether_rejected_frames_total",
                                                   reason="tls_wrong_name"), 0)
                self.await_able(leader, *[each for each in group.sidecars if each is not leader])
                # And no more once the file takes them back.
                for group.voters in (3, 0):
                    for sidecar in group.sidecars:
                        count = self.judgements(sidecar)
                        sidecar.write_config(group.config_of(sidecar))
                        wait_until("it judges anew", lambda each=sidecar, before=count:
                                   self.judgements(each) > before)

    def test_where_tls_has_always_been_off_nobody_is_told_that_it_is(self):
        with self.group(2) as group:
            group.start()
            group.await_leader()
            sidecar = group.sidecars[0]
            for number in (1, 2):
                sidecar.write_config(group.config_of(sidecar).replace(
                    "peers = [", f'peers = ["127.0.0.1:{number}", '))
                sidecar.await_log(f"configuration changed key=membership.peers .*0.1:{number}")
            sidecar.stop()
            self.assertNotIn("[tls] is off", sidecar.log())

    def test_a_voter_that_has_lost_its_table_is_not_ready(self):
        with self.certified(3, voters=3) as group:
            group.start("--bootstrap")
            odd = group.sidecars[0]
            with self.unmoved(group):
                self.assertEqual(odd.stop(), 0)
                tls, group.tls = group.tls, lambda _: ""
                odd.write_config(group.config_of(odd))
                odd.start()
                odd.await_log("refused a peer reason=bad_magic")
                why = ("the peer speaks TLS, but there is no [tls] here; give this side the same "
                       "[tls]")
                wait_until("it says why", lambda: why in odd.request("GET", "/readyz")[2])
                self.assertFalse(odd.is_ready())
                group.tls = tls
                self.assertEqual(odd.stop(), 0)
                odd.write_config(group.config_of(odd))
                odd.start()
                wait_until("it is ready", odd.is_ready)


class All(TlsCase):
    """What all have is over at the same time, and nobody has renewed it."""

    def test_nobody_leads_until_there_are_new_ones(self):
        with self.certified(voters=3) as group:
            group.start("--bootstrap").observe(self.observer)
            leader = group.await_leader()
            for sidecar in group.sidecars:
                self.identity(sidecar).take(*self.authority.issue(HOST_NAMES, seconds=8),
                                            self.authority.pem())
            wait_until("nobody leads", lambda: not any(
                group.observer.is_on(number) for number in range(3)))
            self.assertFalse(leader.is_leader())
            for sidecar in group.sidecars:
                self.identity(sidecar).take(*self.authority.issue(HOST_NAMES),
                                            self.authority.pem())
            group.await_leader()
            self.await_security(group, "tls")
            self.assertEqual(group.observer.doubles, [])


if __name__ == "__main__":
    main()
