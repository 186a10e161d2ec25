// What must never change in the plugin ABI: where each field lies, in C and in C++, and the numbers
// that go through it.
#include "layout.inc"

#include <boost/test/unit_test.hpp>
#include <string>

namespace {

std::string name(const layout_field& row) { return std::string(row.type) + "." + row.field; }

bool is_first_of_its_type(const layout_field* row) { return row->offset == 0; }

bool is_last_of_its_type(const layout_field* row) {
  return row[1].type == nullptr || is_first_of_its_type(row + 1);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(layout)

BOOST_AUTO_TEST_CASE(c_and_cxx_see_the_same_layout) {
  const layout_field* cxx = layout_seen_by_cxx();
  for (const layout_field* c = layout_seen_by_c(); c->type != nullptr; ++c, ++cxx) {
    BOOST_REQUIRE(cxx->type != nullptr);
    BOOST_TEST_CONTEXT(name(*c)) {
      BOOST_TEST(name(*cxx) == name(*c));
      BOOST_TEST(cxx->type_size == c->type_size);
      BOOST_TEST(cxx->type_alignment == c->type_alignment);
      BOOST_TEST(cxx->offset == c->offset);
      BOOST_TEST(cxx->size == c->size);
    }
  }
  BOOST_TEST((cxx->type == nullptr));
}

// A gap would be filled differently by different compilers, and its bytes would be undefined.
BOOST_AUTO_TEST_CASE(no_structure_has_a_gap_between_or_behind_its_fields) {
  for (const layout_field* row = layout_seen_by_c(); row->type != nullptr; ++row) {
    BOOST_TEST_CONTEXT(name(*row)) {
      const size_t end = row->offset + row->size;
      BOOST_TEST(end == (is_last_of_its_type(row) ? row->type_size : row[1].offset));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

#define EXPECT_NUMBER(name, number) BOOST_TEST((name) == (number), #name " must stay " #number)

BOOST_AUTO_TEST_SUITE(numbers)

BOOST_AUTO_TEST_CASE(the_version_is_that_of_this_test) {
  // Whoever raises one of these has read "Evolution" in election_plugin.h.
  EXPECT_NUMBER(ELECTION_ABI_MAJOR, 1u);
  EXPECT_NUMBER(ELECTION_ABI_MINOR, 0u);
}

BOOST_AUTO_TEST_CASE(the_symbol_keeps_its_name) {
  BOOST_TEST(std::string(ELECTION_PLUGIN_SYMBOL) == "bellwether_election_plugin");
}

BOOST_AUTO_TEST_CASE(the_limits_keep_their_numbers) {
  EXPECT_NUMBER(ELECTION_NOBODY, 0xffffffffu);
  EXPECT_NUMBER(ELECTION_NO_DEADLINE, 0xffffffffffffffffu);
  EXPECT_NUMBER(ELECTION_MESSAGE_MAX_IDS, 1000);
}

BOOST_AUTO_TEST_CASE(marks_and_flags_keep_their_bits) {
  EXPECT_NUMBER(ELECTION_MEMBER_SUSPECT, 1);
  EXPECT_NUMBER(ELECTION_MEMBER_ELECTABLE, 2);
  EXPECT_NUMBER(ELECTION_FLAG_ELECTABLE, 1);
  EXPECT_NUMBER(ELECTION_CONFIG_STICKY, 1);
  EXPECT_NUMBER(ELECTION_CONFIG_ASK_SUSPECTED, 2);
}

BOOST_AUTO_TEST_CASE(messages_keep_their_numbers) {
  EXPECT_NUMBER(ELECTION_MESSAGE_ELECTION, 1);
  EXPECT_NUMBER(ELECTION_MESSAGE_ANSWER, 2);
  EXPECT_NUMBER(ELECTION_MESSAGE_HANDOVER, 3);
  EXPECT_NUMBER(ELECTION_MESSAGE_FIRST_PRIVATE, 16);
  EXPECT_NUMBER(ELECTION_MESSAGE_LAST_PRIVATE, 31);
}

BOOST_AUTO_TEST_CASE(events_keep_their_numbers) {
  EXPECT_NUMBER(ELECTION_EVENT_MESSAGE, 1);
  EXPECT_NUMBER(ELECTION_EVENT_TIMEOUT, 2);
  EXPECT_NUMBER(ELECTION_EVENT_MEMBERS, 3);
  EXPECT_NUMBER(ELECTION_EVENT_LEADER, 4);
  EXPECT_NUMBER(ELECTION_EVENT_ELECT, 5);
  EXPECT_NUMBER(ELECTION_EVENT_STAND_DOWN, 6);
}

BOOST_AUTO_TEST_CASE(reasons_keep_their_numbers) {
  EXPECT_NUMBER(ELECTION_REASON_NONE, 0);
  EXPECT_NUMBER(ELECTION_REASON_STARTED, 1);
  EXPECT_NUMBER(ELECTION_REASON_LEADER_LOST, 2);
  EXPECT_NUMBER(ELECTION_REASON_RESIGNED, 3);
  EXPECT_NUMBER(ELECTION_REASON_OUTRANKS, 4);
  EXPECT_NUMBER(ELECTION_REASON_OPERATOR, 5);
  EXPECT_NUMBER(ELECTION_REASON_RETRY, 6);
  EXPECT_NUMBER(ELECTION_REASON_ANNOUNCED, 7);
  EXPECT_NUMBER(ELECTION_REASON_CLAIMED, 8);
  EXPECT_NUMBER(ELECTION_REASON_CLAIM_REFUSED, 9);
  EXPECT_NUMBER(ELECTION_REASON_STEPPED_DOWN, 10);
  EXPECT_NUMBER(ELECTION_REASON_LEADER_EXISTS, 11);
}

BOOST_AUTO_TEST_CASE(actions_keep_their_numbers) {
  EXPECT_NUMBER(ELECTION_ACTION_SEND, 1);
  EXPECT_NUMBER(ELECTION_ACTION_CLAIM, 2);
  EXPECT_NUMBER(ELECTION_ACTION_STATE, 3);
}

BOOST_AUTO_TEST_CASE(states_keep_their_numbers) {
  EXPECT_NUMBER(ELECTION_STATE_IDLE, 0);
  EXPECT_NUMBER(ELECTION_STATE_COLLECTING, 1);
  EXPECT_NUMBER(ELECTION_STATE_WAITING, 2);
  EXPECT_NUMBER(ELECTION_STATE_HALTED, 3);
  EXPECT_NUMBER(ELECTION_STATE_CLAIMING, 4);
}

BOOST_AUTO_TEST_SUITE_END()
