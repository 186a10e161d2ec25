// What the application says of itself: that it is there, and how well it would work.
#include <fmt/core.h>

#include "api/bodies.hh"
#include "api/exchange.hh"
#include "api/routes.hh"
#include "base/ascii.hh"

namespace bellwether::api {
namespace {

constexpr const char* kScoreForm = "a score is a whole number from -(2^53 - 1) to 2^53 - 1";

std::optional<int64_t> parse_score(std::string_view text) {
  const auto score = parse_number<int64_t>(text);
  return score && is_score(*score) ? score : std::nullopt;
}

// Of {"score": N}; nothing of anything else.
std::optional<int64_t> read_score(const std::string& body) {
  const auto json = parse_json(body);
  if (!json || !json->is_object() || json->size() != 1 || !json->contains("score")) {
    return std::nullopt;
  }
  const Json& score = json->at("score");
  return score.is_number_integer() ? parse_score(score.dump()) : std::nullopt;
}

}  // namespace

// What applications are told: few words, which any client can read.
std::string Routes::application_event(const Leadership& leadership) const {
  const bool leads = leadership.is_self;
  Json data{{"epoch", leadership.epoch}};
  if (!leads) data["leader"] = leadership.leader ? Json(leadership.leader->name) : Json(nullptr);
  return fmt::format("event: {}\ndata: {}\n\n", leads ? "lead" : "follow", dump(data));
}

void Routes::attach(const io::HttpRequest& request, Exchange exchange) {
  const auto named = request.query.find("name");
  const std::string name = named == request.query.end() ? "application" : named->second;
  if (!is_attachment_name(name)) {
    return exchange.send(error_response(400, "name has 1 to 64 letters, digits, '-', '.' and '_'"));
  }
  std::optional<int64_t> score;
  if (const auto given = request.query.find("score"); given != request.query.end()) {
    score = parse_score(given->second);
    if (!score) return exchange.send(error_response(400, kScoreForm));
  }
  if (attachments_.is_full()) {
    observer_.on_limit(Limit::kAttachments);
    return exchange.send(
        busy_response(fmt::format("{} applications are attached already", Attachments::kMax)));
  }
  const std::string attached = fmt::format(
      "event: attached\ndata: {}\n\n",
      dump({{"name", name}, {"node", backend_.config().node.name}, {"score", score.value_or(0)}}));
  const std::string events = attached + application_event(feed_.current());
  if (!attachments_.open(std::move(exchange), name, events, backend_.now())) return;
  // The score first, so that it is known as what it is worth from the start.
  if (score) backend_.on_score(*score);
  backend_.on_attached(attachments_.names());
}

void Routes::score(const io::HttpRequest& request, Exchange exchange) {
  const auto score = read_score(request.body);
  if (!score) {
    return exchange.send(
        error_response(400, fmt::format("the body is {{\"score\": 42}}; {}", kScoreForm)));
  }
  if (!scores_.admit(backend_.now())) {
    observer_.on_limit(Limit::kScoreChanges);
    io::HttpResponse response =
        error_response(429, fmt::format("more than {} scores a second", ScoreBudget::kPerSecond));
    response.headers.emplace_back("Retry-After", "1");
    return exchange.send(std::move(response));
  }
  backend_.on_score(*score);
  exchange.send(json_response(200, {{"score", *score}}));
}

}  // namespace bellwether::api
