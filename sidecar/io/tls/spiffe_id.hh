// SPIFFE ids, as the SPIFFE ID standard has them: spiffe://TRUST-DOMAIN/PATH.
#pragma once

#include <string>
#include <string_view>

namespace bellwether::io {

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
