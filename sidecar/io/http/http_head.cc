// Writing a status line and headers.
#include "io/http/http_head.hh"

namespace bellwether {
namespace {

constexpr size_t kUsualBytes = 256;

void append_safely(std::string_view text, std::string& out) {
  for (const char c : text) {
    const bool is_control = (c >= 0 && c < ' ') || c == 0x7F;
    out.push_back(is_control ? ' ' : c);
  }
}

void append_header(std::string_view name, std::string_view value, std::string& out) {
  append_safely(name, out);
  out += ": ";
  append_safely(value, out);
  out += "\r\n";
}

}  // namespace

bool may_have_body(unsigned status) { return status >= 200 && status != 204 && status != 304; }

std::string to_bytes(const HttpHead& head, const HttpHeaders& headers) {
  std::string out;
  out.reserve(kUsualBytes);
  out += "HTTP/1.1 " + std::to_string(head.status) + " ";
  out += reason_phrase(head.status);
  out += "\r\n";
  if (!head.content_type.empty()) append_header("Content-Type", head.content_type, out);
  if (head.content_length) {
    append_header("Content-Length", std::to_string(*head.content_length), out);
  }
  if (head.is_chunked) append_header("Transfer-Encoding", "chunked", out);
  append_header("Cache-Control", "no-store", out);
  append_header("X-Content-Type-Options", "nosniff", out);
  append_header("Connection", head.is_kept_alive ? "keep-alive" : "close", out);
  for (const auto& [name, value] : headers) append_header(name, value, out);
  out += "\r\n";
  return out;
}

}  // namespace bellwether
