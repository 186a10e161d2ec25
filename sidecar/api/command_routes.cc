// What an operator asks for, but for a hand-over (handover_routes.cc).
#include <fmt/core.h>

#include <algorithm>

#include "api/exchange.hh"
#include "api/request_body.hh"
#include "api/routes.hh"
#include "base/duration_text.hh"
#include "io/http/http_url.hh"
#include "io/wire/codec.hh"

namespace bellwether::api {
namespace {

Json changes_json(const std::vector<ConfigChange>& changes, bool is_pending) {
  Json array = Json::array();
  for (const ConfigChange& change : changes) {
    if (change.pending_restart != is_pending) continue;
    array.push_back({{"key", change.key}, {"before", change.before}, {"after", change.after}});
  }
  return array;
}

io::HttpResponse reload_response(const ReloadResult& result) {
  if (result.is_file_unread) return error_response(503, result.errors.front());
  if (!result.errors.empty()) {
    return json_response(422,
                         {{"error", "the new configuration is refused; the old one stays in force"},
                          {"errors", result.errors},
                          {"warnings", result.warnings}});
  }
  return json_response(200, {{"changed", changes_json(result.changes, false)},
                             {"pending_restart", changes_json(result.changes, true)},
                             {"warnings", result.warnings}});
}

}  // namespace

void Routes::elect(const io::HttpRequest& request, Exchange exchange) {
  if (!read_body(request, {}, exchange)) return;
  if (!backend_.node().may_lead()) {
    return exchange.send(error_response(
        409, "this node may not lead now, so it holds no election; `bellwether explain` says why"));
  }
  command(Elect{}, std::move(exchange), json_response(200, {{"result", "election started"}}));
}

void Routes::reload(const io::HttpRequest& request, Exchange exchange) {
  if (!read_body(request, {}, exchange)) return;
  backend_.reload(
      [exchange](const ReloadResult& result) mutable { exchange.send(reload_response(result)); });
}

void Routes::forget(const io::HttpRequest& request, Exchange exchange) {
  if (!read_body(request, {}, exchange)) return;
  std::string name;
  const bool is_name = io::percent_decode(find(request.path)->match(request.path).value(), name);
  if (!is_name || !io::is_valid_name(name)) {
    return exchange.send(
        error_response(400, fmt::format("the path is /v1/members/NAME/forget, and NAME has 1 to {} "
                                        "printable characters of ASCII",
                                        io::kMaxNameBytes)));
  }
  command(Forget{.name = name}, std::move(exchange),
          json_response(200, {{"result", "forgotten"}, {"name", name}}));
}

void Routes::command(const Input& input, Exchange exchange, const io::HttpResponse& when_done) {
  backend_.command(input, [this, exchange, when_done](Outcome::Kind outcome) mutable {
    exchange.send(outcome == Outcome::Kind::kDone ? when_done : refusal(outcome));
  });
}

io::HttpResponse Routes::refusal(Outcome::Kind outcome) const {
  switch (outcome) {
    case Outcome::Kind::kUnknownMember:
      return error_response(404, "there is no member of this name");
    case Outcome::Kind::kNotEligible:
      return error_response(412, "that member cannot take over now; `bellwether explain` says why");
    case Outcome::Kind::kStillThere:
      return error_response(409, "that member is alive or connected; end its process first");
    case Outcome::Kind::kNotLeader:
    case Outcome::Kind::kDone:
      break;
  }
  const auto& leader = feed_.current().leader;
  const bool is_known = leader && !feed_.current().is_self;
  return error_response(409, "this node does not lead; " +
                                 (is_known ? leader->name + " does: give the command there"
                                           : "no leader is known: see `bellwether status`"));
}

}  // namespace bellwether::api
