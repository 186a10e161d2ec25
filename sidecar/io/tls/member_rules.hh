// Who may be a member of the group, by the names in its certificate (the chain has been verified).
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/counted.hh"
#include "io/tls/certificate_names.hh"

namespace bellwether::io {

// Why a peer was refused.
struct TlsFlaw {
  Rejection reason{};
  std::string text;  // a phrase for the log that says what is wrong, and what to change
};

// What the rules ask of a certificate.
struct PeerCertificate {
  CertificateNames names;
  bool is_authority = false;      // it may sign others: CA:TRUE, keyCertSign or cRLSign
  bool has_signature_use = true;  // its key usage has digitalSignature
  bool is_for_both_sides = true;  // it may be shown by servers and by clients, as members are both
  std::string common_name{};      // for the log alone: it is no name that anything is decided by
};

struct MemberRules {
  // SPIFFE ids, IP addresses, DNS names, or DNS names that begin with "*."; empty: `hosts` are the
  // members.
  std::vector<std::string> members;
  // Those of all configured peers and voters.
  std::vector<std::string> hosts;
  // The trust domain that the bundle of CAs belongs to, which is that of this side's own id; empty:
  // this side has no SPIFFE id.
  std::string trust_domain;
};

// Of the one SPIFFE id among the names; empty: there is none.
std::string trust_domain_of(const CertificateNames& names);

// Nothing when its bearer may be a member.
std::optional<TlsFlaw> judge_member(const PeerCertificate& certificate, const MemberRules& rules);

// Whether the bearer may use the name of the voter whose address is at `host`: a DNS name of its
// certificate is the host or begins with it and a dot, or an IP address is.  A certificate without
// such names, which SPIFFE allows, cannot tell voters apart: nothing is wrong then where `own`,
// that of this side, has none either, or has the same id.
std::optional<TlsFlaw> judge_voter(const CertificateNames& names, const std::string& host,
                                   const CertificateNames& own);

}  // namespace bellwether::io
