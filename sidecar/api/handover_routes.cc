// What an operator asks of a leader: to step down, or to hand over to a member.  Both take their
// time, most of all while the application finishes, and may come to nothing.  They are done when
// another one leads: that member, or for a step-down any.
#include <fmt/core.h>

#include <algorithm>

#include "api/exchange.hh"
#include "api/request_body.hh"
#include "api/routes.hh"
#include "base/duration_text.hh"

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

enum class Progress : uint8_t { kUnderWay, kDone, kCameToNothing };

// Of what this node has agreed to.  `to`: who is to lead; nothing: anybody else.  Others lead when
// that was published, and not when they have only claimed.
Progress progress_of(const Node& node, const Leadership& published, const std::optional<Uuid>& to) {
  const bool leads = node.is_leading();
  const bool does_another = !leads && published.leader && !published.is_self;
  if (does_another && (!to || published.leader->id == *to)) return Progress::kDone;
  if (!leads && !does_another) return Progress::kUnderWay;
  const bool is_for_it = node.is_handing_over() && (!to || node.successor() == to);
  return is_for_it ? Progress::kUnderWay : Progress::kCameToNothing;
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
  const auto wait = wait_of(request, Duration::zero(), exchange);
  if (!wait) return;
  if (backend_.node().is_leading() && !may_another_lead(backend_.node().members())) {
    return exchange.send(error_response(
        409, "nobody else may lead now; to have no leader all the same, end this sidecar"));
  }
  command_and_wait(StepDown{.hold = hold, .is_now = body->value("now", false)},
                   {.came_to_nothing = "nobody has taken over",
                    .done = "stepped down",
                    .under_way = "stepping down",
                    .details = {{"hold", duration_text(hold)}}},
                   *wait, std::move(exchange));
}

void Routes::transfer(const io::HttpRequest& request, Exchange exchange) {
  static constexpr BodyKey kKeys[] = {{"to"}};
  const auto body = read_body(request, kKeys, exchange);
  if (!body) return;
  if (!body->contains("to")) {
    return exchange.send(error_response(400, "the body lacks \"to\", a member's name"));
  }
  const auto wait = wait_of(request, Duration::zero(), exchange);
  if (!wait) return;
  const std::string to = body->at("to").get<std::string>();
  const Member* const member = find_by_name(backend_.node(), to);
  if (member == nullptr) {
    const bool may_ask = backend_.node().is_leading();
    return exchange.send(
        refusal(may_ask ? Outcome::Kind::kUnknownMember : Outcome::Kind::kNotLeader));
  }
  command_and_wait(Transfer{.to = member->entry.id},
                   {.to = member->entry.id,
                    .came_to_nothing = to + " has not taken over",
                    .done = "handed over",
                    .under_way = "handing over",
                    .details = {{"to", to}}},
                   *wait, std::move(exchange));
}

// What is under way goes on, whether anybody waits for it or not.
void Routes::command_and_wait(const Input& input, HandoverWords words, Duration wait,
                              Exchange exchange) {
  backend_.command(input, [this, words = std::move(words), wait,
                           exchange = std::move(exchange)](Outcome::Kind outcome) mutable {
    if (outcome != Outcome::Kind::kDone) return exchange.send(refusal(outcome));
    long_polls_.answer(backend_.now());  // it may have replaced what others wait for
    auto answer = [this, words = std::move(words)](bool is_last) {
      return progress_of_handover(words, is_last);
    };
    const bool is_full = long_polls_.is_full();
    if (is_full && wait > Duration::zero()) observer_.on_limit(Limit::kLongPolls);
    const bool is_last = is_full || wait == Duration::zero();
    if (auto now = answer(is_last)) return exchange.send(std::move(*now));
    long_polls_.add(backend_.now() + wait, std::move(exchange), std::move(answer));
    arm();
  });
}

Said Routes::progress_of_handover(const HandoverWords& words, bool is_last) const {
  const auto answer = [&words](unsigned status, const char* result) {
    Json body{{"result", result}};
    body.update(words.details);
    return json_response(status, body);
  };
  const Leadership& published = feed_.current();
  switch (progress_of(backend_.node(), published, words.to)) {
    case Progress::kDone:
      return answer(200, words.done);
    case Progress::kCameToNothing:
      return error_response(
          409, words.came_to_nothing + ": " +
                   (backend_.node().is_leading() ? "this node" : published.leader->name) +
                   " leads");
    case Progress::kUnderWay:
      break;
  }
  return is_last ? Said(answer(202, words.under_way)) : std::nullopt;
}

}  // namespace bellwether::api
