// What to change when two sides do not agree by TLS: for the log of the one that finds out.
#pragma once

#include <span>

namespace bellwether::io {

struct AlertRemedy {
  int alert;  // by which the peer has refused this side (RFC 8446, 6.2)
  const char* text;
};

// Each follows what is wrong.
struct Remedies {
  std::span<const AlertRemedy> alerts;  // beside those that are the same for everybody
  const char* no_version;               // of TLS in common
  const char* no_protocol;              // inside it (ALPN)
  const char* no_cipher;                // nor curve, nor signature
  const char* no_certificate;           // where the peer has to show one
};

// Between the members of a group.
extern const Remedies kMemberRemedies;
// Between a server and a client of HTTP.
extern const Remedies kHttpRemedies;

const char* remedy_for_alert(const Remedies& remedies, int alert);

}  // namespace bellwether::io
