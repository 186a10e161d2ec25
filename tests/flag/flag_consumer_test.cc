// Applications in other languages than ours, against the sidecar's writer.
#include <boost/test/unit_test.hpp>

#include "consumers.h"
#include "flag_harness.hh"
#include "io/flag/flag_writer.hh"

namespace bellwether::io::test {

BOOST_AUTO_TEST_SUITE(consumers)

BOOST_AUTO_TEST_CASE(an_application_in_c11_sees_what_the_sidecar_says) {
  const ScratchFolder folder;
  FlagWriter writer({.path = folder.file()});
  BOOST_TEST(token_seen_by_c11(folder.file().c_str()) == 0u);
  writer.publish(leading(8));
  BOOST_TEST(token_seen_by_c11(folder.file().c_str()) == 8u);
}

BOOST_AUTO_TEST_CASE(an_application_in_cxx17_sees_what_the_sidecar_says) {
  const ScratchFolder folder;
  FlagWriter writer({.path = folder.file()});
  BOOST_TEST(token_seen_by_cxx17(folder.file().c_str()) == 0u);
  writer.publish(leading(8));
  BOOST_TEST(token_seen_by_cxx17(folder.file().c_str()) == 8u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
