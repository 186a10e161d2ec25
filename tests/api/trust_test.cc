// Who is refused because a browser may have been talked into it.
#include "api/trust.hh"

#include <boost/test/unit_test.hpp>

#include "api_fixture.hh"

namespace bellwether::tests {
namespace {

struct TrustFixture : ApiFixture {
  bool takes_host(const std::string& host) {
    return api::distrust({.method = "GET", .path = "/", .headers = {{"Host", host}}},
                         backend.settings)
        .empty();
  }
  bool takes_post(std::vector<std::pair<std::string, std::string>> headers) {
    io::HttpRequest request{.method = "POST", .path = "/v1/elect"};
    request.headers = std::move(headers);
    return api::distrust(request, backend.settings).empty();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(trust, TrustFixture)

BOOST_AUTO_TEST_CASE(loopback_is_an_own_name_in_every_spelling) {
  for (const char* host : {"localhost", "localhost:4040", "LocalHost.", "127.0.0.1:4040",
                           "127.8.9.10", "[::1]", "[::1]:4040"}) {
    BOOST_TEST(takes_host(host), host);
  }
}

BOOST_AUTO_TEST_CASE(configured_names_are_own_names) {
  backend.settings.api.listen.host = "10.1.1.1";
  backend.settings.node.advertise.host = "Orders-3.orders";
  for (const char* host : {"node-3", "NODE-3:4040", "10.1.1.1:4040", "orders-3.orders:4040"}) {
    BOOST_TEST(takes_host(host), host);
  }
}

BOOST_AUTO_TEST_CASE(other_names_are_strangers) {
  for (const char* host :
       {"evil.example", "evil.example:4040", "localhost.evil.example", "127.0.0.1.evil.example",
        "node-33", "10.0.0.4", "8.8.8.8:4040", "", ":4040", "[::2]:4040", "[::1", "[]",
        "[::1]evil.example", "[::1]:1@evil.example", "localhost:1@evil.example",
        "localhost:4040:1"}) {
    BOOST_TEST(!takes_host(host), host);
  }
}

BOOST_AUTO_TEST_CASE(any_address_will_do_when_every_address_is_listened_on) {
  backend.settings.api.listen.host = "0.0.0.0";
  BOOST_TEST(takes_host("10.9.9.9:4040"));
  BOOST_TEST(takes_host("[fd00::7]:4040"));
  BOOST_TEST(!takes_host("evil.example"));
}

BOOST_AUTO_TEST_CASE(by_tls_the_browser_has_compared_the_name) {
  io::HttpRequest wish{.method = "GET", .path = "/", .headers = {{"Host", "api.shop"}}};
  BOOST_TEST(!api::distrust(wish, backend.settings).empty());
  wish.is_over_tls = true;
  BOOST_TEST(api::distrust(wish, backend.settings).empty());
  wish.method = "POST";
  wish.headers.emplace_back("Origin", "https://evil.example");
  BOOST_TEST(!api::distrust(wish, backend.settings).empty());
}

BOOST_AUTO_TEST_CASE(without_a_listening_address_an_empty_host_is_still_a_stranger) {
  backend.settings.api.listen = {};
  backend.settings.node.advertise = {};
  BOOST_TEST(!takes_host(""));
}

BOOST_AUTO_TEST_CASE(without_the_header_there_is_no_browser) {
  BOOST_TEST(api::distrust({.method = "GET", .path = "/"}, backend.settings).empty());
}

BOOST_AUTO_TEST_CASE(over_the_unix_socket_the_host_means_nothing) {
  BOOST_TEST(api::distrust({.method = "GET",
                            .path = "/",
                            .headers = {{"Host", "evil.example"}},
                            .is_over_unix_socket = true},
                           backend.settings)
                 .empty());
}

BOOST_AUTO_TEST_CASE(a_command_without_an_origin_comes_from_no_page) {
  BOOST_TEST(takes_post({{"Host", "localhost:4040"}}));
  BOOST_TEST(takes_post({{"Host", "localhost:4040"}, {"Sec-Fetch-Site", "none"}}));
}

BOOST_AUTO_TEST_CASE(a_command_of_an_own_page_is_taken) {
  BOOST_TEST(takes_post({{"Host", "localhost:4040"}, {"Origin", "http://LOCALHOST:4040"}}));
}

BOOST_AUTO_TEST_CASE(a_command_of_another_origin_is_refused) {
  for (const char* origin : {"http://evil.example", "http://localhost:3000", "http://localhost",
                             "null", "localhost:4040", ""}) {
    BOOST_TEST(!takes_post({{"Host", "localhost:4040"}, {"Origin", origin}}), origin);
  }
  BOOST_TEST(!takes_post({{"Origin", "http://localhost:4040"}}));
}

BOOST_AUTO_TEST_CASE(by_tls_a_plain_page_of_the_same_name_is_of_another_origin) {
  io::HttpRequest wish{.method = "POST",
                       .path = "/",
                       .headers = {{"Host", "api.shop"}, {"Origin", "http://api.shop"}},
                       .is_over_tls = true};
  BOOST_TEST(!api::distrust(wish, backend.settings).empty());
  wish.headers.back().second = "https://API.shop";
  BOOST_TEST(api::distrust(wish, backend.settings).empty());
}

BOOST_AUTO_TEST_CASE(a_command_of_another_site_is_told_with_who_sent_it) {
  const auto sent_by = [&](const char* method, const char* path) {
    return request({.method = method,
                    .path = path,
                    .headers = {{"Host", "localhost:4040"}, {"Origin", "http://evil.example"}},
                    .client = {.address = "10.0.0.9:1234"}})
        ->status();
  };
  BOOST_TEST(sent_by("POST", "/v1/step-down") == 403u);
  BOOST_TEST(sent_by("PUT", "/v1/application/score") == 403u);
  BOOST_TEST(sent_by("POST", "/v1/leader") == 403u);  // not a command
  BOOST_TEST(sent_by("GET", "/v1/step-down") == 405u);
  BOOST_TEST(asked == (std::vector<std::string>{"step_down by 10.0.0.9:1234 403",
                                                "score by 10.0.0.9:1234 403"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_command_that_the_browser_calls_cross_site_is_refused) {
  BOOST_TEST(!takes_post({{"Host", "localhost:4040"}, {"Sec-Fetch-Site", "Cross-Site"}}));
}

BOOST_AUTO_TEST_CASE(a_page_may_read_what_it_cannot_see_across_origins) {
  BOOST_TEST(
      get("/v1/leader", {{"Host", "localhost"}, {"Origin", "http://evil.example"}})->status() ==
      200u);
}

BOOST_AUTO_TEST_CASE(a_stranger_is_refused_before_its_path_and_method_are_looked_at) {
  const auto headers = std::vector<std::pair<std::string, std::string>>{{"Host", "evil.example"}};
  const auto refused = get("/v1/leader", headers);
  BOOST_TEST(refused->status() == 403u);
  BOOST_TEST(refused->error() ==
             "the Host header names none of this node's names; use its address, or node-3");
  BOOST_TEST(get("/none", headers)->status() == 403u);
  BOOST_TEST(request({.method = "PUT", .path = "/", .headers = headers})->status() == 403u);
  BOOST_TEST(answered == (std::vector<std::string>{"/v1/leader 403", "none 403", "/ 403"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_refused_command_is_not_carried_out) {
  lead();
  const auto refused = request(
      {.method = "POST", .path = "/v1/step-down", .headers = {{"Origin", "http://evil.example"}}});
  BOOST_TEST(refused->status() == 403u);
  BOOST_TEST(node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(the_metrics_listener_is_reached_under_any_name) {
  BOOST_TEST(request({.method = "GET",
                      .path = "/metrics",
                      .headers = {{"Host", "orders-3.orders.shop.svc:9464"}}},
                     api::Entrance::kMetrics)
                 ->status() == 200u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
