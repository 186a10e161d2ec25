// Signatures of webhooks, by the specification's own example, and what a file of keys may hold.
#include "api/webhook_signature.hh"

#include <boost/test/unit_test.hpp>

#include "io/tls/openssl.hh"

namespace bellwether::tests {
namespace {

// Of standardwebhooks.com and its libraries.
constexpr const char* kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr const char* kBody = R"({"test": 2432232314})";
constexpr const char* kSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const std::string kRaw = "abcdefghijklmnopqrstuvwx";  // 24 characters
// The same bytes.
constexpr const char* kRawInBase64 = "whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4";

std::string signature_by(const std::string& file) {
  const io::HttpHeaders headers = api::signature_headers(
      *api::parse_signing_keys(file), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, kBody);
  BOOST_TEST_REQUIRE(headers.size() == 3U);
  BOOST_TEST(*io::find_header(headers, "webhook-id") == "msg_p5jXN8AQM9LWM0D4loKWxJek");
  BOOST_TEST(*io::find_header(headers, "webhook-timestamp") == "1614265330");
  return *io::find_header(headers, "webhook-signature");
}

std::string flaw_of(const std::string& file) {
  try {
    api::parse_signing_keys(file);
  } catch (const io::TlsError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(webhook_signature)

BOOST_AUTO_TEST_CASE(it_is_that_of_the_specification) {
  BOOST_TEST(signature_by(kSecret) == kSignature);
  BOOST_TEST(signature_by("# in force\n\n  " + std::string(kSecret) + "\r\n") == kSignature);
}

BOOST_AUTO_TEST_CASE(each_key_has_its_signature_in_the_order_of_the_file) {
  const std::string raw = signature_by(kRaw);
  BOOST_TEST(raw != kSignature);
  BOOST_TEST(signature_by(kRaw + "\n" + kSecret + "\n") == raw + " " + kSignature);
}

BOOST_AUTO_TEST_CASE(a_line_is_a_key_itself_or_its_base64) {
  BOOST_TEST(signature_by(kRaw) == signature_by(kRawInBase64));
  // 25 and 26 bytes, with and without what fills up the end.
  for (const char* text :
       {"whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eQ", "whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eQ=="}) {
    BOOST_TEST(signature_by(text) == signature_by(kRaw + "y"));
  }
  BOOST_TEST(signature_by("whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo=") ==
             signature_by(kRaw + "yz"));
}

BOOST_AUTO_TEST_CASE(what_is_no_key_is_refused_by_its_line_and_not_shown) {
  const std::string expected =
      "line 2 is not a key of 24 to 64 bytes, nor whsec_ and the base64 of one; make one with "
      "\"bellwether keygen --webhook\"";
  for (const std::string& line :
       {std::string("abcdefghijklmnopqrstuvw"), std::string(65, 'x'), std::string("whsec_"),
        std::string("whsec_YWJj"), std::string("whsec_not base64 not base64 not base64"),
        std::string("whsec_!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!"), std::string(30, '\x7F'),
        std::string("whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4e")}) {
    BOOST_TEST(flaw_of(kRaw + "\n" + line) == expected, line);
  }
  BOOST_TEST(flaw_of("# none\n") == "holds no key; make one with \"bellwether keygen --webhook\"");
  std::string many;
  for (char c = 'a'; c < 'j'; ++c) many.append(24, c).append("\n");
  BOOST_TEST(flaw_of(many) == "holds more than 8 keys; take the oldest out");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
