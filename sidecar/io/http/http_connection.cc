// The states of a client's connection, and its time limits.
#include "io/http/http_connection.hh"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "base/check.hh"
#include "io/names/socket_options.hh"

namespace bellwether::io {
namespace {

// How much a client may send ahead before it is read no further: a few requests.
constexpr size_t kMaxAheadBytes = size_t{4} * 1024;

// So that a client that sends many requests at once does not keep others waiting.
constexpr int kRequestsPerTurn = 16;

// How long a client has to read the last answer.  A connection closed with bytes unread is reset,
// and the answer may be lost with it.
constexpr Duration kLinger = std::chrono::seconds(1);

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::string_view kLastChunk = "0\r\n\r\n";
constexpr std::string_view kLineEnd = "\r\n";

HttpClientFacts facts_of(int fd, bool is_over_unix_socket) {
  if (is_over_unix_socket) return {.address = "", .process = peer_process_of(fd)};
  const auto address = SocketAddress::remote_of(fd);
  return {.address = address ? address->text() : "", .process = std::nullopt};
}

std::optional<SocketAddress> neighbourhood_of(int fd) {
  const auto address = SocketAddress::remote_of(fd);
  return address ? std::optional(address->neighbourhood()) : std::nullopt;
}

}  // namespace

HttpConnection::HttpConnection(Loop& loop, Owner& owner, ByteStream::Handle handle,
                               const Settings& settings)
    : owner_(owner),
      limits_(settings.limits),
      number_(settings.number),
      is_over_unix_socket_(settings.is_over_unix_socket),
      reader_(settings.limits),
      timer_(loop, [this] { on_due(); }),
      stream_(*this, std::move(handle), settings.buffer),
      client_(facts_of(stream_.descriptor(), is_over_unix_socket_)),
      neighbourhood_(neighbourhood_of(stream_.descriptor())) {
  if (settings.tls == nullptr) return;
  stream_.secure(std::make_unique<TlsSession>(settings.tls, TlsSide::kServer));
}

// Without its last chunk, a stream would look as if it were broken.
HttpConnection::~HttpConnection() {
  if (state_ == State::kStreaming && is_chunked_) stream_.write(kLastChunk);
}

void HttpConnection::turn_away() {
  is_turned_away_ = true;
  refuse({.status = 503, .reason = "too many connections", .limit = Limit::kHttpConnections});
}

void HttpConnection::respond(const HttpResponse& response) {
  check(state_ == State::kAnswering, "a request has one answer");
  is_awaited_ = false;
  HttpHead head{.status = response.status};
  if (may_have_body(response.status)) {
    head.content_type = response.content_type;
    head.content_length = response.body.size();
  }
  const bool has_body = head.content_length.has_value() && !is_head_request_;
  send(head, response.headers, has_body ? std::string_view(response.body) : std::string_view());
  end_answer();
}

void HttpConnection::begin_stream(std::string_view content_type) {
  check(state_ == State::kAnswering, "a request has one answer");
  const bool has_body = !is_head_request_;
  is_kept_alive_ = is_kept_alive_ && !has_body;
  is_awaited_ = has_body;
  is_chunked_ = !reader_.framing().is_http_1_0;
  state_ = has_body ? State::kStreaming : state_;
  send({.content_type = content_type, .is_chunked = is_chunked_}, {}, {});
  if (!has_body) end_answer();
  if (state_ == State::kStreaming) {
    take_patience();
    stream_.start_reading();
    await_reader();
  }
}

// What a POST is answered by is held open to say that its client is there, as an attachment is.
// Other streams are there to be read, and who reads slowly is not gone.
void HttpConnection::take_patience() {
  if (state_ != State::kStreaming || !is_post_ || is_over_unix_socket_) return;
  probe_silence(stream_.descriptor());
  set_user_timeout(stream_.descriptor(), limits_.unacknowledged);
}

bool HttpConnection::write(std::string_view piece) {
  check(state_ == State::kStreaming, "a stream was begun");
  if (piece.empty()) return true;
  const size_t unsent = stream_.unsent_bytes();
  if (unsent > 0 && unsent + piece.size() > limits_.unsent_bytes) {
    owner_.on_limit(Limit::kHttpUnsent);
    close();
    return false;
  }
  bool is_written = false;
  if (is_chunked_) {
    std::array<char, 2 * sizeof(size_t) + kLineEnd.size()> line{};
    char* end = std::to_chars(line.data(), line.data() + line.size(), piece.size(), 16).ptr;
    end = std::copy(kLineEnd.begin(), kLineEnd.end(), end);
    const std::array<std::string_view, 3> pieces{
        std::string_view(line.data(), static_cast<size_t>(end - line.data())), piece, kLineEnd};
    is_written = stream_.write(pieces);
  } else {
    is_written = stream_.write(piece);
  }
  if (is_written) {
    await_reader();
  } else {
    close();
  }
  return is_written;
}

void HttpConnection::end_stream() {
  check(state_ == State::kStreaming, "a stream was begun");
  is_awaited_ = false;
  if (is_chunked_ && !stream_.write(kLastChunk)) return close();
  begin_closing();
}

void HttpConnection::stop() {
  is_stopping_ = true;
  is_kept_alive_ = false;
  if (state_ != State::kReceiving) return;
  if (stream_.unsent_bytes() > 0) return begin_closing();
  close();
}

void HttpConnection::on_bytes(std::string_view bytes) {
  if (state_ == State::kClosing || state_ == State::kStreaming) return;
  reader_.append(bytes);
  if (state_ == State::kReceiving && wait_ != Wait::kReader && wait_ != Wait::kNextTurn) {
    proceed();
  }
  if (state_ == State::kReceiving || state_ == State::kAnswering) read_if_useful();
}

// A health checker ends with a reset, so a broken connection is nothing to tell of.
void HttpConnection::on_end(int status) {
  has_ended_ = true;
  if (const TlsSession* tls = stream_.tls(); tls != nullptr && tls->flaw()) {
    owner_.on_tls_refused(*tls->flaw(), client_.address);
    // It learns why from an alert, which a reset would take from it.
    return is_awaited_ ? close() : begin_closing();
  }
  const bool has_more_to_say =
      wait_ == Wait::kReader || wait_ == Wait::kNextTurn || stream_.unsent_bytes() > 0;
  if (status != UV_EOF || is_awaited_ || !has_more_to_say) close();
}

void HttpConnection::on_drained() {
  if (state_ == State::kReceiving) {
    proceed();
  } else if (state_ == State::kStreaming) {
    wait_for(Wait::kNothing, {});
  } else if (state_ == State::kClosing) {
    if (has_ended_) return close();
    wait_for(Wait::kLinger, kLinger);
  }
}

bool HttpConnection::has_time_for_tls() {
  if (owner_.has_time_for_tls()) return true;
  owner_.on_held(*this);
  return false;
}

void HttpConnection::on_due() {
  // What has come in time may have to wait for its turn.
  const bool is_for_client = wait_ == Wait::kIdle || wait_ == Wait::kRequest;
  if (is_for_client && stream_.is_held()) return wait_for(wait_, {});
  switch (std::exchange(wait_, Wait::kNothing)) {
    case Wait::kNothing:
      break;
    case Wait::kIdle:
      owner_.on_limit(Limit::kHttpIdle);
      close();
      break;
    case Wait::kRequest:
      refuse({.status = 408, .reason = "the request took too long", .limit = Limit::kHttpIdle});
      break;
    case Wait::kReader:
      if (stream_.unsent_bytes() < unsent_bytes_) return await_reader();
      owner_.on_limit(Limit::kHttpUnsent);
      close();
      break;
    case Wait::kLinger:
      close();
      break;
    case Wait::kNextTurn:
      proceed();
      break;
  }
}

// Reads requests and hands them over, one after the other, as long as each is answered at once.
void HttpConnection::proceed() {
  is_proceeding_ = true;
  for (int requests = 0; state_ == State::kReceiving; ++requests) {
    if (stream_.unsent_bytes() > 0) {
      await_reader();
      break;
    }
    if (requests == kRequestsPerTurn || !owner_.has_time()) {
      wait_for(Wait::kNextTurn, {});
      break;
    }
    const HttpReader::Result result = reader_.next();
    if (result == HttpReader::Result::kMoreNeeded) {
      await_bytes();
      break;
    }
    if (result == HttpReader::Result::kRefused) {
      refuse(reader_.refusal());
      break;
    }
    hand_over();
  }
  is_proceeding_ = false;
}

void HttpConnection::hand_over() {
  HttpRequest& request = reader_.request();
  request.is_over_unix_socket = is_over_unix_socket_;
  request.is_over_tls = is_over_tls();
  request.client = client();
  ++request_count_;
  is_awaited_ = true;
  is_head_request_ = request.method == "HEAD";
  is_post_ = request.method == "POST";
  is_kept_alive_ = reader_.framing().is_kept_alive && !is_stopping_;
  state_ = State::kAnswering;
  wait_for(Wait::kNothing, {});
  read_if_useful();
  owner_.on_request(*this, request);
}

// A connection may outlive what its client has shown.
HttpClientFacts HttpConnection::client() const {
  HttpClientFacts facts = client_;
  const TlsSession* tls = stream_.tls();
  if (tls == nullptr || !tls->peer() || *tls->expiry() <= std::time(nullptr)) return facts;
  const PeerCertificate& peer = *tls->peer();
  facts.certificate = peer.names.is_empty() ? peer.common_name : peer.names.text();
  return facts;
}

// Reading goes on while a request waits for its answer: a client that goes away shall be noticed.
void HttpConnection::read_if_useful() {
  if (has_ended_ || reader_.waiting_bytes() > kMaxAheadBytes) {
    stream_.stop_reading();
  } else {
    stream_.start_reading();
  }
}

void HttpConnection::await_bytes() {
  if (has_ended_) return close();
  if (reader_.take_expectation() && !stream_.write(kContinue)) return close();
  read_if_useful();
  const bool is_within_request = reader_.is_within_request();
  const Wait wait = is_within_request ? Wait::kRequest : Wait::kIdle;
  const bool is_first = request_count_ == 0;
  const Duration idle = is_first ? std::min(limits_.first, limits_.idle) : limits_.idle;
  if (wait_ != wait) wait_for(wait, is_within_request ? limits_.request : idle);
}

// Reading is progress, however slow: only who reads nothing at all is closed for it.
void HttpConnection::await_reader() {
  const size_t unsent = stream_.unsent_bytes();
  if (unsent == 0 || wait_ == Wait::kReader) return;
  unsent_bytes_ = unsent;
  wait_for(Wait::kReader, limits_.idle);
}

void HttpConnection::refuse(const HttpRefusal& refusal) {
  if (refusal.limit) owner_.on_limit(*refusal.limit);
  owner_.on_refused(refusal.status);
  is_kept_alive_ = false;
  const std::string body = "{\"error\":\"" + std::string(refusal.reason) + "\"}\n";
  send(
      {.status = refusal.status, .content_type = "application/json", .content_length = body.size()},
      {}, body);
  if (state_ != State::kClosed) begin_closing();
}

void HttpConnection::send(const HttpHead& head, const HttpHeaders& headers, std::string_view body) {
  HttpHead complete = head;
  complete.is_kept_alive = is_kept_alive_;
  const std::string bytes = to_bytes(complete, headers);
  if (!stream_.write(std::array<std::string_view, 2>{bytes, body})) close();
}

// What the client has sent ahead is looked at in the loop, not within the answer to this request.
void HttpConnection::end_answer() {
  if (state_ == State::kClosed) return;
  if (!is_kept_alive_) return begin_closing();
  state_ = State::kReceiving;
  if (is_proceeding_) return;
  if (stream_.unsent_bytes() > 0) return await_reader();
  wait_for(Wait::kNextTurn, {});
}

void HttpConnection::begin_closing() {
  state_ = State::kClosing;
  stream_.finish();
  if (!has_ended_) stream_.start_reading();
  if (stream_.unsent_bytes() > 0) {
    await_reader();
  } else {
    wait_for(Wait::kLinger, kLinger);
  }
}

void HttpConnection::close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  timer_.arm(kNever);
  stream_.close();
  owner_.on_closed(*this);
}

void HttpConnection::wait_for(Wait wait, Duration time) {
  wait_ = wait;
  waits_since_ = Loop::now();
  timer_.arm(wait == Wait::kNothing ? kNever : waits_since_ + time);
}

}  // namespace bellwether::io
