// The example file: it is right as it is and with everything in it switched on, mentions every key,
// and tells the defaults as they are.
#include <boost/test/unit_test.hpp>
#include <fstream>
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

// What is commented out has no blank behind the #; prose has one.
std::string switched_on(const std::string& text) {
  return std::regex_replace(text, std::regex("(^|\n)#(?=[a-z\\[])"), "$1");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(config_example)

BOOST_AUTO_TEST_CASE(it_is_right_as_it_is) {
  const auto parsed = parse_config(example(), "examples/bellwether.toml", environment());
  BOOST_TEST(parsed.config.group.name == "orders");
  BOOST_TEST(parsed.config.membership.peers.size() == 3u);
}

BOOST_AUTO_TEST_CASE(it_is_right_with_everything_switched_on) {
  const auto parsed = parse(switched_on(example()));
  BOOST_TEST(parsed.config.voters.size() == 3u);
  BOOST_TEST(parsed.config.hooks.size() == 1u);
  for (const auto& key : config_keys()) {
    BOOST_TEST(parsed.given.contains(key.path()), key.path() << " is not mentioned");
  }
  for (const auto& key : hook_keys()) {
    BOOST_TEST(parsed.given.contains("hook[1]." + key.name), key.path() << " is not mentioned");
  }
}

BOOST_AUTO_TEST_CASE(what_is_commented_out_is_the_default_where_there_is_one) {
  // Everything that has a value of its own in the example.
  const std::string examples = "node.name node.advertise membership.peers membership.dns";
  const Config plain = parse(example()).config;
  const Config full = parse(switched_on(example())).config;
  for (const auto& key : config_keys()) {
    if (examples.find(key.path()) != examples.npos) continue;
    BOOST_TEST(toml_text(key.write(plain)) ==
                   (key.path() == "election.preempt_delay" ? "\"0s\"" : toml_text(key.write(full))),
               key.path());
  }
}

BOOST_AUTO_TEST_SUITE_END()
