// What an operator asks for, what becomes of it, and what is refused.
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "api_fixture.hh"

namespace bellwether::tests {
namespace {

using namespace std::chrono_literals;

struct CommandFixture : ApiFixture {
  // Leads over 1, 2 and 4, of which 4 may not lead; 5 is not there.
  void lead_group() {
    lead();
    step(node.disconnect(5, LinkEvidence::kRefused));
  }
};

const std::vector<std::string> kCommands{"/v1/step-down", "/v1/transfer", "/v1/elect", "/v1/reload",
                                         "/v1/members/node-5/forget"};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(commands, CommandFixture)

BOOST_AUTO_TEST_CASE(a_leader_forgets_a_member_that_is_gone) {
  lead_group();
  const auto answer = post("/v1/members/node-5/forget");
  BOOST_TEST(answer->status() == 200u);
  BOOST_TEST(answer->response->body == "{\"result\":\"forgotten\",\"name\":\"node-5\"}\n");
  BOOST_TEST(node.node().members().find(uuid(5)) == nullptr);
  BOOST_TEST(post("/v1/members/node-5/forget")->status() == 404u);
  BOOST_TEST(answered.back() == "/v1/members/NAME/forget 404");
}

BOOST_AUTO_TEST_CASE(a_member_that_is_there_is_not_forgotten) {
  lead_group();
  for (const char* name : {"node-3", "node-1"}) {
    const auto answer = post("/v1/members/" + std::string(name) + "/forget");
    BOOST_TEST(answer->status() == 409u, name);
    BOOST_TEST(answer->error() == "that member is alive or connected; end its process first");
  }
}

BOOST_AUTO_TEST_CASE(who_does_not_lead_forgets_nobody_and_says_who_could) {
  follow();
  const auto answer = post("/v1/members/node-1/forget");
  BOOST_TEST(answer->status() == 409u);
  BOOST_TEST(answer->error() == "this node does not lead; node-5 does: give the command there");
}

BOOST_AUTO_TEST_CASE(a_name_that_nobody_can_have_is_a_bad_request) {
  lead_group();
  for (const std::string& name :
       {std::string(), std::string(64, 'x'), std::string("caf\xC3\xA9")}) {
    const auto answer = post("/v1/members/" + name + "/forget");
    BOOST_TEST(answer->status() == 400u, name);
    BOOST_TEST(answer->error() ==
               "the path is /v1/members/NAME/forget, and NAME has 1 to 63 printable characters of "
               "ASCII");
  }
  // What a stranger may have called itself can be forgotten, too: a slash in its name divides no
  // path.
  BOOST_TEST(post("/v1/members/a b%2Fc/forget")->status() == 404u);
  BOOST_TEST(answered.back() == "/v1/members/NAME/forget 404");
  BOOST_TEST(post("/v1/members/a/b/forget")->status() == 404u);
  BOOST_TEST(post("/v1/members%2Fa/forget")->status() == 404u);
  BOOST_TEST(answered.back() == "none 404");
}

BOOST_AUTO_TEST_CASE(an_election_is_started) {
  follow();
  const auto answer = post("/v1/elect");
  BOOST_TEST(answer->status() == 200u);
  BOOST_TEST(answer->response->body == "{\"result\":\"election started\"}\n");
  BOOST_TEST(node.node().election_state() == uint32_t{ELECTION_STATE_COLLECTING});
}

BOOST_AUTO_TEST_CASE(who_may_not_lead_holds_no_election) {
  lead_group();
  post("/v1/step-down");
  const auto answer = post("/v1/elect");
  BOOST_TEST(answer->status() == 409u);
  BOOST_TEST(answer->error() ==
             "this node may not lead now, so it holds no election; `bellwether explain` says why");
}

BOOST_AUTO_TEST_CASE(a_reload_says_what_changed_and_what_waits_for_a_restart) {
  backend.reloaded.changes = {
      {.key = "log.level", .before = "\"info\"", .after = "\"debug\"", .pending_restart = false},
      {.key = "node.listen", .before = "\"a:1\"", .after = "\"b:1\"", .pending_restart = true}};
  backend.reloaded.warnings = {"b.toml:1:1: warning: log.level: chatty; use info"};
  const auto answer = post("/v1/reload");
  BOOST_TEST(answer->status() == 200u);
  BOOST_TEST(answer->response->body ==
             "{\"changed\":[{\"key\":\"log.level\",\"before\":\"\\\"info\\\"\","
             "\"after\":\"\\\"debug\\\"\"}],"
             "\"pending_restart\":[{\"key\":\"node.listen\",\"before\":\"\\\"a:1\\\"\","
             "\"after\":\"\\\"b:1\\\"\"}],"
             "\"warnings\":[\"b.toml:1:1: warning: log.level: chatty; use info\"]}\n");
}

BOOST_AUTO_TEST_CASE(a_configuration_that_is_wrong_is_422_with_every_error) {
  backend.reloaded.errors = {"b.toml:1:1: error: x: unknown key; remove it",
                             "b.toml:2:1: error: y"};
  const auto answer = post("/v1/reload", "{}");
  BOOST_TEST(answer->status() == 422u);
  BOOST_TEST(answer->response->body ==
             "{\"error\":\"the new configuration is refused; the old one stays in force\","
             "\"errors\":[\"b.toml:1:1: error: x: unknown key; remove it\","
             "\"b.toml:2:1: error: y\"],\"warnings\":[]}\n");
}

BOOST_AUTO_TEST_CASE(a_body_that_is_no_object_is_a_bad_request) {
  lead_group();
  for (const std::string& path : kCommands) {
    for (const char* body : {"x", "[]", "3", "null", "\"to\"", "{", "{\"hold\":\"1s\"}}"}) {
      const auto answer = post(path, body);
      BOOST_TEST(answer->status() == 400u, path << " " << body);
      BOOST_TEST(answer->error() == "the body is not a JSON object");
    }
  }
  BOOST_TEST(node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(a_key_that_has_no_use_is_a_bad_request) {
  lead_group();
  BOOST_TEST(post("/v1/step-down", R"({"hould":"1s"})")->error() ==
             R"(the body has no use for "hould"; it takes "hold" and "now")");
  BOOST_TEST(post("/v1/transfer", R"({"to":"node-1","now":"yes"})")->error() ==
             R"(the body has no use for "now"; it takes "to")");
  BOOST_TEST(post("/v1/elect", R"({"x":1})")->error() ==
             R"(the body has no use for "x"; leave it empty)");
  BOOST_TEST(node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(a_value_that_is_no_string_is_a_bad_request) {
  lead_group();
  BOOST_TEST(post("/v1/step-down", R"({"hold":30})")->error() == R"("hold" is a string)");
  BOOST_TEST(post("/v1/transfer", R"({"to":null})")->error() == R"("to" is a string)");
  BOOST_TEST(post("/v1/step-down", R"({"now":"yes"})")->error() == R"("now" is true or false)");
}

BOOST_AUTO_TEST_CASE(a_command_is_answered_when_the_node_has_it) {
  lead_group();
  backend.holds_commands = true;
  const auto answer = post("/v1/step-down");
  BOOST_TEST(!answer->response.has_value());
  BOOST_TEST(node.node().is_leading());
  backend.carry_out_held();
  BOOST_TEST(answer->status() == 202u);
  BOOST_TEST(!node.node().is_leading());
}

BOOST_AUTO_TEST_CASE(a_command_whose_client_has_gone_is_carried_out_all_the_same) {
  lead_group();
  backend.holds_commands = true;
  const auto answer = post("/v1/step-down");
  answer->is_client_gone = true;
  routes.on_gone();
  backend.carry_out_held();
  BOOST_TEST(!answer->response.has_value());
  BOOST_TEST(!node.node().is_leading());
  BOOST_TEST(answered.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
