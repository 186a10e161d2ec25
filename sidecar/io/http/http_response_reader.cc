// What Boost.Beast makes of a response, within bounds.
#include "io/http/http_response_reader.hh"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <limits>

#include "io/http/beast_parser.hh"

namespace bellwether::io {
namespace {

constexpr int kMaxInterimResponses = 8;

// --- Retry-After, in both forms of RFC 9110, section 10.2.3 ---

// Longer than any that is honoured, and far from overflow.
constexpr int64_t kMostSeconds = 1'000'000;

std::optional<Duration> read_seconds(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return {};
  int64_t seconds = kMostSeconds;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return std::chrono::seconds(std::min(seconds, kMostSeconds));
}

// Sun, 06 Nov 1994 08:49:37 GMT
std::optional<Duration> read_date(const std::string& text, WallTime now) {
  std::tm date{};
  const char* end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (end == nullptr || *end != '\0') return {};
  const int64_t seconds = ::timegm(&date) - std::chrono::system_clock::to_time_t(now);
  return std::chrono::seconds(std::clamp<int64_t>(seconds, 0, kMostSeconds));
}

}  // namespace

class HttpResponseReader::Parser : public BeastParser<false> {
 public:
  explicit Parser(HttpResponseReader& reader) : reader_(&reader) {
    header_limit(static_cast<uint32_t>(kMaxHeadBytes));
    body_limit(std::numeric_limits<uint64_t>::max());  // take_body() has the limit
    skip(reader.is_head_);
  }

 private:
  void on_response_impl(int status, BeastText /*reason*/, int /*version*/,
                        ErrorCode& error) override {
    reader_->answer_.status = static_cast<unsigned>(status);
    if (status < 100) error = http::error::bad_status;
  }
  void take_header(std::string_view name, std::string_view value) override {
    reader_->answer_.headers.emplace_back(name, value);
  }
  void take_body(std::string_view piece) override {
    HttpAnswer& answer = reader_->answer_;
    const size_t room = reader_->max_body_bytes_ - answer.body.size();
    answer.is_body_cut = piece.size() > room;
    answer.body.append(piece.substr(0, room));
  }

  HttpResponseReader* reader_;
};

HttpResponseReader::HttpResponseReader(bool is_head, size_t max_body_bytes)
    : is_head_(is_head),
      max_body_bytes_(max_body_bytes),
      parser_(std::make_unique<Parser>(*this)) {}

HttpResponseReader::~HttpResponseReader() = default;

HttpResponseReader::Result HttpResponseReader::append(std::string_view bytes) {
  bytes_ += bytes;
  size_t position = 0;
  while (true) {
    if (parser_->is_done()) {
      is_all_read_ = position == bytes_.size();
      if (answer_.status >= 200) return Result::kComplete;
      if (++interim_responses_ > kMaxInterimResponses) return refuse("has no end");
      begin();
    }
    const std::string_view input = std::string_view(bytes_).substr(position);
    if (!parser_->can_read(input.size())) break;
    const bool was_in_head = !parser_->is_header_done();
    const size_t body_bytes = answer_.body.size();
    boost::beast::error_code error;
    const size_t used = parser_->put({input.data(), input.size()}, error);
    position += used;
    if (answer_.is_body_cut) return Result::kComplete;
    const bool is_waiting = error == http::error::need_more;
    // Around a body's chunks are lines, and a trailer: each has the same bound as all headers have.
    size_t line_bytes = used - (answer_.body.size() - body_bytes);
    if (was_in_head) line_bytes = head_bytes_ += used;
    if (is_waiting) line_bytes += input.size() - used;
    if (error == http::error::header_limit || line_bytes > kMaxHeadBytes) {
      return refuse("has too large a header");
    }
    if (error && !is_waiting) return refuse("is not HTTP");
    if (is_waiting) break;
  }
  bytes_.erase(0, position);
  return Result::kMoreNeeded;
}

HttpResponseReader::Result HttpResponseReader::end(bool is_cut) {
  if (!parser_->got_some()) return refuse("is missing: the connection was closed");
  if (is_cut) return refuse("was cut off: TLS did not end before the connection");
  boost::beast::error_code error;
  parser_->put_eof(error);
  return error ? refuse("ended too early") : Result::kComplete;
}

bool HttpResponseReader::has_head() const { return parser_->is_header_done(); }

bool HttpResponseReader::leaves_connection() const {
  return parser_->is_done() && parser_->keep_alive() && is_all_read_ && !answer_.is_body_cut;
}

void HttpResponseReader::begin() {
  *parser_ = Parser(*this);
  answer_ = {};
}

HttpResponseReader::Result HttpResponseReader::refuse(const char* flaw) {
  flaw_ = flaw;
  return Result::kRefused;
}

std::optional<Duration> retry_after(const HttpAnswer& answer, WallTime now) {
  const std::string* text = answer.header("Retry-After");
  if (text == nullptr) return {};
  const std::optional<Duration> seconds = read_seconds(*text);
  return seconds ? seconds : read_date(*text, now);
}

}  // namespace bellwether::io
