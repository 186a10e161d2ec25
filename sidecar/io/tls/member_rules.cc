// The rules of X509-SVID.md (sections 2 to 5) for certificates with a SPIFFE id, and those of any
// TLS client for others.
#include "io/tls/member_rules.hh"

#include <algorithm>
#include <string_view>

#include "base/ascii.hh"
#include "base/host_port.hh"

namespace bellwether::io {
namespace {

using Flaw = std::optional<TlsFlaw>;

Flaw wrong_name(std::string text) { return TlsFlaw{Rejection::kTlsWrongName, std::move(text)}; }

Flaw bad_certificate(std::string text) {
  return TlsFlaw{Rejection::kTlsBadCertificate, std::move(text)};
}

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

// At most a few: the list may be long.
std::string listed(const std::vector<std::string>& names) {
  if (names.empty()) return "no host that is known here";
  constexpr size_t kMost = 4;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    text += (i == 0 ? "" : ", ") + in_quotes(names[i]);
  }
  return names.size() > kMost ? text + ", ..." : text;
}

Flaw judge_svid(const PeerCertificate& certificate, const MemberRules& rules, SpiffeId& id) {
  const std::vector<std::string>& uris = certificate.names.uris;
  if (uris.size() != 1) {
    return bad_certificate("the peer's certificate has " + std::to_string(uris.size()) +
                           " URI names (" + certificate.names.text() +
                           "); one with a SPIFFE id has that one alone");
  }
  if (const std::string flaw = parse_spiffe_id(uris.front(), id); !flaw.empty()) {
    return bad_certificate("the SPIFFE id of the peer's certificate, " + in_quotes(uris.front()) +
                           ", " + flaw);
  }
  if (!certificate.has_signature_use) {
    return bad_certificate("the peer's certificate, for " + in_quotes(uris.front()) +
                           ", lacks the key usage digitalSignature; issue one that has it");
  }
  if (id.trust_domain != rules.trust_domain) {
    const std::string own =
        rules.trust_domain.empty()
            ? "the certificate of this side has no SPIFFE id; give both the same kind"
            : "tls.ca is the bundle of " + in_quotes(rules.trust_domain) +
                  "; give it one of that domain";
    return wrong_name("the peer's certificate is of the trust domain " +
                      in_quotes(id.trust_domain) + "; " + own);
  }
  return std::nullopt;
}

bool is_member(const CertificateNames& names, const std::string& id, const MemberRules& rules) {
  if (rules.members.empty()) {
    return std::ranges::any_of(rules.hosts,
                               [&](const std::string& host) { return is_for_host(names, host); });
  }
  return std::ranges::any_of(rules.members, [&](const std::string& member) {
    if (has_spiffe_scheme(member)) return member == id;
    if (is_ip_address(member)) return is_for_host(names, member);
    return std::ranges::any_of(names.dns,
                               [&](const std::string& name) { return is_dns_match(member, name); });
  });
}

}  // namespace

std::string trust_domain_of(const CertificateNames& names) {
  SpiffeId id;
  const bool has_one = names.uris.size() == 1 && parse_spiffe_id(names.uris.front(), id).empty();
  return has_one ? id.trust_domain : "";
}

std::optional<TlsFlaw> judge_member(const PeerCertificate& certificate, const MemberRules& rules) {
  const CertificateNames& names = certificate.names;
  if (certificate.is_authority) {
    return bad_certificate("the peer's certificate, for " + names.text() +
                           ", is that of an authority (CA:TRUE, keyCertSign or cRLSign); give it "
                           "one for itself");
  }
  if (!certificate.is_for_both_sides) {
    return bad_certificate("the peer's certificate, for " + names.text() +
                           ", is for servers or for clients alone, and a member is both; issue one "
                           "with serverAuth and clientAuth");
  }
  SpiffeId id;
  const bool is_svid = std::ranges::any_of(names.uris, has_spiffe_scheme);
  if (is_svid) {
    if (Flaw flaw = judge_svid(certificate, rules, id)) return flaw;
  }
  if (is_member(names, is_svid ? id.text() : "", rules)) return std::nullopt;
  const bool is_by_host = rules.members.empty();
  return wrong_name("the peer's certificate is for " + names.text() + "; " +
                    (is_by_host ? "peers and voters are at " + listed(rules.hosts) +
                                      "; issue one for its host, or list its name in tls.members"
                                : "tls.members are " + listed(rules.members) +
                                      "; issue one for such a name, or add this one to them"));
}

std::optional<TlsFlaw> judge_voter(const CertificateNames& names, const std::string& host,
                                   const CertificateNames& own) {
  if (is_for_host(names, host)) return std::nullopt;
  if (!names.has_host_names()) {
    if (!own.has_host_names() || names.uris == own.uris) return std::nullopt;
    return wrong_name("the peer's certificate, for " + names.text() +
                      ", names no host, as that of " + "this side does (" + own.text() +
                      "); this voter is " + host);
  }
  const bool begins_so =
      !is_ip_address(host) && std::ranges::any_of(names.dns, [&](const std::string& name) {
        return name.size() > host.size() && name[host.size()] == '.' &&
               equals_ignoring_case(std::string_view(name).substr(0, host.size()), host);
      });
  if (begins_so) return std::nullopt;
  return wrong_name("the peer's certificate is for " + names.text() + ", this voter is " + host);
}

}  // namespace bellwether::io
