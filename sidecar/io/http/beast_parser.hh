// Boost.Beast's parser, as both readers use it: fed by hand, and told only what they want to know.
// The only file that includes Beast, which takes long to compile; so it is included by them alone.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bellwether::io {

namespace http = boost::beast::http;

// Files what Beast finds; a reader says where.
template <bool kIsRequest>
class BeastParser : public http::basic_parser<kIsRequest> {
 public:
  // Whether so many bytes are enough to go on with.  Within a body in chunks Beast relies on those
  // of its smallest end: "0", an empty line and another.
  bool can_read(size_t bytes) const {
    constexpr size_t kSmallestEndBytes = 5;
    const bool is_in_chunks = this->is_header_done() && this->chunked();
    return bytes >= (is_in_chunks ? kSmallestEndBytes : 1);
  }

 protected:
  using BeastText = boost::beast::string_view;
  using ErrorCode = boost::beast::error_code;

  static std::string_view view(BeastText text) { return {text.data(), text.size()}; }

  virtual void take_header(std::string_view name, std::string_view value) = 0;
  virtual void take_body(std::string_view piece) = 0;

  void on_request_impl(http::verb /*verb*/, BeastText /*method*/, BeastText /*target*/,
                       int /*version*/, ErrorCode& /*error*/) override {}
  void on_response_impl(int /*status*/, BeastText /*reason*/, int /*version*/,
                        ErrorCode& /*error*/) override {}

 private:
  // What comes after a chunked body is dropped: nobody asks for it, and it must not pass for a
  // header.
  void on_field_impl(http::field /*field*/, BeastText name, BeastText value,
                     ErrorCode& /*error*/) final {
    if (!this->is_header_done()) take_header(view(name), view(value));
  }
  void on_header_impl(ErrorCode& /*error*/) final {}
  void on_body_init_impl(const boost::optional<uint64_t>& /*length*/, ErrorCode& /*error*/) final {}
  size_t on_body_impl(BeastText piece, ErrorCode& /*error*/) final {
    take_body(view(piece));
    return piece.size();
  }
  void on_chunk_header_impl(uint64_t /*size*/, BeastText /*extensions*/,
                            ErrorCode& /*error*/) final {}
  size_t on_chunk_body_impl(uint64_t /*left*/, BeastText piece, ErrorCode& /*error*/) final {
    take_body(view(piece));
    return piece.size();
  }
  void on_finish_impl(ErrorCode& /*error*/) final {}
};

}  // namespace bellwether::io
