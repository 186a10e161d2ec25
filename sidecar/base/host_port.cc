// host:port as text.  The one ambiguity, the colons of IPv6, is settled by brackets as in URLs.
#include "base/host_port.hh"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/ascii.hh"

namespace bellwether {
namespace {

// What fits in the messages that tell members' addresses.
constexpr size_t kMaxHostPort = 255;
constexpr size_t kMaxLabel = 63;

using Ipv4 = std::array<uint8_t, 4>;
using Ipv6 = std::array<uint8_t, 16>;

std::optional<Ipv4> ipv4(const std::string& host) {
  Ipv4 bytes{};
  if (inet_pton(AF_INET, host.c_str(), bytes.data()) != 1) return std::nullopt;
  return bytes;
}

std::optional<Ipv6> ipv6(const std::string& host) {
  Ipv6 bytes{};
  if (inet_pton(AF_INET6, host.c_str(), bytes.data()) != 1) return std::nullopt;
  return bytes;
}

bool is_label(std::string_view label) {
  if (label.empty() || label.size() > kMaxLabel) return false;
  if (label.front() == '-' || label.back() == '-') return false;
  return std::all_of(label.begin(), label.end(),
                     [](char c) { return is_alphanumeric(c) || c == '-' || c == '_'; });
}

bool is_host_name(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  while (true) {
    const size_t dot = host.find('.');
    if (!is_label(host.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    host.remove_prefix(dot + 1);
  }
}

bool looks_like_ipv4(std::string_view host) {
  return host.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::string flaw_of_host(const std::string& host, bool is_bracketed) {
  if (is_bracketed && host.find('%') != std::string::npos) {
    return "has a zone (%...), which names another host on each machine";
  }
  if (is_bracketed) return ipv6(host) ? "" : "has no IPv6 address in its brackets";
  if (host.empty()) return "lacks a host before the colon";
  if (host.find(':') != std::string::npos) return "needs brackets around its IPv6 address";
  if (looks_like_ipv4(host)) return ipv4(host) ? "" : "has no valid IPv4 address";
  return is_host_name(host) ? "" : "has no valid host name";
}

std::string read_port(std::string_view text, uint16_t& port) {
  const bool is_number =
      !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_number) return "lacks a port number after the colon";
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || port == 0) return "has a port that is not from 1 to 65535";
  return "";
}

}  // namespace

bool HostPort::is_wildcard() const { return ipv4(host) == Ipv4{} || ipv6(host) == Ipv6{}; }

bool HostPort::is_loopback() const {
  if (const auto bytes = ipv4(host)) return bytes->front() == 127;
  if (const auto bytes = ipv6(host)) {
    Ipv6 loopback{};
    loopback.back() = 1;
    if (*bytes == loopback) return true;
    const Ipv6 mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127};
    return std::equal(mapped.begin(), mapped.begin() + 13, bytes->begin());
  }
  return host == "localhost";
}

std::string HostPort::text() const {
  if (is_none()) return "";
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return is_ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

bool is_ip_address(std::string_view host) {
  const std::string text(host);
  return ipv4(text) || ipv6(text);
}

std::string parse_host_port(std::string_view text, HostPort& result) {
  if (text.size() > kMaxHostPort) return "is longer than 255 characters";
  const bool is_bracketed = text.starts_with('[');
  const size_t bracket = is_bracketed ? text.find(']') : 0;
  if (bracket == std::string_view::npos) return "lacks the closing bracket";
  const size_t colon = is_bracketed ? bracket + 1 : text.rfind(':');
  if (colon >= text.size() || text[colon] != ':') return "lacks a port";
  const size_t start = is_bracketed ? 1 : 0;
  HostPort parsed;
  parsed.host = text.substr(start, (is_bracketed ? bracket : colon) - start);
  if (std::string flaw = flaw_of_host(parsed.host, is_bracketed); !flaw.empty()) return flaw;
  if (std::string flaw = read_port(text.substr(colon + 1), parsed.port); !flaw.empty()) return flaw;
  result = std::move(parsed);
  return "";
}

}  // namespace bellwether
