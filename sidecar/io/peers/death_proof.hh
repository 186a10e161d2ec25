// Whether the end of a process is proven, so that what was promised to it as the leader is void
// (guard "majority").  Pure: the transport tells what happened at one peer.
//
// The proof has two halves.  Its connection ended by FIN or RST: the process is gone or its
// connection is broken, and if it is gone, the kernel has turned its flag off before
// (robust_futex.hh).  And at the very address where this life of it has answered, nobody listens
// any more, though a living sidecar does until its flag is off.  Neither is hearsay.
//
// That nobody listens, this process's own kernel says where both are in one network namespace, on
// loopback (kernel_sockets.hh).  That the port refuses is only the occasion to ask: a firewall can
// refuse, and end connections, in the name of a process that lives.  Elsewhere a port that refuses
// twice has to do, and the operator vouches for what no connection shows: firewalls that reject,
// and addresses that move from host to host.
//
// In both cases nobody may stand between, or it is not known who listens where.  That is seen of
// each connection, that of the link and that by which its place was found: both ends name the same
// pair of sockets (connection_ends.hh).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hh"
#include "base/death_proof.hh"
#include "io/names/connection_ends.hh"
#include "io/names/socket_address.hh"

namespace bellwether::io {

// One life of a peer under one name.  Ids and lives are told to everybody, but only who may use a
// name does; so what answers under another one is somebody else.
struct Life {
  uint64_t boot = 0;
  std::string name{};

  friend bool operator==(const Life&, const Life&) = default;
};

class DeathWatch {
 public:
  // Two refusals that have to do are at least this far apart.
  static constexpr Duration kRefusedFor = std::chrono::milliseconds(5);

  enum class Verdict : uint8_t {
    kNone,      // this refusal proves nothing
    kAskAgain,  // it may, with another one kRefusedFor later
    kProof,     // once for each life
  };

  // This life of the peer is linked now.  `may_prove`: over a connection on which nobody stands
  // between, and its flag does not outlive it.
  void on_link(Life life, bool may_prove) {
    life_ = std::move(life);
    may_prove_ = may_prove;
    is_ended_by_peer_ = false;
    is_told_ = false;
    refused_since_.reset();
  }
  // The peer itself, or the kernel after its death, has ended the link.
  void on_ended_by_peer() { is_ended_by_peer_ = true; }
  // A life of the peer was dialled here, and answered, with nobody between.
  void on_answer(const SocketAddress& address, Life life) {
    place_ = Place{address, std::move(life)};
  }
  // Somebody else answers here.
  void forget(const SocketAddress& address) {
    if (place_ && place_->address == address) place_.reset();
  }
  // Somebody listens here.
  void on_accepted(const SocketAddress& address) {
    if (place_ && place_->address == address) refused_since_.reset();
  }
  // Whether it is proven, here and now, by nobody's listening here.
  bool is_awaited(const SocketAddress& address) const {
    const bool is_its_place = place_ && place_->address == address && place_->life == life_;
    return is_its_place && is_ended_by_peer_ && may_prove_ && !is_told_;
  }
  void on_proven() { is_told_ = true; }
  // What this refusal says where refusals have to do.
  Verdict on_refused(const SocketAddress& address, Instant now) {
    if (!is_awaited(address)) return Verdict::kNone;
    if (!refused_since_) refused_since_ = now;
    if (now - *refused_since_ < kRefusedFor) return Verdict::kAskAgain;
    on_proven();
    return Verdict::kProof;
  }

  // Whether its end could be proven, if it was known where this life of the peer listens.
  bool is_sought() const { return may_prove_ && !(place_ && place_->life == life_); }

 private:
  struct Place {
    SocketAddress address;
    Life life;
  };

  Life life_{};  // of the last link
  bool may_prove_ = false;
  bool is_ended_by_peer_ = false;
  bool is_told_ = false;
  std::optional<Place> place_{};
  std::optional<Instant> refused_since_{};
};

// Whether a refusal at this address may be a proof.
inline bool is_telling(const SocketAddress& address, DeathProof accepted) {
  return accepted == DeathProof::kRefused ||
         (accepted == DeathProof::kAuto && address.is_loopback());
}

// Whether nobody stands between the two ends of a connection, as far as it matters.
inline bool is_direct(const ConnectionEnds& ours, const ConnectionEnds& theirs,
                      DeathProof accepted) {
  return is_same_pair(ours, theirs) &&
         (accepted != DeathProof::kAuto || is_same_network(ours, theirs));
}

}  // namespace bellwether::io
