// The file of the secret, and the keys that are made of it.
#include "io/tls/group_secret.hh"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "io/tls/openssl.hh"

namespace bellwether::io {
namespace {

const std::string kOne(64, 'a');
const std::string kOther(64, 'B');

std::string secret_flaw(const std::string& text) {
  try {
    parse_group_secret(text, "orders");
  } catch (const TlsError& error) {
    return error.what();
  }
  return "";
}

BOOST_AUTO_TEST_SUITE(group_secret)

BOOST_AUTO_TEST_CASE(a_new_one_is_read_again_and_is_never_the_same) {
  const std::string one = make_group_secret();
  const std::string other = make_group_secret();
  BOOST_TEST(one != other);
  BOOST_TEST(parse_group_secret(one + "\n", "orders").size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_first_line_is_the_first_key) {
  const auto one = parse_group_secret(kOne, "orders").front();
  const auto keys = parse_group_secret("# old and new\n\n  " + kOther + " \r\n" + kOne, "orders");
  BOOST_TEST_REQUIRE(keys.size() == 2U);
  BOOST_TEST(keys.back().identity == one.identity);
  BOOST_TEST((keys.back().key == one.key));
  BOOST_TEST(keys.front().identity != one.identity);
}

BOOST_AUTO_TEST_CASE(for_two_groups_is_two_keys) {
  const auto one = parse_group_secret(kOne, "orders").front();
  const auto other = parse_group_secret(kOne, "payments").front();
  BOOST_TEST(one.identity != other.identity);
  BOOST_TEST((one.key != other.key));
}

BOOST_AUTO_TEST_CASE(neither_key_nor_identity_show_the_secret) {
  const auto key = parse_group_secret(kOne, "orders").front();
  BOOST_TEST(kOne.find(key.identity) == std::string::npos);
  BOOST_TEST(std::ranges::count(key.key, 0xAA) < 8);
}

BOOST_AUTO_TEST_CASE(what_is_no_secret_is_refused_by_its_line_alone) {
  const std::string flaw = secret_flaw(kOne + "\npassword\n");
  BOOST_TEST(flaw.find("line 2 ") == 0U);
  BOOST_TEST(flaw.find("password") == std::string::npos);
  BOOST_TEST(!secret_flaw(kOne + "a").empty());
  BOOST_TEST(!secret_flaw(kOne.substr(1)).empty());
  BOOST_TEST(!secret_flaw(kOne.substr(1) + "g").empty());
  BOOST_TEST(!secret_flaw("").empty());
  BOOST_TEST(!secret_flaw("# nothing\n").empty());
}

BOOST_AUTO_TEST_CASE(there_are_at_most_eight) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += kOne + "\n";
  BOOST_TEST(secret_flaw(text).empty());
  BOOST_TEST(!secret_flaw(text + kOne).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::io
