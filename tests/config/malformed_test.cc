// Whatever the text is, it is read, or refused with a place in it; nothing else happens.
#include <boost/test/unit_test.hpp>
#include <random>

#include "parse_harness.hh"

namespace {

using namespace bellwether::test;

// Either is fine, as long as errors name a place.
void read(const std::string& text) {
  try {
    parse(text);
  } catch (const bellwether::ConfigErrors& errors) {
    BOOST_TEST(!errors.findings().empty());
    for (const bellwether::Finding& finding : errors.findings()) {
      BOOST_TEST((finding.position.line >= 1 && finding.position.column >= 1));
      BOOST_TEST(!finding.what.empty());
      BOOST_TEST(!finding.remedy.empty());
    }
  }
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

const std::string kRich = kSound + R"(priority = 7
state_dir = "/a/${POD_NAME}"
[election]
profile = "lan"
preempt_delay = "10s"
[membership]
peers = ["a:1", "[::1]:2"]
[[hook]]
url = "http://a/"
timeout = "1s"
[flag]
mode = 0o640
)";

}  // namespace

BOOST_AUTO_TEST_SUITE(config_malformed)

BOOST_AUTO_TEST_CASE(syntax_errors_have_a_place) {
  const std::pair<const char*, const char*> texts[] = {
      {"[group]\nname = orders\n", "b.toml:2:8: "},
      {"[group\nname = \"a\"\n", "b.toml:1:7: "},
      {"[group]\nname = \"a\n", "b.toml:2:10: "},
      {"[group]\nname = \"a\"\nname = \"b\"\n", "b.toml:3:"},
      {"[group]\n[group]\n", "b.toml:2:"},
      {"x = \"\\q\"\n", "b.toml:1:"},
      {"= 1\n", "b.toml:1:1: "},
  };
  for (const auto& [text, place] : texts) {
    BOOST_TEST_CONTEXT(text) {
      const auto errors = errors_of(text);
      BOOST_REQUIRE(errors.size() == 1u);
      BOOST_TEST(errors.front().starts_with(place), errors.front());
      BOOST_TEST(errors.front().ends_with("; repair the TOML syntax"), errors.front());
    }
  }
}

BOOST_AUTO_TEST_CASE(strange_texts_do_no_harm) {
  using namespace std::string_literals;
  const std::string texts[] = {
      "\xEF\xBB\xBFgroup.name = \"a\"\n",
      "\xFF\xFE",
      "\0"s,
      "a = \"\0\"\n"s,
      "\r",
      "\r\n\r\n",
      "\"\" = 1",
      "[\"\"]",
      "a.b.c.d = 1",
      "group = {}",
      "group = {name = {name = 1}}",
      "voters = {\"\" = \"\"}",
      "[[voters]]",
      "[voters.a]\nb = \"h:1\"",
      "hook = [[], {}]",
      "hook = []",
      "[[hook.url]]",
      "node.priority = 9223372036854775807",
      "node.priority = -9223372036854775808",
      "node.priority = 9223372036854775808",
      "node.priority = nan",
      "node.priority = 1e999",
      "node.priority = 07:32:00",
      "flag.mode = 0o1000000000000000000000",
      "log.level = '''\n\n'''",
      "node.state_dir = \"\\u0000\"",
      "node.state_dir = \"\\U0010FFFF\"",
  };
  for (const std::string& text : texts) read(text);
}

// Below 32 KiB, all of it is read.
BOOST_AUTO_TEST_CASE(long_and_deep_texts_do_no_harm) {
  const std::string dots = repeated("a.", 16000);
  const std::string some_dots = repeated("a.", 8000);
  const std::string texts[] = {
      "group.name = \"" + repeated("${", 10000) + "\"",
      "group.name = \"" + repeated("a", 30000) + "\"",
      repeated("[", 30000),
      "a = " + repeated("[", 30000),
      "a = " + repeated("{a = ", 6000),
      dots + "a = 1",
      "hook.url." + dots + "a = 1",
      "[" + some_dots + "a]\n" + some_dots + "a = 1",
      repeated("[[hook]]\n", 3000),
      "[voters]\n" + repeated("a", 30000) + " = \"h:1\"",
  };
  for (const std::string& text : texts) read(text);
}

BOOST_AUTO_TEST_CASE(a_key_has_so_many_parts_that_a_small_stack_holds_them) {
  const std::string dots = repeated("a.", 16);
  for (const std::string& text : {"# " + dots + dots, "node.name = \"\\\"" + dots + dots + "\"",
                                  "node.name = '\\'" + std::string(" # ") + dots + dots}) {
    for (const std::string& error : errors_of(text)) {
      BOOST_TEST(error.find("dots") == std::string::npos);
    }
  }
  const std::string deep = dots + "a.a";
  for (const std::string& line :
       {deep, "[" + deep + "]", "a = [[{" + deep + " = 1}]]", "\"\\\"\"." + deep + " = 1"}) {
    const std::string text = "node.name = \"a\"\n" + line;
    const auto errors = errors_of(text);
    BOOST_TEST_REQUIRE(errors.size() == 1u);
    BOOST_TEST(errors.front().find(":2:") != std::string::npos);
    BOOST_TEST(errors.front().find("more than 16 dots in a line") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_text_has_an_end) {
  BOOST_TEST(errors_of(kRich + repeated("#", 40000)) ==
                 (std::vector<std::string>{
                     "b.toml:1:1: error: has " + std::to_string(kRich.size() + 40000) +
                     " bytes; a configuration has at most 32768; name fewer peers, or one name for "
                     "all (membership.dns)"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_beginning_of_a_text_does_no_harm) {
  BOOST_TEST(errors_of(kRich).empty());
  for (size_t length = 0; length < kRich.size(); ++length) read(kRich.substr(0, length));
}

BOOST_AUTO_TEST_CASE(a_text_with_random_damage_does_no_harm) {
  std::mt19937 random(7);
  const std::string pieces = "[]{}=\"'.,#\n\\$-0x:_ \xC3";
  for (int i = 0; i < 4000; ++i) {
    std::string text = kRich;
    for (unsigned damage = 1 + random() % 4; damage > 0; --damage) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = pieces[random() % pieces.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 5);
          break;
        default:
          text.insert(at, 1, pieces[random() % pieces.size()]);
      }
    }
    read(text);
  }
}

BOOST_AUTO_TEST_SUITE_END()
