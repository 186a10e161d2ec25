// Guard on a store: what one node asks of it, and makes of the answers.
#include <boost/test/unit_test.hpp>

#include "store_harness.hh"

namespace bellwether::tests {

namespace {
using Holder = StoreRecord::Holder;
}

BOOST_AUTO_TEST_SUITE(node_store)

BOOST_AUTO_TEST_CASE(a_candidate_reads_first) {
  StoreHarness node;
  BOOST_TEST(everything(node.bid()).find("read") != std::string::npos);
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(a_record_that_is_not_there_is_made_and_held_by_nobody) {
  StoreHarness node;
  node.bid();
  BOOST_TEST(everything(node.seen("", {})) == "write unknown");
  node.written("a");
  BOOST_TEST(node.role() == "leaderless");
  node.run_for(milliseconds(1900));
  BOOST_TEST(node.role() == "leaderless");
}

BOOST_AUTO_TEST_CASE(a_claim_goes_to_disk_and_store_and_to_nobody_else) {
  StoreHarness node;
  node.bid();
  const Effects effects = node.seen("a", node.released(7));
  BOOST_TEST(sent(effects) == "");
  BOOST_TEST(everything(effects).find("store 8, write 3 in 8 over a") != std::string::npos);
  BOOST_TEST(node.role() == "claims 8");
}

BOOST_AUTO_TEST_CASE(it_leads_when_the_store_and_the_disk_have_the_claim) {
  StoreHarness first;
  first.claim();
  BOOST_TEST(published(first.written("b")) == "");
  BOOST_TEST(published(first.stored()) == "leads in 8");
  StoreHarness second;
  second.claim();
  BOOST_TEST(published(second.stored()) == "");
  BOOST_TEST(published(second.written("b")) == "leads in 8");
}

BOOST_AUTO_TEST_CASE(its_flag_counts_from_the_sending) {
  StoreHarness node;
  node.claim();
  const Instant sent_at = node.now();
  node.stored();
  node.pass(milliseconds(150));
  const auto flag = last_publish(node.written("b"));
  BOOST_REQUIRE(flag);
  BOOST_TEST((flag->valid_until == sent_at + milliseconds(1600)));
}

BOOST_AUTO_TEST_CASE(one_request_is_under_way_at_a_time) {
  StoreHarness node;
  node.bid();
  BOOST_TEST(node.asks());
  BOOST_TEST(everything(node.event("a", node.released(7))).find("read") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_answer_that_comes_late_is_not_looked_at) {
  StoreHarness node;
  node.claim();
  node.stored();
  const uint64_t claim = node.number();
  node.run_for(milliseconds(250));
  BOOST_TEST(!node.node().is_claiming());
  BOOST_TEST(published(node.step(StoreAnswered{claim, true, "b", StoreHarness::kClock})) == "");
  BOOST_TEST(!node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(a_number_that_nobody_asked_for_is_ignored) {
  StoreHarness node;
  node.bid();
  const uint64_t asked = node.number();
  BOOST_TEST(everything(node.step(
                 StoreSeen{asked + 7, {"a", node.released(7)}, StoreHarness::kClock})) == "");
  BOOST_TEST(everything(node.step(StoreAnswered{asked + 7, true, "b", StoreHarness::kClock})) ==
             "");
  BOOST_TEST(everything(node.step(StoreFailed{asked + 7, StoreFailure::kUnreachable, {}})) == "");
  BOOST_TEST(node.asks());
}

BOOST_AUTO_TEST_CASE(after_a_conflict_it_reads_and_does_not_lead) {
  StoreHarness node;
  node.claim();
  node.stored();
  BOOST_TEST(everything(node.conflict()).find("read") != std::string::npos);
  BOOST_TEST(!node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(a_claim_below_what_was_heard_meanwhile_is_made_again) {
  StoreHarness node;
  node.claim();
  node.stored();
  node.receive(1, 20, Wish{"modified"}, 20);
  BOOST_TEST(everything(node.written("b")).find("write 3 in 21 over b") != std::string::npos);
  BOOST_TEST(!node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(whoever_does_not_reach_the_store_says_that_it_cannot_lead) {
  StoreHarness node;
  node.bid();
  node.failed();
  BOOST_TEST((node.node().obstacle() == Obstacle::kNoStore));
  BOOST_TEST(!node.asks());
  node.run_for(seconds(5));
  BOOST_TEST((node.node().obstacle() != Obstacle::kNoDisk));
}

BOOST_AUTO_TEST_CASE(a_leader_renews_over_the_version_that_it_has_written) {
  StoreHarness node;
  node.lead_by_store();
  BOOST_TEST(everything(node.run_for(milliseconds(400))).find("write 3 in 8 over b") !=
             std::string::npos);
  const auto flag = last_publish(node.written("c"));
  BOOST_REQUIRE(flag);
  BOOST_TEST((flag->valid_until == node.now() + milliseconds(1600)));
}

// As etcd without space: it would look well, and nobody leads.
BOOST_AUTO_TEST_CASE(that_a_store_is_read_does_not_hide_that_it_takes_no_writes) {
  StoreHarness node;
  node.claim();
  node.stored();
  node.failed();
  while (!node.asks()) node.run_for(milliseconds(100));
  node.seen("a", node.released(7));
  BOOST_TEST(node.node().store()->failure.has_value());
  BOOST_TEST((node.node().store()->view.changed_at() < node.now()), "it is as old as before");
  node.event("z", node.held_by(2, 9));
  BOOST_TEST(!node.node().store()->failure.has_value());
}

// An answer may take half of what a flag has: two in a row, and the flag is never off.
BOOST_AUTO_TEST_CASE(a_renewal_is_due_from_the_sending_of_the_write_before) {
  StoreHarness node;
  node.bid();
  node.seen("a", node.released(7));
  node.stored();
  node.run_for(milliseconds(150));
  node.written("b");
  BOOST_TEST_REQUIRE(node.role() == "leads in 8");
  BOOST_TEST(everything(node.run_for(milliseconds(250))).find("write 3 in 8 over b") !=
             std::string::npos);
  node.run_for(milliseconds(500));
  node.written("c");
  const Effects next = node.run_for(Duration::zero());
  BOOST_TEST(everything(next).find("write 3 in 8 over c") != std::string::npos);
  for (const Effect& effect : next) BOOST_TEST(!std::holds_alternative<Remark>(effect), "a pause?");
}

BOOST_AUTO_TEST_CASE(a_leader_whose_record_was_deleted_leads_on_in_a_new_epoch) {
  StoreHarness node;
  node.lead_by_store();
  node.run_for(milliseconds(400));
  node.conflict();
  BOOST_TEST(everything(node.seen("", {})) == "write unknown");
  const Effects claim = node.written("d");
  BOOST_TEST(everything(claim).find("write 3 in") != std::string::npos);
  BOOST_TEST(node.role() == "leads in 8");
  node.stored();
  BOOST_TEST(published(node.written("e")).find("leads in ") == 0);
  BOOST_TEST(node.role() != "leads in 8");
}

BOOST_AUTO_TEST_CASE(a_leader_whose_record_is_anothers_stops) {
  StoreHarness node;
  node.lead_by_store();
  node.run_for(milliseconds(400));
  node.conflict();
  const std::string all = everything(node.seen("d", node.held_by(2, 9)));
  BOOST_TEST(all.find("no leader") < all.find("RESIGN"));
  BOOST_TEST(!node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(a_version_that_was_seen_before_is_no_renewal_also_when_it_was_forgotten) {
  StoreHarness node;
  node.bid();
  node.seen("a", node.held_by(2, 7));
  node.run_for(seconds(2));
  node.failed();
  for (int i = 0; i < 100 && !node.asks(); ++i) node.run_for(milliseconds(100));
  BOOST_REQUIRE(node.asks());
  node.event("a", node.held_by(2, 7));
  BOOST_TEST(node.asks());
}

BOOST_AUTO_TEST_CASE(an_earlier_process_of_this_home_is_succeeded_at_once) {
  StoreHarness node;
  node.bid();
  BOOST_TEST(everything(node.seen("a", node.held_by(3, 7))).find("write 3 in 8 over a") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_process_of_its_id_and_another_home_is_waited_for) {
  StoreHarness node;
  node.bid();
  node.seen("a", node.held_by_twin(7));
  BOOST_TEST(node.role() == "leaderless");
  BOOST_TEST((node.node().obstacle() == Obstacle::kNone));
  node.event("b", node.held_by_twin(7));  // it lives
  BOOST_TEST((node.node().obstacle() == Obstacle::kTwin));
  BOOST_TEST(everything(node.run_for(seconds(10))).find("read") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_leader_whose_record_another_process_of_its_id_has_taken_stops) {
  StoreHarness node;
  node.lead_by_store();
  node.run_for(milliseconds(400));
  node.conflict();
  const std::string all = everything(node.seen("d", node.held_by_twin(9)));
  BOOST_TEST(all.find("no leader") < all.find("RESIGN"));
  BOOST_TEST(!node.node().is_leading());
}

// Of a process that has a copy of the holder's state, and is connected here in its place.
BOOST_AUTO_TEST_CASE(a_release_that_a_twin_of_the_holder_tells_is_none_of_the_holders) {
  StoreHarness node;
  node.receive(2, 7, Resign{}, 7);
  node.bid();
  StoreRecord elsewhere = node.held_by(2, 7);
  elsewhere.home = StoreHarness::kElsewhere;
  node.seen("a", elsewhere);
  BOOST_TEST(node.role() == "leaderless");
  node.event("b", node.held_by(2, 7));
  BOOST_TEST(node.role() == "claims 8");
}

BOOST_AUTO_TEST_CASE(a_claim_of_a_process_that_was_proven_dead_before_is_nobodys) {
  StoreHarness node;
  node.step(LinkDown{uuid(2), LinkEvidence::kRefused, true});
  node.bid();
  StoreRecord of_another_life = node.held_by(2, 7);
  of_another_life.boot = 2;
  node.seen("a", of_another_life);
  BOOST_TEST(node.role() == "leaderless");
  node.event("b", node.held_by(2, 8));
  BOOST_TEST(node.role() == "claims 9");
}

BOOST_AUTO_TEST_CASE(a_proof_is_good_for_who_has_it) {
  StoreHarness node;
  node.step(LinkDown{uuid(1), LinkEvidence::kRefused, true});
  Canvass canvass{.voters = node.node().store()->hash, .holder_boot = 1};
  BOOST_TEST(find_sent<CanvassReply>(node.receive(2, 0, canvass))->has_proof);
  canvass.holder_boot = 2;
  BOOST_TEST(!find_sent<CanvassReply>(node.receive(2, 0, canvass))->has_proof);
}

// One that waits for the record of a holder that others know to be dead.
struct WithoutProof : StoreHarness {
  WithoutProof() {
    bid();
    note(seen("a", held_by(1, 7)));
  }
  void note(const Effects& effects) {
    for (const Effect& effect : effects) {
      const auto* send = std::get_if<Send>(&effect);
      if (send == nullptr) continue;
      if (const auto* canvass = std::get_if<Canvass>(&send->frame.body)) number = canvass->number;
    }
  }
  void wait(Duration duration) { note(run_for(duration)); }
  std::string hear_proof(uint32_t from, bool has_proof = true) {
    return sent(
        receive(from, 7, CanvassReply{.number = number, .is_yes = true, .has_proof = has_proof}));
  }
  uint64_t number = 0;  // of its last question
};

BOOST_AUTO_TEST_CASE(who_waits_for_the_record_tells_one_that_need_not_to_claim_and_waits_on) {
  WithoutProof node;
  BOOST_TEST(node.hear_proof(2) == "HANDOVER to 2");
  BOOST_TEST(node.node().is_candidate());
  node.wait(milliseconds(1900));
  BOOST_TEST(node.node().is_candidate());
  // From its own sight of the record on, whatever became of the other.
  BOOST_TEST(everything(node.run_for(milliseconds(200))).find("read") != std::string::npos);
  node.seen("a", node.held_by(1, 7));
  BOOST_TEST(node.role() == "claims 8");
}

BOOST_AUTO_TEST_CASE(who_was_told_to_claim_has_as_long_as_a_successor_and_then_another_is_told) {
  WithoutProof node;
  node.hear_proof(2);
  node.wait(milliseconds(650));  // 300 ms, and two answers of the store
  BOOST_TEST(node.hear_proof(1) == "");
  node.wait(milliseconds(100));
  BOOST_TEST(node.hear_proof(2) == "");
  BOOST_TEST(node.hear_proof(1) == "HANDOVER to 1");
}

BOOST_AUTO_TEST_CASE(when_there_is_no_other_the_same_is_told_to_claim_again) {
  WithoutProof node;
  node.hear_proof(2);
  node.wait(milliseconds(1100));
  BOOST_TEST(node.hear_proof(2) == "HANDOVER to 2");
}

BOOST_AUTO_TEST_CASE(one_that_was_told_and_cannot_or_is_gone_is_not_waited_for) {
  WithoutProof node;
  node.hear_proof(2);
  BOOST_TEST(node.hear_proof(1) == "");
  node.hear_proof(2, false);
  BOOST_TEST(node.hear_proof(1) == "HANDOVER to 1");
  node.note(node.step(LinkDown{uuid(1), LinkEvidence::kClosed, false}));
  node.wait(milliseconds(350));
  BOOST_TEST(node.hear_proof(2) == "HANDOVER to 2");
}

BOOST_AUTO_TEST_CASE(one_that_can_again_is_told_again_whatever_the_last_one_says) {
  WithoutProof node;
  node.hear_proof(1);
  node.wait(milliseconds(10));
  node.hear_proof(1, false);
  BOOST_TEST(node.hear_proof(2) == "HANDOVER to 2");
  node.hear_proof(2, false);
  node.wait(milliseconds(350));
  node.hear_proof(2, false);
  BOOST_TEST(node.hear_proof(1) == "");
  node.wait(milliseconds(350));
  node.hear_proof(2, false);
  BOOST_TEST(node.hear_proof(1) == "HANDOVER to 1");
}

BOOST_AUTO_TEST_CASE(who_has_proof_and_asks_the_store_leaves_the_turn_to_none_that_must_wait) {
  StoreHarness node;
  node.connect(4);
  node.step(LinkDown{uuid(1), LinkEvidence::kRefused, true});
  node.receive(4, 0, PlannedHandover{});
  BOOST_TEST(node.asks());
  const uint64_t reading = node.number();
  const Canvass canvass{.voters = node.node().store()->hash, .holder_boot = 1};
  BOOST_TEST(find_sent<CanvassReply>(node.receive(4, 0, canvass))->has_proof);
  node.receive(4, 0, PlannedHandover{});
  BOOST_TEST(node.number() == reading);
  node.run_for(milliseconds(150));
  node.seen("a", node.held_by(1, 7));
  BOOST_TEST(node.role() == "claims 8");
}

BOOST_AUTO_TEST_CASE(who_asks_the_store_without_proof_leaves_the_turn) {
  StoreHarness node;
  node.bid();
  node.connect(4);
  node.receive(4, 0, Canvass{.voters = node.node().store()->hash, .holder_boot = 1});
  BOOST_TEST(!node.node().is_candidate());
}

BOOST_AUTO_TEST_CASE(a_last_renewal_of_one_that_is_proven_dead_is_no_sign_of_life) {
  StoreHarness node;
  node.bid();
  node.seen("a", node.held_by(1, 7));
  node.step(LinkDown{uuid(1), LinkEvidence::kRefused, true});
  BOOST_TEST(node.role() == "claims 8");
  node.conflict();
  node.seen("b", node.held_by(1, 7));
  BOOST_TEST(node.role() == "claims 9");
}

BOOST_AUTO_TEST_CASE(a_record_that_is_watched_is_claimed_without_another_look) {
  StoreHarness node;
  node.bid();
  node.seen("a", node.held_by(1, 7));
  node.run_for(seconds(1));
  node.step(LinkDown{uuid(1), LinkEvidence::kRefused, true});
  BOOST_TEST(node.role() == "claims 8");
}

BOOST_AUTO_TEST_CASE(a_record_that_was_seen_long_ago_is_read_before_it_is_claimed) {
  StoreHarness node;
  node.bid();
  node.seen("a", node.held_by(1, 7));
  node.connect(4);
  node.receive(4, 0, Canvass{.voters = node.node().store()->hash});
  BOOST_TEST(!node.node().store()->is_watching);
  node.run_for(seconds(1));
  node.step(LinkDown{uuid(1), LinkEvidence::kRefused, true});
  node.receive(4, 0, PlannedHandover{});
  BOOST_TEST(node.role() == "leaderless");
  BOOST_TEST(node.asks());
  node.seen("b", node.held_by(1, 7));
  BOOST_TEST(node.role() == "claims 8");
}

BOOST_AUTO_TEST_CASE(a_claim_of_a_process_that_has_left_is_nobodys) {
  StoreHarness node;
  node.receive(2, 6, Leave{1}, 6);
  node.bid();
  node.seen("a", node.held_by(2, 7));
  BOOST_TEST(node.role() == "claims 8");
}

BOOST_AUTO_TEST_CASE(a_store_that_is_slow_is_waited_for_longer_the_next_time) {
  StoreHarness node;
  const auto patience_of_read = [&](const Effects& effects) {
    for (const Effect& effect : effects) {
      if (const auto* read = std::get_if<StoreRead>(&effect)) return read->patience;
    }
    return Duration::zero();
  };
  BOOST_TEST((patience_of_read(node.bid()) == milliseconds(200)));
  BOOST_TEST((patience_of_read(node.run_for(seconds(4))) == milliseconds(400)));
  Duration most{};
  for (int i = 0; i < 20; ++i) {
    most = std::max(most, patience_of_read(node.run_for(seconds(4))));
  }
  BOOST_TEST((most == milliseconds(800)));  // of a lease of 2 s
}

BOOST_AUTO_TEST_CASE(a_leader_waits_for_a_renewal_for_half_of_what_its_lease_has_left) {
  StoreHarness node;
  node.lead_by_store();
  for (const Effect& effect : node.run_for(milliseconds(400))) {
    const auto* write = std::get_if<StoreWrite>(&effect);
    if (write != nullptr) BOOST_TEST((write->patience == milliseconds(600)));
  }
}

BOOST_AUTO_TEST_CASE(an_epoch_that_is_too_far_ahead_is_none_of_ours) {
  StoreHarness node;
  node.bid();
  node.seen("a", node.held_by(2, UINT64_MAX));
  BOOST_TEST((node.node().store()->view.record().holder == Holder::kStranger));
  BOOST_TEST(node.node().known_epoch() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
