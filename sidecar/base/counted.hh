// What more than one part of the sidecar counts, with the names that the metrics and the log have
// for it (metrics/README.md explains each).
#pragma once

#include <cstdint>

#include "base/names.hh"

namespace bellwether {

// Bounds that keep one peer, client or disk from using up this process.
enum class Limit : uint8_t {
  kSendQueue,        // a heartbeat was dropped, or a connection closed: the peer does not read
  kPeerSilence,      // a connection that was accepted has not said HELLO in time
  kHandshakes,       // whoever connects waited: there were too many new links, or handshakes by TLS
  kPeerConnections,  // a peer's connection was closed: there are too many, or too many silent ones
  kHttpConnections,  // connections of clients
  kHttpHandshakes,   // those of them that have not ended their handshake
  kHttpTls,          // time for what clients send by TLS; the rest waited for the loop's next turn
  kHttpHeader,       // bytes of a request's header
  kHttpBody,         // bytes of a request's body
  kHttpIdle,         // time a connection may be silent
  kHttpUnsent,       // bytes that wait for a client to read
  kEventStreams,     // clients that follow /v1/events
  kLongPolls,        // clients that wait for another leader
  kAttachments,      // applications that are attached
  kScoreChanges,     // that come faster than anything follows from them
  kLogLines,         // lines of the log that came too often, or that nobody reads
  kLast = kLogLines,
};
inline const char* name(Limit limit) {
  static constexpr Names<Limit> kNames(
      {"send_queue", "peer_silence", "handshakes", "peer_connections", "http_connections",
       "http_handshakes", "http_tls", "http_header", "http_body", "http_idle", "http_unsent",
       "event_streams", "long_polls", "attachments", "score_changes", "log_lines"});
  return kNames[limit];
}

// Why a peer, or its bytes, was refused.
enum class Rejection : uint8_t {
  kBadMagic,         // not a sidecar at all
  kBadVersion,       // another version of the protocol
  kForeignGroup,     // a sidecar of another group
  kOversized,        // a length beyond the limit
  kBadChecksum,      // damaged on the way
  kMalformed,        // the body is not what its kind says, or a value is out of its range
  kTooEarly,         // a frame before HELLO
  kUnexpectedHello,  // a second HELLO
  kUnknownKind,      // a frame was skipped; a later release may know it
  kOwnId,            // another process has the id of this one
  kDuplicateId,      // another living process has the peer's id
  kDuplicateName,    // another living process has the peer's name
  kTurnedAway,       // the peer has rejected this process
  kTlsPlaintext,     // no TLS, where it must be
  kTlsProtocol,      // not TLS 1.3, or not as it must be spoken
  // From here on both speak TLS, but one does not believe the other (the doctor's probe asks).
  kTlsNoCertificate,
  kTlsUnknownCa,       // its certificate has an authority that is not trusted here
  kTlsExpired,         // its certificate is over, or not valid yet
  kTlsBadCertificate,  // its certificate is not what a member's may be
  kTlsWrongName,       // its certificate is that of somebody else
  kTlsWrongSecret,     // it does not have the group's secret
  kTlsRefused,         // it has refused the certificate, or the secret, of this process
  kLast = kTlsRefused,
};
inline const char* name(Rejection rejection) {
  static constexpr Names<Rejection> kNames(
      {"bad_magic",        "bad_version",   "foreign_group",       "oversized",
       "bad_checksum",     "malformed",     "too_early",           "unexpected_hello",
       "unknown_kind",     "own_id",        "duplicate_id",        "duplicate_name",
       "turned_away",      "tls_plaintext", "tls_protocol",        "tls_no_certificate",
       "tls_unknown_ca",   "tls_expired",   "tls_bad_certificate", "tls_wrong_name",
       "tls_wrong_secret", "tls_refused"});
  return kNames[rejection];
}

// Those of TLS alone, for which clients of HTTP are refused, too.
enum class TlsRejection : uint8_t {
  kLast =
      static_cast<uint8_t>(Rejection::kTlsRefused) - static_cast<uint8_t>(Rejection::kTlsPlaintext),
};
static_assert(Rejection::kTlsRefused == Rejection::kLast, "those of TLS stand last");
inline bool is_of_tls(Rejection rejection) { return rejection >= Rejection::kTlsPlaintext; }
inline TlsRejection to_tls_rejection(Rejection rejection) {
  return static_cast<TlsRejection>(static_cast<uint8_t>(rejection) -
                                   static_cast<uint8_t>(Rejection::kTlsPlaintext));
}
inline const char* name(TlsRejection rejection) {
  return name(static_cast<Rejection>(static_cast<uint8_t>(rejection) +
                                     static_cast<uint8_t>(Rejection::kTlsPlaintext)));
}

// By what the bytes of a connection between members are protected.
enum class Security : uint8_t {
  kPlain,        // nothing
  kCertificate,  // TLS, both sides by their certificates
  kSecret,       // TLS, both sides by the group's secret
  kLast = kSecret,
};
inline const char* name(Security security) {
  static constexpr Names<Security> kNames({"plain", "tls", "psk"});
  return kNames[security];
}

// Why a refused connection, which otherwise would, does not prove the end of a peer.
enum class ProofDoubt : uint8_t {
  kBetween,    // its HELLO names other sockets, or another network: somebody stands between
  kTogether,   // all peers have ended, and refuse, within a moment: so it is this side's doing
  kSilent,     // the kernel does not say who listens
  kListening,  // it says that somebody does where connections are refused: a firewall refuses them
  kLast = kListening,
};
inline const char* name(ProofDoubt doubt) {
  static constexpr Names<ProofDoubt> kNames({"between", "together", "silent", "listening"});
  return kNames[doubt];
}

// What became of an attempt to deliver an event to a webhook, or of the event.
enum class HookResult : uint8_t {
  kDelivered,
  kFailed,      // one attempt failed; there will be another
  kGone,        // the receiver wants no more (410)
  kSuperseded,  // a newer state took its place before it was delivered
  kLast = kSuperseded,
};
inline const char* name(HookResult result) {
  static constexpr Names<HookResult> kNames({"delivered", "failed", "gone", "superseded"});
  return kNames[result];
}

// A request to the store of guard "kubernetes" or "etcd".
enum class StoreVerb : uint8_t {
  kRead,
  kWrite,  // over the record of one version, or only where there is none
  kWatch,
  kLogin,
  kLast = kLogin,
};
inline const char* name(StoreVerb verb) {
  static constexpr Names<StoreVerb> kNames({"read", "write", "watch", "login"});
  return kNames[verb];
}

}  // namespace bellwether
