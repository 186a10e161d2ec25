// Who may ask what; and the answers that are there at once, or wait for a change.
#include "api/routes.hh"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "api/bodies.hh"
#include "api/trust.hh"
#include "base/ascii.hh"
#include "base/duration_text.hh"
#include "metrics/metrics.hh"

namespace bellwether::api {
namespace {

// OPTIONS is how load balancers ask by default; so what they ask has it.
constexpr std::string_view kRead = "GET, HEAD";
constexpr std::string_view kAsk = "GET, HEAD, OPTIONS";
constexpr std::string_view kFollow = "GET";
constexpr std::string_view kTell = "POST";
constexpr std::string_view kPut = "PUT";

// Every route knows 403 (a Host or an Origin that is not trusted) and 405 (the wrong method).
constexpr unsigned kState[] = {200, 403, 405};                              // always has an answer
constexpr unsigned kHealth[] = {200, 403, 405, 503};                        // yes or no
constexpr unsigned kQuery[] = {200, 400, 403, 405, 503};                    // parameters; may wait
constexpr unsigned kOperator[] = {200, 400, 401, 403, 405, 409, 413};       // a body; needs a role
constexpr unsigned kStepDown[] = {200, 202, 400, 401, 403, 405, 409, 413};  // may wait
constexpr unsigned kTransfer[] = {200, 202, 400, 401, 403, 404, 405, 409, 412, 413};
constexpr unsigned kForget[] = {200, 400, 401, 403, 404, 405, 409, 413};
constexpr unsigned kReload[] = {200, 400, 401, 403, 405, 413, 422, 503};
constexpr unsigned kAttach[] = {200, 400, 401, 403, 405, 429, 503};
constexpr unsigned kScore[] = {200, 400, 401, 403, 405, 413, 429};
constexpr unsigned kDrained[] = {200, 400, 401, 403, 404, 405, 409, 413};
constexpr unsigned kNoRoute[] = {400, 403, 404, 408, 413, 431, 503};

constexpr std::string_view kName = "NAME";

std::optional<std::string_view> match_one(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return std::nullopt;
  const size_t place = pattern.find(kName);
  if (place == std::string_view::npos) {
    return path == pattern ? std::optional<std::string_view>("") : std::nullopt;
  }
  const std::string_view before = pattern.substr(0, place);
  const std::string_view after = pattern.substr(place + kName.size());
  const bool is_long_enough = path.size() >= before.size() + after.size();
  if (!is_long_enough || !path.starts_with(before) || !path.ends_with(after)) return std::nullopt;
  path.remove_prefix(before.size());
  path.remove_suffix(after.size());
  if (path.find('/') != std::string_view::npos) return std::nullopt;
  return path;
}

class ReplyAnswer : public Answer {
 public:
  explicit ReplyAnswer(io::HttpReply reply) : reply_(reply) {}

  bool is_open() const override { return reply_.is_open(); }
  void send(io::HttpResponse response) override { reply_.send(std::move(response)); }
  void begin_stream(std::string_view content_type) override { reply_.begin_stream(content_type); }
  bool write(std::string_view piece) override { return reply_.write(piece); }
  void end_stream() override { reply_.end_stream(); }

 private:
  io::HttpReply reply_;
};

void add_epoch(io::HttpResponse& response, const Leadership& leadership) {
  if (!leadership.leader) return;
  response.headers.emplace_back("X-Leader-Epoch", std::to_string(leadership.epoch));
}

const std::string* parameter(const io::HttpRequest& request, const std::string& name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? nullptr : &found->second;
}

// What a client has seen last: "<epoch>.<index>".
std::optional<std::pair<uint64_t, uint64_t>> parse_event_id(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto epoch = parse_number<uint64_t>(text.substr(0, dot));
  const auto index = parse_number<uint64_t>(text.substr(dot + 1));
  if (!epoch || !index) return std::nullopt;
  return std::pair(*epoch, *index);
}

}  // namespace

std::span<const Route> Routes::table() {
  using metrics::Command;
  static constexpr Route kTable[] = {
      {{"/"}, kRead, kState, &Routes::index},
      {{"/leader", "/primary"}, kAsk, kHealth, &Routes::is_leader},
      {{"/follower", "/replica"}, kAsk, kHealth, &Routes::is_follower},
      {{"/livez", "/healthz", "/liveness"}, kAsk, kHealth, &Routes::livez, true},
      {{"/readyz", "/readiness"}, kAsk, kHealth, &Routes::readyz, true},
      {{"/metrics"}, kRead, kState, &Routes::metrics_text, true},
      {{"/ui"}, kRead, kState, &Routes::ui},
      {{"/v1/leader"}, kRead, kQuery, &Routes::leader_or_wait},
      {{"/v1/events", "/sse"}, kFollow, kQuery, &Routes::events},
      {{"/v1/members"}, kRead, kState, &Routes::body<members_body>},
      {{"/v1/status"}, kRead, kState, &Routes::body<status_body>},
      {{"/v1/history"}, kRead, kState, &Routes::history},
      {{"/v1/explain"}, kRead, kState, &Routes::body<explain_body>},
      {{"/v1/step-down"}, kTell, kStepDown, &Routes::step_down, false, Command::kStepDown},
      {{"/v1/transfer"}, kTell, kTransfer, &Routes::transfer, false, Command::kTransfer},
      {{"/v1/elect"}, kTell, kOperator, &Routes::elect, false, Command::kElect},
      {{"/v1/reload"}, kTell, kReload, &Routes::reload, false, Command::kReload},
      {{"/v1/members/NAME/forget"}, kTell, kForget, &Routes::forget, false, Command::kForget},
      {{"/v1/application/attach"}, kTell, kAttach, &Routes::attach, false, Command::kAttach},
      {{"/v1/application/score"}, kPut, kScore, &Routes::score, false, Command::kScore},
      {{"/v1/application/drained"}, kTell, kDrained, &Routes::drained, false, Command::kDrained},
  };
  return kTable;
}

const Route* Routes::find(std::string_view path) {
  const auto found = std::ranges::find_if(
      table(), [&](const Route& route) { return route.match(path).has_value(); });
  return found == table().end() ? nullptr : &*found;
}

std::vector<metrics::HttpRoute> counted_routes() {
  std::vector<metrics::HttpRoute> counted;
  for (const Route& route : Routes::table()) {
    counted.push_back({std::string(route.paths.front()), route.codes});
  }
  counted.push_back({"none", kNoRoute});
  return counted;
}

bool Route::allows(std::string_view method) const {
  constexpr std::string_view kSeparator = ", ";
  std::string_view rest = methods;
  while (true) {
    const size_t end = rest.find(kSeparator);
    if (rest.substr(0, end) == method) return true;
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + kSeparator.size());
  }
}

std::optional<std::string_view> Route::match(std::string_view path) const {
  for (const std::string_view pattern : paths) {
    if (const auto found = match_one(pattern, path)) return found;
  }
  return std::nullopt;
}

std::optional<Duration> parse_wait(std::string_view text) {
  const bool is_plain =
      !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  return parse_duration(is_plain ? std::string(text) + "s" : std::string(text));
}

void HttpBinding::on_request(const io::HttpRequest& request, io::HttpReply reply) {
  routes_.handle(request, std::make_shared<ReplyAnswer>(reply), entrance_);
}

Routes::Routes(io::Loop& loop, Backend& backend, LeadershipFeed& feed,
               const ElectionHistory& history, RoutesObserver observer)
    : backend_(backend),
      feed_(feed),
      history_(history),
      observer_(std::move(observer)),
      last_attachment_(backend.node().members().self().boot % (uint64_t{1} << 32)),
      timer_(loop, [this] {
        on_time();
        arm();
      }) {
  feed_.subscribe(*this);
}

Routes::~Routes() { feed_.unsubscribe(*this); }

void Routes::handle(const io::HttpRequest& request, std::shared_ptr<Answer> answer,
                    Entrance entrance) {
  const Route* route = find(request.path);
  if (route != nullptr && entrance == Entrance::kMetrics && !route->is_for_metrics_listener) {
    route = nullptr;
  }
  const auto place =
      route == nullptr ? table().size() : static_cast<size_t>(route - table().data());
  Exchange exchange(place, std::move(answer), observer_);
  if (entrance == Entrance::kApi) {
    const std::string reason = distrust(request, backend_.config());
    if (!reason.empty()) {
      const bool is_command = route != nullptr && route->command && route->allows(request.method);
      if (is_command) observer_.on_command(*route->command, request.client, {403, reason});
      return exchange.send(error_response(403, reason));
    }
  }
  if (route == nullptr) return exchange.send(error_response(404, "there is no such path"));
  if (!route->allows(request.method)) {
    const std::string allowed(route->methods);
    io::HttpResponse response = error_response(405, "this path takes " + allowed);
    response.headers.emplace_back("Allow", allowed);
    return exchange.send(std::move(response));
  }
  if (route->command && !may_command(request, *route->command, exchange)) return;
  if (const auto* const now = std::get_if<0>(&route->handler)) {
    return exchange.send((this->**now)());
  }
  (this->*std::get<1>(route->handler))(request, std::move(exchange));
  arm();
}

bool Routes::may_command(const io::HttpRequest& request, metrics::Command command,
                         Exchange& exchange) {
  const Permission permission = backend_.authority().judge(request);
  observer_.on_command(command, request.client, permission);
  if (permission.is_given()) return true;
  io::HttpResponse response = error_response(permission.status, permission.reason);
  if (permission.asks_for_token()) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"bellwether\"");
  }
  exchange.send(std::move(response));
  return false;
}

// A deadline that is gone when the timer fires costs one idle call; so only new requests arm it.
void Routes::arm() {
  if (deadline() == kNever) return timer_.disarm();
  timer_.arm(deadline() - backend_.now());
}

void Routes::on_gone() {
  long_polls_.drop_gone();
  streams_.drop_gone();
  if (attachments_.drop_gone()) backend_.on_attached(attachments_.applications());
}

void Routes::on_tokens() {
  const bool is_any = attachments_.end_unless_allowed(backend_.authority());
  if (is_any) backend_.on_attached(attachments_.applications());
}

Instant Routes::deadline() const {
  return std::min({long_polls_.deadline(), streams_.deadline(), attachments_.deadline()});
}

void Routes::on_time() {
  const Instant now = backend_.now();
  long_polls_.answer(now);
  streams_.on_time(now);
  attachments_.on_time(now);
}

void Routes::on_change(const Leadership& leadership) {
  streams_.send(leader_event(leadership));
  attachments_.send_to_each(
      [&](const Attached& application) { return application_event(leadership, application); });
  long_polls_.answer(backend_.now());
}

// Its clients compare the name with their own and then act as the leader.
io::HttpResponse Routes::index() const {
  const Leadership& now = feed_.current();
  const bool is_known = now.leader && (!now.is_self || feed_.is_leading(backend_.now()));
  io::HttpResponse response = json_response(
      200, {{"name", is_known ? now.leader->name : ""}, {"last_update", rfc3339(now.since)}});
  add_epoch(response, now);
  return response;
}

io::HttpResponse Routes::is_leader() const { return role_health(feed_.is_leading(backend_.now())); }

io::HttpResponse Routes::is_follower() const {
  return role_health(feed_.current().leader && !feed_.current().is_self);
}

io::HttpResponse Routes::role_health(bool is_healthy) const {
  io::HttpResponse response = leader();
  response.status = is_healthy ? 200 : 503;
  return response;
}

io::HttpResponse Routes::leader() const {
  const Leadership& now = feed_.current();
  io::HttpResponse response = json_response(200, leader_body(backend_, feed_, now));
  add_epoch(response, now);
  return response;
}

io::HttpResponse Routes::livez() const {
  const Duration age = backend_.loop_age();
  const bool is_alive = age <= kMaxLoopAge;
  return json_response(is_alive ? 200 : 503, {{"status", is_alive ? "ok" : "stuck"},
                                              {"loop_age_ms", whole_ms(age)},
                                              {"limit_ms", whole_ms(kMaxLoopAge)}});
}

io::HttpResponse Routes::readyz() const {
  const auto unready = backend_.unready();
  if (!unready) return json_response(200, {{"status", "ready"}});
  return json_response(503, {{"status", "not ready"}, {"why", unready->why}});
}

io::HttpResponse Routes::metrics_text() const {
  return {.content_type = metrics::Metrics::kContentType, .body = backend_.metrics_text()};
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): a row, like all others
io::HttpResponse Routes::ui() const {
  return {.content_type = "text/html; charset=utf-8",
          .body = std::string(ui_page()),
          .headers = {{"Content-Security-Policy", std::string(ui_policy())},
                      {"Referrer-Policy", "no-referrer"}}};
}

io::HttpResponse Routes::history() const {
  return json_response(200, history_body(backend_, history_, feed_));
}

void Routes::leader_or_wait(const io::HttpRequest& request, Exchange exchange) {
  const auto wait = wait_of(request, kDefaultWait, exchange);
  if (!wait) return;
  const std::string* const seen_text = parameter(request, "index");
  if (seen_text == nullptr) return exchange.send(leader());
  const auto seen = parse_number<uint64_t>(*seen_text);
  if (!seen) return exchange.send(error_response(400, "index is a whole number"));
  const auto answer = [this, seen = *seen](bool is_last) -> Said {
    // An index that is not reached yet was given by an earlier process.
    const bool is_news = seen != feed_.current().index;
    return is_news || is_last ? Said(leader()) : std::nullopt;
  };
  if (auto now = answer(*wait == Duration::zero())) return exchange.send(std::move(*now));
  if (long_polls_.is_full()) {
    observer_.on_limit(Limit::kLongPolls);
    return exchange.send(busy_response("too many clients wait for a change already"));
  }
  long_polls_.add(backend_.now() + *wait, std::move(exchange), answer);
}

std::optional<Duration> Routes::wait_of(const io::HttpRequest& request, Duration usual,
                                        Exchange& exchange) {
  const std::string* const text = parameter(request, "wait");
  if (text == nullptr) return usual;
  const auto wait = parse_wait(*text);
  if (wait) return std::min(*wait, kMaxWait);
  exchange.send(error_response(400, "wait is a duration, such as 30s or 500ms"));
  return std::nullopt;
}

void Routes::events(const io::HttpRequest& request, Exchange exchange) {
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
  streams_.open(std::move(exchange), text, backend_.now(), request.client);
}

std::string Routes::leader_event(const Leadership& leadership) const {
  return fmt::format("event: leader\nid: {}.{}\ndata: {}\n\n", leadership.epoch, leadership.index,
                     dump(leader_body(backend_, feed_, leadership)));
}

}  // namespace bellwether::api
