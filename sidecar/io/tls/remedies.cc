// An alert is one byte, and which of several reasons it stands for only the peer's log can say.
#include "io/tls/remedies.hh"

#include <openssl/ssl.h>

namespace bellwether::io {
namespace {

constexpr const char* kItsLogSaysWhy = "its log says why";

// What is the same for everybody who shows a certificate; nullptr: another alert.
const char* remedy_for_certificate(int alert) {
  switch (alert) {
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_CERTIFICATE_UNKNOWN:
      return "it does not trust the authority of this side's certificate; add that to its bundle";
    case SSL_AD_CERTIFICATE_EXPIRED:
      return "this side's certificate has expired by its clock; renew it, or look at both clocks";
    case SSL_AD_BAD_CERTIFICATE:
      return "it does not take this side's certificate, for its authority, its name, its use or "
             "its "
             "time; its log says which";
    default:
      return nullptr;
  }
}

const char* remedy_of_members(int alert) {
  if (const char* remedy = remedy_for_certificate(alert)) return remedy;
  switch (alert) {
    case SSL_AD_CERTIFICATE_REQUIRED:
    case SSL_AD_UNKNOWN_PSK_IDENTITY:
    case SSL_AD_HANDSHAKE_FAILURE:
    case SSL_AD_DECRYPT_ERROR:
    case SSL_AD_ILLEGAL_PARAMETER:
      return "one side may have a secret and the other certificates, or they have different "
             "secrets; give both the same";
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
      return "this side's certificate is not for clients and servers; issue one for both";
    case SSL_AD_PROTOCOL_VERSION:
    case SSL_AD_NO_APPLICATION_PROTOCOL:
      return "it is not a member, or has no [tls]; see what answers at that address";
    default:
      return kItsLogSaysWhy;
  }
}

const char* remedy_of_http(int alert) {
  if (const char* remedy = remedy_for_certificate(alert)) return remedy;
  switch (alert) {
    case SSL_AD_CERTIFICATE_REQUIRED:
      return "it asks for a certificate; give this side one that it believes (cert, key)";
    case SSL_AD_HANDSHAKE_FAILURE:
      return "it asks for a certificate (cert, key), or has no cipher in common with this side; "
             "its "
             "log says which";
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
      return "this side's certificate is not for its side; issue a server's with serverAuth, and a "
             "client's with clientAuth";
    case SSL_AD_UNRECOGNIZED_NAME:
      return "it does not serve the name that it was called by; call it by another one";
    case SSL_AD_PROTOCOL_VERSION:
      return "it speaks no TLS from 1.2 on; let it, or call another port";
    case SSL_AD_NO_APPLICATION_PROTOCOL:
      return "it does not speak HTTP/1.1; let it, or call another port";
    default:
      return kItsLogSaysWhy;
  }
}

}  // namespace

const Remedies kMemberRemedies{
    .for_alert = remedy_of_members,
    .no_version = "members do; see what has called this port, or what answers at a member's",
    .no_protocol = "members do; see what has called this port, or what answers at a member's",
    .no_cipher = "members have; see what has called this port, or what answers at a member's",
    .no_certificate = "give it tls.cert and tls.key as the others have them"};

const Remedies kHttpRemedies{
    .for_alert = remedy_of_http,
    .no_version = "update it, or allow it to speak that",
    .no_protocol = "let it offer that, or none (ALPN)",
    .no_cipher = "let it have AES-GCM or ChaCha20, with an ephemeral key exchange",
    .no_certificate = "give it one of an authority in client_ca, or leave client_ca out"};

}  // namespace bellwether::io
