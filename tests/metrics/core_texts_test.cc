// The core's source has no text that the metrics do not know.
#include "metrics/core_texts.hh"

#include <bellwether/election_plugin.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "core/effects.hh"

namespace bellwether::tests {
namespace {

std::string core_source() {
  std::ostringstream source;
  for (const auto& file : std::filesystem::directory_iterator(BELLWETHER_CORE)) {
    if (file.path().extension() == ".cc") source << std::ifstream(file.path()).rdbuf();
  }
  return source.str();
}

// The string literals in the calls whose beginning `call` matches.
std::set<std::string> texts_in(const std::string& call) {
  const std::string source = core_source();
  const std::regex calls(call + R"([^;]*;)");
  const std::regex literals(R"~("([^"]*)")~");
  std::set<std::string> texts;
  for (std::sregex_iterator found(source.begin(), source.end(), calls), end; found != end;
       ++found) {
    const std::string text = found->str();
    for (std::sregex_iterator literal(text.begin(), text.end(), literals); literal != end;
         ++literal) {
      texts.insert((*literal)[1]);
    }
  }
  return texts;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(core_texts)

BOOST_AUTO_TEST_CASE(every_timeout_of_the_core_is_known) {
  const auto texts = texts_in(R"(report\(Report::Kind::kTimeout)");
  BOOST_TEST(texts.size() == 7u);
  for (const std::string& text : texts) {
    BOOST_TEST(metrics::phase_of(text, ELECTION_STATE_IDLE).has_value(), text);
  }
}

BOOST_AUTO_TEST_CASE(every_rejection_of_the_core_is_known) {
  auto texts = texts_in(R"(report\(Report::Kind::kRejected)");
  BOOST_TEST(texts.size() == 2u);
  using enum LinkRefusal;
  for (const LinkRefusal why : {kOwnId, kEpochTooFarAhead, kGroupFull, kOtherVoters})
    texts.insert(name(why));
  for (const std::string& text : texts) {
    BOOST_TEST((metrics::rejection_of(text) != metrics::Rejection::kOther), text);
  }
}

BOOST_AUTO_TEST_CASE(every_reason_of_a_new_leader_is_known) {
  auto texts = texts_in(R"(\b(publish|stop_leading|abdicate)\()");
  texts.erase("");
  BOOST_TEST(texts.size() == 16u);
  for (const std::string& text : texts) BOOST_TEST(metrics::is_known_publish_reason(text), text);
}

BOOST_AUTO_TEST_CASE(every_type_of_frame_is_known_by_its_name) {
  for (size_t i = 0; i < kFrameTypes; ++i) {
    const auto type = static_cast<FrameType>(i);
    BOOST_TEST((metrics::frame_type_of(name(type)) == type), name(type));
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_text_is_counted_under_other_or_not_at_all) {
  BOOST_TEST((metrics::rejection_of("?") == metrics::Rejection::kOther));
  BOOST_TEST((metrics::leader_change_of("?") == metrics::LeaderChange::kOther));
  BOOST_TEST(!metrics::phase_of("?", ELECTION_STATE_COLLECTING).has_value());
  BOOST_TEST(!metrics::frame_type_of("?").has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
