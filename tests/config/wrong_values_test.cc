// Every key: what is said of what it does not take, to the letter and the column.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "parse_harness.hh"

namespace {

using namespace bellwether::test;

using Lines = std::vector<std::string>;

struct Bad {
  const char* line;  // KEY = VALUE, behind [TABLE]
  const char* table;
  int column;
  const char* complaint;  // without key and position
};

constexpr const char* kName =
    "; give 1 to 63 letters, digits, '-', '.' and '_', with a letter or a digit at both ends";
constexpr const char* kHostPort =
    "; give \"host:port\" with a name, an IPv4 address or an [IPv6 address]";

const Bad kBad[] = {
    {R"(priority = -1)", "node", 12, "-1 is out of range; give a whole number from 0 to 65535"},
    {R"(priority = 65536)", "node", 12,
     "65536 is out of range; give a whole number from 0 to 65535"},
    {R"(priority = 1.5)", "node", 12,
     "is a number with a fraction, not a whole number; give a whole number from 0 to 65535"},
    {R"(priority = "1")", "node", 12,
     "is text, not a whole number; give a whole number from 0 to 65535"},
    {R"(priority = true)", "node", 12,
     "is true or false, not a whole number; give a whole number from 0 to 65535"},
    {R"(priority = 2024-01-01)", "node", 12,
     "is a date or a time, not a whole number; give a whole number from 0 to 65535"},
    {R"(priority = [1])", "node", 12,
     "is a list, not a whole number; give a whole number from 0 to 65535"},
    {R"(priority = {a = 1})", "node", 12,
     "is a table, not a whole number; give a whole number from 0 to 65535"},
    {R"(state_dir = "var")", "node", 13,
     "\"var\" has the wrong form; give an absolute path, or \"\" to keep nothing"},
    {R"(state_dir = "/a\nb")", "node", 13,
     "\"/a\\u000Ab\" has the wrong form; give an absolute path, or \"\" to keep nothing"},
    {R"(state_dir = 1)", "node", 13,
     "is a whole number, not text; give an absolute path, or \"\" to keep nothing"},
    {R"(memory_keeper = 1)", "node", 17, "is a whole number, not text; give \"on\" or \"off\""},
    {R"(attach = 1)", "application", 10, "is a whole number, not text; give \"off\" or \"on\""},
    {R"(health = "http://10.0.0.7:8080/")", "application", 10,
     "\"http://10.0.0.7:8080/\" has the wrong form; give http:// and a loopback address, "
     "unix:/PATH:/URL, or \"\" for none"},
    {R"(health = "https://127.0.0.1/")", "application", 10,
     "\"https://127.0.0.1/\" has the wrong form; give http:// and a loopback address, "
     "unix:/PATH:/URL, or \"\" for none"},
    {R"(health = "unix:/run/app.sock")", "application", 10,
     "\"unix:/run/app.sock\" has the wrong form; give http:// and a loopback address, "
     "unix:/PATH:/URL, or \"\" for none"},
    {R"(health_failures = 0)", "application", 19,
     "0 is out of range; give a whole number from 1 to 100"},
    {R"(drain_timeout = "61m")", "application", 17,
     "\"61m\" is out of range; give a duration from \"0s\" to \"1h\", a whole number with a unit: "
     "ms, s, m or h"},
    {R"(score_margin = -1)", "application", 16,
     "-1 is out of range; give a whole number from 0 to 4294967295"},
    {R"(plugin = "")", "election", 10,
     "\"\" has the wrong form; give a plugin's name, like \"bully\", or a path with a slash"},
    {R"(profile = "fsat")", "election", 11,
     "\"fsat\" is not one of the words for it; give \"default\", \"lan\", \"wan\", \"fast\" or "
     "\"textbook\"; did you mean \"fast\"?"},
    {R"(variant = "a b")", "election", 11,
     "\"a b\" has the wrong form; give the name of a variant"},
    {R"(preempt = "sometimes")", "election", 11,
     "\"sometimes\" is not one of the words for it; give \"always\", \"priority\" or \"never\""},
    {R"(preempt = false)", "election", 11,
     "is true or false, not text; give \"always\", \"priority\" or \"never\""},
    {R"(preempt_delay = "2h")", "election", 17,
     "\"2h\" is out of range; give a duration from \"0s\" to \"1h\", a whole number with a unit: "
     "ms, s, m or h"},
    {R"(death_proof = "")", "election", 15,
     "\"\" is not one of the words for it; give \"auto\", \"none\" or \"refused\""},
    {R"(answer_timeout = 100)", "election", 18,
     "is a whole number, not a duration in quotes; give a duration from \"1ms\" to \"1m\", a whole "
     "number with a unit: ms, s, m or h"},
    {R"(answer_timeout = "100")", "election", 18,
     "\"100\" is not a duration; give a duration from \"1ms\" to \"1m\", a whole number with a "
     "unit: "
     "ms, s, m or h"},
    {R"(coordinator_timeout = "1ms")", "election", 23,
     "\"1ms\" is out of range; give a duration from \"2ms\" to \"2m\", a whole number with a unit: "
     "ms, s, m or h"},
    {R"(lease = "2m")", "election", 9,
     "\"2m\" is out of range; give a duration from \"20ms\" to \"1m\", a whole number with a "
     "unit: ms, s, m or h"},
    {R"(reap_after = "0s")", "membership", 14,
     "\"0s\" is out of range; give a duration from \"1s\" to \"1000h\", a whole number with a "
     "unit: "
     "ms, s, m or h"},
    {R"(heartbeat_interval = "4ms")", "failure_detector", 22,
     "\"4ms\" is out of range; give a duration from \"5ms\" to \"1m\", a whole number with a unit: "
     "ms, s, m or h"},
    {R"(suspect_after = "-1s")", "failure_detector", 17,
     "\"-1s\" is not a duration; give a duration from \"10ms\" to \"10s\", a whole number with a "
     "unit: "
     "ms, s, m or h"},
    {R"(peers = "a:1")", "membership", 9,
     "is text, not a list; give a list of at most 1000 \"host:port\", with names, IPv4 addresses "
     "or [IPv6 addresses]"},
    {R"(dns = "orders")", "membership", 7,
     "\"orders\" lacks a port; give \"host:port\" with a name, an IPv4 address or an [IPv6 "
     "address], or \"\" for none"},
    {R"(socket = "run")", "api", 10,
     "\"run\" has the wrong form; give an absolute path of at most 107 bytes, or \"\" for none"},
    {R"(lease_name = "Orders")", "kubernetes", 14,
     "\"Orders\" has the wrong form; give 1 to 253 lower-case letters, digits, '-' and '.', as "
     "Kubernetes names objects"},
    {R"(lease_name = "a..b")", "kubernetes", 14,
     "\"a..b\" has the wrong form; give 1 to 253 lower-case letters, digits, '-' and '.', as "
     "Kubernetes names objects"},
    {R"(namespace = "a.b")", "kubernetes", 13,
     "\"a.b\" has the wrong form; give 1 to 63 lower-case letters, digits and '-'"},
    {R"(server = "https://a/b")", "kubernetes", 10,
     "\"https://a/b\" has the wrong form; give http[s]://host[:port]"},
    {R"(endpoints = ["etcd:2379"])", "etcd", 14,
     "\"etcd:2379\" has the wrong form; give http[s]://host[:port]"},
    {R"(prefix = "")", "etcd", 10, "\"\" has the wrong form; give 1 to 200 printable characters"},
    {R"(user = "a b")", "etcd", 8,
     "\"a b\" has the wrong form; give 1 to 100 visible characters, or \"\" for none"},
    {R"(path = "")", "flag", 8, "\"\" has the wrong form; give an absolute path"},
    {R"(mode = 640)", "flag", 8,
     "640 is not a file mode; give an octal number up to 0o777, like 0o640"},
    {R"(mode = "0640")", "flag", 8,
     "is text, not a number; give an octal number up to 0o777, like 0o640"},
    {R"(level = "warning")", "log", 9,
     "\"warning\" is not one of the words for it; give \"trace\", \"debug\", \"info\", \"warn\" or "
     "\"error\""},
    {R"(format = "jsn")", "log", 10,
     "\"jsn\" is not one of the words for it; give \"text\" or \"json\"; did you mean \"json\"?"},
};

// A store's table takes the place of the voters.
std::string sound_with(const std::string& table) {
  return table == "kubernetes" || table == "etcd" ? kSoundWithStore : kSound;
}

std::string place(int line, int column) {
  return kFile + ":" + std::to_string(line) + ":" + std::to_string(column) + ": error: ";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(config_wrong_values)

BOOST_AUTO_TEST_CASE(what_is_not_good_is_told_with_its_place_and_a_remedy) {
  for (const Bad& bad : kBad) {
    const std::string line = bad.line;
    const std::string key = line.substr(0, line.find(' '));
    const std::string table = bad.table;
    const bool is_node = table == "node";
    const std::string sound = sound_with(table);
    const int next = static_cast<int>(std::ranges::count(sound, '\n')) + 1;
    const Lines expected{place(is_node ? next : next + 1, bad.column) + table + "." + key + ": " +
                         bad.complaint};
    const bool needs_endpoints = table == "etcd" && key != "endpoints";
    const std::string behind = needs_endpoints ? "endpoints = [\"https://etcd\"]\n" : "";
    BOOST_TEST(
        errors_of(sound + (is_node ? "" : "[" + table + "]\n") + line + "\n" + behind) == expected,
        boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(names_have_a_form) {
  const std::string longest(63, 'a');
  BOOST_TEST(errors_of("group.name = \"" + longest + "\"\n").empty());
  for (const std::string& name : {std::string(), longest + "a", std::string("-a"),
                                  std::string("a."), std::string("a/b"), std::string("ä")}) {
    const Lines expected{place(1, 14) + "group.name: \"" + name + "\" has the wrong form" + kName};
    BOOST_TEST(errors_of("group.name = \"" + name + "\"\n") == expected,
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(addresses_say_what_is_missing) {
  const std::pair<const char*, const char*> flaws[] = {
      {"", "lacks a port"},
      {"a", "lacks a port"},
      {"10.0.0.1", "lacks a port"},
      {":1", "lacks a host before the colon"},
      {"a:", "lacks a port number after the colon"},
      {"a:x", "lacks a port number after the colon"},
      {"a:+1", "lacks a port number after the colon"},
      {"a:0", "has a port that is not from 1 to 65535"},
      {"a:65536", "has a port that is not from 1 to 65535"},
      {"a:99999999999999999999", "has a port that is not from 1 to 65535"},
      {"::1:80", "needs brackets around its IPv6 address"},
      {"[::1:80", "lacks the closing bracket"},
      {"[::1]", "lacks a port"},
      {"[::1]80", "lacks a port"},
      {"[10.0.0.1]:80", "has no IPv6 address in its brackets"},
      {"[fe80::1%eth0]:80", "has a zone (%...), which names another host on each machine"},
      {"10.0.0.256:80", "has no valid IPv4 address"},
      {"10.0:80", "has no valid IPv4 address"},
      {"a..b:80", "has no valid host name"},
      {"-a:80", "has no valid host name"},
      {"a b:80", "has no valid host name"},
      {"http://a:80", "needs brackets around its IPv6 address"},
  };
  for (const auto& [text, flaw] : flaws) {
    const Lines expected{place(kNextLine, 10) + "node.listen: \"" + text + "\" " + flaw +
                         kHostPort};
    BOOST_TEST(errors_of(kSound + "listen = \"" + text + "\"\n") == expected,
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(every_bad_entry_of_a_list_is_told) {
  const Lines expected{
      place(10, 10) + "membership.peers: \"a\" lacks a port" + kHostPort,
      place(10, 22) + "membership.peers: is a whole number, not text" + kHostPort,
      place(11, 3) +
          "membership.peers: needs the environment variable NOPE, which is not set; set "
          "it, or write $${ for ${ itself"};
  BOOST_TEST(errors_of(kSound + "[membership]\npeers = [\"a\", \"b:1\", 5]\n") ==
                 (Lines{expected[0], expected[1]}),
             boost::test_tools::per_element());
  BOOST_TEST(
      errors_of(kSound + "[membership]\npeers = [\n  \"${NOPE}:1\"]\n") == Lines{expected[2]},
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_list_has_an_end) {
  std::string peers;
  for (int i = 0; i < 1001; ++i) peers += "\"a:1\",";
  BOOST_TEST(errors_of(kSound + "[membership]\npeers = [" + peers + "]\n") ==
                 (Lines{place(10, 9) + "membership.peers: has 1001 entries; give a list of at most "
                                       "1000 \"host:port\", with names, IPv4 addresses or [IPv6 "
                                       "addresses]"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(bad_hooks_are_told_by_number) {
  const std::string url = "; give an http:// or https:// URL without user and #";
  const Lines expected{
      place(9, 1) + "hook[1].url: is required" + url,
      place(11, 7) + "hook[2].url: \"ftp://a\" has the wrong form" + url,
      place(12, 1) + "hook[2].tiemout: is unknown; did you mean timeout?",
      place(14, 7) + "hook[3].url: \"http://u:p@a/\" has the wrong form" + url,
      place(16, 7) + "hook[4].url: \"http://a/#b\" has the wrong form" + url,
      place(18, 7) + "hook[5].url: \"http://\" has the wrong form" + url,
      place(20, 7) + "hook[6].url: \"http://a:0/\" has the wrong form" + url,
      place(22, 7) + "hook[7].url: \"https:/a/\" has the wrong form" + url,
  };
  BOOST_TEST(
      errors_of(kSound + "[[hook]]\n[[hook]]\nurl = \"ftp://a\"\ntiemout = \"1s\"\n"
                         "[[hook]]\nurl = \"http://u:p@a/\"\n[[hook]]\nurl = \"http://a/#b\"\n"
                         "[[hook]]\nurl = \"http://\"\n[[hook]]\nurl = \"http://a:0/\"\n"
                         "[[hook]]\nurl = \"https:/a/\"\n") == expected,
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
