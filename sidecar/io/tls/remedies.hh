// What to change when two sides do not agree by TLS: for the log of the one that finds out.
#pragma once

namespace bellwether::io {

// Each follows what is wrong.
struct Remedies {
  const char* (*for_alert)(int alert);  // by which the peer has refused this side (RFC 8446, 6.2)
  const char* no_version;               // of TLS in common
  const char* no_protocol;              // inside it (ALPN)
  const char* no_cipher;                // nor curve, nor signature
  const char* no_certificate;           // where the peer has to show one
};

// Between the members of a group.
extern const Remedies kMemberRemedies;
// Between a server and a client of HTTP.
extern const Remedies kHttpRemedies;

}  // namespace bellwether::io
