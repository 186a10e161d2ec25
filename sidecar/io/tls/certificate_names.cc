// Names are compared as text: nothing is looked up.
#include "io/tls/certificate_names.hh"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "base/ascii.hh"

namespace bellwether::io {
namespace {

constexpr std::string_view kWildcard = "*.";

// An absolute name is the same without the dot at its end.
std::string_view without_last_dot(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  return name;
}

// As inet_ntop(3) writes it; empty when the host is not an IP address.
std::string canonical_address(std::string_view host) {
  const std::string text(host);
  std::array<unsigned char, sizeof(in6_addr)> address{};
  std::array<char, INET6_ADDRSTRLEN> written{};
  for (const int family : {AF_INET, AF_INET6}) {
    if (inet_pton(family, text.c_str(), address.data()) != 1) continue;
    inet_ntop(family, address.data(), written.data(), written.size());
    return written.data();
  }
  return "";
}

// --- SPIFFE-ID.md, section 2 ---

constexpr std::string_view kScheme = "spiffe://";
constexpr size_t kMaxIdBytes = 2048;
constexpr size_t kMaxTrustDomainBytes = 255;

bool is_of_trust_domain(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '.' ||
         letter == '-' || letter == '_';
}

bool is_of_path(char letter) {
  return is_of_trust_domain(letter) || (letter >= 'A' && letter <= 'Z');
}

std::string path_flaw(std::string_view path) {
  if (path.empty() || path == "/") return "has no path";
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    if (segment.empty()) return "has an empty part in its path";
    if (segment == "." || segment == "..") return "has a part in its path that is only dots";
    if (!std::ranges::all_of(segment, is_of_path)) {
      return "has something in its path that is not a letter, a digit, '-', '.' or '_'";
    }
    path.remove_prefix(segment.size());
  }
  return "";
}

}  // namespace

std::string CertificateNames::text() const {
  std::string all;
  for (const auto* names : {&uris, &dns, &addresses}) {
    for (const std::string& name : *names) all += (all.empty() ? "" : ", ") + name;
  }
  return all.empty() ? "no name" : all;
}

bool have_name_in_common(const CertificateNames& one, const CertificateNames& other) {
  const auto meet = [](const std::vector<std::string>& these,
                       const std::vector<std::string>& those) {
    return std::ranges::find_first_of(these, those) != these.end();
  };
  return meet(one.uris, other.uris) || meet(one.dns, other.dns) ||
         meet(one.addresses, other.addresses);
}

bool is_dns_match(std::string_view pattern, std::string_view name) {
  pattern = without_last_dot(pattern);
  name = without_last_dot(name);
  if (equals_ignoring_case(pattern, name)) return true;
  if (!pattern.starts_with(kWildcard)) return false;
  const std::string_view rest = pattern.substr(1);  // ".example.org"
  if (rest.find('.', 1) == std::string_view::npos || name.size() <= rest.size()) return false;
  const std::string_view label = name.substr(0, name.size() - rest.size());
  return label.find('.') == std::string_view::npos && label != "*" &&
         equals_ignoring_case(name.substr(label.size()), rest);
}

bool is_for_host(const CertificateNames& names, std::string_view host) {
  const std::string address = canonical_address(host);
  if (!address.empty()) {
    return std::ranges::find(names.addresses, address) != names.addresses.end();
  }
  return std::ranges::any_of(names.dns,
                             [&](const std::string& name) { return is_dns_match(name, host); });
}

std::string parse_spiffe_id(std::string_view text, SpiffeId& result) {
  if (!text.starts_with(kScheme)) return "does not begin with spiffe://";
  if (text.size() > kMaxIdBytes) return "is longer than 2048 bytes";
  const std::string_view rest = text.substr(kScheme.size());
  const std::string_view trust_domain = rest.substr(0, rest.find('/'));
  const std::string_view path = rest.substr(trust_domain.size());
  if (trust_domain.empty()) return "has no trust domain";
  if (trust_domain.size() > kMaxTrustDomainBytes) return "has a trust domain above 255 bytes";
  if (!std::ranges::all_of(trust_domain, is_of_trust_domain)) {
    return "has something in its trust domain that is not a small letter, a digit, '-', '.' or '_'";
  }
  if (std::string flaw = path_flaw(path); !flaw.empty()) return flaw;
  result = {.trust_domain = std::string(trust_domain), .path = std::string(path)};
  return "";
}

}  // namespace bellwether::io
