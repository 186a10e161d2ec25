// What the application says of itself: that it is there, how well it would work, and that it has
// finished what it had begun.
#include <fmt/core.h>

#include <algorithm>

#include "api/bodies.hh"
#include "api/request_body.hh"
#include "api/routes.hh"
#include "base/ascii.hh"

namespace bellwether::api {
namespace {

constexpr const char* kScoreForm = "a score is a whole number from -(2^53 - 1) to 2^53 - 1";

std::optional<int64_t> parse_score(std::string_view text) {
  const auto score = parse_number<int64_t>(text);
  return score && is_score(*score) ? score : std::nullopt;
}

// Nothing: it is not there, or is no whole number of this range.
template <typename Number>
std::optional<Number> number_in(const Json& body, const char* key) {
  return body.contains(key) ? parse_number<Number>(body.at(key).dump()) : std::nullopt;
}

constexpr const char* kNameForm = "name has 1 to 64 letters, digits, '-', '.' and '_'";

bool is_attachment_name(std::string_view name) {
  constexpr size_t kMaxName = 64;
  return !name.empty() && name.size() <= kMaxName && std::ranges::all_of(name, [](char c) {
    return is_alphanumeric(c) || c == '-' || c == '.' || c == '_';
  });
}

// Whether this node leads, to an application that may work while it does.
std::string role_event(const Leadership& leadership) {
  // To one that comes while others finish this reign is over: it has begun nothing.
  const bool leads = leadership.is_self && !leadership.is_draining;
  Json data{{"epoch", leadership.epoch}};
  if (!leads) {
    const bool is_known = leadership.leader && !leadership.is_self;
    data["leader"] = is_known ? Json(leadership.leader->name) : Json(nullptr);
  }
  return fmt::format("event: {}\ndata: {}\n\n", leads ? "lead" : "follow", dump(data));
}

// As it was given, or what those are called that give none.
std::string name_in(const io::HttpRequest& request) {
  const auto named = request.query.find("name");
  return named == request.query.end() ? "application" : named->second;
}

}  // namespace

// What applications are told: few words, which any client can read.
std::string Routes::application_event(const Leadership& leadership,
                                      const Attached& application) const {
  Json draining = leadership.is_draining ? draining_json(backend_) : Json(nullptr);
  if (draining.is_null()) return role_event(leadership);
  draining["attachment"] = application.id;
  return fmt::format("event: drain\ndata: {}\n\n", dump(draining));
}

void Routes::attach(const io::HttpRequest& request, Exchange exchange) {
  const std::string name = name_in(request);
  if (!is_attachment_name(name)) return exchange.send(error_response(400, kNameForm));
  std::optional<int64_t> score;
  if (const auto given = request.query.find("score"); given != request.query.end()) {
    score = parse_score(given->second);
    if (!score) return exchange.send(error_response(400, kScoreForm));
  }
  if (attachments_.is_full()) {
    observer_.on_limit(Limit::kAttachments);
    return exchange.send(busy_response(
        fmt::format("{} applications are attached already", EventStreams::kMaxAttachments)));
  }
  if (score && !scores_attached_with_.admit(backend_.now())) {
    return refuse_score(std::move(exchange));
  }
  const Attached application{.id = ++last_attachment_, .name = name};
  const std::string attached =
      fmt::format("event: attached\ndata: {}\n\n",
                  dump({{"name", name},
                        {"node", backend_.config().node.name},
                        {"score", score.value_or(backend_.application().worth.score)},
                        {"attachment", application.id}}));
  const std::string events = attached + role_event(feed_.current());
  std::string token = backend_.authority().judge(request).token;
  if (!attachments_.open(std::move(exchange), events, backend_.now(), request.client, application,
                         std::move(token))) {
    return;
  }
  // The score first, so that it is known as what it is worth from the start.
  if (score) backend_.on_score(*score);
  backend_.on_attached(attachments_.applications());
}

void Routes::score(const io::HttpRequest& request, Exchange exchange) {
  static constexpr BodyKey kKeys[] = {{"score", BodyKey::Kind::kNumber}};
  const auto body = read_body(request, kKeys, exchange);
  if (!body) return;
  const auto score = number_in<int64_t>(*body, "score");
  if (!score || !is_score(*score)) {
    return exchange.send(
        error_response(400, fmt::format("the body is {{\"score\": 42}}; {}", kScoreForm)));
  }
  if (!scores_.admit(backend_.now())) return refuse_score(std::move(exchange));
  backend_.on_score(*score);
  exchange.send(json_response(200, {{"score", *score}}));
}

void Routes::refuse_score(Exchange exchange) const {
  observer_.on_limit(Limit::kScoreChanges);
  exchange.send(
      busy_response(fmt::format("more than {} scores a second", ScoreBudget::kPerSecond), 429));
}

void Routes::drained(const io::HttpRequest& request, Exchange exchange) {
  const std::string name = name_in(request);
  if (!is_attachment_name(name)) return exchange.send(error_response(400, kNameForm));
  static constexpr BodyKey kKeys[] = {{"epoch", BodyKey::Kind::kNumber},
                                      {"drain", BodyKey::Kind::kNumber},
                                      {"attachment", BodyKey::Kind::kNumber}};
  const auto body = read_body(request, kKeys, exchange);
  if (!body) return;
  const auto epoch = number_in<uint64_t>(*body, "epoch");
  const auto drain = number_in<uint64_t>(*body, "drain");
  const auto attachment = number_in<uint64_t>(*body, "attachment");
  if (!epoch || drain.has_value() != body->contains("drain") ||
      attachment.has_value() != body->contains("attachment")) {
    return exchange.send(
        error_response(400,
                       "the body is {\"epoch\": 7, \"drain\": 1, \"attachment\": 4711}, with the "
                       "numbers of the event \"drain\""));
  }
  const Drain* under_way = backend_.node().drain();
  const Drain asked = under_way != nullptr ? *under_way : Drain{};
  switch (backend_.on_drained(
      {.epoch = *epoch, .drain = drain, .attachment = attachment, .name = name})) {
    case DrainWord::kTaken:
      return exchange.send(json_response(200, {{"result", "drained"}, {"epoch", *epoch}}));
    case DrainWord::kOtherEpoch:
      return exchange.send(error_response(
          409, fmt::format("the application is asked to finish in epoch {}, not in {}", asked.epoch,
                           *epoch)));
    case DrainWord::kOtherDrain:
      return exchange.send(error_response(
          409, fmt::format("the application is asked to finish in drain {}, not in {}",
                           asked.number, drain.value_or(0))));
    case DrainWord::kUnknown:
      return exchange.send(error_response(
          404, attachment ? fmt::format("attachment {} was not asked to finish", *attachment)
                          : fmt::format("no application \"{}\" was asked to finish; give ?name= "
                                        "as it was attached",
                                        name)));
    case DrainWord::kAmbiguous:
      return exchange.send(
          error_response(409, fmt::format("more than one application was attached as \"{}\"; give "
                                          "\"attachment\" as its event \"drain\" has it",
                                          name)));
    case DrainWord::kNotAsked:
      break;
  }
  exchange.send(error_response(409, "no application is asked to finish here, or not any more"));
}

}  // namespace bellwether::api
