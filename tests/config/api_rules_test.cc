// Rules about who may reach the API and command by it, and what its certificate needs.
#include <boost/test/unit_test.hpp>

#include "parse_harness.hh"

namespace {

using namespace bellwether::test;

const std::string kAnywhere = "[api]\nlisten = \"0.0.0.0:4040\"\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(config_api_rules)

BOOST_AUTO_TEST_CASE(the_api_is_local) {
  for (const std::string local :
       {"127.1.2.3:80", "[::1]:80", "[::ffff:127.0.0.1]:80", "localhost:80"}) {
    BOOST_TEST(warnings_of(kSound + "[api]\nlisten = \"" + local + "\"\n").empty());
  }
  const auto errors = errors_of(kSound + kAnywhere);
  BOOST_TEST_REQUIRE(errors.size() == 2U);
  BOOST_TEST(
      errors[0] ==
      "b.toml:10:10: error: api.listen: 0.0.0.0:4040 is not loopback, and what is said there "
      "can be read and changed on the way: there is no TLS; give api.cert and api.key, listen "
      "on 127.0.0.1 or on api.socket alone, or give api.insecure = \"on\"");
  BOOST_TEST(
      errors[1] ==
      "b.toml:10:10: error: api.listen: 0.0.0.0:4040 is not loopback, and whoever reaches it "
      "can make the leader step down; give api.token_file, api.client_ca or api.writes = "
      "\"socket\", listen on 127.0.0.1 or on api.socket alone, or give api.insecure = \"on\"");
}

BOOST_AUTO_TEST_CASE(elsewhere_it_needs_a_certificate_and_somebody_who_may_command) {
  const std::string by_tls = kSound + kAnywhere + "cert = \"/c\"\nkey = \"/k\"\n";
  BOOST_TEST(errors_of(by_tls).size() == 1U);
  BOOST_TEST(errors_of(kSound + kAnywhere + "token_file = \"/t\"\n").size() == 1U);
  for (const char* guard :
       {"token_file = \"/t\"", "client_ca = \"/ca\"", "writes = \"socket\"\nsocket = \"/run/s\""}) {
    BOOST_TEST(warnings_of(by_tls + guard + "\n").empty(), guard);
  }
}

BOOST_AUTO_TEST_CASE(who_wants_it_insecure_has_to_say_so_and_is_warned) {
  const std::string insecure = kSound + kAnywhere + "insecure = true\n";
  expect_warning(insecure,
                 "11:12: warning: api.insecure: whoever reaches 0.0.0.0:4040 can make the leader "
                 "step down; listen on 127.0.0.1 or a unix socket, or give api.cert, api.key, and "
                 "api.token_file or api.client_ca");
  expect_warning(
      insecure + "token_file = \"/t\"\n",
      "11:12: warning: api.insecure: whoever is on the way to 0.0.0.0:4040 can read, and "
      "use, tokens and answers; listen on 127.0.0.1 or a unix socket, or give api.cert, "
      "api.key, and api.token_file or api.client_ca");
  expect_warning(
      kSound + "[api]\ninsecure = \"on\"\n",
      "10:12: warning: api.insecure: has no effect: nothing here is insecure; remove it");
}

BOOST_AUTO_TEST_CASE(a_certificate_has_its_key_and_its_address) {
  for (const std::string table : {"api", "metrics"}) {
    const std::string begin = kSound + "[" + table + "]\n";
    expect_error(begin + "cert = \"/c\"\n",
                 "10:8: error: " + table + ".cert: " + table + ".cert and " + table +
                     ".key belong together; give " + table + ".key, or none of " + table +
                     ".cert, " + table + ".key and " + table + ".client_ca");
    BOOST_TEST(errors_of(begin + "client_ca = \"/c\"\n").size() == 1U);
    const std::string whole = begin + "cert = \"/c\"\nkey = \"/k\"\nclient_ca = \"/a\"\n";
    BOOST_TEST(warnings_of(whole).empty());
    const std::string nowhere =
        "listen = \"\"\n" + std::string(table == "api" ? "socket = \"/s\"\n" : "");
    expect_error(whole + nowhere, "10:8: error: " + table + ".cert: is about " + table +
                                      ".listen, which is \"\"; remove it, or give " + table +
                                      ".listen");
  }
}

BOOST_AUTO_TEST_CASE(what_is_about_the_socket_needs_one) {
  for (const char* key :
       {"writes = \"socket\"", "allow_users = [\"a\"]", "allow_groups = [\"10\"]"}) {
    const std::string api = kSound + "[api]\n" + key + "\n";
    BOOST_TEST(errors_of(api).size() == 1U, key);
    BOOST_TEST(errors_of(api + "socket = \"/run/b.sock\"\n").empty(), key);
  }
}

BOOST_AUTO_TEST_CASE(users_that_are_asked_for_on_the_socket_alone_leave_tcp_open) {
  const std::string users = kSound + "[api]\nsocket = \"/run/b.sock\"\nallow_users = [\"app\"]\n";
  expect_warning(users,
                 "11:15: warning: api.allow_users: users are asked for on the unix socket alone: "
                 "whoever reaches 127.0.0.1:4040 commands without being one of them; give "
                 "api.writes = \"socket\", or api.token_file for those on TCP");
  for (const char* guard : {"writes = \"socket\"\n", "token_file = \"/t\"\n", "listen = \"\"\n"}) {
    BOOST_TEST(warnings_of(users + guard).empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()
