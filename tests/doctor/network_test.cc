// The checks of names, addresses and connections.
#include "expectations.hh"

namespace bellwether::doctor {
namespace {

// orders-2 cannot be connected.
Facts with_closed_port() {
  Facts facts = healthy_facts();
  facts.probes[2].greeting.reset();
  facts.probes[2].connect_error = "connection refused";
  return facts;
}

// orders-2 is not believed, or does not believe this node.
Facts with_distrust(Rejection flaw) {
  Facts facts = healthy_facts();
  facts.probes[2].greeting.reset();
  facts.probes[2].hello_error = "not believed";
  facts.probes[2].distrust = flaw;
  return facts;
}

BOOST_FIXTURE_TEST_SUITE(names, HealthyGroup)

BOOST_AUTO_TEST_CASE(that_stand_for_the_members_are_well) {
  expect_one(healthy_facts(), "names", "ok: 1 configured place, 3 addresses, all of members");
}

BOOST_AUTO_TEST_CASE(are_needed_by_nobody_who_is_found_by_others) {
  facts.names.resize(1);
  facts.names.front().origin = Origin::kSelf;
  facts.config.config->membership.dns = {};
  expect_one(facts, "names", "ok: no names are configured");
}

BOOST_AUTO_TEST_CASE(of_all_addresses_at_once_must_resolve) {
  facts = facts_without_sidecar();
  facts.names[1].addresses.clear();
  facts.names[1].error = "no such name";
  expect_one(facts, "names",
             "problem: orders.shop:7946 (membership.dns) does not resolve: no such name ->");
}

BOOST_AUTO_TEST_CASE(of_single_peers_may_come_later_while_others_resolve) {
  facts = facts_without_sidecar();
  facts.names.push_back({Origin::kPeers, {"orders-9", 7946}, {}, "no such name"});
  expect_one(facts, "names",
             "warning: orders-9:7946 (membership.peers) does not resolve: no such name ->");
  facts.names.erase(facts.names.begin() + 1);
  expect_one(facts, "names", "problem: orders-9:7946 (membership.peers) does not resolve");
}

BOOST_AUTO_TEST_CASE(with_an_address_of_no_member_are_a_warning) {
  facts.names[1].addresses.emplace_back("10.0.0.9:7946");
  expect_one(facts, "names", "warning: the sidecar knows no member at 10.0.0.9:7946 ->");
}

// That would be said twice.
BOOST_AUTO_TEST_CASE(with_an_address_at_which_nobody_listens_are_a_matter_of_reach) {
  facts.names.push_back({Origin::kPeers, {"10.0.0.9", 7946}, {"10.0.0.9:7946"}, ""});
  facts.probes.push_back(
      {.address = "10.0.0.9:7946", .connect_error = "connection refused", .is_refused = true});
  expect_one(facts, "names",
             "ok: 2 configured places, 4 addresses; nobody listens at 1 of them, see reach");
  BOOST_TEST(findings(facts, "reach")
                 .ends_with("if it is gone for good, take it out of membership.peers\n"));
}

BOOST_AUTO_TEST_CASE(that_leave_a_living_member_out_are_a_warning) {
  facts.names[1].addresses.pop_back();
  expect_one(facts, "names", "warning: orders-2: behind no configured name");
}

BOOST_AUTO_TEST_CASE(may_leave_members_out_where_they_are_single_peers) {
  facts.names[1].addresses.pop_back();
  facts.config.config->membership.dns = {};
  expect_one(facts, "names", "ok: ");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(own_address, HealthyGroup)

BOOST_AUTO_TEST_CASE(at_which_this_node_answers_is_well) {
  expect_one(healthy_facts(), "own address",
             "ok: peers are told 10.0.0.1:7946, where this node answers; its connections leave "
             "from 10.0.0.1");
}

BOOST_AUTO_TEST_CASE(that_does_not_resolve_is_a_problem) {
  facts.names.front().addresses.clear();
  expect_one(facts, "own address",
             "problem: peers are told 10.0.0.1:7946, which does not resolve here ->");
}

BOOST_AUTO_TEST_CASE(at_which_another_member_answers_is_a_problem) {
  facts.probes.front().greeting = greeting_of(1);
  expect_one(facts, "own address",
             "problem: at 10.0.0.1:7946, which peers are told, answers orders-1 ->");
}

BOOST_AUTO_TEST_CASE(at_which_this_node_is_not_believed_is_not_to_be_changed) {
  facts.probes.front().greeting.reset();
  facts.probes.front().hello_error = "the peer's certificate has expired; renew it";
  facts.probes.front().distrust = Rejection::kTlsExpired;
  expect_one(facts, "own address",
             "warning: peers are told 10.0.0.1:7946, where TLS with this node fails: the peer's "
             "certificate has expired; renew it -> see tls for the files of this node");
}

BOOST_AUTO_TEST_CASE(at_which_nobody_answers_is_a_warning) {
  facts.probes.front().greeting.reset();
  facts.probes.front().connect_error = "no answer in time";
  expect_one(facts, "own address",
             "warning: peers are told 10.0.0.1:7946, where from here nobody answers: no answer");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(reach, HealthyGroup)

BOOST_AUTO_TEST_CASE(tells_the_slowest_answer) {
  facts.probes[1].connect_time = std::chrono::milliseconds(20);
  expect_one(facts, "reach",
             "ok: 2 addresses of others answered, TCP within 20ms, HELLO within 0.7ms");
}

BOOST_AUTO_TEST_CASE(of_a_living_member_that_cannot_be_connected_is_a_problem) {
  const std::string lines = findings(with_closed_port(), "reach");
  BOOST_TEST(lines.starts_with("ok: 1 address of others answered"));
  BOOST_TEST(lines.find("\nproblem: orders-2 (10.0.0.3:7946): connection refused ->") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(of_a_member_that_is_down_is_a_warning) {
  facts = with_closed_port();
  facts.sidecar->members[2].state = Liveness::kDown;
  BOOST_TEST(
      findings(facts, "reach").find("\nwarning: orders-2 (10.0.0.3:7946, down): connection re") !=
      std::string::npos);
}

BOOST_AUTO_TEST_CASE(of_a_stranger_that_says_no_hello_is_a_problem) {
  facts.probes[2].greeting.reset();
  facts.probes[2].hello_error = "it closed the connection";
  BOOST_TEST(findings(facts, "reach")
                 .find("\nproblem: orders-2 (10.0.0.3:7946) is connected, but "
                       "no sidecar of this group answers: it closed") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(of_a_member_that_is_not_believed_is_a_matter_of_tls) {
  BOOST_TEST(findings(with_distrust(Rejection::kTlsExpired), "reach")
                 .ends_with("\nproblem: orders-2 (10.0.0.3:7946) is connected, but TLS fails: not "
                            "believed -> change the certificate there, or what is believed here "
                            "(tls.ca, tls.members)\n"));
  BOOST_TEST(findings(with_distrust(Rejection::kTlsRefused), "reach")
                 .ends_with("-> see its log, which says why it refused this node\n"));
  BOOST_TEST(findings(with_distrust(Rejection::kTlsWrongSecret), "reach")
                 .ends_with("-> give both sides the same secret (tls.secret_file)\n"));
}

BOOST_AUTO_TEST_CASE(of_a_member_that_hangs_says_so) {
  facts.probes[2].greeting.reset();
  facts.probes[2].hello_error = "connected, but nothing came in time";
  facts.probes[2].is_silent = true;
  facts.sidecar->members[2].state = Liveness::kSuspect;
  BOOST_TEST(findings(facts, "reach")
                 .find("\nproblem: orders-2 (10.0.0.3:7946, suspect): connected, but nothing came "
                       "in time -> that sidecar may hang: ask /livez on its host") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(of_one_address_of_a_peer_is_enough) {
  facts.names.push_back({Origin::kPeers, {"orders-1", 7946}, {"10.0.0.2:7946", "[::2]:7946"}, ""});
  facts.probes.push_back({.address = "[::2]:7946", .connect_error = "network is unreachable"});
  expect_one(facts, "reach", "ok: 2 addresses");
}

BOOST_AUTO_TEST_CASE(beyond_the_bound_is_a_warning) {
  facts.unprobed = 3;
  BOOST_TEST(findings(facts, "reach").find("\nwarning: 3 further addresses not tried ->") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(of_nobody_is_skipped) {
  facts.probes.resize(1);
  expect_one(facts, "reach", "skipped: no address of another member is known");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(both_ways, HealthyGroup)

BOOST_AUTO_TEST_CASE(are_seen_where_a_connection_comes_in) {
  expect_one(healthy_facts(), "both ways",
             "ok: orders-1 and orders-2: connections from here, and from its host to here");
}

BOOST_AUTO_TEST_CASE(are_not_claimed_where_none_comes_in) {
  facts.inbound_hosts.pop_back();
  expect_one(facts, "both ways",
             "ok: orders-1: connections from here, and from its host to here; orders-2: "
             "connections from here; whether from there, a doctor there can tell");
}

BOOST_AUTO_TEST_CASE(are_broken_where_only_the_member_can_connect) {
  BOOST_TEST(
      findings(with_closed_port(), "both ways")
          .starts_with("problem: orders-2: linked, but only connections from there to here"));
}

BOOST_AUTO_TEST_CASE(are_no_matter_of_tcp_where_a_member_is_connected_and_says_nothing) {
  BOOST_TEST(findings(with_distrust(Rejection::kTlsExpired), "both ways")
                 .starts_with("warning: orders-2: still linked, but connections from here come to "
                              "nothing -> see reach"));
}

BOOST_AUTO_TEST_CASE(are_broken_where_another_member_answers_in_its_place) {
  facts.probes[2].greeting = greeting_of(1);
  BOOST_TEST(
      findings(facts, "both ways")
          .starts_with("problem: orders-2: linked, but only connections from there to here"));
}

BOOST_AUTO_TEST_CASE(are_doubtful_where_a_member_answers_and_is_not_linked) {
  facts.sidecar->members[2].state = Liveness::kSuspect;
  BOOST_TEST(
      findings(facts, "both ways")
          .starts_with("warning: orders-2: answers the doctor, but the sidecar here is not"));
}

BOOST_AUTO_TEST_CASE(are_nothing_to_ask_of_those_who_have_left) {
  facts.sidecar->members[1].state = facts.sidecar->members[2].state = Liveness::kLeft;
  expect_one(facts, "both ways", "skipped: the sidecar knows no other member");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(proxies, HealthyGroup)

BOOST_AUTO_TEST_CASE(are_found_where_an_impossible_port_accepts) {
  facts.decoys[1].outcome = Decoy::kAccepted;
  facts.mesh_signs = {"Istio's proxy listens on port 15001"};
  expect_one(facts, "proxies",
             "problem: somebody answers for 10.0.0.3 on a port where nobody can listen, so a proxy "
             "ends TCP on the way; Istio's proxy listens on port 15001 -> take port 7946 out of");
}

BOOST_AUTO_TEST_CASE(are_not_there_where_it_is_refused_whatever_the_signs) {
  facts.mesh_signs = {"the variable ISTIO_META_MESH_ID"};
  expect_one(facts, "proxies",
             "ok: connections to a port where nobody can listen are refused by 10.0.0.2 and "
             "10.0.0.3; the variable ISTIO_META_MESH_ID");
}

BOOST_AUTO_TEST_CASE(are_feared_where_there_are_signs_and_no_answers) {
  facts.decoys.clear();
  facts.mesh_signs = {"the variable ISTIO_META_MESH_ID"};
  expect_one(facts, "proxies", "warning: there are signs of a service mesh: the variable ISTIO");
}

// The first finding is of the impossible port.
BOOST_AUTO_TEST_CASE(that_stand_between_are_told_where_a_refusal_is_to_prove_a_death) {
  const auto second_line = [&] {
    const std::string lines = findings(facts, "proxies");
    return lines.substr(lines.find('\n') + 1);
  };
  facts.probes[1].is_between = true;
  BOOST_TEST(second_line() == "");  // nobody votes
  facts.config.config->voters = {{"orders-1", {"10.0.0.2", 7946}}};
  BOOST_TEST(second_line() == "");  // and it is on another host
  facts.config.config->election.death_proof = DeathProof::kRefused;
  BOOST_TEST(second_line().starts_with("warning: a proxy, a tunnel or an address translation "
                                       "stands before orders-1 (10.0.0.2:7946) -> connect"),
             second_line());
  facts.config.config->election.death_proof = DeathProof::kAuto;
  facts.probes[1].address = "127.0.0.1:7947";
  BOOST_TEST(second_line().starts_with("warning: a proxy, a tunnel"), second_line());
}

BOOST_AUTO_TEST_CASE(of_this_host_are_feared_where_all_others_refuse) {
  for (const size_t other : {1u, 2u}) {
    facts.probes[other].greeting.reset();
    facts.probes[other].connect_error = "connection refused";
    facts.probes[other].is_refused = true;
  }
  const std::string lines = findings(facts, "proxies");
  BOOST_TEST(lines.find("warning: all 2 addresses of others refuse connections -> if sidecars run "
                        "there, look at this host's own proxy") != std::string::npos,
             lines);
  facts.probes[2].is_refused = false;
  BOOST_TEST(findings(facts, "proxies").find("refuse connections") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(cannot_be_told_where_nobody_answers) {
  for (DecoyFacts& decoy : facts.decoys) decoy.outcome = Decoy::kUnanswered;
  expect_one(facts, "proxies", "skipped: no host answers on a port where nobody can listen");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::doctor
