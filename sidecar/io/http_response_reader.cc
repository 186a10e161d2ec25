// Boost.Beast's parser for responses, fed by hand.  The only file of the client that includes
// Beast.
#include "io/http_response_reader.hh"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>

namespace bellwether {
namespace {

namespace http = boost::beast::http;
using BeastText = boost::beast::string_view;
using boost::beast::error_code;

// Of a body in chunks: "0", an empty line and another.  Beast relies on so many bytes there.
constexpr size_t kSmallestEndBytes = 5;

constexpr int kMaxInterimResponses = 8;

std::string_view view(BeastText text) { return {text.data(), text.size()}; }

}  // namespace

class HttpResponseReader::Parser : public http::basic_parser<false> {
 public:
  explicit Parser(HttpResponseReader& reader) : reader_(&reader) {
    header_limit(static_cast<uint32_t>(kMaxHeadBytes));
    body_limit(std::numeric_limits<uint64_t>::max());  // take() has the limit
    skip(reader.is_head_);
  }

 private:
  void on_request_impl(http::verb /*verb*/, BeastText /*method*/, BeastText /*target*/,
                       int /*version*/, error_code& /*error*/) override {}
  void on_response_impl(int status, BeastText /*reason*/, int /*version*/,
                        error_code& /*error*/) override {
    reader_->answer_.status = static_cast<unsigned>(status);
  }
  void on_field_impl(http::field /*field*/, BeastText name, BeastText value,
                     error_code& /*error*/) override {
    if (!is_header_done()) reader_->answer_.headers.emplace_back(view(name), view(value));
  }
  void on_header_impl(error_code& /*error*/) override {}
  void on_body_init_impl(const boost::optional<uint64_t>& /*length*/,
                         error_code& /*error*/) override {}
  size_t on_body_impl(BeastText piece, error_code& /*error*/) override { return take(piece); }
  void on_chunk_header_impl(uint64_t /*size*/, BeastText /*extensions*/,
                            error_code& /*error*/) override {}
  size_t on_chunk_body_impl(uint64_t /*left*/, BeastText piece, error_code& /*error*/) override {
    return take(piece);
  }
  void on_finish_impl(error_code& /*error*/) override {}

  size_t take(BeastText piece) {
    HttpAnswer& answer = reader_->answer_;
    const size_t room = kMaxBodyBytes - answer.body.size();
    answer.is_body_cut = piece.size() > room;
    answer.body.append(view(piece).substr(0, room));
    return piece.size();
  }

  HttpResponseReader* reader_;
};

HttpResponseReader::HttpResponseReader(bool is_head)
    : is_head_(is_head), parser_(std::make_unique<Parser>(*this)) {}

HttpResponseReader::~HttpResponseReader() = default;

HttpResponseReader::Result HttpResponseReader::append(std::string_view bytes) {
  bytes_ += bytes;
  size_t position = 0;
  while (true) {
    if (parser_->is_done()) {
      if (answer_.status >= 200) return Result::kComplete;
      if (++interim_responses_ > kMaxInterimResponses) return refuse("has no end");
      begin();
    }
    const std::string_view input = std::string_view(bytes_).substr(position);
    const bool is_in_chunks = parser_->is_header_done() && parser_->chunked();
    if (input.size() < (is_in_chunks ? kSmallestEndBytes : 1)) break;
    const bool was_in_head = !parser_->is_header_done();
    error_code error;
    const size_t used = parser_->put({input.data(), input.size()}, error);
    position += used;
    if (answer_.is_body_cut) return Result::kComplete;
    const bool is_waiting = error == http::error::need_more;
    if (was_in_head) head_bytes_ += used;
    const size_t held = is_waiting ? input.size() - used : 0;
    if (error == http::error::header_limit || head_bytes_ + held > kMaxHeadBytes) {
      return refuse("has too large a header");
    }
    if (error && !is_waiting) return refuse("is no HTTP");
    if (is_waiting) break;
  }
  bytes_.erase(0, position);
  return Result::kMoreNeeded;
}

HttpResponseReader::Result HttpResponseReader::end() {
  if (!parser_->got_some()) return refuse("is missing: the connection was closed");
  error_code error;
  parser_->put_eof(error);
  return error ? refuse("ended too early") : Result::kComplete;
}

void HttpResponseReader::begin() {
  *parser_ = Parser(*this);
  answer_ = {};
}

HttpResponseReader::Result HttpResponseReader::refuse(const char* flaw) {
  flaw_ = flaw;
  return Result::kRefused;
}

}  // namespace bellwether
