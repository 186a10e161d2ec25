// Answers that are there at once.
#include "api/bodies.hh"
#include "api/responses.hh"
#include "api/routes.hh"
#include "api/ui_page.hh"
#include "metrics/metrics.hh"

namespace bellwether::api {
namespace {

void add_epoch(HttpResponse& response, const Leadership& leadership) {
  if (!leadership.leader) return;
  response.headers.emplace_back("X-Leader-Epoch", std::to_string(leadership.epoch));
}

}  // namespace

// Its clients compare the name with their own and then act as the leader.
HttpResponse Routes::index() const {
  const Leadership& now = feed_.current();
  const bool is_known = now.leader && (!now.is_self || feed_.is_leading(backend_.now()));
  HttpResponse response = json_response(
      200, {{"name", is_known ? now.leader->name : ""}, {"last_update", rfc3339(now.since)}});
  add_epoch(response, now);
  return response;
}

HttpResponse Routes::is_leader() const { return role_health(feed_.is_leading(backend_.now())); }

HttpResponse Routes::is_follower() const {
  return role_health(feed_.current().leader && !feed_.current().is_self);
}

HttpResponse Routes::role_health(bool is_healthy) const {
  HttpResponse response = leader();
  response.status = is_healthy ? 200 : 503;
  return response;
}

HttpResponse Routes::leader() const {
  const Leadership& now = feed_.current();
  HttpResponse response = json_response(200, leader_body(backend_, feed_, now));
  add_epoch(response, now);
  return response;
}

HttpResponse Routes::livez() const {
  const Duration age = backend_.loop_age();
  const bool is_alive = age <= kMaxLoopAge;
  return json_response(is_alive ? 200 : 503, {{"status", is_alive ? "ok" : "stuck"},
                                              {"loop_age_ms", whole_ms(age)},
                                              {"limit_ms", whole_ms(kMaxLoopAge)}});
}

HttpResponse Routes::readyz() const {
  std::string why;
  if (backend_.is_ready(&why)) return json_response(200, {{"status", "ready"}});
  return json_response(503, {{"status", "not ready"}, {"why", why}});
}

HttpResponse Routes::metrics_text() const {
  return {.content_type = metrics::Metrics::kContentType, .body = backend_.metrics_text()};
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): a row, like all others
HttpResponse Routes::ui() const {
  return {.content_type = "text/html; charset=utf-8",
          .body = std::string(ui_page()),
          .headers = {{"Content-Security-Policy", std::string(ui_policy())},
                      {"Referrer-Policy", "no-referrer"}}};
}

HttpResponse Routes::members() const { return json_response(200, members_body(backend_, feed_)); }

HttpResponse Routes::status() const { return json_response(200, status_body(backend_, feed_)); }

HttpResponse Routes::history() const {
  return json_response(200, history_body(backend_, history_));
}

HttpResponse Routes::explain() const { return json_response(200, explain_body(backend_, feed_)); }

}  // namespace bellwether::api
