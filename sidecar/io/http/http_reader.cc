// What Boost.Beast makes of a request, and the rules that it leaves to its caller.
#include "io/http/http_reader.hh"

#include <algorithm>
#include <limits>

#include "base/ascii.hh"
#include "io/http/beast_parser.hh"
#include "io/http/http_url.hh"

namespace bellwether::io {
namespace {

using boost::beast::error_code;

HttpRefusal refusal_for(const error_code& error) {
  if (error == http::error::body_limit) {
    return {.status = 413, .reason = "the body is too large", .limit = Limit::kHttpBody};
  }
  if (error == http::error::header_limit) {
    return {.status = 431, .reason = "the header is too large", .limit = Limit::kHttpHeader};
  }
  if (error == http::error::bad_version) return {.reason = "only HTTP/1.0 and 1.1 are spoken here"};
  return {.reason = "the request is malformed"};
}

size_t count(const HttpHeaders& headers, std::string_view name) {
  const auto is_it = [&](const auto& header) { return equals_ignoring_case(header.first, name); };
  return static_cast<size_t>(std::count_if(headers.begin(), headers.end(), is_it));
}

// A line that begins with white space continues the one before it (obsolete, RFC 9112 5.2).
bool has_folded_line(std::string_view head) {
  return head.find("\r\n ") != std::string_view::npos ||
         head.find("\r\n\t") != std::string_view::npos;
}

}  // namespace

class HttpReader::Parser : public BeastParser<true> {
 public:
  explicit Parser(HttpReader& reader) : reader_(&reader) {
    const size_t most = std::numeric_limits<uint32_t>::max();
    header_limit(static_cast<uint32_t>(std::min(reader.limits_.header_bytes, most)));
    body_limit(reader.limits_.body_bytes);
  }

 private:
  void on_request_impl(http::verb /*verb*/, BeastText method, BeastText target, int version,
                       ErrorCode& /*error*/) override {
    reader_->request_.method = view(method);
    reader_->target_ = view(target);
    reader_->framing_.is_http_1_0 = version == 10;
  }
  void take_header(std::string_view name, std::string_view value) override {
    HttpRequest& request = reader_->request_;
    if (!equals_ignoring_case(name, "Authorization")) {
      request.headers.emplace_back(name, value);
    } else if (++reader_->authorizations_ == 1) {
      request.authorization = value;
    }
  }
  void take_body(std::string_view piece) override { reader_->request_.body.append(piece); }

  HttpReader* reader_;
};

HttpReader::HttpReader(const HttpLimits& limits)
    : limits_(limits), parser_(std::make_unique<Parser>(*this)) {}

HttpReader::~HttpReader() = default;

void HttpReader::append(std::string_view bytes) {
  bytes_.erase(0, position_);
  position_ = 0;
  bytes_.append(bytes);
}

HttpReader::Result HttpReader::next() {
  if (refusal_) return Result::kRefused;
  if (is_complete_) begin();
  if (!parser_->got_some() && !skip_empty_lines()) return Result::kMoreNeeded;
  while (!parser_->is_done()) {
    if (!parser_->can_read(waiting_bytes())) return Result::kMoreNeeded;
    const Result result = parse();
    if (result != Result::kRequest) return result;
  }
  is_complete_ = true;
  is_expecting_ = false;
  framing_.is_kept_alive = parser_->keep_alive();
  return Result::kRequest;
}

bool HttpReader::is_within_request() const {
  return !is_complete_ && (parser_->got_some() || waiting_bytes() > 0);
}

bool HttpReader::take_expectation() {
  const bool is_waiting = is_expecting_ && request_.body.empty() && waiting_bytes() == 0;
  is_expecting_ = false;
  return is_waiting;
}

void HttpReader::begin() {
  *parser_ = Parser(*this);
  request_ = {};
  framing_ = {};
  head_bytes_ = 0;
  authorizations_ = 0;
  is_complete_ = false;
}

// Old clients send one after a body; RFC 9112 2.2 asks to overlook it.  False when it is not sure
// yet whether there is another one.
bool HttpReader::skip_empty_lines() {
  while (std::string_view(bytes_).substr(position_).starts_with("\r\n")) position_ += 2;
  return std::string_view(bytes_).substr(position_) != "\r";
}

// One step of the parser; kRequest means that it may go on.
HttpReader::Result HttpReader::parse() {
  const bool was_in_head = !parser_->is_header_done();
  const size_t body_bytes = request_.body.size();
  const std::string_view input = std::string_view(bytes_).substr(position_);
  error_code error;
  const size_t used = parser_->put({input.data(), input.size()}, error);
  position_ += used;
  if (error && error != http::error::need_more) return refuse(refusal_for(error));

  // What is neither body nor read yet is a line without its end.
  const size_t held = error ? waiting_bytes() : 0;
  head_bytes_ += used - (request_.body.size() - body_bytes);
  if (head_bytes_ + held > limits_.header_bytes) {
    return refuse(refusal_for(http::error::header_limit));
  }
  if (was_in_head && has_folded_line(input.substr(0, used))) {
    return refuse({.reason = "a header is folded over lines"});
  }
  if (was_in_head && parser_->is_header_done()) {
    if (const char* flaw = flaw_of_head()) return refuse({.reason = flaw});
    const std::string* expectation = request_.header("Expect");
    is_expecting_ = expectation != nullptr && !framing_.is_http_1_0 &&
                    equals_ignoring_case(*expectation, "100-continue");
  }
  return error ? Result::kMoreNeeded : Result::kRequest;
}

const char* HttpReader::flaw_of_head() {
  const size_t hosts = count(request_.headers, "Host");
  if (hosts > 1) return "there is more than one Host header";
  if (hosts == 0 && !framing_.is_http_1_0) return "there is no Host header";
  if (authorizations_ > 1) return "there is more than one Authorization header";
  if (const char* flaw = flaw_of_framing()) return flaw;
  return read_target(target_, request_);
}

// Where a proxy before us might see another end of the request than we do.  Beast refuses
// Content-Length beside Transfer-Encoding and lengths that differ, but takes an encoding that it
// does not know for none.
const char* HttpReader::flaw_of_framing() const {
  const size_t encodings = count(request_.headers, "Transfer-Encoding");
  const size_t lengths = count(request_.headers, "Content-Length");
  if (encodings > 1 || lengths > 1 || encodings + lengths > 1) {
    return "the length of the body is given more than once";
  }
  if (encodings == 1) {
    if (framing_.is_http_1_0) return "HTTP/1.0 knows no Transfer-Encoding";
    if (!equals_ignoring_case(*request_.header("Transfer-Encoding"), "chunked")) {
      return "the only Transfer-Encoding understood here is chunked";
    }
  }
  if (lengths == 1) {
    const std::string& length = *request_.header("Content-Length");
    if (length.find_first_not_of("0123456789") != std::string::npos) {
      return "the Content-Length is not a number";
    }
  }
  return nullptr;
}

HttpReader::Result HttpReader::refuse(const HttpRefusal& refusal) {
  refusal_ = refusal;
  bytes_.clear();
  position_ = 0;
  return Result::kRefused;
}

}  // namespace bellwether::io
