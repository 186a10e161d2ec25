// What an operator asks for.
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

// Several members may have had the name; the one that is there is meant.
const Member* find_by_name(const Node& node, const std::string& name) {
  const Member* found = nullptr;
  for (const Member& member : node.members().all()) {
    if (member.entry.name != name) continue;
    if (found == nullptr || member.entry.liveness < found->entry.liveness) found = &member;
  }
  return found;
}

bool may_another_lead(const Members& members) {
  return std::ranges::any_of(members.all(), [&](const Member& member) {
    return member.entry.id != members.self().id && member.is_candidate();
  });
}

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

void Routes::step_down(const io::HttpRequest& request, Exchange exchange) {
  static constexpr BodyKey kKeys[] = {{"hold"}, {"now", BodyKey::Kind::kTruth}};
  const auto body = read_body(request, kKeys, exchange);
  if (!body) return;
  Duration hold = kDefaultHold;
  if (body->contains("hold")) {
    const auto parsed = parse_wait(body->at("hold").get<std::string>());
    if (!parsed || *parsed > kMaxHold) {
      return exchange.send(error_response(
          400, "hold is a duration such as 30s, at most " + duration_text(kMaxHold)));
    }
    hold = *parsed;
  }
  if (backend_.node().is_leading() && !may_another_lead(backend_.node().members())) {
    return exchange.send(error_response(
        409, "nobody else may lead now; to have no leader all the same, end this sidecar"));
  }
  command(StepDown{.hold = hold, .is_now = body->value("now", false)}, std::move(exchange),
          json_response(200, {{"result", "stepping down"}, {"hold", duration_text(hold)}}));
}

void Routes::transfer(const io::HttpRequest& request, Exchange exchange) {
  static constexpr BodyKey kKeys[] = {{"to"}};
  const auto body = read_body(request, kKeys, exchange);
  if (!body) return;
  if (!body->contains("to")) {
    return exchange.send(error_response(400, "the body lacks \"to\", a member's name"));
  }
  const std::string to = body->at("to").get<std::string>();
  const Member* const member = find_by_name(backend_.node(), to);
  if (member == nullptr) {
    const bool may_ask = backend_.node().is_leading();
    return exchange.send(
        refusal(may_ask ? Outcome::Kind::kUnknownMember : Outcome::Kind::kNotLeader));
  }
  command(Transfer{.to = member->entry.id}, std::move(exchange),
          json_response(200, {{"result", "handing over"}, {"to", to}}));
}

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
