// Two sessions that talk to each other, and strangers that are refused.
#include <boost/test/unit_test.hpp>
#include <string>

#include "session_pair.hh"

namespace bellwether::io::test {
namespace {

struct Sessions {
  Authority authority{"one"};
  CertificateWish zero{.names = {"DNS:orders-0.orders.shop"}};
  CertificateWish one{.names = {"DNS:orders-1.orders.shop"}};
  Context good = member(authority, zero);

  // Has a certificate of that authority, and believes this group's alone.
  Context foreign(const Authority& other) const {
    TlsTexts texts;
    other.issue(one, texts);
    texts.ca = authority.pem();
    return context_of(texts, any_of_shop());
  }
  // How a server refuses a client that shows this.
  TlsFlaw refusal_of(const Context& client) const {
    SessionPair pair(client, good);
    pair.client.session.write("let me in");
    pair.run();
    BOOST_TEST(pair.server.heard.empty());
    BOOST_TEST_REQUIRE(pair.server.session.flaw().has_value());
    BOOST_TEST(!pair.server.session.is_established());
    BOOST_TEST_REQUIRE(pair.client.session.flaw().has_value());
    return *pair.server.session.flaw();
  }
  // And a client such a server.
  TlsFlaw refusal_by_client(const Context& server) const {
    SessionPair pair(good, server);
    pair.client.session.write("let me in");
    pair.run();
    BOOST_TEST(pair.server.heard.empty());
    BOOST_TEST_REQUIRE(pair.client.session.flaw().has_value());
    return *pair.client.session.flaw();
  }
  void check_both(const Context& stranger, Rejection reason) const {
    BOOST_TEST((refusal_of(stranger).reason == reason));
    BOOST_TEST((refusal_by_client(stranger).reason == reason));
  }
};

BOOST_FIXTURE_TEST_SUITE(tls_session, Sessions)

BOOST_AUTO_TEST_CASE(what_is_said_is_heard_in_both_directions) {
  SessionPair pair(member(authority, one), good);
  pair.client.session.write("from the client");  // before the handshake
  pair.run();
  pair.server.session.write("from the server");
  pair.run();
  BOOST_TEST(pair.server.heard == "from the client");
  BOOST_TEST(pair.client.heard == "from the server");
  BOOST_TEST(pair.server.session.peer()->names.text() == "orders-1.orders.shop");
  BOOST_TEST(pair.client.session.peer()->names.text() == "orders-0.orders.shop");
}

BOOST_AUTO_TEST_CASE(bytes_may_come_one_by_one) {
  SessionPair pair(member(authority, one), good);
  const std::string words(40000, 'x');
  pair.client.session.write(words);
  pair.run(1);
  BOOST_TEST((pair.server.heard == words));
}

BOOST_AUTO_TEST_CASE(a_close_notify_ends_nothing_by_itself) {
  SessionPair pair(member(authority, one), good);
  pair.client.session.write("last words");
  pair.run();
  pair.client.session.finish();
  pair.run();
  BOOST_TEST(pair.server.heard == "last words");
  BOOST_TEST(!pair.server.session.flaw().has_value());
}

BOOST_AUTO_TEST_CASE(the_earlier_end_of_both_certificates_counts) {
  CertificateWish brief = one;
  brief.ends_in = std::chrono::hours(1);
  SessionPair pair(member(authority, brief), good);
  pair.run();
  BOOST_TEST((pair.server.session.expiry() == pair.client.session.expiry()));
  BOOST_TEST(*pair.server.session.expiry() < *good->expiry());
}

BOOST_AUTO_TEST_CASE(the_end_of_the_authority_counts) {
  const Authority brief("brief", std::chrono::hours(1));
  const Context context = member(brief, one);
  SessionPair pair(context, context);
  pair.run();
  BOOST_TEST(*pair.server.session.expiry() <= std::time(nullptr) + 3600);
  BOOST_TEST((pair.client.session.expiry() == context->expiry()));
}

BOOST_AUTO_TEST_CASE(of_another_authority_is_refused) {
  check_both(foreign(Authority("other")), Rejection::kTlsUnknownCa);
}

BOOST_AUTO_TEST_CASE(an_authority_of_the_same_name_is_another_one) {
  check_both(foreign(Authority("one")), Rejection::kTlsUnknownCa);
}

BOOST_AUTO_TEST_CASE(self_signed_is_refused) {
  TlsTexts texts;
  issue_self_signed(one, texts);
  texts.ca = authority.pem();
  check_both(context_of(texts, any_of_shop()), Rejection::kTlsUnknownCa);
}

BOOST_AUTO_TEST_CASE(expired_and_not_yet_valid_are_refused) {
  CertificateWish wish = one;
  wish.ends_in = std::chrono::seconds(-5);
  check_both(member(authority, wish), Rejection::kTlsExpired);
  wish = one;
  wish.begins_in = std::chrono::hours(1);
  check_both(member(authority, wish), Rejection::kTlsExpired);
}

BOOST_AUTO_TEST_CASE(of_another_name_is_refused) {
  CertificateWish wish;
  wish.names = {"DNS:orders-1.payments.shop"};
  check_both(member(authority, wish), Rejection::kTlsWrongName);
}

BOOST_AUTO_TEST_CASE(a_name_in_the_common_name_alone_is_none) {
  CertificateWish wish;
  wish.common_name = "orders-1.orders.shop";
  check_both(member(authority, wish), Rejection::kTlsWrongName);
}

BOOST_AUTO_TEST_CASE(an_authority_s_own_certificate_is_refused) {
  CertificateWish wish = one;
  wish.is_authority = true;
  wish.key_usage = "critical,digitalSignature,keyCertSign";
  check_both(member(authority, wish), Rejection::kTlsBadCertificate);
}

BOOST_AUTO_TEST_CASE(a_weak_key_is_refused) {
  CertificateWish wish = one;
  wish.rsa_bits = 1024;
  // This side cannot even load it.
  BOOST_CHECK_THROW(member(authority, wish), TlsError);
}

BOOST_AUTO_TEST_CASE(for_the_other_side_of_a_connection_is_refused) {
  CertificateWish wish = one;
  wish.extended_key_usage = "serverAuth";
  BOOST_TEST((refusal_of(member(authority, wish)).reason == Rejection::kTlsBadCertificate));
  wish.extended_key_usage = "clientAuth";
  BOOST_TEST((refusal_by_client(member(authority, wish)).reason == Rejection::kTlsBadCertificate));
}

BOOST_AUTO_TEST_CASE(a_spiffe_id_is_judged_on_both_sides) {
  const MemberRules rules{.members = {"spiffe://a.b/c"}, .hosts = {}, .trust_domain = "a.b"};
  CertificateWish wish;
  wish.names = {"URI:spiffe://a.b/c"};
  const Context svid = member(authority, wish, rules);
  good = svid;
  SessionPair pair(member(authority, wish, rules), svid);
  pair.run();
  BOOST_TEST(pair.server.session.is_established());
  wish.names = {"URI:spiffe://a.b/d"};
  check_both(member(authority, wish, rules), Rejection::kTlsWrongName);
  wish.names = {"URI:spiffe://a.b/c", "URI:spiffe://a.b/d"};
  check_both(member(authority, wish, rules), Rejection::kTlsBadCertificate);
}

BOOST_AUTO_TEST_CASE(whoever_is_refused_is_told_so) {
  SessionPair told(foreign(Authority("other")), good);
  told.run();
  BOOST_TEST_REQUIRE(told.client.session.flaw().has_value());
  BOOST_TEST((told.client.session.flaw()->reason == Rejection::kTlsRefused));
  BOOST_TEST(told.client.session.flaw()->text.find("unknown CA") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(plain_bytes_are_known_by_the_first_one) {
  Side server(good, TlsSide::kServer);
  server.take("\x11");
  BOOST_TEST_REQUIRE(server.session.flaw().has_value());
  BOOST_TEST((server.session.flaw()->reason == Rejection::kTlsPlaintext));
  BOOST_TEST(server.give() == std::string("\x15\x03\x03\x00\x02\x02\x46", 7));
}

BOOST_AUTO_TEST_CASE(a_damaged_record_is_the_end) {
  SessionPair pair(member(authority, one), good);
  pair.run();
  pair.client.session.write("words");
  std::string bytes = pair.client.give();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  pair.server.take(bytes);
  BOOST_TEST(pair.server.heard.empty());
  BOOST_TEST((pair.server.session.flaw()->reason == Rejection::kTlsProtocol));
}

BOOST_AUTO_TEST_CASE(a_recorded_session_is_of_no_use_to_another_server) {
  SessionPair pair(member(authority, one), good);
  pair.client.session.write("words");
  std::string recorded;
  for (bool is_quiet = false; !is_quiet;) {
    const std::string up = pair.client.give();
    recorded += up;
    pair.server.take(up);
    const std::string down = pair.server.give();
    pair.client.take(down);
    is_quiet = up.empty() && down.empty();
  }
  Side server(good, TlsSide::kServer);
  server.take(recorded);
  BOOST_TEST(server.heard.empty());
  BOOST_TEST(server.session.flaw().has_value());
}

BOOST_AUTO_TEST_CASE(rubbish_and_a_record_that_is_too_long_are_the_end) {
  Side server(good, TlsSide::kServer);
  server.take(std::string("\x16\x03\x01\x41\x01", 5) + std::string(0x4101, 'x'));
  BOOST_TEST((server.session.flaw()->reason == Rejection::kTlsProtocol));
}

BOOST_AUTO_TEST_SUITE_END()

// --- one secret ---

struct SecretSessions {
  std::string one = make_group_secret();
  std::string other = make_group_secret();

  static TlsFlaw refusal(const Context& client, const Context& server) {
    SessionPair pair(client, server);
    pair.client.session.write("let me in");
    pair.run();
    BOOST_TEST(pair.server.heard.empty());
    BOOST_TEST_REQUIRE(pair.server.session.flaw().has_value());
    BOOST_TEST(pair.client.session.flaw().has_value());
    return *pair.server.session.flaw();
  }
};

BOOST_FIXTURE_TEST_SUITE(tls_session_by_secret, SecretSessions)

BOOST_AUTO_TEST_CASE(the_same_one_will_do) {
  SessionPair pair(with_secret(one), with_secret(one));
  pair.client.session.write("words");
  pair.run();
  BOOST_TEST(pair.server.heard == "words");
  BOOST_TEST(pair.server.session.is_established());
  BOOST_TEST(!pair.server.session.peer().has_value());
}

BOOST_AUTO_TEST_CASE(every_line_of_the_file_is_accepted_and_the_first_is_offered) {
  const Context both = with_secret(other + "\n" + one);
  SessionPair pair(with_secret(one), both);
  pair.run();
  BOOST_TEST(pair.server.session.is_established());
  BOOST_TEST((refusal(both, with_secret(one)).reason == Rejection::kTlsWrongSecret));
}

BOOST_AUTO_TEST_CASE(another_one_is_refused) {
  BOOST_TEST((refusal(with_secret(other), with_secret(one)).reason == Rejection::kTlsWrongSecret));
}

BOOST_AUTO_TEST_CASE(the_same_one_for_another_group_is_refused) {
  BOOST_TEST((refusal(with_secret(one, "payments"), with_secret(one)).reason ==
              Rejection::kTlsWrongSecret));
}

BOOST_AUTO_TEST_CASE(a_certificate_is_of_no_use_and_neither_is_a_secret_to_certificates) {
  const Authority authority("one");
  const Context certified = member(authority, {.names = {"DNS:orders-0.orders.shop"}});
  BOOST_TEST((refusal(certified, with_secret(one)).reason == Rejection::kTlsWrongSecret));
  BOOST_TEST((refusal(with_secret(one), certified).reason == Rejection::kTlsRefused));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::io::test
