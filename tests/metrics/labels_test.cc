// Every value of a label has a text of its own, for a series is found by it.
#include "metrics/labels.hh"

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

namespace bellwether::tests {
namespace {

template <typename Label>
void check_texts() {
  std::set<std::string> texts;
  for (size_t i = 0; i < kValues<Label>; ++i) texts.insert(name(static_cast<Label>(i)));
  BOOST_TEST(texts.size() == kValues<Label>);
  BOOST_TEST(!texts.contains("?"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(labels)

BOOST_AUTO_TEST_CASE(every_value_has_a_text_of_its_own) {
  check_texts<metrics::Direction>();
  check_texts<metrics::ByteDirection>();
  check_texts<metrics::Trigger>();
  check_texts<metrics::Result>();
  check_texts<metrics::ElectionType>();
  check_texts<metrics::ShadowResult>();
  check_texts<Awaited>();
  check_texts<Unfit>();
  check_texts<Rejection>();
  check_texts<HookResult>();
  check_texts<metrics::Reload>();
  check_texts<Limit>();
  check_texts<FrameType>();
  check_texts<Liveness>();
  check_texts<Vote>();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
