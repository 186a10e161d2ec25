// Names of headers, and what the numbers mean.
#include "io/http/http_message.hh"

#include <algorithm>

namespace bellwether {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

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

bool equals_ignoring_case(std::string_view one, std::string_view other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

const char* reason_phrase(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "";
  }
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

}  // namespace bellwether
