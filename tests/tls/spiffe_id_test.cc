// What is a SPIFFE id, and what is none.
#include <boost/test/unit_test.hpp>
#include <string>

#include "io/tls/certificate_names.hh"

namespace bellwether::io {
namespace {

std::string id_flaw(const std::string& text) {
  SpiffeId id;
  return parse_spiffe_id(text, id);
}

BOOST_AUTO_TEST_SUITE(spiffe_id)

BOOST_AUTO_TEST_CASE(has_a_trust_domain_and_a_path) {
  SpiffeId id;
  BOOST_TEST(parse_spiffe_id("spiffe://cluster.local/ns/shop/sa/Orders_1.x", id) == "");
  BOOST_TEST(id.trust_domain == "cluster.local");
  BOOST_TEST(id.path == "/ns/shop/sa/Orders_1.x");
  BOOST_TEST(id.text() == "spiffe://cluster.local/ns/shop/sa/Orders_1.x");
}

BOOST_AUTO_TEST_CASE(without_a_path_is_refused) {
  BOOST_TEST(id_flaw("spiffe://cluster.local") == "has no path");
  BOOST_TEST(id_flaw("spiffe://cluster.local/") == "has no path");
}

BOOST_AUTO_TEST_CASE(of_another_scheme_is_refused) {
  for (const char* text :
       {"https://cluster.local/a", "SPIFFE://cluster.local/a", "spiffe:/a/b", ""}) {
    BOOST_TEST(id_flaw(text) == "does not begin with spiffe://", text);
  }
}

BOOST_AUTO_TEST_CASE(has_no_port_user_query_fragment_or_escape) {
  for (const char* text :
       {"spiffe://cluster.local:443/a", "spiffe://me@cluster.local/a", "spiffe://Cluster.local/a",
        "spiffe://cluster.local?x/a", "spiffe:///a", "spiffe://cluster.local/a?b",
        "spiffe://cluster.local/a#b", "spiffe://cluster.local/%61", "spiffe://cluster.local/a b"}) {
    BOOST_TEST(!id_flaw(text).empty(), text);
  }
}

BOOST_AUTO_TEST_CASE(has_no_empty_or_dotted_part_in_its_path) {
  for (const char* text : {"spiffe://a/b/", "spiffe://a//b", "spiffe://a/./b", "spiffe://a/b/.."}) {
    BOOST_TEST(!id_flaw(text).empty(), text);
  }
  BOOST_TEST(id_flaw("spiffe://a/...") == "");
}

BOOST_AUTO_TEST_CASE(is_at_most_2048_bytes_with_255_of_trust_domain) {
  BOOST_TEST(id_flaw("spiffe://" + std::string(255, 'a') + "/b") == "");
  BOOST_TEST(!id_flaw("spiffe://" + std::string(256, 'a') + "/b").empty());
  BOOST_TEST(id_flaw("spiffe://a/" + std::string(2048 - 11, 'b')) == "");
  BOOST_TEST(!id_flaw("spiffe://a/" + std::string(2048 - 10, 'b')).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::io
