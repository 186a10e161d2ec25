// Names of headers, and what the numbers mean.
#include "io/http/http_message.hh"

#include <algorithm>
#include <iterator>

#include "base/ascii.hh"

namespace bellwether::io {
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

const std::string* find_header(const HttpHeaders& headers, std::string_view name) {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const auto& header) {
    return equals_ignoring_case(header.first, name);
  });
  return found == headers.end() ? nullptr : &found->second;
}

const char* reason_phrase(unsigned status) {
  static constexpr std::pair<unsigned, const char*> kPhrases[] = {
      {200, "OK"},
      {202, "Accepted"},
      {204, "No Content"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {412, "Precondition Failed"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {421, "Misdirected Request"},
      {422, "Unprocessable Content"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
  };
  const auto* phrase =
      std::ranges::find(kPhrases, status, &std::pair<unsigned, const char*>::first);
  return phrase == std::end(kPhrases) ? "" : phrase->second;
}

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

}  // namespace bellwether::io
