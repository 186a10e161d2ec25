// The connections to all peers.
//
// Everybody dials everybody it knows while it is not connected to that process: configured
// addresses, all that a name stands for, members' addresses; and accepts who dials.  Of two
// connections between the same two processes one stays (link_rules.hh).  How a connection ended,
// and what the peer's port then answered, is told as evidence; nothing is sent again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/death_proof.hh"
#include "base/host_port.hh"
#include "core/effects.hh"
#include "core/frames.hh"
#include "core/identity.hh"
#include "core/link_limits.hh"
#include "io/loop/loop.hh"
#include "io/names/resolver.hh"
#include "io/peers/address_book.hh"
#include "io/wire/codec.hh"

namespace bellwether {

struct TransportSettings {
  std::string group;
  Uuid self{};
  uint64_t boot = 0;
  HostPort listen;  // port 0: any free one
  DeathProof death_proof = DeathProof::kNone;
  LinkLimits limits{};
};

// What the transport tells its owner; from the loop, never from within a call into the transport.
class TransportListener {
 public:
  virtual ~TransportListener() = default;
  // What to say first on a new connection, now.
  virtual Greeting greeting() = 0;
  // The peer's HELLO has come and ours is on its way.  `remote` is host:port in numbers.
  virtual void on_link_up(const Greeting& greeting, const std::string& remote) = 0;
  // Closed or timed out: of a link that was up.  Refused: nobody listens any more where a peer
  // was reached, or where a member says that it is; once for each time it is gone, and once more
  // when that proves that its flag is off (`is_proof`; death_proof.hh).
  virtual void on_link_down(const Uuid& peer, LinkEvidence evidence, bool is_proof) = 0;
  // Between, silent: the link that has just come up, or the place where its process was found, is
  // of no use for a proof.  Together, listening: now, in place of a proof.  Of a peer once, but
  // together.
  virtual void on_doubt(const Uuid& peer, ProofDoubt doubt) = 0;
  // From a peer whose link is up.  `bytes`: what it took on the wire.
  virtual void on_frame(const Uuid& from, Frame frame, size_t bytes) = 0;
  // Once: every configured peer has answered or refused, or has no address.
  virtual void on_all_answered() = 0;
  // `text` is one phrase for the log.
  virtual void on_rejected(Rejection rejection, const std::string& remote,
                           const std::string& text) = 0;
  virtual void on_limit(Limit limit) = 0;
};

// What became of a frame.
struct Sent {
  size_t bytes = 0;           // on the connection
  bool is_delivered = false;  // to the connection, that is; false: there is none, or no room
};

class Transport {
 public:
  // Heartbeats and their acknowledgements are dropped when more than this waits for the peer to
  // read: old ones say nothing new.
  static constexpr size_t kMaxUnsentBeforeHeartbeat = size_t{4} * 1024;
  // A connection with more is closed.  Its evidence is kClosed: the peer was too slow for this
  // connection, which proves nothing about its life, and it is dialled again at once.
  static constexpr size_t kMaxUnsent = size_t{1024} * 1024;
  // Connections that were accepted and have said nothing; for a newer one the oldest is closed.
  static constexpr size_t kMaxSilent = 64;

  // Listens.  Throws std::system_error whose text names the address.  All three must outlive the
  // transport.
  Transport(Loop& loop, Resolver& resolver, TransportSettings settings,
            TransportListener& listener);
  // Closes everything at once.  Not from within a call of the listener.
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Whom to look for; also when the configuration was read anew.  At each of `peers` there is one
  // process; behind `dns`, which may be none, each address is one.
  void set_configured(std::vector<HostPort> peers, HostPort dns);
  // The members that the group knows; again after each change.
  void set_members(std::vector<PeerAddress> members);
  // For connections that there are, too.
  void set_limits(const LinkLimits& limits);

  Sent send(const Uuid& to, const Frame& frame);

  // Tells the linked peer why it is of no use and ends the link soon, which on_link_down() tells;
  // it is dialled again rarely.
  void refuse(const Uuid& peer, TurnAwayReason reason);
  // Ends the link to the peer soon, which on_link_down() tells; it is dialled again at once.
  void end_link(const Uuid& peer);

  uint16_t port() const;

  // From now on nothing is said to the listener or taken from peers, and connections are refused.
  // What was sent still goes out, for LinkLimits::flush at most; then is_closed().
  void close();
  bool is_closed() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace bellwether
