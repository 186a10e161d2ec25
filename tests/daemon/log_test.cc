// How lines of the log look, whatever is in them.
#include "daemon/log.hh"

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "stderr_file.hh"

using bellwether::LogLevel;
using bellwether::daemon::json_line;
using bellwether::daemon::LogContext;
using bellwether::daemon::text_line;
using bellwether::test::StderrFile;

namespace {

const std::chrono::system_clock::time_point kTime{std::chrono::milliseconds(1'700'000'000'007)};
const LogContext kContext{.node = "orders-0", .epoch = 7};

}  // namespace

BOOST_AUTO_TEST_SUITE(log_line)

BOOST_AUTO_TEST_CASE(a_line_says_when_how_bad_who_and_in_which_epoch) {
  BOOST_TEST(text_line(kTime, LogLevel::kWarn, kContext, "lost the lead", {}) ==
             "2023-11-14T22:13:20.007Z warn  orders-0 epoch=7 lost the lead");
}

BOOST_AUTO_TEST_CASE(details_follow_the_event_and_are_quoted_when_they_must_be) {
  BOOST_TEST(text_line(kTime, LogLevel::kInfo, kContext, "member",
                       {{"name", "orders-1"}, {"why", "too late"}, {"none", ""}}) ==
             "2023-11-14T22:13:20.007Z info  orders-0 epoch=7 member name=orders-1 "
             "why=\"too late\" none=\"\"");
}

BOOST_AUTO_TEST_CASE(one_event_stays_one_line) {
  BOOST_TEST(
      text_line(kTime, LogLevel::kError, kContext, "a\n\"b\"", {{"c", "\"d\"\\\x1b[2J\x7f"}}) ==
      "2023-11-14T22:13:20.007Z error orders-0 epoch=7 a\\x0a\"b\" "
      "c=\"\\\"d\\\"\\\\\\x1b[2J\\x7f\"");
}

BOOST_AUTO_TEST_CASE(json_lines_are_objects) {
  const auto line = nlohmann::json::parse(
      json_line(kTime, LogLevel::kInfo, kContext, "member", {{"name", "a\"\n\xff"}}));
  BOOST_TEST(line.at("time") == "2023-11-14T22:13:20.007Z");
  BOOST_TEST(line.at("level") == "info");
  BOOST_TEST(line.at("node") == "orders-0");
  BOOST_TEST(line.at("epoch") == 7);
  BOOST_TEST(line.at("event") == "member");
  BOOST_TEST(line.at("name") == "a\"\n\xEF\xBF\xBD");
}

// What comes too often is left out, each kind for itself, and one event may have several.
BOOST_AUTO_TEST_CASE(what_comes_too_often_hides_nothing_of_another_kind) {
  StderrFile written;
  {
    bellwether::daemon::Log log({.level = LogLevel::kInfo});
    for (int i = 0; i < 1010; ++i) {
      log.write_of("asked for attach", LogLevel::kInfo, "asked for", {{"command", "attach"}});
    }
    log.write_of("asked for reload", LogLevel::kInfo, "asked for", {{"command", "reload"}});
    BOOST_TEST(log.left_out() == 10u);
  }
  const std::string text = written.text();
  BOOST_TEST(text.find("asked for command=attach") != std::string::npos);
  BOOST_TEST(text.find("asked for command=reload") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
