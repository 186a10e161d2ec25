// The predicates.  Bytes are compared, never locales asked.
#include "config/text_forms.hh"

#include <sys/un.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/ascii.hh"
#include "base/host_port.hh"
#include "io/tls/certificate_names.hh"

namespace bellwether {
namespace {

constexpr size_t kMaxName = 63;
constexpr size_t kMaxUrl = 2048;
constexpr size_t kMaxPath = 4095;
constexpr std::string_view kUnixUrl = "unix:";

bool consists_of(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_alphanumeric(c) || others.find(c) != std::string_view::npos;
  });
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

// How many bytes the UTF-8 character at the start of `text` has; 0 when it is none.  Overlong
// forms, surrogates and what lies above U+10FFFF are none (RFC 3629, section 4).
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool is_overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool is_beyond = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
  return is_overlong || is_beyond ? 0 : length;
}

// What stands behind the scheme of a URL.
HostPort place_of(std::string_view text) {
  std::string host(text.substr(0, text.find_first_of("/?")));
  const size_t after_host = host.starts_with('[') ? host.find(']') : 0;
  if (host.find(':', after_host == std::string::npos ? 0 : after_host) == std::string::npos) {
    host += ":80";
  }
  HostPort place;
  return parse_host_port(host, place).empty() ? place : HostPort{};
}

bool is_dns_label(std::string_view text) {
  const auto is_small = [](char c) { return is_alphanumeric(c) && !(c >= 'A' && c <= 'Z'); };
  return !text.empty() && is_small(text.front()) && is_small(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_small(c) || c == '-'; });
}

}  // namespace

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const auto first = static_cast<uint8_t>(text.front());
    const size_t length = utf8_length(text);
    if (length == 0 || first < 0x20 || first == 0x7F) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName && consists_of(text, "-._") &&
         is_alphanumeric(text.front()) && is_alphanumeric(text.back());
}

bool is_plugin(std::string_view text) {
  if (text.find('/') != std::string_view::npos)
    return text.size() <= kMaxPath && !text.ends_with('/');
  return !text.empty() && text.size() <= kMaxName && consists_of(text, "-_");
}

bool is_variant(std::string_view text) {
  return text.size() <= kMaxName && consists_of(text, "-_.");
}

bool is_absolute_path(std::string_view text) {
  return text.starts_with('/') && text.size() <= kMaxPath;
}

bool is_absolute_path_or_empty(std::string_view text) {
  return text.empty() || is_absolute_path(text);
}

bool is_socket_path_or_empty(std::string_view text) {
  return is_absolute_path_or_empty(text) && text.size() < sizeof(sockaddr_un::sun_path);
}

bool is_member_name(std::string_view text) {
  if (io::has_spiffe_scheme(text)) {
    io::SpiffeId unused;
    return io::parse_spiffe_id(text, unused).empty();
  }
  if (is_ip_address(text)) return true;
  if (text.starts_with("*.")) {
    text.remove_prefix(2);
    if (text.find('.') == std::string_view::npos) return false;  // no certificate is believed so
  }
  constexpr size_t kMaxDnsName = 253;
  return !text.empty() && text.size() <= kMaxDnsName && consists_of(text, "-._") &&
         is_alphanumeric(text.front()) && text.find("..") == std::string_view::npos;
}

bool is_account_name(std::string_view text) {
  constexpr size_t kMaxAccountName = 32;
  return !text.empty() && text.size() <= kMaxAccountName && consists_of(text, "-._$@") &&
         text.front() != '-';
}

bool is_http_url(std::string_view text) {
  if (text.size() > kMaxUrl || !is_visible(text)) return false;
  const size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return false;
  if (text.substr(0, scheme) != "http" && text.substr(0, scheme) != "https") return false;
  text.remove_prefix(scheme + 3);
  if (text.find('#') != std::string_view::npos) return false;
  return !place_of(text).is_none();
}

std::string shown_url(const std::string& url) {
  const size_t query = url.find('?');
  return query == std::string::npos ? url : url.substr(0, query) + "?...";
}

bool is_server_url(std::string_view text) {
  const size_t scheme = text.find("://");
  return is_http_url(text) && text.find_first_of("/?", scheme + 3) == std::string_view::npos;
}

HostPort place_of_url(std::string_view url) {
  const size_t scheme = url.find("://");
  return scheme == std::string_view::npos ? HostPort{} : place_of(url.substr(scheme + 3));
}

bool is_object_name(std::string_view text) {
  constexpr size_t kMaxObjectName = 253;
  if (text.empty() || text.size() > kMaxObjectName) return false;
  while (true) {
    const size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (!is_dns_label(label)) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_namespace_name(std::string_view text) {
  return text.size() <= kMaxName && is_dns_label(text);
}

bool is_key_prefix(std::string_view text) {
  constexpr size_t kMaxPrefix = 200;
  return !text.empty() && text.size() <= kMaxPrefix && is_printable(text);
}

bool is_user_or_empty(std::string_view text) {
  constexpr size_t kMaxUser = 100;
  return text.size() <= kMaxUser && is_visible(text);
}

bool is_local_url_or_empty(std::string_view text) {
  if (text.empty()) return true;
  if (text.starts_with(kUnixUrl)) {
    const std::string_view path = socket_of_url(text);
    return path.size() > 1 && text.size() - kUnixUrl.size() <= kMaxUrl &&
           is_socket_path_or_empty(path) &&
           is_http_url("http://a" + std::string(text.substr(kUnixUrl.size() + path.size() + 1)));
  }
  return text.starts_with("http://") && is_http_url(text) && place_of_url(text).is_loopback();
}

std::string_view socket_of_url(std::string_view url) {
  if (!url.starts_with(kUnixUrl)) return "";
  url.remove_prefix(kUnixUrl.size());
  const size_t colon = url.find(":/");
  return colon == std::string_view::npos ? "" : url.substr(0, colon);
}

}  // namespace bellwether
