// A request's way: addresses, a connection to one of them, the bytes, the answer.  Whatever ends it
// ends in on_due(), from where nothing of it is running any more.
#include "io/http/http_client.hh"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <utility>

#include "base/check.hh"
#include "base/host_port.hh"

namespace bellwether {
namespace {

// More than one host has; a look-up that finds more is cut.
constexpr size_t kMaxAddresses = 8;

template <typename Address>
Address& as(sockaddr_storage& storage) {
  return reinterpret_cast<Address&>(storage);
}

sockaddr_storage ipv6_address(const in6_addr& bytes) {
  sockaddr_storage storage{};
  as<sockaddr_in6>(storage).sin6_family = AF_INET6;
  as<sockaddr_in6>(storage).sin6_addr = bytes;
  return storage;
}

sockaddr_storage ipv4_address(const in_addr& bytes) {
  sockaddr_storage storage{};
  as<sockaddr_in>(storage).sin_family = AF_INET;
  as<sockaddr_in>(storage).sin_addr = bytes;
  return storage;
}

// Those that are known without asking; empty for a name.
std::vector<sockaddr_storage> known_addresses(const std::string& host) {
  if (host == "localhost") {
    return {ipv6_address(in6addr_loopback), ipv4_address({.s_addr = htonl(INADDR_LOOPBACK)})};
  }
  in_addr ipv4{};
  if (::inet_pton(AF_INET, host.c_str(), &ipv4) == 1) return {ipv4_address(ipv4)};
  in6_addr ipv6{};
  if (::inet_pton(AF_INET6, host.c_str(), &ipv6) == 1) return {ipv6_address(ipv6)};
  return {};
}

std::string head_of(const HttpClientRequest& request, const HttpUrl& url) {
  std::string head = request.method + " " + url.target + " HTTP/1.1\r\nHost: " + url.host_header() +
                     "\r\nConnection: close\r\n";
  if (!request.body.empty() || request.method == "POST") {
    head += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  for (const auto& [name, value] : request.headers) head += name + ": " + value + "\r\n";
  return head + "\r\n";
}

}  // namespace

HttpClient::HttpClient(Loop& loop, AddressLookup& lookup)
    : loop_(loop), lookup_(lookup), timer_(loop, [this] { on_due(); }) {}

HttpClient::~HttpClient() = default;

void HttpClient::send(const HttpClientRequest& request, Done done) {
  check(!is_busy() && done != nullptr, "a client has one request at a time");
  done_ = std::move(done);
  deadline_ = Loop::now() + request.timeout;
  timer_.arm(request.timeout);
  if (const std::string flaw = parse_http_url(request.url, url_); !flaw.empty()) {
    return fail("the address " + flaw);
  }
  head_ = head_of(request, url_);
  body_ = request.body;
  reader_.emplace(request.method == "HEAD");
  if (url_.socket_path.empty()) {
    find_addresses();
  } else {
    connect_to_socket();
  }
}

void HttpClient::on_bytes(std::string_view bytes) {
  if (result_) return;
  const HttpResponseReader::Result result = reader_->append(bytes);
  if (result == HttpResponseReader::Result::kComplete) {
    finish({.answer = std::move(reader_->answer())});
  } else if (result == HttpResponseReader::Result::kRefused) {
    fail("the answer of " + server() + " " + reader_->flaw());
  }
}

void HttpClient::on_end(int status) {
  if (result_) return;
  if (status != UV_EOF) {
    fail("the connection to " + server() + " broke: " + uv_strerror(status));
  } else if (reader_->end() == HttpResponseReader::Result::kComplete) {
    finish({.answer = std::move(reader_->answer())});
  } else {
    fail("the answer of " + server() + " " + reader_->flaw());
  }
}

void HttpClient::find_addresses() {
  std::vector<sockaddr_storage> known = known_addresses(url_.host);
  if (!known.empty()) return on_addresses(std::move(known), "");
  lookup_token_ = std::make_shared<HttpClient*>(this);
  lookup_.look_up(url_.host,
                  [token = std::weak_ptr(lookup_token_)](std::vector<sockaddr_storage> addresses,
                                                         const std::string& error) {
                    const auto client = token.lock();
                    if (client == nullptr) return;
                    (*client)->lookup_token_.reset();
                    (*client)->on_addresses(std::move(addresses), error);
                  });
}

void HttpClient::on_addresses(std::vector<sockaddr_storage> addresses, const std::string& error) {
  if (result_) return;
  if (addresses.empty()) return fail("cannot look up " + url_.host + ": " + error);
  addresses.resize(std::min(addresses.size(), kMaxAddresses));
  addresses_.assign(addresses.rbegin(), addresses.rend());
  try_next_address();
}

// Each address has its share of the time that is left, so that one that does not answer does not
// take it from the others.
void HttpClient::try_next_address() {
  connecting_ = {};
  if (addresses_.empty()) return fail(failure_);
  const auto left = static_cast<Duration::rep>(addresses_.size());
  timer_.arm((deadline_ - Loop::now()) / left);
  const sockaddr_storage address = addresses_.back();
  addresses_.pop_back();
  connect_to_address(address);
}

void HttpClient::connect_to_address(const sockaddr_storage& address) {
  sockaddr_storage complete = address;
  if (complete.ss_family == AF_INET6) {
    as<sockaddr_in6>(complete).sin6_port = htons(url_.port);
  } else {
    as<sockaddr_in>(complete).sin_port = htons(url_.port);
  }
  auto socket = make_handle<uv_tcp_t>(
      this, [&](uv_tcp_t* handle) { return uv_tcp_init(loop_.uv(), handle); });
  auto request = std::make_unique<uv_connect_t>();
  const int status = uv_tcp_connect(request.get(), socket.get(), &as<const sockaddr>(complete),
                                    &HttpClient::on_connect_ended);
  connecting_ = std::move(socket);
  if (status < 0) return on_connected(status);
  request.release();  // NOLINT(bugprone-unused-return-value): on_connect_ended() frees it.
}

void HttpClient::connect_to_socket() {
  auto socket = make_handle<uv_pipe_t>(
      this, [&](uv_pipe_t* handle) { return uv_pipe_init(loop_.uv(), handle, 0); });
  auto* request = std::make_unique<uv_connect_t>().release();  // on_connect_ended() frees it
  uv_pipe_connect(request, socket.get(), url_.socket_path.c_str(), &HttpClient::on_connect_ended);
  connecting_ = std::move(socket);
}

void HttpClient::on_connect_ended(uv_connect_t* ended, int status) {
  const std::unique_ptr<uv_connect_t> request(ended);
  auto* self = static_cast<HttpClient*>(request->handle->data);
  if (self != nullptr) self->on_connected(status);
}

void HttpClient::on_connected(int status) {
  if (result_) return;
  if (status < 0) {
    failure_ = "cannot connect to " + server() + ": " + uv_strerror(status);
    return try_next_address();
  }
  addresses_.clear();
  timer_.arm(deadline_ - Loop::now());
  stream_.emplace(static_cast<ByteStream::Owner&>(*this), std::move(connecting_), buffer_);
  // Where this fails, reading tells why; the server may have answered already.
  stream_->write(std::array<std::string_view, 2>{head_, body_});
  stream_->start_reading();
}

void HttpClient::on_due() {
  if (!result_ && !addresses_.empty()) {
    failure_ = "cannot connect to " + server() + " in time";
    return try_next_address();
  }
  HttpClientResult result =
      result_
          ? *std::exchange(result_, {})
          : HttpClientResult{.error = "no answer of " + server() + " in time", .is_timeout = true};
  lookup_token_.reset();
  addresses_.clear();
  connecting_ = {};
  stream_.reset();
  const Done done = std::exchange(done_, nullptr);
  done(std::move(result));
}

void HttpClient::finish(HttpClientResult result) {
  result_ = std::move(result);
  timer_.arm({});
}

std::string HttpClient::server() const {
  if (!url_.socket_path.empty()) return "socket " + url_.socket_path;
  return HostPort{url_.host, url_.port}.text();
}

}  // namespace bellwether
