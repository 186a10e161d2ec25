// Taking URLs and targets apart.
#include "io/http/http_url.hh"

#include <algorithm>
#include <charconv>

#include "base/ascii.hh"
#include "base/host_port.hh"

namespace bellwether::io {
namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";
constexpr std::string_view kUnix = "http+unix://";

uint16_t default_port(bool is_https) { return is_https ? 443 : 80; }

bool is_control(char c) { return (c >= 0 && c < ' ') || c == 0x7F; }

// As URLs ask for; what is beyond ASCII has to be percent-encoded.
bool is_visible(char c) { return c > ' ' && c < 0x7F; }

// `text` goes as name=value&name=value.
bool read_query(std::string_view text, std::map<std::string, std::string>& query) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    std::string key;
    std::string value;
    if (!percent_decode(pair.substr(0, equals), key)) return false;
    if (!percent_decode(pair.substr(std::min(equals + 1, pair.size())), value)) return false;
    query.try_emplace(std::move(key), std::move(value));
  }
  return true;
}

std::string read_socket_path(std::string_view text, HttpUrl& url) {
  url.host = "localhost";
  if (!percent_decode(text, url.socket_path) || !url.socket_path.starts_with('/')) {
    return "lacks a percent-encoded absolute path of a socket (http+unix://%2Frun%2Fname.sock/)";
  }
  return "";
}

std::string read_host(std::string_view text, HttpUrl& url) {
  if (text.find('@') != std::string_view::npos) return "has a user name, which is not supported";
  const size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  const bool has_port = text.find(':', std::min(bracket, text.size())) != std::string_view::npos;
  HostPort address;
  const std::string complete =
      std::string(text) + (has_port ? "" : ":" + std::to_string(default_port(url.is_https)));
  if (std::string flaw = parse_host_port(complete, address); !flaw.empty()) return flaw;
  url.host = address.host;
  url.port = address.port;
  return "";
}

// A slash that is part of a name does not divide the path.
bool decode_path(std::string_view path, std::string& result) {
  std::string decoded;
  if (!percent_decode(path, decoded)) return false;
  result.clear();
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      result += path[i];
      continue;
    }
    percent_decode(path.substr(i, 3), decoded);
    result += decoded == "/" || decoded == "%" ? percent_encode(decoded) : decoded;
    i += 2;
  }
  return true;
}

}  // namespace

const char* read_target(std::string_view target, HttpRequest& request) {
  if (!std::all_of(target.begin(), target.end(), is_visible)) {
    return "the target has characters that must be percent-encoded";
  }
  if (target == "*" && request.method == "OPTIONS") {
    request.path = target;
    return nullptr;
  }
  if (equals_ignoring_case(target.substr(0, kHttp.size()), kHttp)) {
    target.remove_prefix(kHttp.size());
    const std::string_view host = target.substr(0, target.find_first_of("/?"));
    const std::string* header = request.header("Host");
    if (header == nullptr || !equals_ignoring_case(*header, host)) {
      return "the target and the Host header name different hosts";
    }
    target.remove_prefix(host.size());
  } else if (!target.starts_with('/')) {
    return "the target is not a path";
  }
  const size_t question = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, question);
  if (target.find('#') != std::string_view::npos) return "the target has a fragment";
  if (!decode_path(path.empty() ? "/" : path, request.path)) {
    return "the path is badly percent-encoded";
  }
  target.remove_prefix(std::min(question + 1, target.size()));
  return read_query(target, request.query) ? nullptr : "the query is badly percent-encoded";
}

bool percent_decode(std::string_view text, std::string& result) {
  result.clear();
  while (!text.empty()) {
    char c = text.front();
    text.remove_prefix(1);
    if (c == '%') {
      if (text.size() < 2) return false;
      uint8_t byte = 0;
      const char* end = text.data() + 2;
      if (std::from_chars(text.data(), end, byte, 16).ptr != end) return false;
      c = static_cast<char>(byte);
      text.remove_prefix(2);
    }
    if (is_control(c)) return false;
    result.push_back(c);
  }
  return true;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    if (is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      result.push_back(c);
    } else {
      const auto byte = static_cast<uint8_t>(c);
      result += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return result;
}

std::string HttpUrl::host_header() const {
  if (!socket_path.empty()) return host;
  std::string text = HostPort{host, port}.text();
  if (port == default_port(is_https)) text.resize(text.rfind(':'));
  return text;
}

std::string parse_http_url(std::string_view text, HttpUrl& url) {
  url = {};
  if (!std::all_of(text.begin(), text.end(), is_visible)) {
    return "has characters that must be percent-encoded";
  }
  url.is_https = text.starts_with(kHttps);
  const bool is_unix = text.starts_with(kUnix);
  if (!is_unix && !url.is_https && !text.starts_with(kHttp)) {
    return "does not start with http:// or https://";
  }
  if (text.find('#') != std::string_view::npos) return "has a fragment";
  text.remove_prefix((is_unix ? kUnix : url.is_https ? kHttps : kHttp).size());
  const size_t end = std::min(text.find_first_of("/?"), text.size());
  const std::string_view host = text.substr(0, end);
  url.target = text.substr(end);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  return is_unix ? read_socket_path(host, url) : read_host(host, url);
}

}  // namespace bellwether::io
