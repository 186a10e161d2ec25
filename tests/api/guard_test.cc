// What people are told of a node under guard "majority": claims, votes, promises, and what is
// missing.
#include <boost/test/unit_test.hpp>

#include "api/bodies.hh"
#include "api_fixture.hh"
#include "guard_harness.hh"

namespace bellwether::tests {
namespace {

// Node 5 ranks highest of five voters.
struct GuardFixture {
  explicit GuardFixture(uint32_t self = 5, Record record = {})
      : node({.self = self, .record = record}) {
    for (uint32_t number = 1; number <= 5; ++number) {
      backend.settings.voters["node-" + std::to_string(number)] = {};
    }
    backend.settings.election.lease = std::chrono::seconds(1);
  }

  Json status() const { return api::status_body(backend, feed); }
  // Why this node leads or does not.
  std::string why() const {
    const Json body = api::explain_body(backend, feed);
    for (const Json& member : body["members"]) {
      if (member["name"] == node.node().members().self().name) return member["why"];
    }
    return "";
  }

  GuardHarness node;
  api::LeadershipFeed feed{wall_time(0)};
  FakeBackend backend{node, feed};
};

struct Follower : GuardFixture {
  Follower() : GuardFixture(3) {}
};

// Had promised for a second.
struct Restarted : GuardFixture {
  Restarted() : GuardFixture(5, {.max_epoch = 6, .lease_seen = std::chrono::seconds(1)}) {}
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(guard, Follower)

BOOST_AUTO_TEST_CASE(a_voters_vote_and_promise_are_shown) {
  node.follow(5, 4);
  BOOST_TEST(status()["vote"].dump() ==
             R"({"state":"in force","why":null,"epoch":4,"granted_to":"node-5"})");
  BOOST_TEST(status()["promise"].dump() == R"({"to":"node-5","epoch":4,"ends_in_ms":1000})");
  BOOST_TEST(status()["lease"].dump() == R"({"length_ms":1000,"is_valid":false,"valid_for_ms":0})");
  node.pass(std::chrono::milliseconds(1000));
  BOOST_TEST(status()["promise"].is_null());
}

BOOST_AUTO_TEST_CASE(a_voter_that_has_lost_its_state_says_so) {
  node.step(Start{.is_state_lost = true});
  BOOST_TEST(status()["vote"]["state"] == "forgotten");
  BOOST_TEST(status()["vote"]["granted_to"].is_null());
  BOOST_TEST(status()["timers_due_in_ms"].contains("recall"));
  BOOST_TEST(status()["may_lead"] == false);
  node.pass(std::chrono::milliseconds(3500));
  BOOST_TEST(status()["vote"]["why"] ==
             "this voter has no vote: it does not know whether it has ever voted, as in a new "
             "group; it asks the other voters in 6s");
  node.connect(1, 6);
  BOOST_TEST(status()["vote"]["why"] ==
             "this voter has no vote: it has forgotten what it granted; it asks the other voters "
             "in 6s");
  BOOST_TEST(why() ==
             "This voter has no vote: it has forgotten what it granted; it asks the other voters "
             "in 6s.");
}

BOOST_AUTO_TEST_CASE(a_voter_that_asks_says_who_has_answered) {
  node.step(Start{.is_state_lost = true});
  for (const uint32_t number : {1u, 2u, 4u, 5u}) node.connect(number);
  node.run_for(std::chrono::seconds(10));
  const uint64_t question = node.node().majority()->number;
  node.receive(1, 6, CanvassReply{.number = question});
  node.receive(2, 0, CanvassReply{.number = question, .is_lost = true});
  BOOST_TEST(status()["vote"]["why"] ==
             "this voter has no vote: it has forgotten what it granted; it asks the other voters, "
             "and needs answers from 3 that remember, or from all: node-1 remembers, node-2 does "
             "not know either, node-4 has not answered, node-5 has not answered");
}

BOOST_AUTO_TEST_CASE(a_voter_that_is_shut_out_says_so) {
  node.step(Start{});
  Hello far_ahead = NodeHarness::hello_of(1, UINT64_MAX);
  far_ahead.voters = node.node().majority()->hash;
  node.connect(far_ahead);
  BOOST_TEST(status()["vote"]["state"] == "shut out");
  BOOST_TEST(api::explain_body(backend, feed)["vote"]["state"] == "shut out");
  BOOST_TEST(status()["vote"]["why"] ==
             "other voters are of an epoch that is too far ahead to be believed at once; this "
             "voter comes nearer each time that it meets one of them");
}

BOOST_AUTO_TEST_CASE(a_voter_that_cannot_store_says_so) {
  node.follow(5, 4);
  node.disk_fails();
  BOOST_TEST(status()["vote"]["state"] == "broken");
  BOOST_TEST(why() ==
             "This voter has no vote: its disk does not keep its state; that is tried again and "
             "again, and gives the vote back.");
  // Somebody has to act, perhaps.
  backend.disk_flaw = "/state: was deleted; make it anew";
  BOOST_TEST(why() ==
             "This voter has no vote: its disk does not keep its state: /state: was deleted; make "
             "it anew.");
  BOOST_TEST(status()["vote"]["why"] ==
             "this voter has no vote: its disk does not keep its state: /state: was deleted; make "
             "it anew");
}

BOOST_AUTO_TEST_CASE(who_reaches_too_few_voters_says_how_many) {
  node.join();
  for (const uint32_t number : {1u, 2u, 4u}) node.disconnect(number, LinkEvidence::kRefused);
  BOOST_TEST(why() == "It reaches 2 of 5 voters, itself included; a leader needs 3.");
}

BOOST_AUTO_TEST_CASE(who_would_lead_if_the_others_had_their_votes_names_them) {
  node.follow(5, 4);
  node.disconnect(5, LinkEvidence::kRefused);
  const auto say = [this](uint32_t number, bool is_electable) {
    node.receive(number, 4, Wish{.boot = 1, .revision = 1, .is_electable = is_electable});
  };
  say(4, false);
  BOOST_TEST(why() ==
             "There is no leader; it ranks highest of those that may lead, and should win.");
  say(1, false);
  BOOST_TEST(why() ==
             "There is no leader; it ranks highest of those that may lead, but a leader needs 3 "
             "votes, and these are away or may have none: node-1, node-4, node-5.");
}

BOOST_AUTO_TEST_CASE(a_voter_that_never_leads_has_a_vote) {
  node.follow(5, 4);
  for (const uint32_t number : {1u, 2u}) {
    Hello hello = node.hello_of(number, 4);
    hello.self.priority = 0;
    hello.self.is_electable = false;
    hello.self.boot = 2;
    hello.voters = node.node().majority()->hash;
    node.disconnect(number, LinkEvidence::kRefused);
    node.connect(hello);
  }
  for (const uint32_t number : {4u, 5u}) node.disconnect(number, LinkEvidence::kRefused);
  BOOST_TEST(why() ==
             "There is no leader; it ranks highest of those that may lead, and should win.");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(guard_of_a_candidate, GuardFixture)

BOOST_FIXTURE_TEST_CASE(a_voter_that_has_restarted_says_what_it_waits_for, Restarted) {
  node.join();
  BOOST_TEST(status()["timers_due_in_ms"].contains("hold"));
  BOOST_TEST(why().starts_with("It has just restarted, and waits "));
  BOOST_TEST(why().ends_with(" for what it promised before to be over."));
}

BOOST_AUTO_TEST_CASE(a_claim_is_a_role_of_its_own) {
  node.claim();
  BOOST_TEST(status()["role"] == "claiming");
  BOOST_TEST(status()["leader"].is_null());
  BOOST_TEST(status()["timers_due_in_ms"].contains("claim"));
  const std::string epoch = std::to_string(node.max_epoch());
  BOOST_TEST(why() == "It claims epoch " + epoch + ": 1 of the 3 votes that it needs are there.");
}

BOOST_AUTO_TEST_CASE(a_candidate_that_has_won_says_what_it_waits_for) {
  node.claim();
  const Wait wait{.leader = uuid(4), .epoch = 1, .left = std::chrono::milliseconds(700)};
  for (const uint32_t number : {1u, 2u}) node.receive_grant(number, {wait});
  BOOST_TEST(status()["role"] == "claiming");
  BOOST_TEST(why() == "It has won epoch " + std::to_string(node.max_epoch()) +
                          ", and waits until what was promised to an earlier leader is over.");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
