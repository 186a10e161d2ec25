// An alert is one byte, and which of several reasons it stands for only the peer's log can say.
#include "io/tls/remedies.hh"

#include <openssl/ssl.h>

#include <algorithm>

namespace bellwether::io {
namespace {

constexpr AlertRemedy kOfCertificates[]{
    {SSL_AD_UNKNOWN_CA,
     "it does not trust the authority of this side's certificate; add that to its bundle"},
    {SSL_AD_CERTIFICATE_UNKNOWN,
     "it does not trust the authority of this side's certificate; add that to its bundle"},
    {SSL_AD_CERTIFICATE_EXPIRED,
     "this side's certificate has expired by its clock; renew it, or look at both clocks"},
    {SSL_AD_BAD_CERTIFICATE,
     "it does not take this side's certificate, for its authority, its name, its use or its time; "
     "its log says which"},
};

constexpr const char* kOneSecret =
    "one side may have a secret and the other certificates, or they have different secrets; give "
    "both the same";
constexpr const char* kNoMember =
    "it is not a member, or has no [tls]; see what answers at that address";

constexpr AlertRemedy kOfMembers[]{
    {SSL_AD_CERTIFICATE_REQUIRED, kOneSecret},
    {SSL_AD_UNKNOWN_PSK_IDENTITY, kOneSecret},
    {SSL_AD_HANDSHAKE_FAILURE, kOneSecret},
    {SSL_AD_DECRYPT_ERROR, kOneSecret},
    {SSL_AD_ILLEGAL_PARAMETER, kOneSecret},
    {SSL_AD_UNSUPPORTED_CERTIFICATE,
     "this side's certificate is not for clients and servers; issue one for both"},
    {SSL_AD_PROTOCOL_VERSION, kNoMember},
    {SSL_AD_NO_APPLICATION_PROTOCOL, kNoMember},
};

constexpr AlertRemedy kOfHttp[]{
    {SSL_AD_CERTIFICATE_REQUIRED,
     "it asks for a certificate; give this side one that it believes (cert, key)"},
    {SSL_AD_HANDSHAKE_FAILURE,
     "it asks for a certificate (cert, key), or has no cipher in common with this side; its log "
     "says which"},
    {SSL_AD_UNSUPPORTED_CERTIFICATE,
     "this side's certificate is not for its side; issue a server's with serverAuth, and a "
     "client's with clientAuth"},
    {SSL_AD_UNRECOGNIZED_NAME,
     "it does not serve the name that it was called by; call it by another one"},
    {SSL_AD_PROTOCOL_VERSION, "it speaks no TLS from 1.2 on; let it, or call another port"},
    {SSL_AD_NO_APPLICATION_PROTOCOL, "it does not speak HTTP/1.1; let it, or call another port"},
};

constexpr const char* kMembersDo =
    "members do; see what has called this port, or what answers at a member's";

}  // namespace

const Remedies kMemberRemedies{
    .alerts = kOfMembers,
    .no_version = kMembersDo,
    .no_protocol = kMembersDo,
    .no_cipher = "members have; see what has called this port, or what answers at a member's",
    .no_certificate = "give it tls.cert and tls.key as the others have them"};

const Remedies kHttpRemedies{
    .alerts = kOfHttp,
    .no_version = "update it, or allow it to speak that",
    .no_protocol = "let it offer that, or none (ALPN)",
    .no_cipher = "let it have AES-GCM or ChaCha20, with an ephemeral key exchange",
    .no_certificate = "give it one of an authority in client_ca, or leave client_ca out"};

const char* remedy_for_alert(const Remedies& remedies, int alert) {
  for (const auto known : {std::span<const AlertRemedy>(kOfCertificates), remedies.alerts}) {
    const auto found = std::ranges::find(known, alert, &AlertRemedy::alert);
    if (found != known.end()) return found->text;
  }
  return "its log says why";
}

}  // namespace bellwether::io
