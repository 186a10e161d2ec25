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

bool is_address(std::string_view host) { return !canonical_address(host).empty(); }

bool is_for_host(const CertificateNames& names, std::string_view host) {
  const std::string address = canonical_address(host);
  if (!address.empty()) {
    return std::ranges::find(names.addresses, address) != names.addresses.end();
  }
  return std::ranges::any_of(names.dns,
                             [&](const std::string& name) { return is_dns_match(name, host); });
}

}  // namespace bellwether::io
