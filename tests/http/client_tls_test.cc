// What becomes of a request by https.
#include <boost/test/unit_test.hpp>
#include <functional>

#include "certificate_maker.hh"
#include "http_harness.hh"
#include "io/http/http_client.hh"
#include "io/tls/certificates.hh"
#include "listening_socket.hh"

namespace bellwether::io::test {
namespace {

struct ClientTlsHarness : Harness {
  ClientTlsHarness() { serve({.names = {"IP:127.0.0.1", "DNS:localhost"}}); }

  void serve(const CertificateWish& wish) {
    TlsTexts texts;
    authority.issue(wish, texts);
    server->secure(
        TlsContext::of_http_server(parse_certificate_set(texts, {}), ClientCertificate::kOptional));
  }
  static TlsContextPtr believing(const Authority& believed) {
    CertificateSet nothing;
    nothing.ca = parse_certificates(believed.pem(), "ca");
    return TlsContext::of_http_client(nothing);
  }
  // `meanwhile`: once it is under way.
  HttpClientResult get(
      const std::string& scheme, const std::string& host, TlsContextPtr tls,
      Duration timeout = std::chrono::seconds(5), const std::function<void()>& meanwhile = [] {}) {
    std::optional<HttpClientResult> result;
    client.send({.url = scheme + host + ":" + std::to_string(port) + "/x",
                 .tls = std::move(tls),
                 .timeout = timeout},
                [&](HttpClientResult ended) { result = std::move(ended); });
    meanwhile();
    BOOST_REQUIRE(run_until([&] { return result.has_value(); }));
    return *result;
  }
  HttpClientResult https(const std::string& host) {
    return get("https://", host, believing(authority));
  }

  Authority authority{"one"};
  Resolver resolver{loop};
  HttpClient client{loop, resolver};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(client_tls, ClientTlsHarness)

BOOST_AUTO_TEST_CASE(a_server_is_believed_by_its_name_or_address) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const HttpClientResult result = https(host);
    BOOST_TEST(result.error == "", host);
    BOOST_TEST(result.answer.body == "GET /x \n");
  }
}

BOOST_AUTO_TEST_CASE(another_name_is_refused_before_anything_is_sent) {
  serve({.names = {"DNS:elsewhere.shop"}});
  const HttpClientResult result = https("127.0.0.1");
  BOOST_TEST((result.failure == HttpFailure::kTls));
  BOOST_TEST(result.error == "TLS with 127.0.0.1:" + std::to_string(port) +
                                 ": the server's certificate is for elsewhere.shop, not for "
                                 "127.0.0.1; call it by such a name, or issue one for this");
  BOOST_TEST(requests.empty());
}

BOOST_AUTO_TEST_CASE(another_authority_is_refused) {
  const HttpClientResult result = get("https://", "127.0.0.1", believing(Authority("other")));
  BOOST_TEST((result.failure == HttpFailure::kTls));
  BOOST_TEST(result.why.find("not signed by an authority that is trusted here") !=
             std::string::npos);
  BOOST_TEST(requests.empty());
}

BOOST_AUTO_TEST_CASE(nobody_is_believed_without_being_told_whom) {
  BOOST_TEST((get("https://", "127.0.0.1", nullptr).failure == HttpFailure::kTls));
}

BOOST_AUTO_TEST_CASE(a_server_that_speaks_no_tls_is_told_from_one_that_does) {
  ClientTlsHarness plain;
  plain.server = std::make_unique<HttpServer>(plain.loop, plain);
  plain.port = plain.server->listen({"127.0.0.1", 0});
  const HttpClientResult result = plain.https("127.0.0.1");
  BOOST_TEST((result.failure == HttpFailure::kTls));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_silent_is_a_timeout) {
  const ListeningSocket silent;
  port = silent.port();
  const HttpClientResult result =
      get("https://", "127.0.0.1", believing(authority), std::chrono::milliseconds(50));
  BOOST_TEST((result.failure == HttpFailure::kTimeout));
}

// As a load balancer does whose servers are gone.
BOOST_AUTO_TEST_CASE(a_server_that_hangs_up_is_told) {
  const ListeningSocket balancer;
  port = balancer.port();
  const HttpClientResult result =
      get("https://", "127.0.0.1", believing(authority), std::chrono::seconds(5),
          [&] { balancer.hang_up_once(loop); });
  BOOST_TEST((result.failure == HttpFailure::kCutOff));
  BOOST_TEST(result.why == "is missing: the connection was closed");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
