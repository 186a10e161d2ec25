// What HTTP servers and clients ask of each other by TLS.
#include <boost/test/unit_test.hpp>
#include <ctime>
#include <string>

#include "certificate_maker.hh"
#include "io/tls/certificates.hh"
#include "session_pair.hh"

namespace bellwether::io::test {
namespace {

constexpr const char* kHost = "orders-0.orders.shop";

struct HttpSessions {
  Authority authority{"one"};
  Authority other{"other"};

  static TlsTexts& issued(const Authority& by, const CertificateWish& wish, TlsTexts& texts) {
    by.issue(wish, texts);
    return texts;
  }
  CertificateSet set(const CertificateWish& wish = {.names = {std::string("DNS:") + kHost}}) const {
    TlsTexts texts;
    return parse_certificate_set(issued(authority, wish, texts), {});
  }
  // That asks for no certificate.
  Context server(const CertificateWish& wish = {.names = {std::string("DNS:") + kHost}}) const {
    CertificateSet own = set(wish);
    own.ca.clear();
    return TlsContext::of_http_server(own, ClientCertificate::kOptional);
  }
  // That believes this authority, and shows nothing.
  Context client(const Authority& believed) const {
    CertificateSet nothing;
    nothing.ca = parse_certificates(believed.pem(), "ca");
    return TlsContext::of_http_client(nothing);
  }
  Context client() const { return client(authority); }
  Context certified_client(const Authority& by) const {
    TlsTexts texts;
    by.issue({.names = {}, .common_name = "ops"}, texts);
    texts.ca = authority.pem();
    return TlsContext::of_http_client(parse_certificate_set(texts, {}));
  }
  static bool is_heard(SessionPair& pair) {
    pair.client.session.write("GET");
    pair.run();
    pair.server.session.write("200");
    pair.run();
    return pair.server.heard == "GET" && pair.client.heard == "200";
  }
  static Rejection flaw_of(const Side& side) {
    BOOST_TEST_REQUIRE(side.session.flaw().has_value());
    return side.session.flaw()->reason;
  }
};

// An authority of its own, whose name is long.
X509Ptr renamed(int number) {
  static const Authority kLong("long");
  X509Ptr certificate = std::move(parse_certificates(kLong.pem(), "ca").front());
  const std::string name = std::to_string(number) + std::string(60, 'x');
  X509_NAME* const subject = X509_NAME_new();
  for (int part = 0; part < 3; ++part) {
    X509_NAME_add_entry_by_txt(subject, "OU", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  }
  X509_set_subject_name(certificate.get(), subject);
  X509_NAME_free(subject);
  return certificate;
}

// A context whose own limit is another, to call the other one with.
Context limited(const Context& context, int least, int most) {
  SSL_CTX_set_min_proto_version(context->get(), least);
  SSL_CTX_set_max_proto_version(context->get(), most);
  return context;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(http_sessions, HttpSessions)

BOOST_AUTO_TEST_CASE(a_server_of_the_right_name_and_authority_is_believed) {
  SessionPair pair(client(), server(), kHost);
  BOOST_TEST(is_heard(pair));
  SessionPair dotted(client(), server(), std::string(kHost) + ".");
  BOOST_TEST(is_heard(dotted));
  SessionPair address(client(), server({.names = {"IP:10.0.0.7"}}), "10.0.0.7");
  BOOST_TEST(is_heard(address));
  SessionPair wildcard(client(), server({.names = {"DNS:*.orders.shop"}}), kHost);
  BOOST_TEST(is_heard(wildcard));
}

BOOST_AUTO_TEST_CASE(a_server_of_another_name_is_refused) {
  for (const char* called : {"orders-1.orders.shop", "10.0.0.7", "orders.shop"}) {
    SessionPair pair(client(), server(), called);
    BOOST_TEST(!is_heard(pair));
    BOOST_TEST((flaw_of(pair.client) == Rejection::kTlsWrongName));
    BOOST_TEST(pair.client.session.flaw()->text ==
               std::string("the server's certificate is for ") + kHost + ", not for " + called +
                   "; call it by such a name, or issue one for this");
  }
  SessionPair by_common_name(client(), server({.names = {}, .common_name = kHost}), kHost);
  BOOST_TEST(!is_heard(by_common_name));
}

BOOST_AUTO_TEST_CASE(a_server_of_another_authority_or_time_is_refused) {
  SessionPair foreign(client(other), server(), kHost);
  BOOST_TEST(!is_heard(foreign));
  BOOST_TEST((flaw_of(foreign.client) == Rejection::kTlsUnknownCa));
  CertificateWish old{.names = {std::string("DNS:") + kHost}};
  old.ends_in = std::chrono::seconds(-5);
  SessionPair expired(client(), server(old), kHost);
  BOOST_TEST(!is_heard(expired));
  BOOST_TEST((flaw_of(expired.client) == Rejection::kTlsExpired));
}

BOOST_AUTO_TEST_CASE(the_very_certificate_is_believed_whatever_its_name) {
  const CertificateSet own = set();
  const Context pinned = TlsContext::of_http_client({}, own.cert);
  CertificateSet shown = set();
  SessionPair other_leaf(pinned, TlsContext::of_http_server(shown, ClientCertificate::kOptional),
                         "::1");
  BOOST_TEST(!is_heard(other_leaf));
  SessionPair pair(pinned, TlsContext::of_http_server(own, ClientCertificate::kOptional),
                   "127.0.0.1");
  BOOST_TEST(is_heard(pair));
}

BOOST_AUTO_TEST_CASE(tls_1_2_will_do_and_1_1_will_not) {
  SessionPair modern(client(), server(), kHost);
  BOOST_TEST(is_heard(modern));
  SessionPair old(limited(client(), TLS1_2_VERSION, TLS1_2_VERSION), server(), kHost);
  BOOST_TEST(is_heard(old));
  const Context older = limited(client(), TLS1_1_VERSION, TLS1_1_VERSION);
  SSL_CTX_set_cipher_list(older->get(), "ALL:@SECLEVEL=0");
  SessionPair older_pair(older, server(), kHost);
  BOOST_TEST(!is_heard(older_pair));
  BOOST_TEST((flaw_of(older_pair.server) == Rejection::kTlsProtocol));
  BOOST_TEST(older_pair.server.session.flaw()->text ==
             "the peer does not speak TLS 1.2 or 1.3; update it, or allow it to speak that");
}

BOOST_AUTO_TEST_CASE(a_client_need_not_name_its_protocol_but_not_name_others_alone) {
  const Context silent = client();
  SSL_CTX_set_alpn_protos(silent->get(), nullptr, 0);
  SessionPair pair(silent, server(), kHost);
  BOOST_TEST(is_heard(pair));
  const Context h2 = client();
  const std::string offered("\x02h2");
  SSL_CTX_set_alpn_protos(h2->get(), reinterpret_cast<const unsigned char*>(offered.data()), 3);
  SessionPair refused(h2, server(), kHost);
  BOOST_TEST(!is_heard(refused));
  BOOST_TEST((flaw_of(refused.server) == Rejection::kTlsProtocol));
}

BOOST_AUTO_TEST_CASE(where_it_is_optional_a_certificate_is_verified_if_shown) {
  const Context asking = TlsContext::of_http_server(set(), ClientCertificate::kOptional);
  SessionPair without(client(), asking, kHost);
  BOOST_TEST(is_heard(without));
  BOOST_TEST(!without.server.session.peer().has_value());
  SessionPair with(certified_client(authority), asking, kHost);
  BOOST_TEST(is_heard(with));
  BOOST_TEST_REQUIRE(with.server.session.peer().has_value());
  BOOST_TEST(with.server.session.peer()->common_name == "ops");
  SessionPair foreign(certified_client(other), asking, kHost);
  BOOST_TEST(!is_heard(foreign));
  BOOST_TEST((flaw_of(foreign.server) == Rejection::kTlsUnknownCa));
}

// Their names are a hint, and more than a message holds would end every handshake.
BOOST_AUTO_TEST_CASE(a_server_may_believe_more_authorities_than_it_can_name) {
  CertificateSet own = set();
  for (int number = 0; number < 400; ++number) own.ca.push_back(renamed(number));
  for (const int least : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const Context asked = limited(certified_client(authority), least, least);
    SessionPair pair(asked, TlsContext::of_http_server(own, ClientCertificate::kRequired), kHost);
    BOOST_TEST(is_heard(pair));
  }
}

BOOST_AUTO_TEST_CASE(where_it_is_required_nobody_is_served_without) {
  const Context demanding = TlsContext::of_http_server(set(), ClientCertificate::kRequired);
  SessionPair without(client(), demanding, kHost);
  BOOST_TEST(!is_heard(without));
  BOOST_TEST((flaw_of(without.server) == Rejection::kTlsNoCertificate));
  BOOST_TEST(without.server.session.flaw()->text ==
             "the peer shows no certificate; give it one of an authority in client_ca, or "
             "leave client_ca out");
  SessionPair with(certified_client(authority), demanding, kHost);
  BOOST_TEST(is_heard(with));
}

// Otherwise the server would say no for as long as it is asked.
BOOST_AUTO_TEST_CASE(by_tls_1_2_whoever_asks_for_a_second_handshake_is_refused) {
  const Context old = limited(client(), TLS1_2_VERSION, TLS1_2_VERSION);
  static SSL* asking;
  SSL_CTX_clear_options(old->get(), SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_info_callback(old->get(), [](const SSL* ssl, int /*where*/, int /*result*/) {
    asking = const_cast<SSL*>(ssl);  // NOLINT(*-const-cast): it is the test's own
  });
  SessionPair pair(old, server(), kHost);
  BOOST_TEST(is_heard(pair));
  SSL_renegotiate(asking);
  SSL_do_handshake(asking);
  pair.server.take(pair.client.give());
  BOOST_TEST((flaw_of(pair.server) == Rejection::kTlsProtocol));
  BOOST_TEST(pair.server.session.flaw()->text.find("second handshake") != std::string::npos);
}

// It has no secret to share with anybody.
BOOST_AUTO_TEST_CASE(whoever_was_refused_learns_what_to_change_of_http) {
  const Context demanding = TlsContext::of_http_server(set(), ClientCertificate::kRequired);
  SessionPair without(client(), demanding, kHost);
  BOOST_TEST(!is_heard(without));
  BOOST_TEST((flaw_of(without.client) == Rejection::kTlsRefused));
  BOOST_TEST(without.client.session.flaw()->text.ends_with(
      "it asks for a certificate; give this side one that it believes (cert, key)"));
  SessionPair older(limited(client(), TLS1_2_VERSION, TLS1_2_VERSION), demanding, kHost);
  BOOST_TEST(!is_heard(older));
  BOOST_TEST(older.client.session.flaw()->text.find("it asks for a certificate (cert, key), or") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(plain_http_is_answered_so_that_a_person_can_read_it) {
  Side side(server(), TlsSide::kServer);
  side.take("GET / HTTP/1.1\r\n");
  BOOST_TEST((flaw_of(side) == Rejection::kTlsPlaintext));
  BOOST_TEST(side.give().starts_with("HTTP/1.0 400 Bad Request\r\n"));
}

// Its URL is right in that, and the port is not.
BOOST_AUTO_TEST_CASE(a_server_that_speaks_plain_http_is_told_from_a_client_that_does) {
  Side side(client(), TlsSide::kClient);
  side.give();
  side.take("HTTP/1.1 400 Bad Request\r\n");
  BOOST_TEST((flaw_of(side) == Rejection::kTlsPlaintext));
  BOOST_TEST(side.session.flaw()->text ==
             "the server does not speak TLS there; call its port for https, or by http://");
  BOOST_TEST(side.give() == "");
}

BOOST_AUTO_TEST_CASE(nothing_in_common_is_told_from_broken_rules) {
  const Context odd = limited(client(), TLS1_2_VERSION, TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(odd->get(), "AES128-SHA256");
  SessionPair pair(odd, server(), kHost);
  BOOST_TEST(!is_heard(pair));
  BOOST_TEST((flaw_of(pair.server) == Rejection::kTlsProtocol));
  BOOST_TEST(pair.server.session.flaw()->text.starts_with(
      "the peer has no cipher in common with this side ("));
}

BOOST_AUTO_TEST_CASE(the_end_of_what_is_said_is_known_from_a_broken_connection) {
  SessionPair pair(client(), server(), kHost);
  BOOST_TEST(is_heard(pair));
  BOOST_TEST(!pair.client.session.has_ended());
  pair.server.session.finish();
  pair.run();
  BOOST_TEST(pair.client.session.has_ended());
}

BOOST_AUTO_TEST_CASE(what_is_shown_is_for_its_side_and_valid_now) {
  const std::time_t now = std::time(nullptr);
  const auto flaw = [&](const CertificateWish& wish, int purpose) {
    try {
      check_shown_certificate(set(wish), purpose, now);
    } catch (const TlsError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CertificateWish wish;
  BOOST_TEST(flaw(wish, X509_PURPOSE_SSL_SERVER) == "");
  wish.extended_key_usage = "clientAuth";
  BOOST_TEST(flaw(wish, X509_PURPOSE_SSL_CLIENT) == "");
  BOOST_TEST(flaw(wish, X509_PURPOSE_SSL_SERVER) ==
             "cert is not for servers; issue one with extendedKeyUsage serverAuth");
  wish = {};
  wish.begins_in = std::chrono::hours(1);
  BOOST_TEST(flaw(wish, X509_PURPOSE_SSL_SERVER).find("is not valid yet; look at") !=
             std::string::npos);
  wish = {};
  wish.ends_in = std::chrono::seconds(-1);
  BOOST_TEST(flaw(wish, X509_PURPOSE_SSL_SERVER).find("has expired; renew it") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
