// How many lines of the log a stranger is given.
#include "daemon/line_limit.hh"

#include <boost/test/unit_test.hpp>

#include "daemon/event_log.hh"
#include "daemon/log.hh"

namespace bellwether::test {

using namespace daemon;

namespace {

using std::chrono::seconds;

constexpr Instant kBegin{seconds(1000)};

int admitted(LineLimit& limit, Instant now, const char* kind, int lines) {
  int count = 0;
  for (int i = 0; i < lines; ++i) count += limit.admit(now, kind) ? 1 : 0;
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(line_limit)

BOOST_AUTO_TEST_CASE(so_many_lines_in_a_row_and_then_one_each_interval) {
  LineLimit limit(10, seconds(3));
  BOOST_TEST(admitted(limit, kBegin, "a", 100'000) == 10);
  BOOST_TEST(admitted(limit, kBegin + seconds(2), "a", 100'000) == 0);
  BOOST_TEST(admitted(limit, kBegin + seconds(3), "a", 100'000) == 1);
  BOOST_TEST(admitted(limit, kBegin + seconds(9), "a", 100'000) == 2);
  BOOST_TEST(admitted(limit, kBegin + seconds(3600), "a", 100'000) == 10);
}

BOOST_AUTO_TEST_CASE(the_next_line_says_how_many_were_left_out) {
  LineLimit limit(1, seconds(60));
  BOOST_TEST(limit.admit(kBegin, "a").value() == 0u);
  for (int i = 0; i < 7; ++i) BOOST_TEST(!limit.admit(kBegin, "a"));
  BOOST_TEST(limit.admit(kBegin + seconds(60), "a").value() == 7u);
  BOOST_TEST(limit.admit(kBegin + seconds(120), "a").value() == 0u);
}

BOOST_AUTO_TEST_CASE(each_kind_has_its_own) {
  LineLimit limit(1, seconds(60));
  BOOST_TEST(admitted(limit, kBegin, "a", 10) == 1);
  BOOST_TEST(admitted(limit, kBegin, "b", 10) == 1);
}

BOOST_AUTO_TEST_CASE(kinds_without_an_end_are_one) {
  LineLimit limit(1, seconds(60));
  int count = 0;
  for (int i = 0; i < 100'000; ++i) {
    count += admitted(limit, kBegin, std::to_string(i).c_str(), 1);
  }
  BOOST_TEST(count == int{LineLimit::kMaxKinds} + 1);
}

BOOST_AUTO_TEST_CASE(a_flaw_is_worth_a_line_when_it_begins_changes_and_ends) {
  LastingFlaw flaw;
  const auto at = [&](int second, const char* text) {
    return flaw.set(kBegin + seconds(second), text);
  };
  BOOST_TEST(!at(0, ""));
  BOOST_TEST(at(1, "a"));
  BOOST_TEST(!at(2, "a"));
  BOOST_TEST(at(3, "b"));
  BOOST_TEST(!at(4, "a"));  // told a moment ago
  BOOST_TEST(!at(5, "b"));
  BOOST_TEST(flaw.text() == "b");
  BOOST_TEST(at(6, ""));
  BOOST_TEST(!at(7, ""));
  BOOST_TEST(at(8, "b"));  // it has begun again
  BOOST_TEST(at(90, "a"));
}

// The bound holds for every event of the log, whoever writes it; for debug lines somebody has
// asked.
BOOST_AUTO_TEST_CASE(a_log_leaves_out_what_comes_without_an_end) {
  Log log({.level = LogLevel::kDebug});
  for (int i = 0; i < 5000; ++i) log.write(LogLevel::kDebug, "a message");
  BOOST_TEST(log.left_out() == 0u);
  for (int i = 0; i < 5000; ++i) log.write(LogLevel::kInfo, "member", {{"name", "a"}});
  BOOST_TEST(log.left_out() >= 3900u);
}

BOOST_AUTO_TEST_CASE(of_refused_messages_a_line_a_minute_and_reason_is_written) {
  Log log({});
  const Members members{{.name = "n1", .priority = 100, .boot = 1}};
  EventLog events(log, members);
  const auto flood = [&](Instant now) {
    int lines = 0;
    for (int i = 0; i < 1000; ++i) {
      lines += events.on_rejected(now, {Unfit::kNotConnected, {}}) ? 1 : 0;
      lines += events.on_rejected(now, {Unfit::kEpochTooFarAhead, {}}) ? 1 : 0;
      lines += events.on_rejected(now, Rejection::kBadMagic, "a:1", "") ? 1 : 0;
      lines += events.on_limit(now, Limit::kPeerSilence) ? 1 : 0;
    }
    return lines;
  };
  BOOST_TEST(flood(kBegin) == 4);
  BOOST_TEST(flood(kBegin + seconds(59)) == 0);
  BOOST_TEST(flood(kBegin + seconds(60)) == 4);
}

BOOST_AUTO_TEST_CASE(elections_that_come_to_nothing_are_not_told_for_ever) {
  Log log({});
  const Members members{{.name = "n1", .priority = 100, .boot = 1}};
  EventLog events(log, members);
  const auto hold_election = [&] {
    events.on_effect(kBegin, Progress{ELECTION_STATE_COLLECTING, "asks"});
    events.on_effect(kBegin, Progress{ELECTION_STATE_WAITING, "handed over"});
  };
  for (uint64_t i = 0; i < EventLog::kToldElections; ++i) hold_election();
  BOOST_TEST(events.tells_elections());
  hold_election();
  BOOST_TEST(!events.tells_elections());
  events.on_effect(kBegin, Publish{.why = Why::kClaims});
  BOOST_TEST(!events.tells_elections());
  events.on_effect(kBegin, Publish{.leader = Uuid{}, .why = Why::kAnnounced});
  BOOST_TEST(events.tells_elections());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::test
