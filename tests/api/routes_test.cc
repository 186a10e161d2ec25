// Every path, its other names, its methods, and the codes and headers of its answers.
#include "api/routes.hh"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "api_fixture.hh"
#include "metrics/metrics.hh"

namespace bellwether::tests {
namespace {

using namespace std::chrono_literals;

struct RoutesFixture : ApiFixture {
  unsigned ask(const std::string& method, const std::string& path,
               api::Entrance entrance = api::Entrance::kApi) {
    const auto answer = request({.method = method, .path = path}, entrance);
    return answer->stream_type.empty() ? answer->status() : 200;
  }
};

// What the tests of this folder say.
std::string text_of_tests() {
  std::ostringstream text;
  for (const auto& file : std::filesystem::directory_iterator(BELLWETHER_API_TESTS)) {
    if (file.path().extension() == ".cc") text << std::ifstream(file.path()).rdbuf();
  }
  return text.str();
}

std::string readme() {
  std::ifstream file(BELLWETHER_API_README);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(routes, RoutesFixture)

BOOST_AUTO_TEST_CASE(every_path_is_its_routes_and_codes_ascend) {
  for (const api::Route& route : api::Routes::table()) {
    for (const std::string_view path : route.paths) {
      if (!path.empty()) BOOST_TEST(api::Routes::find(path) == &route, path);
    }
  }
  for (const metrics::HttpRoute& counted : api::counted_routes()) {
    BOOST_TEST(std::ranges::is_sorted(counted.codes), counted.name);
  }
}

// Every first name, as far as NAME.
BOOST_AUTO_TEST_CASE(every_path_is_in_a_test) {
  const std::string tests = text_of_tests();
  for (const api::Route& route : api::Routes::table()) {
    const std::string path(route.paths.front());
    const size_t name = path.find("NAME");
    const std::string start = "\"" + path.substr(0, name);
    bool is_asked = name != std::string::npos && tests.find(start) != std::string::npos;
    for (const char* end : {"\"", "?"}) is_asked |= tests.find(start + end) != std::string::npos;
    BOOST_TEST(is_asked, path + ": add a case");
  }
}

BOOST_AUTO_TEST_CASE(readme_lists_every_path_with_its_methods_and_nothing_else) {
  std::string expected;
  for (const api::Route& route : api::Routes::table()) {
    std::string names;
    for (const std::string_view path : route.paths) {
      if (path.empty()) continue;
      names += names.empty() ? "" : ", ";
      names.append("`").append(path).append("`");
    }
    expected += "| " + names + " | " + std::string(route.methods) + " |";
    expected += route.is_for_metrics_listener ? " yes |\n" : " |\n";
  }
  const std::string text = readme();
  const std::string head = "| path | methods | on the metrics listener |\n|---|---|---|\n";
  const size_t begin = text.find(head);
  BOOST_TEST_REQUIRE(begin != std::string::npos);
  const size_t first = begin + head.size();
  BOOST_TEST(text.substr(first, text.find("\n\n", first) + 1 - first) == expected);
}

BOOST_AUTO_TEST_CASE(readme_has_a_row_for_every_limit_but_those_of_peers_and_of_the_log) {
  const std::set<Limit> others{Limit::kSendQueue, Limit::kPeerSilence, Limit::kHandshakes,
                               Limit::kPeerConnections, Limit::kLogLines};
  for (size_t i = 0; i < kValues<Limit>; ++i) {
    const auto limit = static_cast<Limit>(i);
    const std::string cell = "| `" + std::string(name(limit)) + "` |\n";
    BOOST_TEST((readme().find(cell) == std::string::npos) == others.contains(limit), cell);
  }
}

// The fixture sees that each is among those of the route.
BOOST_AUTO_TEST_CASE(every_path_answers_every_method_with_a_code_that_is_counted) {
  lead();
  for (const char* method : {"GET", "POST", "HEAD", "OPTIONS", "DELETE"}) {
    for (const api::Route& route : api::Routes::table()) ask(method, std::string(route.paths[0]));
  }
  BOOST_TEST(answered.size() == 5 * api::Routes::table().size());
}

BOOST_AUTO_TEST_CASE(an_unknown_path_is_404_and_counted_under_none) {
  for (const char* path : {"", "/leader/", "//", "/v1", "/v2/leader", "/LEADER", "*",
                           "/v1/members/forget", "/v1/members/node-5/forget/"}) {
    const auto answer = get(path);
    BOOST_TEST(answer->status() == 404u, path);
    BOOST_TEST(answer->error() == "there is no such path");
  }
  BOOST_TEST(answered.front() == "none 404");
}

BOOST_AUTO_TEST_CASE(a_wrong_method_is_405_with_those_that_are_allowed) {
  const std::vector<std::pair<std::string, std::string>> paths = {
      {"/", "GET, HEAD"},
      {"/leader", "GET, HEAD, OPTIONS"},
      {"/v1/events", "GET"},
      {"/v1/step-down", "POST"},
      {"/metrics", "GET, HEAD"},
      {"/livez", "GET, HEAD, OPTIONS"},
      {"/v1/leader", "GET, HEAD"},
      {"/v1/reload", "POST"},
      {"/v1/members/x/forget", "POST"},
  };
  for (const auto& [path, allowed] : paths) {
    const auto answer = request({.method = "DELETE", .path = path});
    BOOST_TEST(answer->status() == 405u, path);
    BOOST_TEST(answer->header("Allow") == allowed, path);
    BOOST_TEST(answer->error() == "this path takes " + allowed);
  }
  BOOST_TEST(ask("GET", "/v1/step-down") == 405u);
  BOOST_TEST(ask("POST", "/leader") == 405u);
  BOOST_TEST(ask("HEAD", "/v1/events") == 405u);
  BOOST_TEST(ask("", "/") == 405u);
  BOOST_TEST(ask("GET, HEAD", "/") == 405u);
}

BOOST_AUTO_TEST_CASE(leader_is_200_only_on_the_leader_and_under_both_names) {
  for (const char* path : {"/leader", "/primary"}) {
    BOOST_TEST(ask("GET", path) == 503u);
  }
  lead();
  for (const char* path : {"/leader", "/primary"}) {
    for (const char* method : {"GET", "HEAD", "OPTIONS"}) BOOST_TEST(ask(method, path) == 200u);
  }
  BOOST_TEST(answered.back() == "/leader 200");
}

BOOST_AUTO_TEST_CASE(leader_is_503_from_the_moment_the_leadership_was_not_renewed) {
  lead();
  node.pass(800ms - 1ns);
  BOOST_TEST(ask("GET", "/leader") == 200u);
  node.pass(1ns);
  const auto late = get("/leader");
  BOOST_TEST(late->status() == 503u);
  BOOST_TEST(late->json()["is_leader"] == false);
  BOOST_TEST(ask("GET", "/follower") == 503u);
}

BOOST_AUTO_TEST_CASE(leader_is_503_on_a_follower) {
  follow();
  BOOST_TEST(ask("GET", "/leader") == 503u);
}

BOOST_AUTO_TEST_CASE(follower_is_200_only_where_another_leads_and_under_both_names) {
  BOOST_TEST(ask("GET", "/follower") == 503u);
  follow();
  for (const char* path : {"/follower", "/replica"}) {
    for (const char* method : {"GET", "HEAD", "OPTIONS"}) BOOST_TEST(ask(method, path) == 200u);
  }
  step(node.disconnect(5, LinkEvidence::kRefused));
  BOOST_TEST(ask("GET", "/replica") == 503u);
}

BOOST_AUTO_TEST_CASE(follower_is_503_on_the_leader) {
  lead();
  BOOST_TEST(ask("GET", "/follower") == 503u);
}

BOOST_AUTO_TEST_CASE(the_health_of_a_role_has_the_body_of_v1_leader) {
  follow();
  BOOST_TEST(get("/leader")->response->body == get("/v1/leader")->response->body);
  BOOST_TEST(get("/follower")->response->body == get("/v1/leader")->response->body);
}

BOOST_AUTO_TEST_CASE(answers_about_the_leader_carry_its_epoch_in_a_header) {
  const std::vector<std::string> paths{"/", "/leader", "/follower", "/v1/leader"};
  for (const auto& path : paths) BOOST_TEST(get(path)->header("X-Leader-Epoch") == "", path);
  follow(5, 9);
  for (const auto& path : paths) BOOST_TEST(get(path)->header("x-leader-epoch") == "9", path);
}

BOOST_AUTO_TEST_CASE(index_names_the_leader_as_leader_elector_does) {
  BOOST_TEST(get("/")->response->body ==
             "{\"name\":\"\",\"last_update\":\"2026-01-31T09:00:00.000Z\"}\n");
  backend.wall_seconds = 61;
  follow();
  BOOST_TEST(get("/")->response->body ==
             "{\"name\":\"node-5\",\"last_update\":\"2026-01-31T09:01:01.000Z\"}\n");
}

BOOST_AUTO_TEST_CASE(index_names_this_node_only_while_its_leadership_is_valid) {
  lead();
  BOOST_TEST(get("/")->json()["name"] == "node-3");
  node.pass(800ms);
  BOOST_TEST(get("/")->json()["name"] == "");
}

BOOST_AUTO_TEST_CASE(livez_is_503_when_the_loop_has_not_run_for_too_long) {
  for (const char* path : {"/livez", "/healthz", "/liveness"}) {
    backend.age = api::kMaxLoopAge;
    const auto alive = get(path);
    BOOST_TEST(alive->status() == 200u);
    BOOST_TEST(alive->response->body ==
               "{\"status\":\"ok\",\"loop_age_ms\":10000,\"limit_ms\":10000}\n");
    backend.age += 1ms;
    const auto stuck = get(path);
    BOOST_TEST(stuck->status() == 503u);
    BOOST_TEST(stuck->response->body ==
               "{\"status\":\"stuck\",\"loop_age_ms\":10001,\"limit_ms\":10000}\n");
  }
  BOOST_TEST(answered.back() == "/livez 503");
}

BOOST_AUTO_TEST_CASE(readyz_says_what_is_missing_and_does_not_ask_who_leads) {
  for (const char* path : {"/readyz", "/readiness"}) {
    backend.not_ready.clear();
    BOOST_TEST(get(path)->response->body == "{\"status\":\"ready\"}\n");
    BOOST_TEST(get(path)->status() == 200u);
    backend.not_ready = "the flag cannot be written";
    BOOST_TEST(get(path)->status() == 503u);
    BOOST_TEST(get(path)->response->body ==
               "{\"status\":\"not ready\",\"why\":\"the flag cannot be written\"}\n");
  }
}

BOOST_AUTO_TEST_CASE(metrics_are_text_for_prometheus) {
  const auto answer = get("/metrics");
  BOOST_TEST(answer->status() == 200u);
  BOOST_TEST(answer->response->content_type == metrics::Metrics::kContentType);
  BOOST_TEST(answer->response->body == "bellwether_is_leader 1\n");
}

BOOST_AUTO_TEST_CASE(everything_else_is_json) {
  const std::set<std::string> others{"/metrics", "/ui", "/v1/events"};
  for (const api::Route& route : api::Routes::table()) {
    const std::string path(route.paths.front());
    if (!route.allows("GET") || others.contains(path)) continue;
    BOOST_TEST(get(path)->response->content_type == "application/json", path);
  }
  BOOST_TEST(get("/none")->response->content_type == "application/json");
}

BOOST_AUTO_TEST_CASE(unknown_parameters_are_ignored) {
  BOOST_TEST(get("/v1/leader?pretty=1&x")->status() == 200u);
  BOOST_TEST(get("/?name=x")->status() == 200u);
}

BOOST_AUTO_TEST_CASE(the_metrics_listener_has_three_routes_only) {
  for (const api::Route& route : api::Routes::table()) {
    const std::string method = route.allows("GET") ? "GET" : "POST";
    for (const std::string_view path : route.paths) {
      if (path.empty()) continue;
      const unsigned code = ask(method, std::string(path), api::Entrance::kMetrics);
      const std::string_view name = route.paths.front();
      const bool is_served = name == "/metrics" || name == "/livez" || name == "/readyz";
      BOOST_TEST(code == (is_served ? 200u : 404u), path);
    }
  }
  BOOST_TEST(ask("POST", "/metrics", api::Entrance::kMetrics) == 405u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
