// Targets and their percent signs.
#include "io/http/http_target.hh"

#include <algorithm>
#include <array>
#include <charconv>

namespace bellwether {
namespace {

constexpr std::string_view kScheme = "http://";

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

}  // namespace

const char* read_target(std::string_view target, HttpRequest& request) {
  if (!std::all_of(target.begin(), target.end(), is_visible)) {
    return "the target has characters that must be percent-encoded";
  }
  if (target == "*" && request.method == "OPTIONS") {
    request.path = target;
    return nullptr;
  }
  if (equals_ignoring_case(target.substr(0, kScheme.size()), kScheme)) {
    target.remove_prefix(kScheme.size());
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
  if (!percent_decode(path.empty() ? "/" : path, request.path)) {
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
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain) {
      result.push_back(c);
    } else {
      const auto byte = static_cast<uint8_t>(c);
      result += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return result;
}

}  // namespace bellwether
