// Boost.Beast reads the answers; bytes come and go over ApiConnection.  Apart from its users
// because the library takes seconds to compile.
#include "cli/api_client.hh"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <limits>
#include <utility>

#include "base/duration_text.hh"
#include "cli/api_connection.hh"

namespace bellwether::cli {
namespace {

namespace http = boost::beast::http;

constexpr uint64_t kMaxAnswerBytes = uint64_t{16} << 20;
// Beast 1.74 takes "no limit" for a limit of none at all.
constexpr uint64_t kEndless = std::numeric_limits<uint64_t>::max();
constexpr unsigned kOk = 200;

Deadline in(std::chrono::milliseconds duration) {
  return std::chrono::steady_clock::now() + duration;
}

// All that one answer may take.
struct Patience {
  explicit Patience(std::chrono::milliseconds all) : duration(all), end(in(all)) {}

  std::chrono::milliseconds duration;
  Deadline end;
};

std::string request_text(const ApiAddress& address, const char* method, const std::string& target,
                         const std::string& more) {
  // What comes over the socket needs no name, but HTTP wants one.
  const std::string host = address.socket.empty() ? address.text() : "bellwether";
  return std::string(method) + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + more;
}

// One answer, read as it comes.
class AnswerReader {
 public:
  explicit AnswerReader(uint64_t body_limit) {
    parser_.body_limit(body_limit);
    parser_.eager(true);
  }

  // False when this is no HTTP.
  bool put(const std::string& bytes) {
    waiting_ += bytes;
    boost::beast::error_code error;
    while (!waiting_.empty() && !parser_.is_done()) {
      const size_t used = parser_.put(boost::asio::buffer(waiting_), error);
      waiting_.erase(0, used);
      if (error == http::error::need_more) return true;
      if (error) return false;
    }
    return true;
  }

  // The connection has been closed.  False when the answer is cut off.
  bool put_end() {
    boost::beast::error_code error;
    parser_.put_eof(error);
    return !error && parser_.is_done();
  }

  bool has_header() const { return parser_.is_header_done(); }
  bool is_done() const { return parser_.is_done(); }
  unsigned status() const { return parser_.get().result_int(); }
  // What has come of the body since the last time.
  std::string take_body() { return std::exchange(parser_.get().body(), ""); }

 private:
  http::response_parser<http::string_body> parser_;
  std::string waiting_;  // what the parser wants to see again, with more
};

constexpr const char* kNotHttp = "what it says is no HTTP";
constexpr const char* kCutOff = "it closed the connection";

// Reads on; false when the sidecar has closed the connection, and all of the answer has come.
bool read_more(ApiConnection& connection, AnswerReader& reader, const Patience& patience) {
  const auto bytes = connection.receive(patience.end);
  if (!bytes) connection.fail("nothing came within " + duration_text(patience.duration));
  if (bytes->empty()) {
    if (!reader.put_end()) connection.fail(kCutOff);
    return false;
  }
  if (!reader.put(*bytes)) connection.fail(kNotHttp);
  return true;
}

ApiAnswer read_answer(ApiConnection& connection, AnswerReader& reader, const Patience& patience) {
  while (!reader.is_done() && read_more(connection, reader, patience)) continue;
  return {.status = reader.status(), .body = reader.take_body()};
}

}  // namespace

ApiClient::ApiClient(ApiAddress address, int interrupt_fd, std::chrono::milliseconds patience)
    : address_(std::move(address)), interrupt_fd_(interrupt_fd), patience_(patience) {}

ApiAnswer ApiClient::get(const std::string& target) const {
  return exchange(request_text(address_, "GET", target, "Connection: close\r\n\r\n"));
}

ApiAnswer ApiClient::post(const std::string& target, const std::string& body) const {
  return exchange(request_text(address_, "POST", target,
                               "Connection: close\r\nContent-Type: application/json\r\n"
                               "Content-Length: " +
                                   std::to_string(body.size()) + "\r\n\r\n" + body));
}

ApiAnswer ApiClient::exchange(const std::string& request) const {
  const Patience patience(patience_);
  ApiConnection connection(address_, interrupt_fd_, patience.end);
  connection.send(request, patience.end);
  AnswerReader reader(kMaxAnswerBytes);
  return read_answer(connection, reader, patience);
}

void ApiClient::pause(std::chrono::milliseconds duration) const {
  wait_for(-1, 0, in(duration), interrupt_fd_);
}

// The body is taken out of the parser as it comes, so it has no limit, but one event has.
class ApiEvents::Stream {
 public:
  Stream(const ApiClient& client, const std::string& last_id)
      : connection_(client.address(), client.interrupt_fd(), in(client.patience())),
        reader_(kEndless) {
    const Patience patience(client.patience());
    const std::string last = last_id.empty() ? "" : "Last-Event-ID: " + last_id + "\r\n";
    connection_.send(request_text(client.address(), "GET", "/v1/events",
                                  "Accept: text/event-stream\r\n" + last + "\r\n"),
                     patience.end);
    while (!reader_.has_header() && read_more(connection_, reader_, patience)) continue;
    if (reader_.status() != kOk) refusal_ = read_answer(connection_, reader_, patience);
  }

  const ApiAnswer* refusal() const { return refusal_ ? &*refusal_ : nullptr; }

  std::optional<ApiEvent> next(std::chrono::milliseconds wait) {
    const Deadline deadline = in(wait);
    while (true) {
      text_ += reader_.take_body();
      if (auto event = take_event()) return event;
      if (text_.size() > kMaxAnswerBytes) connection_.fail("its event has no end");
      const auto bytes = connection_.receive(deadline);
      if (!bytes) return std::nullopt;
      if (bytes->empty() || reader_.is_done()) connection_.fail(kCutOff);
      if (!reader_.put(*bytes)) connection_.fail(kNotHttp);
    }
  }

 private:
  // Comments and what else has no data are skipped.
  std::optional<ApiEvent> take_event() {
    constexpr std::string_view kEnd = "\n\n";
    for (size_t end = 0; (end = text_.find(kEnd)) != std::string::npos;) {
      const std::string block = text_.substr(0, end + 1);
      text_.erase(0, end + kEnd.size());
      ApiEvent event{.id = field(block, "id: "), .data = field(block, "data: ")};
      if (!event.data.empty()) return event;
    }
    return std::nullopt;
  }

  static std::string field(const std::string& block, std::string_view name) {
    for (size_t begin = 0; begin < block.size();) {
      const size_t end = block.find('\n', begin);
      const std::string_view line(block.data() + begin, end - begin);
      if (line.starts_with(name)) return std::string(line.substr(name.size()));
      begin = end + 1;
    }
    return "";
  }

  ApiConnection connection_;
  AnswerReader reader_;
  std::optional<ApiAnswer> refusal_;
  std::string text_;  // what has come and is no whole event yet
};

ApiEvents::ApiEvents(const ApiClient& client, const std::string& last_id)
    : stream_(std::make_unique<Stream>(client, last_id)) {}

ApiEvents::~ApiEvents() = default;

const ApiAnswer* ApiEvents::refusal() const { return stream_->refusal(); }

std::optional<ApiEvent> ApiEvents::next(std::chrono::milliseconds wait) {
  return stream_->next(wait);
}

}  // namespace bellwether::cli
