// The HTTP client on a loop of its own, which turns while somebody waits.
#include "cli/api_client.hh"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

#include "cli/commands.hh"
#include "cli/hang_watch.hh"
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
  constexpr std::string_view kHttps = "https://";
  constexpr std::string_view kUnix = "unix:";
  const auto refuse = [&text](const std::string& flaw) {
    throw UsageError("--api: \"" + text + "\" " + flaw +
                     "; give http://HOST:PORT, https://HOST:PORT or the path of a unix socket");
  };
  if (text.starts_with('/')) return {.host = {}, .socket = text};
  if (text == kUnix) refuse("lacks the path after the colon");
  if (text.starts_with(kUnix)) return {.host = {}, .socket = text.substr(kUnix.size())};
  std::string authority = text;
  ApiAddress address{.host = {}, .socket = "", .is_https = text.starts_with(kHttps)};
  for (const std::string_view scheme : {kHttp, kHttps}) {
    if (text.starts_with(scheme)) authority = text.substr(scheme.size());
  }
  if (authority.ends_with('/')) authority.pop_back();
  const std::string flaw = parse_host_port(authority, address.host);
  if (!flaw.empty()) refuse(flaw);
  return address;
}

// Between two calls of `meanwhile`.
constexpr Duration kBetweenWords = std::chrono::seconds(1);

constexpr size_t kMaxAnswerBytes = size_t{16} << 20;

// A sidecar sends a comment every 15 s (waiting_clients.hh).
constexpr Duration kSilentStream = std::chrono::seconds(45);

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

// Where to connect to somebody on this host who listens there.
HostPort to_connect_to(const HostPort& listen) {
  if (!listen.is_wildcard()) return listen;
  const bool is_ipv6 = listen.host.find(':') != std::string::npos;
  return {.host = is_ipv6 ? "::1" : kLoopback, .port = listen.port};
}

ApiAddress find_address(const ApiOptions& options) {
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
                             " has no [api] listen and no socket, so there is nobody to ask; give "
                             "it one, or --api");
  }
  return address;
}

// Of the first line that is neither empty nor a comment: the others are on their way out.
std::string first_token(const std::string& file) {
  std::istringstream lines(read_text_file(file));
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
  }
  throw std::runtime_error(file + " holds no token; name another --token-file");
}

io::TlsContextPtr context_for(const ApiAddress& address) {
  if (!address.is_https) return nullptr;
  const daemon::CertificateFiles& files = address.files;
  try {
    io::TlsTexts texts;
    if (address.server_cert.empty()) {
      daemon::read_client_files(files, texts);
      return daemon::make_client_context(files, texts);
    }
    // Whoever owns it, the sidecar's user mostly, is the one that is believed.
    const std::string label = "the sidecar's certificate";
    texts.cert = io::read_guarded_file(address.server_cert, label, io::Secrecy::kShared);
    const auto server = io::parse_certificates(texts.cert, label + " " + address.server_cert);
    if (files.cert.empty()) return io::TlsContext::of_http_client({}, server.front());
    daemon::read_files(files, texts);
    return io::TlsContext::of_http_client(daemon::make_client_set(files, texts), server.front());
  } catch (const io::TlsError& error) {
    throw ApiError(error.what());
  }
}

}  // namespace

// By TLS a command may need what only a client's certificate gives; the socket needs neither.
ApiAddress address_of(const ApiSettings& api) {
  const bool is_socket_better = api.has_tls() && !api.socket.empty();
  if (api.listen.is_none() || api.writes == ApiWrites::kSocket || is_socket_better) {
    return {.host = {}, .socket = api.socket};
  }
  return {.host = to_connect_to(api.listen),
          .socket = "",
          .token_file = api.token_file,
          .is_https = api.has_tls(),
          .server_cert = api.cert};
}

ApiAddress address_of(const MetricsSettings& metrics) {
  return {.host = to_connect_to(metrics.listen),
          .socket = "",
          .is_https = metrics.has_tls(),
          .server_cert = metrics.cert};
}

ApiAddress find_api(const ApiOptions& options) {
  const HangWatch watch;
  ApiAddress address = find_address(options);
  const char* variable = std::getenv("BELLWETHER_TOKEN_FILE");
  if (!options.token_file.empty()) {
    address.token_file = options.token_file;
  } else if (variable != nullptr && *variable != '\0') {
    address.token_file = variable;
  }
  if (options.cert.empty() != options.key.empty()) {
    throw UsageError("--cert and --key belong together; give both, or none");
  }
  const bool has_certificates = !options.ca.empty() || !options.cert.empty();
  // On the unix socket of a configuration they are needed no more, and do no harm.
  if (has_certificates && address.socket.empty() && !address.is_https) {
    throw UsageError("--ca, --cert and --key are for https, and " + address.text() +
                     " is asked without TLS; give --api https://HOST:PORT, or leave them out");
  }
  address.files.cert = options.cert;
  address.files.key = options.key;
  address.files.ca = options.ca;
  if (!options.ca.empty()) address.server_cert.clear();
  return address;
}

ApiClient::ApiClient(ApiAddress address, std::chrono::milliseconds patience)
    : address_(std::move(address)),
      tls_(context_for(address_)),
      patience_(patience),
      resolver_(loop_),
      limit_(loop_, [this] { loop_.stop(); }) {}

void ApiClient::take_interrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    // As `nohup` has it.
    if (action.sa_handler == SIG_IGN) continue;
    ends_.emplace_back(loop_, signal, [this] { interrupt(); });
  }
}

io::HttpAnswer ApiClient::get(const std::string& target) { return exchange(request_for(target)); }

io::HttpAnswer ApiClient::post(const std::string& target, const std::string& body,
                               std::chrono::milliseconds wait,
                               const std::function<void()>& meanwhile) {
  io::HttpClientRequest request = request_for(target);
  request.method = "POST";
  request.timeout += wait;
  request.headers = {{"Content-Type", "application/json"}};
  if (!address_.token_file.empty() && address_.socket.empty()) {
    if (!address_.is_https && !address_.host.is_loopback()) {
      throw ApiError("a token is not sent to " + address_.text() +
                     " without TLS: everybody on the way could read it; give https://, or run the "
                     "command there");
    }
    request.headers.emplace_back("Authorization", "Bearer " + first_token(address_.token_file));
  }
  request.body.assign(body);
  return exchange(std::move(request), meanwhile);
}

void ApiClient::pause(std::chrono::milliseconds duration) {
  const Instant end = io::Loop::now() + duration;
  for (Instant now = io::Loop::now(); now < end; now = io::Loop::now()) turn(end - now);
}

io::HttpClientRequest ApiClient::request_for(const std::string& target) const {
  const std::string& socket = address_.socket;
  const std::string server =
      socket.empty()
          ? (address_.is_https ? "https://" : "http://") + address_.host.text()
          : "http+unix://" + io::percent_encode(std::filesystem::absolute(socket).string());
  return {
      .url = server + target, .tls = tls_, .timeout = patience_, .max_body_bytes = kMaxAnswerBytes};
}

io::HttpAnswer ApiClient::exchange(io::HttpClientRequest request,
                                   const std::function<void()>& meanwhile) {
  std::optional<io::HttpClientResult> result;
  io::HttpClient client(loop_, resolver_);
  client.send(std::move(request), [&](io::HttpClientResult ended) {
    result = std::move(ended);
    loop_.stop();
  });
  while (!result) {
    turn(kBetweenWords);
    if (!result) meanwhile();
  }
  if (result->failure != io::HttpFailure::kNone) fail(*result);
  if (result->answer.is_body_cut) fail("its answer is too long");
  return std::move(result->answer);
}

void ApiClient::turn(Duration limit) {
  const io::BrokenPipesIgnored while_it_writes;
  limit_.arm(limit);
  loop_.run();
  limit_.disarm();
  if (is_interrupted_) throw Interrupted();
}

void ApiClient::interrupt() {
  is_interrupted_ = true;
  loop_.stop();
}

void ApiClient::fail(const io::HttpClientResult& result) const {
  switch (result.failure) {
    case io::HttpFailure::kNone:
    case io::HttpFailure::kCutOff:
      fail("it closed the connection");
    case io::HttpFailure::kNotHttp:
      fail("its answer " + result.why);
    case io::HttpFailure::kTls:
      throw ApiError("TLS with " + address_.text() + ": " + result.why);
    default:
      fail(result.why);
  }
}

void ApiClient::fail(const std::string& why) const {
  const std::string& socket = address_.socket;
  if (!socket.empty() && ::access(socket.c_str(), W_OK) != 0 && errno == EACCES) {
    throw ApiError("this user may not open the socket " + socket +
                   "; be the sidecar's user, root, or in the group that its file belongs to "
                   "([api] allow_users says who may command, not who can open it)");
  }
  throw ApiError("no sidecar answers at " + address_.text() + ": " + why +
                 "; is `bellwether run` running?");
}

ApiEvents::ApiEvents(ApiClient& client, const std::string& last_id)
    : client_(client), stream_(client.loop_, client.resolver_) {
  io::HttpClientRequest request = client.request_for("/v1/events");
  request.headers = {{"Accept", "text/event-stream"}};
  if (!last_id.empty()) request.headers.emplace_back("Last-Event-ID", last_id);
  request.on_piece = [this](std::string_view piece) {
    has_begun_ = true;
    text_ += piece;
    stream_.pause();  // while other questions turn the loop
    client_.loop_.stop();
  };
  request.idle_timeout = kSilentStream;
  stream_.send(std::move(request), [this](io::HttpClientResult result) {
    end_ = std::move(result);
    client_.loop_.stop();
  });
  while (!has_begun_ && !end_) client.turn(client.patience_);
  if (has_begun_) return;
  if (end_->failure != io::HttpFailure::kNone) client.fail(*end_);
  refusal_ = std::move(end_->answer);
}

std::optional<ApiEvent> ApiEvents::next(std::chrono::milliseconds wait) {
  const Instant deadline = io::Loop::now() + wait;
  for (bool is_over = false;;) {
    if (auto event = take_event()) return event;
    if (text_.size() > kMaxAnswerBytes) client_.fail("its event has no end");
    if (end_) client_.fail(*end_);
    if (is_over) return std::nullopt;
    const Duration left = deadline - io::Loop::now();
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
