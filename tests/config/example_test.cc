// The example file: it is right as it is and with everything in it switched on, mentions every key,
// and tells the defaults as they are.
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <map>
#include <regex>

#include "config/keys.hh"
#include "parse_harness.hh"

namespace {

using namespace bellwether;
using namespace bellwether::test;

std::string example() {
  std::ifstream file(BELLWETHER_TEST_EXAMPLE);
  BOOST_REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Without the part from `begin` to `end`, and without `end` itself if that is a line.
std::string without(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t first = text.find(begin);
  BOOST_REQUIRE(first != text.npos);
  const size_t last = text.find(end, first);
  return text.substr(0, first) + text.substr(end == "\n" ? last + 1 : last);
}

// Everything, with one of the tables of which one at most may be there.  What is commented out has
// no blank behind the #; prose has one.
std::string switched_on(std::string text, const std::string& guard) {
  if (guard != "voters") text = without(text, "#[voters]", "# In place of voters");
  if (guard != "kubernetes") text = without(text, "#[kubernetes]", "# Or a key of etcd");
  if (guard != "etcd") text = without(text, "#[etcd]", "[tls]");
  text = without(text, guard == "voters" ? "#renew_interval" : "#lease =", "\n");
  return std::regex_replace(text, std::regex("(^|\n)#(?=[a-z\\[])"), "$1");
}

const std::vector<std::string> kGuards{"voters", "kubernetes", "etcd"};

}  // namespace

BOOST_AUTO_TEST_SUITE(config_example)

BOOST_AUTO_TEST_CASE(it_is_right_as_it_is) {
  const auto parsed = parse_config(example(), "examples/bellwether.toml", environment());
  BOOST_TEST(parsed.config.group.name == "orders");
  BOOST_TEST(parsed.config.membership.peers.size() == 3u);
}

BOOST_AUTO_TEST_CASE(it_is_right_with_everything_switched_on) {
  std::map<std::string, SourcePosition> given;
  for (const std::string& guard : kGuards) {
    const auto parsed = parse(switched_on(example(), guard));
    BOOST_TEST(parsed.config.guard() == (guard == "voters" ? "majority" : guard));
    BOOST_TEST(parsed.config.hooks.size() == 1u);
    given.insert(parsed.given.begin(), parsed.given.end());
  }
  for (const auto& key : config_keys()) {
    BOOST_TEST(given.contains(key.path()), key.path() << " is not mentioned");
  }
  for (const auto& key : hook_keys()) {
    BOOST_TEST(given.contains("hook[1]." + key.name), key.path() << " is not mentioned");
  }
}

BOOST_AUTO_TEST_CASE(what_is_commented_out_is_the_default_where_there_is_one) {
  // Everything that has a value of its own in the example.
  const std::string examples =
      "node.name node.advertise membership.peers membership.dns etcd.endpoints";
  for (const std::string& guard : kGuards) {
    const std::string table =
        guard == "voters"
            ? ""
            : "[" + guard + "]\n" + (guard == "etcd" ? "endpoints = [\"https://a\"]\n" : "");
    const Config plain = parse(example() + table).config;
    const Config full = parse(switched_on(example(), guard)).config;
    for (const auto& key : config_keys()) {
      if (examples.find(key.path()) != examples.npos) continue;
      // What the example shows is that of no guard.
      if (key.path() == "election.preempt_delay") continue;
      BOOST_TEST(toml_text(key.write(plain)) == toml_text(key.write(full)),
                 guard << ": " << key.path());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
