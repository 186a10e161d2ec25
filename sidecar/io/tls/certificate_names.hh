// The names in a certificate, and which host each may stand for (RFC 9525).  Pure.
//
// Only subject alternative names count; a name that is in the subject's common name alone is none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bellwether::io {

struct CertificateNames {
  std::vector<std::string> uris;
  std::vector<std::string> dns;        // in lower case
  std::vector<std::string> addresses;  // IP, in numbers as inet_ntop(3) writes them

  bool is_empty() const { return uris.empty() && !has_host_names(); }
  bool has_host_names() const { return !dns.empty() || !addresses.empty(); }
  // All, for the log: "orders-3.orders, 10.0.0.3"; "no name" when there is none.
  std::string text() const;
};

// Whether some name is in both.
bool have_name_in_common(const CertificateNames& one, const CertificateNames& other);

// Whether `pattern` stands for `name`: the same, or "*.rest" for exactly one label before the rest,
// which has two at least.  Both are DNS names; case does not matter.
bool is_dns_match(std::string_view pattern, std::string_view name);

// Whether the certificate is for this host, as configured: a DNS name, which a "*." of the
// certificate may stand for, or an IP address.
bool is_for_host(const CertificateNames& names, std::string_view host);

// --- SPIFFE ids, as the SPIFFE ID standard has them: spiffe://TRUST-DOMAIN/PATH ---

struct SpiffeId {
  std::string trust_domain;
  std::string path;  // with the slash that it begins with

  std::string text() const { return "spiffe://" + trust_domain + path; }
  friend bool operator==(const SpiffeId&, const SpiffeId&) = default;
};

inline bool has_spiffe_scheme(std::string_view uri) { return uri.starts_with("spiffe://"); }

// Fills `result` and returns ""; or returns what is wrong with the id, as a phrase that follows it
// ("has no path").  Compared byte by byte afterwards: nothing is decoded or changed.
std::string parse_spiffe_id(std::string_view text, SpiffeId& result);

}  // namespace bellwether::io
