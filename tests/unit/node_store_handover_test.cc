// Guard on a store: how leadership is given to a successor, by its name in the record.
#include <boost/test/unit_test.hpp>

#include "store_harness.hh"

namespace bellwether::tests {

BOOST_AUTO_TEST_SUITE(node_store_handover)

BOOST_AUTO_TEST_CASE(a_handover_is_flag_then_record_then_word) {
  StoreHarness node;
  node.lead_by_store();
  const std::string given = everything(node.step(StepDown{seconds(30)}));
  BOOST_TEST(given.find("no leader") < given.find("write 2 in 8 over b"));
  BOOST_TEST(given.find("HANDOVER") == std::string::npos);
  const Effects told = node.written("c");
  const auto handover = find_sent<PlannedHandover>(told);
  BOOST_REQUIRE(handover);
  BOOST_TEST(handover->version == "c");
}

BOOST_AUTO_TEST_CASE(a_leader_that_leaves_waits_for_no_store_that_hangs) {
  Options options = with_store();
  options.lease = seconds(10);
  options.renew_interval = seconds(2);
  StoreHarness node(options);
  node.lead_by_store();
  node.run_for(seconds(2));  // and a renewal is under way
  BOOST_TEST(published(node.step(LeaveGroup{})) == "no leader");
  node.run_for(milliseconds(1100));
  BOOST_TEST(node.node().has_left());
}

BOOST_AUTO_TEST_CASE(a_handover_without_an_answer_is_looked_up) {
  StoreHarness node;
  node.lead_by_store();
  node.step(StepDown{seconds(30)});
  BOOST_TEST(everything(node.failed()).find("read") != std::string::npos);
  const auto handover = find_sent<PlannedHandover>(node.seen("c", node.held_by(2, 8)));
  BOOST_REQUIRE(handover);
  BOOST_TEST(handover->version == "c");
}

BOOST_AUTO_TEST_CASE(the_next_successor_is_named_over_the_version_that_names_the_first) {
  StoreHarness node;
  node.lead_by_store();
  node.step(StepDown{seconds(30)});
  node.written("c");
  BOOST_TEST(everything(node.receive(2, 7, Leave{1}, 7)).find("write 1 in 8 over c") !=
             std::string::npos);
  const auto handover = find_sent<PlannedHandover>(node.written("d"));
  BOOST_REQUIRE(handover);
  BOOST_TEST(handover->version == "d");
}

BOOST_AUTO_TEST_CASE(when_nobody_is_left_to_be_named_the_record_is_released_and_then_its_epoch) {
  StoreHarness node;
  node.lead_by_store();
  node.step(Transfer{uuid(2)});
  node.written("c");
  const std::string all = everything(node.run_for(milliseconds(550)));
  BOOST_TEST(all.find("write nobody in 8 over c") != std::string::npos);
  BOOST_TEST(all.find("RESIGN") == std::string::npos);
  BOOST_TEST(sent(node.written("d")).find("RESIGN") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_leader_names_nobody_over_a_claim_of_its_successor) {
  StoreHarness node;
  node.lead_by_store();
  node.step(StepDown{seconds(30)});
  node.written("c");
  node.run_for(seconds(1));  // it has not heard of it
  node.conflict();
  const std::string all = everything(node.seen("d", node.held_by(2, 9)));
  BOOST_TEST(all.find("RESIGN") != std::string::npos);
  BOOST_TEST(all.find("write") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_claim_of_a_successor_that_has_left_since_goes_to_the_next_one) {
  StoreHarness node;
  node.lead_by_store();
  node.step(StepDown{seconds(30)});
  node.written("c");
  node.receive(2, 7, Leave{1}, 7);  // its claim is on its way
  node.conflict();
  BOOST_TEST(everything(node.seen("d", node.held_by(2, 9))).find("write 1 in 9 over d") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_leader_that_was_paused_as_it_wrote_a_name_looks_what_became_of_it) {
  StoreHarness node;
  node.lead_by_store();
  node.step(StepDown{seconds(30)});
  node.pass(seconds(2));
  const std::string all = everything(node.run_for(Duration::zero()));
  BOOST_TEST(all.find("read") != std::string::npos);
  BOOST_TEST(all.find("RESIGN") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_second_name_without_an_answer_is_written_again) {
  StoreHarness node;
  node.lead_by_store();
  node.step(StepDown{seconds(30)});
  node.written("c");
  node.receive(2, 7, Leave{1}, 7);
  node.failed();
  const std::string all = everything(node.seen("c", node.held_by(2, 8)));
  BOOST_TEST(all.find("write 1 in 8 over c") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_successor_claims_over_the_version_that_it_was_told_without_a_read) {
  StoreHarness node;
  node.receive(2, 7, Coordinator{});
  BOOST_TEST(node.role() == "follows 2 in 7");
  const std::string all = everything(node.receive(2, 7, PlannedHandover{.version = "q"}, 7));
  BOOST_TEST(all.find("write 3 in 8 over q") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
