// Listening, the table of connections, and the replies' way to them.  A connection that is not
// accepted in libuv's callback is kept by libuv, which then waits with the next one until it is.
#include "io/http/http_server.hh"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

namespace bellwether::io {
namespace {

constexpr int kClientBacklog = 511;

// Beyond the limit, while all others wait for their answers, so many are told so; who comes then is
// closed without a word.
constexpr size_t kMaxTurnedAway = 64;

// So that what a new client has sent is read long before as many newer ones have taken its place.
constexpr int kClientsPerTurn = 16;

// In one turn of the loop, so long the requests of all clients together are answered, and the last
// of them to its end.  Then it is the turn of the node's timers and of its peers, who would take a
// leader that is busy with strangers' requests for dead.
constexpr Duration kTimePerTurn = std::chrono::milliseconds(5);
// For what comes by TLS, handshakes included: of that time, at its beginning, so that requests have
// the rest; and as long again, after the poll, for what had to wait.
constexpr Duration kTlsPerTurn = kTimePerTurn / 2;

// After this much silence the kernel asks whether the client is still there.
constexpr unsigned kKeepAliveSeconds = 60;

// The most that the kernel takes for a client that does not read; its own default grows to
// megabytes.  The rest waits in this process, where it is bounded and counted.
constexpr int kKernelSendBytes = 64 * 1024;

}  // namespace

HttpServer::HttpServer(Loop& loop, HttpListener& listener, const HttpLimits& limits)
    : loop_(loop),
      listener_(listener),
      limits_(limits),
      farewell_(loop, [this] { say_farewell(); }),
      next_turn_(loop, [this] { begin_turn(); }),
      held_turn_(loop, [this] { go_on_with_held(); }) {}

uint16_t HttpServer::listen(const HostPort& place) {
  uint16_t port = place.port;
  int failure = 0;
  bool is_listening = false;
  for (const SocketAddress& address : listening_addresses(place)) {
    const int error = try_to_listen(address.with_port(port));
    if (error == 0) {
      is_listening = true;
      port = SocketAddress::local_of(descriptor_of(*sockets_.back()))->port();
    } else if (error == EADDRNOTAVAIL || error == EAFNOSUPPORT) {
      failure = error;  // "localhost" may have an IPv6 address on a host without IPv6.
    } else {
      fail_to_listen(place, error);
    }
  }
  if (!is_listening) fail_to_listen(place, failure);
  return port;
}

// Returns an errno.
int HttpServer::try_to_listen(const SocketAddress& address) {
  FileDescriptor fd = bind_to(address);
  if (!fd.is_open()) return errno;
  auto socket = make_handle(loop_.uv(), this, uv_tcp_init);
  if (const int status = uv_tcp_open(socket.get(), fd.get()); status < 0) return -status;
  fd.release();  // it is the handle's now
  const int status =
      uv_listen(reinterpret_cast<uv_stream_t*>(socket.get()), kClientBacklog, on_client);
  if (status == 0) sockets_.push_back(std::move(socket));
  return -status;
}

void HttpServer::set_patience(Duration unacknowledged) {
  limits_.unacknowledged = unacknowledged;
  for (const auto& [number, connection] : connections_) connection->take_patience();
}

void HttpServer::listen_on_socket(const std::string& path) {
  const auto fail_if = [&](int status) {
    if (status == 0) return;
    throw AddressError("cannot listen on socket " + path + ": " +
                       std::generic_category().message(-status));
  };
  auto file = std::make_unique<UnixSocketFile>(path);
  auto pipe = make_handle(loop_.uv(), this, uv_pipe_init, 0);
  fail_if(uv_pipe_open(pipe.get(), file->release()));
  fail_if(uv_listen(reinterpret_cast<uv_stream_t*>(pipe.get()), kClientBacklog, on_client));
  std::erase(paused_, reinterpret_cast<uv_stream_t*>(pipe_.get()));
  socket_file_ = std::move(file);
  pipe_ = std::move(pipe);
}

void HttpServer::secure(TlsContextPtr tls) {
  is_secured_ = true;
  tls_ = std::move(tls);
  for (const auto& [number, connection] : connections_) {
    if (!connection->is_over_unix_socket()) connection->stop();
  }
}

FileLook HttpServer::make_good(std::string loss) {
  FileLook look{.loss = std::move(loss)};
  if (look.loss.empty() || !socket_file_) return look;
  try {
    listen_on_socket(std::string(socket_file_->file().path));
  } catch (const std::exception& error) {
    look.flaw = error.what();
  }
  return look;
}

std::unique_ptr<UnixSocketFile> HttpServer::stop_listening() {
  paused_.clear();
  sockets_.clear();
  pipe_.reset();
  for (const auto& [number, connection] : connections_) connection->stop();
  return std::move(socket_file_);
}

HttpConnection* HttpServer::find(uint64_t request) {
  const auto found = connections_.find(static_cast<uint32_t>(request >> 32));
  if (found == connections_.end()) return nullptr;
  HttpConnection& connection = *found->second;
  const bool is_it =
      connection.request() == request && connection.is_awaited() && !connection.is_closed();
  return is_it ? &connection : nullptr;
}

void HttpServer::on_client(uv_stream_t* socket, int error) {
  auto* self = static_cast<HttpServer*>(socket->data);
  if (error == 0) return self->accept_paced(socket);
  self->listener_.on_limit(Limit::kHttpConnections);
}

void HttpServer::accept_paced(uv_stream_t* socket) {
  if (accepted_ < kClientsPerTurn) {
    ++accepted_;
    return accept(socket);
  }
  paused_.push_back(socket);
  next_turn_.arm({});
}

void HttpServer::begin_turn() {
  accepted_ = 0;
  time_is_up_ = kNever;
  for (uv_stream_t* socket : std::exchange(paused_, {})) accept_paced(socket);
}

// Whoever waits for an answer, or follows a stream, stays; there are fewer of those than the limit
// lets in (waiting_clients.hh), so a question that is answered at once is always heard.
void HttpServer::make_room() {
  HttpConnection* longest = nullptr;
  for (const auto& [number, connection] : connections_) {
    const Instant since = connection->waits_since();
    if (since == kNever) continue;
    if (longest == nullptr || since < longest->waits_since()) longest = connection.get();
  }
  if (longest == nullptr) return;
  listener_.on_limit(Limit::kHttpConnections);
  longest->give_way();
}

namespace {

using Neighbourhood = std::optional<SocketAddress>;

// How many handshakes each has begun.
template <typename Connections>
std::map<Neighbourhood, size_t> handshakes_of(const Connections& connections) {
  std::map<Neighbourhood, size_t> counts;
  for (const auto& [number, connection] : connections) {
    if (connection->is_in_handshake()) ++counts[connection->neighbourhood()];
  }
  return counts;
}

}  // namespace

// Hosts take turns, and of one host its connections do.
void HttpServer::go_on_with_held() {
  std::map<Neighbourhood, std::deque<HttpConnection*>> waiting;
  for (const uint32_t number : std::exchange(held_, {})) {
    const auto found = connections_.find(number);
    if (found == connections_.end() || found->second->is_closed()) continue;
    waiting[found->second->neighbourhood()].push_back(found->second.get());
  }
  if (waiting.empty()) return;
  listener_.on_limit(Limit::kHttpTls);
  tls_until_ = Loop::now() + kTlsPerTurn;
  for (auto host = waiting.upper_bound(served_last_); !waiting.empty();) {
    if (host == waiting.end()) host = waiting.begin();
    HttpConnection& connection = *host->second.front();
    host->second.pop_front();
    if (has_time_for_tls()) {
      served_last_ = host->first;
      connection.go_on();
    } else {
      on_held(connection);
    }
    host = host->second.empty() ? waiting.erase(host) : std::next(host);
  }
  tls_until_.reset();
}

// It goes on when the loop has polled once more.  A LoopTimer would not do: libuv may call one that
// is armed for now within its own call again before it polls.
void HttpServer::on_held(HttpConnection& connection) {
  constexpr Instant kLongAgo{};
  held_.push_back(connection.number());
  held_turn_.arm(kLongAgo);
}

void HttpServer::make_room_for_handshake() {
  const auto counts = handshakes_of(connections_);
  size_t all = 0;
  for (const auto& [host, count] : counts) all += count;
  if (all < limits_.handshakes) return;
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
  HttpConnection* oldest = nullptr;
  for (const auto& [number, connection] : connections_) {
    const bool is_one = connection->is_in_handshake() && connection->neighbourhood() == most->first;
    if (!is_one) continue;
    if (oldest == nullptr || connection->waits_since() < oldest->waits_since()) {
      oldest = connection.get();
    }
  }
  listener_.on_limit(Limit::kHttpHandshakes);
  if (oldest != nullptr) oldest->give_way();
}

void HttpServer::accept(uv_stream_t* socket) {
  const bool is_tcp = socket->type == UV_TCP;
  ByteStream::Handle handle;
  if (is_tcp) {
    handle = make_handle(loop_.uv(), nullptr, uv_tcp_init);
  } else {
    handle = make_handle(loop_.uv(), nullptr, uv_pipe_init, 0);
  }
  uv_stream_t* const client = ByteStream::stream_of(handle);
  if (uv_accept(socket, client) != 0) return;
  const bool is_last = is_spare(descriptor_of(*client));
  if (is_last || open_connections() >= limits_.connections) make_room();
  const bool is_by_tls = is_tcp && is_secured_;
  if (is_by_tls && tls_ == nullptr) return;
  if (is_by_tls) make_room_for_handshake();
  // A refusal by TLS would take a handshake, so that is left out.
  const size_t most = limits_.connections + (is_by_tls ? 0 : kMaxTurnedAway);
  if (is_last || open_connections() >= most) {
    listener_.on_limit(Limit::kHttpConnections);
    return;
  }
  int send_bytes = kKernelSendBytes;  // a kernel that refuses it is tolerated
  uv_send_buffer_size(reinterpret_cast<uv_handle_t*>(client), &send_bytes);
  if (is_tcp) {
    uv_tcp_nodelay(std::get<Tcp>(handle).get(), 1);
    uv_tcp_keepalive(std::get<Tcp>(handle).get(), 1, kKeepAliveSeconds);
  }
  const bool is_welcome = open_connections() < limits_.connections;
  do ++last_number_;
  while (connections_.contains(last_number_));
  const uint32_t number = last_number_;
  HttpConnection::Owner& owner = *this;
  auto& connection = connections_[number];
  connection =
      std::make_unique<HttpConnection>(loop_, owner, std::move(handle),
                                       HttpConnection::Settings{.number = number,
                                                                .is_over_unix_socket = !is_tcp,
                                                                .limits = limits_,
                                                                .buffer = buffer_,
                                                                .tls = is_by_tls ? tls_ : nullptr});
  if (is_welcome) {
    connection->serve();
  } else {
    connection->turn_away();
  }
}

void HttpServer::on_request(HttpConnection& connection, const HttpRequest& request) {
  listener_.on_request(request, HttpReply(*this, connection.request()));
}

// Neither destroys a connection within its own function, nor tells the listener within a call of
// its own.
void HttpServer::on_closed(HttpConnection& connection) {
  closed_.push_back(connection.number());
  farewell_.arm({});
}

void HttpServer::say_farewell() {
  for (const uint32_t number : std::exchange(closed_, {})) {
    const auto node = connections_.extract(number);
    const HttpConnection& connection = *node.mapped();
    if (connection.is_awaited()) listener_.on_gone(HttpReply(*this, connection.request()));
  }
}

bool HttpServer::has_time() {
  const Instant now = Loop::now();
  if (time_is_up_ == kNever) {
    time_is_up_ = now + kTimePerTurn;
    next_turn_.arm({});
  }
  return now < time_is_up_;
}

// Nobody goes before what is held, which has a time of its own.
bool HttpServer::has_time_for_tls() {
  if (tls_until_) return Loop::now() < *tls_until_;
  return held_.empty() && has_time() && Loop::now() < time_is_up_ - kTimePerTurn + kTlsPerTurn;
}

bool HttpReply::is_open() const { return server_->find(request_) != nullptr; }

void HttpReply::send(HttpResponse response) const {
  if (auto* connection = server_->find(request_)) connection->respond(response);
}

void HttpReply::begin_stream(std::string_view content_type) const {
  if (auto* connection = server_->find(request_)) {
    connection->begin_stream(content_type);
  }
}

bool HttpReply::write(std::string_view piece) const {
  auto* connection = server_->find(request_);
  return connection != nullptr && connection->write(piece);
}

void HttpReply::end_stream() const {
  if (auto* connection = server_->find(request_)) connection->end_stream();
}

}  // namespace bellwether::io
