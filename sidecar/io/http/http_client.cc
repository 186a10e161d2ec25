// A request's way: addresses, a connection to one of them, the bytes, the answer.  Whatever ends it
// ends in on_due(), from where nothing of it is running any more.
#include "io/http/http_client.hh"

#include <fmt/core.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/check.hh"
#include "base/duration_text.hh"
#include "base/host_port.hh"
#include "io/names/connect.hh"

namespace bellwether::io {
namespace {

// More than one host has; a look-up that finds more is cut.
constexpr size_t kMaxAddresses = 8;

constexpr unsigned kOk = 200;

// Those that are known without asking; empty for a name.
std::vector<SocketAddress> known_addresses(const HostPort& place) {
  if (place.host == "localhost") {
    return {*SocketAddress::from_numeric({"::1", place.port}),
            *SocketAddress::from_numeric({"127.0.0.1", place.port})};
  }
  const auto address = SocketAddress::from_numeric(place);
  return address ? std::vector{*address} : std::vector<SocketAddress>();
}

std::string head_of(const HttpClientRequest& request, const HttpUrl& url) {
  std::string head =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", request.method, url.target, url.host_header());
  if (request.keep_for == Duration::zero()) head += "Connection: close\r\n";
  if (!request.body.empty() || request.method == "POST") {
    head += fmt::format("Content-Length: {}\r\n", request.body.size());
  }
  for (const auto& [name, value] : request.headers) head += fmt::format("{}: {}\r\n", name, value);
  return head;
}

SecretText end_of_head(const HttpClientRequest& request) {
  if (request.authorization.empty()) return "\r\n";
  SecretText line;
  line.reserve(request.authorization.size() + 32);
  return line.append("Authorization: ").append(request.authorization).append("\r\n\r\n");
}

bool is_same_server(const HttpUrl& one, const HttpUrl& other) {
  return one.host == other.host && one.port == other.port && one.is_https == other.is_https &&
         one.socket_path == other.socket_path;
}

}  // namespace

HttpClient::HttpClient(Loop& loop, Resolver& resolver)
    : loop_(loop), resolver_(resolver), timer_(loop, [this] { on_due(); }) {}

void HttpClient::send(HttpClientRequest request, Done done) {
  check(!is_busy() && done != nullptr, "a client has one request at a time");
  check(!request.on_piece || request.idle_timeout > Duration::zero(), "a stream has an idle limit");
  request_ = std::move(request);
  is_paused_ = false;
  done_ = std::move(done);
  deadline_ = Loop::now() + request_.timeout;
  timer_.arm(request_.timeout);
  if (const std::string flaw = parse_http_url(request_.url, url_); !flaw.empty()) {
    return finish({.failure = HttpFailure::kUrl, .why = flaw, .error = "the address " + flaw});
  }
  if (url_.is_https && request_.tls == nullptr) return fail_by_tls("there is nobody to believe");
  reader_.emplace(request_.method == "HEAD", request_.max_body_bytes);
  if (can_use_kept()) return send_on_stream();
  stream_.reset();
  if (url_.socket_path.empty()) {
    find_addresses();
  } else {
    connect_to_socket();
  }
}

void HttpClient::drop() {
  timer_.disarm();
  done_ = nullptr;
  result_.reset();
  lookup_ = {};
  addresses_.clear();
  connecting_ = {};
  stream_.reset();
}

// --- to a connection ---

// Its end may have arrived and wait to be read.  So may something harmless of TLS: that costs a
// connection, and is rare.
bool HttpClient::can_use_kept() const {
  if (!stream_ || !stream_->is_open() || connected_by_ != request_.tls ||
      !is_same_server(connected_to_, url_)) {
    return false;
  }
  if (stream_->tls() != nullptr && stream_->tls()->has_ended()) return false;
  char unused = 0;
  return ::recv(stream_->descriptor(), &unused, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

void HttpClient::find_addresses() {
  const HostPort place{url_.host, url_.port};
  std::vector<SocketAddress> known = known_addresses(place);
  if (!known.empty()) return try_addresses(std::move(known));
  lookup_ = resolver_.look_up(place, [this](const NameAnswer& found) {
    if (result_) return;
    if (!found.addresses.empty()) return try_addresses(found.addresses);
    finish({.failure = HttpFailure::kUnreachable,
            .why = found.error,
            .error = "cannot look up " + url_.host + ": " + found.error});
  });
}

void HttpClient::try_addresses(std::vector<SocketAddress> addresses) {
  addresses.resize(std::min(addresses.size(), kMaxAddresses), addresses.front());
  addresses_.assign(addresses.rbegin(), addresses.rend());
  try_next_address();
}

// Each address has its share of the time that is left, so that one that does not answer does not
// take it from the others.
void HttpClient::try_next_address() {
  connecting_ = {};
  if (addresses_.empty()) return finish(failure_);
  const auto left = static_cast<Duration::rep>(addresses_.size());
  timer_.arm((deadline_ - Loop::now()) / left);
  const SocketAddress address = addresses_.back();
  addresses_.pop_back();
  auto socket = make_handle(loop_.uv(), this, uv_tcp_init);
  const int flaw = connect(*socket, address, [this](int status) { on_connected(status); });
  connecting_ = std::move(socket);
  if (flaw != 0) on_connected(flaw);
}

void HttpClient::connect_to_socket() {
  auto socket = make_handle(loop_.uv(), this, uv_pipe_init, 0);
  const int flaw = connect(*socket, url_.socket_path, [this](int status) { on_connected(status); });
  connecting_ = std::move(socket);
  if (flaw != 0) on_connected(flaw);
}

void HttpClient::on_connected(int status) {
  if (result_) return;
  if (status < 0) {
    const bool is_path_flaw = status == UV_ENAMETOOLONG;
    note_failure(is_path_flaw ? "the path is too long for a unix socket" : error_text(-status));
    return try_next_address();
  }
  addresses_.clear();
  timer_.arm(deadline_ - Loop::now());
  stream_.emplace(static_cast<ByteStream::Owner&>(*this), std::move(connecting_), buffer_);
  if (url_.is_https) {
    stream_->secure(std::make_unique<TlsSession>(request_.tls, TlsSide::kClient, url_.host));
  }
  connected_to_ = url_;
  connected_by_ = request_.tls;
  send_on_stream();
  stream_->start_reading();
}

void HttpClient::send_on_stream() {
  const std::string head = head_of(request_, url_);
  const SecretText end = end_of_head(request_);
  // Where this fails, reading tells why; the server may have answered already.
  stream_->write(std::array<std::string_view, 3>{head, end, request_.body});
}

// --- the answer ---

void HttpClient::on_bytes(std::string_view bytes) {
  // Nobody has asked for it: it could be taken for the next answer.
  if (result_ || !is_busy()) return stream_->close();
  const HttpResponseReader::Result result = reader_->append(bytes);
  if (result == HttpResponseReader::Result::kRefused) return refuse(HttpFailure::kNotHttp);
  pass_on();
  if (result == HttpResponseReader::Result::kComplete) finish({.answer = reader_->answer()});
}

// It is passed on as it comes.
bool HttpClient::is_stream() {
  return !result_ && stream_ && request_.on_piece && reader_->has_head() &&
         reader_->answer().status == kOk;
}

void HttpClient::pass_on() {
  if (!is_stream()) return;
  timer_.arm(request_.idle_timeout);
  request_.on_piece(std::exchange(reader_->answer().body, ""));
}

void HttpClient::pause() {
  if (!is_stream() || std::exchange(is_paused_, true)) return;
  stream_->stop_reading();
  timer_.disarm();
}

void HttpClient::resume() {
  if (!is_stream() || !std::exchange(is_paused_, false)) return;
  stream_->start_reading();
  timer_.arm(request_.idle_timeout);
}

void HttpClient::on_end(int status) {
  if (result_ || !is_busy()) return stream_->close();
  const TlsSession* tls = stream_->tls();
  if (tls != nullptr && tls->flaw()) return fail_by_tls(tls->flaw()->text);
  if (status != UV_EOF) {
    const std::string why = error_text(-status);
    finish({.failure = HttpFailure::kBroken,
            .why = why,
            .error = "the connection to " + server() + " broke: " + why});
    // Whoever cuts the connection must not pass for the server's end of its answer.
  } else if (reader_->end(tls != nullptr && !tls->has_ended()) ==
             HttpResponseReader::Result::kComplete) {
    finish({.answer = std::move(reader_->answer())});
  } else {
    refuse(HttpFailure::kCutOff);
  }
}

void HttpClient::refuse(HttpFailure failure) {
  const std::string flaw = reader_->flaw();
  finish({.failure = failure, .why = flaw, .error = "the answer of " + server() + " " + flaw});
}

void HttpClient::fail_by_tls(const std::string& why) {
  finish({.failure = HttpFailure::kTls, .why = why, .error = "TLS with " + server() + ": " + why});
}

// --- the end ---

void HttpClient::on_due() {
  if (!is_busy()) return stream_.reset();  // it was kept for long enough
  if (!result_ && !addresses_.empty()) {
    note_failure("no answer in time");
    return try_next_address();
  }
  if (!result_) {
    const Duration limit = is_stream() ? request_.idle_timeout : request_.timeout;
    const std::string why =
        (is_stream() ? "nothing came within " : "no whole answer within ") + duration_text(limit);
    result_ = {.failure = HttpFailure::kTimeout, .why = why, .error = server() + ": " + why};
  }
  HttpClientResult result = *std::exchange(result_, {});
  lookup_ = {};
  addresses_.clear();
  connecting_ = {};
  if (request_.keep_for > Duration::zero() && result.failure == HttpFailure::kNone &&
      reader_->leaves_connection() && stream_ && stream_->is_open()) {
    timer_.arm(request_.keep_for);
  } else {
    stream_.reset();
  }
  const Done done = std::exchange(done_, nullptr);
  done(std::move(result));
}

void HttpClient::note_failure(const std::string& why) {
  failure_ = {.failure = HttpFailure::kUnreachable,
              .why = why,
              .error = "cannot connect to " + server() + ": " + why};
}

void HttpClient::finish(HttpClientResult result) {
  result_ = std::move(result);
  timer_.arm({});
}

std::string HttpClient::server() const {
  if (!url_.socket_path.empty()) return "socket " + url_.socket_path;
  return HostPort{url_.host, url_.port}.text();
}

}  // namespace bellwether::io
