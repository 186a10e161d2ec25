// Which files fit together, and what is said of those that do not.
#include "io/tls/certificates.hh"

#include <boost/test/unit_test.hpp>
#include <ctime>

#include "certificate_maker.hh"

namespace bellwether::io::test {
namespace {

std::string set_flaw(const TlsTexts& texts) {
  try {
    const CertificateLabels labels{.cert = "tls.cert /c", .key = "tls.key /k", .ca = "tls.ca /a"};
    check_certificate_set(parse_certificate_set(texts, labels), std::time(nullptr));
  } catch (const TlsError& error) {
    return error.what();
  }
  return "";
}

struct CertificatesFixture {
  Authority authority{"one"};
  TlsTexts texts;
};

BOOST_FIXTURE_TEST_SUITE(certificates, CertificatesFixture)

BOOST_AUTO_TEST_CASE(that_fit_together_are_taken) {
  authority.issue({.names = {"DNS:A.b", "IP:10.0.0.1", "IP:fd00::1", "URI:spiffe://c/d"}}, texts);
  BOOST_TEST(set_flaw(texts) == "");
  const CertificateSet set = parse_certificate_set(texts, {});
  const PeerCertificate certificate = described(set.cert.get());
  BOOST_TEST(certificate.names.text() == "spiffe://c/d, a.b, 10.0.0.1, fd00::1");
  BOOST_TEST(!certificate.is_authority);
  BOOST_TEST(certificate.has_signature_use);
  const std::time_t left = expiry_of(set) - std::time(nullptr);
  BOOST_TEST((left > 23 * 3600 && left <= 24 * 3600));
}

BOOST_AUTO_TEST_CASE(are_over_with_their_authority) {
  constexpr std::chrono::hours kHour(1);
  const Authority brief("brief", kHour);
  brief.issue({.names = {"DNS:a.b"}}, texts);
  texts.ca = Authority("other").pem() + texts.ca;
  const CertificateSet set = parse_certificate_set(texts, {});
  BOOST_TEST(expiry_of(set) < expiry_of(set.cert.get()));
  BOOST_TEST(expiry_of(set) <= std::time(nullptr) + 3600);
}

BOOST_AUTO_TEST_CASE(with_the_key_of_another_are_refused) {
  TlsTexts other;
  authority.issue({.names = {"DNS:a.b"}}, texts);
  authority.issue({.names = {"DNS:a.b"}}, other);
  texts.key = other.key;
  BOOST_TEST(set_flaw(texts) ==
             "tls.key /k does not belong to tls.cert /c; give the two of one pair");
}

BOOST_AUTO_TEST_CASE(with_which_tls_1_3_cannot_sign_are_refused) {
  for (const char* curve : {"P-256", "P-384", "P-521"}) {
    authority.issue({.names = {"DNS:a.b"}, .curve = curve}, texts);
    BOOST_TEST(set_flaw(texts) == "", curve);
  }
  authority.issue({.names = {"DNS:a.b"}, .rsa_bits = 2048}, texts);
  BOOST_TEST(set_flaw(texts) == "");
  for (const char* curve : {"secp256k1", "P-224", "brainpoolP256r1"}) {
    authority.issue({.names = {"DNS:a.b"}, .curve = curve}, texts);
    BOOST_TEST(set_flaw(texts).starts_with("tls.key /k is on the curve "), curve);
  }
}

BOOST_AUTO_TEST_CASE(of_another_authority_are_refused) {
  authority.issue({.names = {"DNS:a.b"}}, texts);
  texts.ca = Authority("other").pem();
  BOOST_TEST(set_flaw(texts).starts_with("tls.cert /c is not believed by tls.ca /a: "));
}

BOOST_AUTO_TEST_CASE(one_of_several_authorities_will_do) {
  authority.issue({.names = {"DNS:a.b"}}, texts);
  texts.ca = Authority("other").pem() + texts.ca;
  BOOST_TEST(set_flaw(texts) == "");
}

BOOST_AUTO_TEST_CASE(that_are_over_or_not_valid_yet_are_refused) {
  authority.issue({.names = {"DNS:a.b"}, .ends_in = std::chrono::seconds(-5)}, texts);
  BOOST_TEST(set_flaw(texts) == "tls.cert /c, or an authority behind it, has expired; renew it");
  authority.issue({.names = {"DNS:a.b"}, .begins_in = std::chrono::hours(1)}, texts);
  BOOST_TEST(
      set_flaw(texts) ==
      "tls.cert /c, or an authority behind it, is not valid yet; look at this machine's clock");
}

BOOST_AUTO_TEST_CASE(for_one_side_of_a_connection_only_are_refused) {
  authority.issue({.names = {"DNS:a.b"}, .extended_key_usage = "serverAuth"}, texts);
  BOOST_TEST(set_flaw(texts).starts_with("tls.cert /c is not for clients"));
  authority.issue({.names = {"DNS:a.b"}, .extended_key_usage = "clientAuth"}, texts);
  BOOST_TEST(set_flaw(texts).starts_with("tls.cert /c is not for servers"));
  authority.issue({.names = {"DNS:a.b"}, .extended_key_usage = "clientAuth,serverAuth"}, texts);
  BOOST_TEST(set_flaw(texts) == "");
}

BOOST_AUTO_TEST_CASE(that_are_cut_short_empty_or_something_else_are_refused) {
  authority.issue({.names = {"DNS:a.b"}}, texts);
  const std::string whole = texts.cert;
  texts.cert = whole.substr(0, whole.size() / 2);
  BOOST_TEST(set_flaw(texts) ==
             "tls.cert /c holds a certificate that is cut short or damaged; copy it there again");
  texts.cert = "";
  BOOST_TEST(set_flaw(texts).starts_with("tls.cert /c holds no certificate in PEM; give"));
  texts.cert = whole;
  texts.key = "rubbish";
  BOOST_TEST(set_flaw(texts) ==
             "tls.key /k holds no private key in PEM without a password; give it one without");
}

BOOST_AUTO_TEST_CASE(a_bundle_that_is_cut_anywhere_but_between_two_of_them_is_refused) {
  authority.issue({.names = {"DNS:a.b"}}, texts);
  const std::string first = texts.ca;
  const std::string both = first + Authority("other").pem();
  for (size_t size = 1; size < both.size(); ++size) {
    texts.ca = both.substr(0, size);
    // Without its last line end it is whole.
    const bool is_whole =
        size + 1 == first.size() || size == first.size() || size + 1 == both.size();
    BOOST_TEST(set_flaw(texts).empty() == is_whole, "cut after " << size << " bytes");
  }
}

BOOST_AUTO_TEST_CASE(a_bundle_may_have_words_and_rules_between_its_certificates) {
  authority.issue({.names = {"DNS:a.b"}}, texts);
  texts.ca =
      "one\n-----\n" + texts.ca + "--- the other\n" + Authority("other").pem() + "--- end ---";
  BOOST_TEST(set_flaw(texts) == "");
}

BOOST_AUTO_TEST_CASE(a_name_with_a_zero_byte_or_a_line_end_matches_nothing) {
  // OpenSSL's configuration cannot write a zero byte; a control character does as well.
  authority.issue({.names = {"DNS:a.b\x01.c"}}, texts);
  const CertificateSet set = parse_certificate_set(texts, {});
  BOOST_TEST(described(set.cert.get()).names.text() == "a.b?.c");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::io::test
