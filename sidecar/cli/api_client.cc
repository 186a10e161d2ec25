// The HTTP client on a loop of its own, which turns while somebody waits.
#include "cli/api_client.hh"

#include <csignal>
#include <filesystem>
#include <string_view>
#include <utility>

#include "cli/commands.hh"
#include "cli/text_file.hh"
#include "config/parse.hh"
#include "io/http/http_url.hh"
#include "io/loop/signals_blocked.hh"

namespace bellwether::cli {
namespace {

constexpr const char* kLoopback = "127.0.0.1";
constexpr uint16_t kPort = 4040;

ApiAddress parse_api(const std::string& text) {
  constexpr std::string_view kHttp = "http://";
  constexpr std::string_view kUnix = "unix:";
  if (text.starts_with('/')) return {.host = {}, .socket = text};
  if (text.starts_with(kUnix)) return {.host = {}, .socket = text.substr(kUnix.size())};
  std::string authority = text.starts_with(kHttp) ? text.substr(kHttp.size()) : text;
  if (authority.ends_with('/')) authority.pop_back();
  ApiAddress address;
  const std::string flaw = parse_host_port(authority, address.host);
  if (!flaw.empty()) {
    throw UsageError("--api: \"" + text + "\" " + flaw +
                     "; give http://HOST:PORT or the path of a unix socket");
  }
  return address;
}

constexpr size_t kMaxAnswerBytes = size_t{16} << 20;

// A sidecar sends a comment every 15 s (event_streams.hh).
constexpr Duration kSilentStream = std::chrono::seconds(45);

constexpr const char* kNotHttp = "what it says is not HTTP";

// Of an event, the value in the line that begins with `name`.
std::string field(const std::string& block, std::string_view name) {
  for (size_t begin = 0; begin < block.size();) {
    const size_t end = block.find('\n', begin);
    const std::string_view line(block.data() + begin, end - begin);
    if (line.starts_with(name)) return std::string(line.substr(name.size()));
    begin = end + 1;
  }
  return "";
}

}  // namespace

HostPort to_connect_to(const HostPort& listen) {
  if (!listen.is_wildcard()) return listen;
  const bool is_ipv6 = listen.host.find(':') != std::string::npos;
  return {.host = is_ipv6 ? "::1" : kLoopback, .port = listen.port};
}

ApiAddress address_of(const ApiSettings& api) {
  if (api.listen.is_none()) return {.host = {}, .socket = api.socket};
  return {.host = to_connect_to(api.listen), .socket = ""};
}

ApiAddress find_api(const ApiOptions& options) {
  if (!options.api.empty()) return parse_api(options.api);
  std::string file = options.config;
  if (file.empty()) {
    std::error_code unused;
    if (!std::filesystem::exists(kUsualConfig, unused)) {
      return {.host = {.host = kLoopback, .port = kPort}, .socket = ""};
    }
    file = kUsualConfig;
  }
  ApiAddress address =
      address_of(parse_config(read_text_file(file), file, process_environment()).config.api);
  if (address.text().empty()) {
    throw std::runtime_error(file +
                             " has no [api] listen and no socket, so there is nobody to ask");
  }
  return address;
}

ApiClient::ApiClient(ApiAddress address, std::chrono::milliseconds patience)
    : address_(std::move(address)),
      patience_(patience),
      resolver_(loop_),
      limit_(loop_, [this] { loop_.stop(); }) {}

void ApiClient::take_interrupts() {
  on_interrupt_.emplace(loop_, SIGINT, [this] { interrupt(); });
  on_terminate_.emplace(loop_, SIGTERM, [this] { interrupt(); });
}

HttpAnswer ApiClient::get(const std::string& target) { return exchange(request_for(target)); }

HttpAnswer ApiClient::post(const std::string& target, const std::string& body) {
  HttpClientRequest request = request_for(target);
  request.method = "POST";
  request.headers = {{"Content-Type", "application/json"}};
  request.body = body;
  return exchange(std::move(request));
}

void ApiClient::pause(std::chrono::milliseconds duration) {
  const Instant end = Loop::now() + duration;
  for (Instant now = Loop::now(); now < end; now = Loop::now()) turn(end - now);
}

HttpClientRequest ApiClient::request_for(const std::string& target) const {
  const std::string& socket = address_.socket;
  const std::string server =
      socket.empty() ? "http://" + address_.host.text()
                     : "http+unix://" + percent_encode(std::filesystem::absolute(socket).string());
  return {.url = server + target, .timeout = patience_, .max_body_bytes = kMaxAnswerBytes};
}

HttpAnswer ApiClient::exchange(HttpClientRequest request) {
  std::optional<HttpClientResult> result;
  HttpClient client(loop_, resolver_);
  client.send(std::move(request), [&](HttpClientResult ended) {
    result = std::move(ended);
    loop_.stop();
  });
  while (!result) turn(patience_);
  if (result->failure != HttpFailure::kNone) fail(*result);
  if (result->answer.is_body_cut) fail(kNotHttp);
  return std::move(result->answer);
}

void ApiClient::turn(Duration limit) {
  const BrokenPipesIgnored while_it_writes;
  limit_.arm(limit);
  loop_.run();
  limit_.disarm();
  if (is_interrupted_) throw Interrupted();
}

void ApiClient::interrupt() {
  is_interrupted_ = true;
  loop_.stop();
}

void ApiClient::fail(const HttpClientResult& result) const {
  switch (result.failure) {
    case HttpFailure::kNone:
    case HttpFailure::kCutOff:
      fail("it closed the connection");
    case HttpFailure::kNotHttp:
      fail(kNotHttp);
    default:
      fail(result.why);
  }
}

void ApiClient::fail(const std::string& why) const {
  throw ApiError("no sidecar answers at " + address_.text() + ": " + why +
                 "; is `bellwether run` running?");
}

ApiEvents::ApiEvents(ApiClient& client, const std::string& last_id)
    : client_(client), stream_(client.loop_, client.resolver_) {
  HttpClientRequest request = client.request_for("/v1/events");
  request.headers = {{"Accept", "text/event-stream"}};
  if (!last_id.empty()) request.headers.emplace_back("Last-Event-ID", last_id);
  request.on_piece = [this](std::string_view piece) {
    has_begun_ = true;
    text_ += piece;
    stream_.pause();  // while other questions turn the loop
    client_.loop_.stop();
  };
  request.idle_timeout = kSilentStream;
  stream_.send(std::move(request), [this](HttpClientResult result) {
    end_ = std::move(result);
    client_.loop_.stop();
  });
  while (!has_begun_ && !end_) client.turn(client.patience_);
  if (has_begun_) return;
  if (end_->failure != HttpFailure::kNone) client.fail(*end_);
  refusal_ = std::move(end_->answer);
}

std::optional<ApiEvent> ApiEvents::next(std::chrono::milliseconds wait) {
  const Instant deadline = Loop::now() + wait;
  for (bool is_over = false;;) {
    if (auto event = take_event()) return event;
    if (text_.size() > kMaxAnswerBytes) client_.fail("its event has no end");
    if (end_) client_.fail(*end_);
    if (is_over) return std::nullopt;
    const Duration left = deadline - Loop::now();
    is_over = left <= Duration::zero();  // what has come by now still counts
    stream_.resume();
    client_.turn(left);
  }
}

// Comments and what else has no data are skipped.
std::optional<ApiEvent> ApiEvents::take_event() {
  constexpr std::string_view kEnd = "\n\n";
  for (size_t end = 0; (end = text_.find(kEnd)) != std::string::npos;) {
    const std::string block = text_.substr(0, end + 1);
    text_.erase(0, end + kEnd.size());
    ApiEvent event{.id = field(block, "id: "), .data = field(block, "data: ")};
    if (!event.data.empty()) return event;
  }
  return std::nullopt;
}

}  // namespace bellwether::cli
