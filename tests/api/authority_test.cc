// Who may command: by which door, with which token, as which user.
#include "api/authority.hh"

#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "api_fixture.hh"
#include "io/tls/openssl.hh"

namespace bellwether::tests {
namespace {

const std::string kToken = "a-token-of-enough-letters";
constexpr uid_t kStranger = 54321;

std::string tokens_flaw(const std::string& text) {
  try {
    api::parse_tokens(text);
  } catch (const io::TlsError& error) {
    return error.what();
  }
  return "";
}

struct AuthorityFixture : ApiFixture {
  // Commands as this configuration has it; the tokens are read.
  void guard(const ApiSettings& settings) {
    backend.commands = api::Authority(settings);
    backend.commands.set_tokens(api::parse_tokens(kToken + "\nanother-token-than-that\n"), "");
  }
  unsigned elect(std::string_view authorization = "") {
    io::HttpRequest wish{.method = "POST", .path = "/v1/elect"};
    wish.authorization = authorization;
    wish.client.address = "127.0.0.1:5";
    last = request(wish);
    return last->status();
  }
  unsigned elect_as(uid_t user, std::vector<gid_t> groups = {kStranger}) {
    io::HttpRequest wish{.method = "POST", .path = "/v1/elect"};
    wish.is_over_unix_socket = true;
    wish.client.process = io::PeerProcess{.process = 7, .user = user, .groups = std::move(groups)};
    last = request(wish);
    return last->status();
  }

  Answered last;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(authority, AuthorityFixture)

BOOST_AUTO_TEST_CASE(by_default_everybody_may_and_is_noted) {
  lead();
  BOOST_TEST(elect() == 200U);
  BOOST_TEST(elect_as(kStranger) == 200U);
  BOOST_TEST(asked == (std::vector<std::string>{"elect by 127.0.0.1:5 200",
                                                "elect by user 54321, process 7 200"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(over_tcp_a_token_is_needed_where_there_is_a_file) {
  lead();
  guard({.token_file = "/t"});
  BOOST_TEST(elect() == 401U);
  BOOST_TEST(*io::find_header(last->response->headers, "www-authenticate") ==
             "Bearer realm=\"bellwether\"");
  BOOST_TEST(elect("Bearer wrong-token-of-enough-letters") == 401U);
  BOOST_TEST(elect("Basic " + kToken) == 401U);
  BOOST_TEST(elect("Bearer " + kToken) == 200U);
  BOOST_TEST(elect("bearer another-token-than-that") == 200U);
  BOOST_TEST(elect_as(kStranger) == 200U);          // its mode guards the socket
  BOOST_TEST(get("/v1/status")->status() == 200U);  // whoever may ask may look
  BOOST_TEST(asked.front() == "elect by 127.0.0.1:5 401");
}

BOOST_AUTO_TEST_CASE(a_verified_certificate_is_as_good_as_a_token) {
  lead();
  io::HttpRequest wish{.method = "POST", .path = "/v1/elect", .is_over_tls = true};
  wish.client = {.address = "10.0.0.9:5", .process = {}, .certificate = "ops.shop"};
  const auto status = [&] { return request(wish)->status(); };
  guard({.token_file = "/t"});
  BOOST_TEST(status() == 401U);  // nobody has said whose certificates count
  guard({.token_file = "/t", .client_ca = "/ca"});
  BOOST_TEST(status() == 200U);
  BOOST_TEST(elect() == 401U);
  BOOST_TEST(elect("Bearer " + kToken) == 200U);
  guard({.client_ca = "/ca"});
  BOOST_TEST(status() == 200U);
  BOOST_TEST(elect() == 403U);
  BOOST_TEST(last->error() ==
             "a command needs a certificate of [api] client_ca, and none was shown");
  BOOST_TEST(get("/v1/status")->status() == 200U);
  BOOST_TEST(asked[1] == "elect by 10.0.0.9:5, certificate ops.shop 200");
}

BOOST_AUTO_TEST_CASE(without_its_file_no_token_is_good) {
  lead();
  guard({.token_file = "/t"});
  backend.commands.set_tokens({}, "is gone");
  BOOST_TEST(elect("Bearer " + kToken) == 403U);
  BOOST_TEST(get("/v1/status")->json()["commands"]["why_no_token_counts"] == "is gone");
}

BOOST_AUTO_TEST_CASE(who_is_attached_by_a_token_has_gone_when_that_is_not_in_force_any_more) {
  const std::string other = "another-token-than-that";
  guard({.token_file = "/t"});
  const auto attach = [&](const std::string& token) {
    io::HttpRequest wish{
        .method = "POST", .path = "/v1/application/attach", .query = {{"name", token}}};
    wish.authorization = "Bearer " + token;
    return request(wish);
  };
  const Answered old = attach(kToken);
  const Answered kept = attach(other);
  backend.commands.set_tokens({}, "they cannot be read for a moment");
  routes.on_tokens();
  BOOST_TEST(!old->is_ended);
  backend.commands.set_tokens(api::parse_tokens(other), "");
  routes.on_tokens();
  BOOST_TEST(old->is_ended);
  BOOST_TEST(!kept->is_ended);
  BOOST_TEST((api::names_of(backend.application_state.attached) == std::vector{other}));
}

BOOST_AUTO_TEST_CASE(over_tcp_nobody_may_where_the_socket_alone_takes_commands) {
  lead();
  guard({.socket = "/s", .token_file = "/t", .writes = ApiWrites::kSocket});
  BOOST_TEST(elect("Bearer " + kToken) == 403U);
  BOOST_TEST(elect_as(kStranger) == 200U);
}

BOOST_AUTO_TEST_CASE(on_the_socket_those_may_who_are_named_and_whoever_could_anyway) {
  lead();
  guard({.socket = "/s", .allow_users = {"1000"}, .allow_groups = {"2000"}});
  BOOST_TEST(elect_as(1000) == 200U);
  BOOST_TEST(elect_as(1001, {5, 2000}) == 200U);
  BOOST_TEST(elect_as(0) == 200U);
  BOOST_TEST(elect_as(::geteuid()) == 200U);
  BOOST_TEST(elect_as(1001, {5, 1000}) == 403U);
  BOOST_TEST(asked.back() == "elect by user 1001, process 7 403");
}

BOOST_AUTO_TEST_CASE(a_caller_that_the_kernel_does_not_name_may_not) {
  guard({.socket = "/s", .allow_users = {"1000"}});
  io::HttpRequest wish{.method = "POST", .path = "/v1/elect"};
  wish.is_over_unix_socket = true;
  BOOST_TEST(request(wish)->status() == 403U);
}

BOOST_AUTO_TEST_CASE(names_are_looked_up_and_those_that_nobody_has_are_told) {
  const api::Authority made({.allow_users = {"root", "nobody-has-this"}, .allow_groups = {"root"}});
  BOOST_TEST(made.unknown_names() == std::vector<std::string>{"nobody-has-this"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(tokens_are_lines_of_some_length) {
  BOOST_TEST(api::parse_tokens("# old\n\n" + kToken + " \r\n" + kToken).size() == 2U);
  BOOST_TEST(tokens_flaw("short").find("line 1 is not a token") == 0U);
  BOOST_TEST(tokens_flaw(kToken + "\nwith blanks in between it\n").find("line 2 ") == 0U);
  BOOST_TEST(tokens_flaw("\n# none\n").find("holds no token") == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
