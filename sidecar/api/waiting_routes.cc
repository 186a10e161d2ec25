// Answers that wait for a change: the long poll and the event stream.
#include <charconv>

#include "api/bodies.hh"
#include "api/responses.hh"
#include "api/routes.hh"

namespace bellwether::api {
namespace {

// A whole number and nothing else.
std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc{} || end != last) return std::nullopt;
  return number;
}

const std::string* parameter(const HttpRequest& request, const std::string& name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? nullptr : &found->second;
}

// What a client has seen last: "<epoch>.<index>".
std::optional<std::pair<uint64_t, uint64_t>> parse_event_id(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto epoch = parse_number(text.substr(0, dot));
  const auto index = parse_number(text.substr(dot + 1));
  if (!epoch || !index) return std::nullopt;
  return std::pair(*epoch, *index);
}

}  // namespace

void Routes::leader_or_wait(const HttpRequest& request, Exchange exchange) {
  Duration wait = kDefaultWait;
  if (const std::string* text = parameter(request, "wait")) {
    const auto parsed = parse_wait(*text);
    if (!parsed) {
      return exchange.send(error_response(400, "wait is a duration, such as 30s or 500ms"));
    }
    wait = std::min(*parsed, kMaxWait);
  }
  const std::string* const seen_text = parameter(request, "index");
  if (seen_text == nullptr) return exchange.send(leader());
  const auto seen = parse_number(*seen_text);
  if (!seen) return exchange.send(error_response(400, "index is a whole number"));
  // An index that is not reached yet was given by an earlier process.
  if (*seen != feed_.current().index || wait == Duration::zero()) return exchange.send(leader());
  if (long_polls_.is_full()) {
    observer_.on_limit(Limit::kLongPolls);
    return exchange.send(busy_response("too many clients wait for a change already"));
  }
  long_polls_.add(backend_.now() + wait, std::move(exchange));
}

void Routes::events(const HttpRequest& request, Exchange exchange) {
  if (streams_.is_full()) {
    observer_.on_limit(Limit::kEventStreams);
    return exchange.send(busy_response("too many clients follow the events already"));
  }
  std::vector<Leadership> missed;
  if (const std::string* id = request.header("last-event-id")) {
    if (const auto seen = parse_event_id(*id)) {
      missed = feed_.changes_after(seen->first, seen->second);
    }
  }
  if (missed.empty()) missed.push_back(feed_.current());
  std::string text = "retry: 1000\n\n";
  for (const Leadership& leadership : missed) text += leader_event(leadership);
  streams_.open(std::move(exchange), text, backend_.now());
}

std::string Routes::leader_event(const Leadership& leadership) const {
  const std::string id = std::to_string(leadership.epoch) + "." + std::to_string(leadership.index);
  return event_text("leader", id, dump(leader_body(backend_, feed_, leadership)));
}

}  // namespace bellwether::api
