// What the text has beyond the known keys and tables, what it lacks, and variables in text.
#include <boost/test/unit_test.hpp>

#include "config/value_types.hh"
#include "parse_harness.hh"

namespace {

using namespace bellwether::test;
using Lines = std::vector<std::string>;

constexpr const char* kNameForm =
    "give 1 to 63 letters, digits, '-', '.' and '_', with a letter or a digit at both ends";

void expect_errors(const std::string& text, const Lines& expected) {
  BOOST_TEST(errors_of(text) == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(config_unknown)

BOOST_AUTO_TEST_CASE(only_the_group_is_required) {
  BOOST_TEST(errors_of("group.name = \"a\"").empty());
  expect_errors("", {std::string("b.toml:1:1: error: group.name: is required; ") + kNameForm});
  expect_errors("\n[group]\n",
                {std::string("b.toml:2:1: error: group.name: is required; ") + kNameForm});
}

BOOST_AUTO_TEST_CASE(a_misspelt_key_is_recognised) {
  expect_errors(kSound + "prioriti = 1\n",
                {"b.toml:9:1: error: node.prioriti: is unknown; did you mean priority?"});
}

BOOST_AUTO_TEST_CASE(a_key_in_a_wrong_table_is_recognised) {
  expect_errors(kSound + "lease = \"1s\"\n",
                {"b.toml:9:1: error: node.lease: is unknown; did you mean election.lease?"});
}

BOOST_AUTO_TEST_CASE(a_key_that_is_like_no_other_is_told_which_there_are) {
  expect_errors(kSound + "[log]\nzzz = 1\n",
                {"b.toml:10:1: error: log.zzz: is unknown; known keys of this table are level, "
                 "format"});
}

BOOST_AUTO_TEST_CASE(a_key_outside_of_any_table_is_told_where_it_belongs) {
  expect_errors("priority = 1\n" + kSound,
                {"b.toml:1:1: error: priority: stands outside of any table; move it to its table: "
                 "node.priority"});
}

BOOST_AUTO_TEST_CASE(a_misspelt_table_is_recognised) {
  expect_errors(kSound + "[membrship]\n",
                {"b.toml:9:2: error: membrship: is unknown; did you mean [membership]?"});
  expect_errors(
      kSound + "[zzzzzz]\n",
      {"b.toml:9:2: error: zzzzzz: is unknown; known tables are group, node, election, "
       "failure_detector, membership, kubernetes, etcd, api, metrics, flag, tls, application, log, "
       "voters, hook"});
}

BOOST_AUTO_TEST_CASE(a_table_is_a_table) {
  expect_errors("log = 1\n" + kSound,
                {"b.toml:1:1: error: log: is a whole number, not a table; write [log], once"});
  expect_errors(kSound + "[[log]]\n",
                {"b.toml:9:3: error: log: is a list, not a table; write [log], once"});
  expect_errors("voters = []\ngroup.name = \"a\"\n",
                {"b.toml:1:1: error: voters: is a list, not a table; write [voters], once"});
}

BOOST_AUTO_TEST_CASE(hooks_are_a_list_of_tables) {
  expect_errors(kSound + "[hook]\nurl = \"http://a/\"\n",
                {"b.toml:9:2: error: hook: is a table, not a list of tables; write [[hook]], in "
                 "two pairs of brackets"});
  expect_errors("hook = [1]\n" + kSound,
                {"b.toml:1:9: error: hook[1]: is a whole number, not a table; write [[hook]], in "
                 "two pairs of brackets"});
}

BOOST_AUTO_TEST_CASE(all_errors_are_told_at_once_in_the_order_of_the_text) {
  expect_errors("[node]\npriority = \"x\"\n[group]\nnane = 1\n[flag]\nmode = 0o666\n",
                {"b.toml:2:12: error: node.priority: is text, not a whole number; give a whole "
                 "number from 0 to 65535",
                 std::string("b.toml:3:1: error: group.name: is required; ") + kNameForm,
                 "b.toml:4:1: error: group.nane: is unknown; did you mean name?",
                 "b.toml:6:8: error: flag.mode: others than the sidecar could write that they "
                 "lead; give 0o640 or 0o644"});
}

BOOST_AUTO_TEST_CASE(one_mistake_is_told_once) {
  // With its default, the bad suspect_after would also be too short for the interval.
  expect_errors(
      kSound + "[failure_detector]\nheartbeat_interval = \"400ms\"\nsuspect_after = \"1\"\n",
      {"b.toml:11:17: error: failure_detector.suspect_after: \"1\" is not a duration; give "
       "a duration from \"10ms\" to \"10s\", a whole number with a unit: ms, s, m or h"});
}

BOOST_AUTO_TEST_CASE(variables_are_replaced_in_text) {
  const auto parsed = parse(
      "[group]\nname = \"g\"\n[node]\nname = \"a-${POD_NAME}-${EMPTY}b\"\n"
      "state_dir = \"/$HOME/$${POD_IP}/$$/$\"\n[[hook]]\nurl = \"http://${POD_IP}/\"\n");
  BOOST_TEST(parsed.config.node.name == "a-orders-0-b");
  BOOST_TEST(parsed.config.node.state_dir == "/$HOME/${POD_IP}/$$/$");
  BOOST_TEST(parsed.config.hooks.front().url == "http://10.0.0.7/");
}

BOOST_AUTO_TEST_CASE(what_a_variable_holds_is_taken_as_it_is) {
  const auto parsed = parse("group.name = \"g\"\nnode.state_dir = \"/${NESTED}\"\n");
  BOOST_TEST(parsed.config.node.state_dir == "/${POD_IP}");
}

BOOST_AUTO_TEST_CASE(an_ipv6_address_in_a_variable_has_brackets_where_it_needs_them) {
  const auto parsed = parse(
      "group.name = \"g\"\nnode.advertise = \"${POD_IPV6}:7946\"\n"
      "node.state_dir = \"/${POD_IPV6}/[${POD_IPV6}]\"\n"
      "membership.peers = [\"[${POD_IPV6}]:1\", \"${POD_IP}:2\"]\n"
      "[[hook]]\nurl = \"http://${POD_IPV6}/\"\n[[hook]]\nurl = "
      "\"http://${POD_IPV6}:80/a:${POD_IPV6}\"\n");
  BOOST_TEST(parsed.config.node.advertise.text() == "[fd00::5]:7946");
  BOOST_TEST(parsed.config.node.state_dir == "/fd00::5/[fd00::5]");
  BOOST_TEST(parsed.config.membership.peers.at(0).text() == "[fd00::5]:1");
  BOOST_TEST(parsed.config.membership.peers.at(1).text() == "10.0.0.7:2");
  BOOST_TEST(parsed.config.hooks.at(0).url == "http://[fd00::5]/");
  BOOST_TEST(parsed.config.hooks.at(1).url == "http://[fd00::5]:80/a:fd00::5");
}

BOOST_AUTO_TEST_CASE(variables_that_are_not_there_are_errors) {
  const auto expect = [](const std::string& value, const std::string& what) {
    expect_errors(
        "group.name = \"g\"\nnode.state_dir = \"" + value + "\"\n",
        {"b.toml:2:18: error: node.state_dir: " + what + "; set it, or write $${ for ${ itself"});
  };
  expect("/${NOPE}", "needs the environment variable NOPE, which is not set");
  expect("/${BELL}",
         "needs the environment variable BELL, which holds control characters or no UTF-8");
  expect("/${LATIN1}",
         "needs the environment variable LATIN1, which holds control characters or no UTF-8");
  for (const char* broken : {"/${", "/${}", "/${POD_IP", "/${1}", "/${POD-IP}", "/${ POD_IP}"}) {
    expect(broken, "has a ${ without the name of a variable and }");
  }
}

BOOST_AUTO_TEST_CASE(an_empty_variable_is_set) {
  expect_errors("group.name = \"g\"\nnode.advertise = \"${EMPTY}:1\"\n",
                {"b.toml:2:18: error: node.advertise: \":1\" lacks a host before the colon; give "
                 "\"host:port\" with a name, an IPv4 address or an [IPv6 address]"});
}

BOOST_AUTO_TEST_CASE(suggestions_are_near) {
  using bellwether::nearest_word;
  const std::vector<std::string> words{"level", "listen", "lease", "a"};
  BOOST_TEST(nearest_word("lisetn", words) == "listen");  // swapped
  BOOST_TEST(nearest_word("leas", words) == "lease");     // missing
  BOOST_TEST(nearest_word("llevel", words) == "level");   // too many
  BOOST_TEST(nearest_word("levol", words) == "level");    // wrong
  BOOST_TEST(nearest_word("x", words) == "");             // all wrong
  BOOST_TEST(nearest_word("", words) == "");
  BOOST_TEST(nearest_word("colour", words) == "");
  BOOST_TEST(nearest_word(std::string(100000, 'l'), words) == "");
}

BOOST_AUTO_TEST_SUITE_END()
