// The connections to all peers.
//
// Everybody dials everybody it knows while it is not connected to that process: configured
// addresses, all that a name stands for, members' addresses; and accepts who dials.  Of two
// connections between the same two processes one stays (link_rules.hh).  How a connection ended,
// and what the peer's port then answered, is told as evidence; nothing is sent again.
//
// Its code is in five files: transport.cc (what the owner calls, and the end), transport_links.cc
// (connections: greetings, frames, ends), transport_dialling.cc (addresses: whom to dial),
// transport_proof.cc (what a refusal proves) and transport_security.cc (TLS, and links that were
// made by other rules).  One rule keeps it free of surprises: what the owner
// calls only notes what is wanted.  It is done in the next turn of the loop, by catch_up(), and
// what was closed is freed later; so no callback destroys its own owner, and the listener is never
// called from within its own call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/death_proof.hh"
#include "base/host_port.hh"
#include "core/effects.hh"
#include "core/frames.hh"
#include "core/identity.hh"
#include "core/link_limits.hh"
#include "core/members.hh"
#include "io/loop/loop.hh"
#include "io/names/resolver.hh"
#include "io/peers/address_book.hh"
#include "io/peers/death_proof.hh"
#include "io/peers/dialler.hh"
#include "io/peers/handshake_budget.hh"
#include "io/peers/kernel_sockets.hh"
#include "io/peers/link_security.hh"
#include "io/peers/listener_socket.hh"
#include "io/peers/peer_connection.hh"
#include "io/wire/codec.hh"

namespace bellwether::io {

struct TransportSettings {
  std::string group;
  Uuid self{};
  uint64_t boot = 0;
  HostPort listen;  // port 0: any free one
  DeathProof death_proof = DeathProof::kNone;
  LinkLimits limits{};
  LinkSecurity security{};
};

// What the transport tells its owner; from the loop, never from within a call into the transport.
class TransportListener {
 public:
  virtual ~TransportListener() = default;
  // What to say first on a new connection, now.
  virtual Greeting greeting() = 0;
  // The peer's HELLO has come and ours is on its way.
  virtual void on_link_up(const Greeting& greeting, const LinkFacts& facts) = 0;
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
  // The same, of a connection that this process has dialled: so a stranger cannot bring it about.
  virtual void on_dial_rejected(Rejection rejection, const std::string& remote,
                                const std::string& text) {
    on_rejected(rejection, remote, text);
  }
  virtual void on_limit(Limit limit) = 0;
};

inline Life life_of(const Greeting& greeting) {
  return {.boot = greeting.hello.self.boot, .name = greeting.hello.self.name};
}

// What became of a frame.
struct Sent {
  size_t bytes = 0;           // on the connection
  bool is_delivered = false;  // to the connection, that is; false: there is none, or no room
};

class Transport final : private PeerConnection::Owner, private Dialler::Owner {
 public:
  // Heartbeats and their acknowledgements are dropped when more than this waits for the peer to
  // read: old ones say nothing new.
  static constexpr size_t kMaxUnsentBeforeHeartbeat = size_t{4} * 1024;
  // A connection with more is closed.  Its evidence is kClosed: the peer was too slow for this
  // connection, which proves nothing about its life, and it is dialled again at once.
  static constexpr size_t kMaxUnsent = size_t{1024} * 1024;
  // Connections that were accepted and have said nothing; for a newer one the oldest is closed.  So
  // many of hosts where members are, and so many of all others.
  static constexpr size_t kMaxSilent = 64;

  // Listens.  Throws std::system_error whose text names the address.  All three must outlive the
  // transport.
  Transport(Loop& loop, Resolver& resolver, TransportSettings settings,
            TransportListener& listener);
  // Closes everything at once.  Not from within a call of the listener.
  ~Transport() override = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Whom to look for; also when the configuration was read anew.  At each of `peers` there is one
  // process; behind `dns`, which may be none, each address is one.
  void set_configured(std::vector<HostPort> peers, HostPort dns);
  // The members that the group knows; again after each change.
  void set_members(std::vector<PeerAddress> members);
  // For connections that there are, too.
  void set_limits(const LinkLimits& limits);
  // For new connections at once.  Links whose peer may not be a member any more end; the others are
  // made anew, one after the other, as long as each comes back.
  void set_security(LinkSecurity security);

  Sent send(const Uuid& to, const Frame& frame);

  // Tells the linked peer why it is of no use and ends the link soon, which on_link_down() tells;
  // it is dialled again rarely.
  void refuse(const Uuid& peer, TurnAwayReason reason) { end_soon(peer, reason); }
  // Ends the link to the peer soon, which on_link_down() tells; it is dialled again at once.
  void end_link(const Uuid& peer) { end_soon(peer, std::nullopt); }

  uint16_t port() const { return port_; }
  // How many links are secured so.
  size_t count_links(Security security) const;

  // From now on nothing is said to the listener or taken from peers, and connections are refused.
  // What was sent still goes out, for LinkLimits::flush at most; then is_closed().
  void close();
  bool is_closed() const { return stage_ == Stage::kClosed; }

 private:
  enum class Stage : uint8_t { kOpen, kClosing, kFlushing, kClosed };
  enum class AfterLink : uint8_t { kNothing, kDialAgain, kDialRarely };

  // A process that is a member, or linked.
  struct Peer {
    // What the end of its links proves.
    struct Proof {
      DeathWatch death{};
      std::optional<Instant> ended_at{};  // when the other side, or its kernel, last ended a link
      bool is_refusal_told = false;       // since it was linked last
      bool is_doubt_told = false;
      bool is_link_indirect = false;   // somebody stood between at the last link
      bool is_place_indirect = false;  // and when it answered at `proven`
      bool is_to_be_found = false;     // a new life of it was linked just now
    };
    // Whether its link is to be made anew.
    struct Renewal {
      bool takes_tls = false;  // as its last HELLO says
      int wishes = 0;          // how often its plain link was ended for one by TLS, in vain
      Instant wished_at{};     // and when last
    };

    HostPort advertised{};
    std::string name{};  // as the group knows it; empty: not yet
    bool is_member = false;
    PeerConnection* link = nullptr;
    uint64_t ended_boot = 0;                // the life whose link ended last
    std::optional<SocketAddress> proven{};  // where it answered last when it was dialled
    Proof proof{};
    Renewal renewal{};
  };
  using Peers = std::unordered_map<Uuid, Peer, UuidHash>;

  // Of those that were accepted and are no links yet.
  struct Handshakes {
    HandshakeBudget budget{};
    HandshakeBudget links{};  // that have come of them
    LoopTimer resume;         // armed: they wait
  };

  // More connections than that are not made or taken; the silent ones have room beside the members.
  static constexpr size_t kMaxConnections = kMaxMembers + 2 * kMaxSilent;

  // An address that may be dialled.
  struct Target {
    std::unique_ptr<Dialler> dialler;
    PeerConnection* connection = nullptr;  // that was dialled here

    // The last try.
    bool is_inquiry = false;      // the connection shall only say who listens here
    bool is_tentative = false;    // it may reach a process that is linked already
    bool is_refusing = false;     // it was refused
    bool is_tls_in_vain = false;  // by TLS it has brought no HELLO

    // What is known of the address.
    std::optional<Uuid> answered_by{};  // whose HELLO came last
    bool is_self = false;               // it was this very process, when it was asked last
    bool is_straight_here = false;      // with nobody between
    std::string missed_voter{};         // who should be there instead, by the configuration
    // Ever: by a HELLO or a TURNED_AWAY, or its host has refused.  Whatever else came of it, who
    // should be there may be there all the same.
    bool has_answered = false;
    bool has_been_home = false;  // of a peer that was linked, or could be
  };
  using Targets = std::map<SocketAddress, Target>;
  using AddressSet = std::set<SocketAddress>;

  // transport.cc
  // `refusal`: what the peer is told, which is then dialled rarely.
  void end_soon(const Uuid& peer, std::optional<TurnAwayReason> refusal);
  void catch_up();
  void begin_flushing();
  void end_flushing();

  // transport_links.cc
  void on_accepted(UvPtr<uv_tcp_t> socket);
  bool is_of_known_host(const SocketAddress& address) const;
  // If there are `most` of them.
  void close_oldest_silent(bool of_known_hosts, size_t most);
  void hold_up_others(const PeerConnection& newcomer);
  void hold_up(bool of_known_hosts, Duration pause);
  Handshakes& handshakes(bool of_known_hosts) { return of_known_hosts ? members_ : strangers_; }
  bool has_room();
  PeerConnection& add(UvPtr<uv_tcp_t> socket, std::optional<SocketAddress> dialled,
                      bool is_from_known_host = false);
  void on_greeting(PeerConnection& connection, const Greeting& greeting) override;
  void on_frame(PeerConnection& connection, Frame frame, size_t bytes) override;
  void on_turned_away(PeerConnection& connection, TurnedAway words) override;
  void on_skipped(PeerConnection& connection) override;
  void on_flaw(PeerConnection& connection, const FrameError& error) override;
  void on_silence(PeerConnection& connection) override;
  void on_handshake_work(PeerConnection& connection, Duration spent) override;
  void resume_silent(bool of_known_hosts);
  // Those that were accepted and are no links yet.
  template <typename Do>
  void for_each_silent(bool of_known_hosts, Do&& act) {
    for (const auto& connection : connections_) {
      const bool is_silent = !connection->is_link() && !connection->dialled();
      if (is_silent && connection->is_from_known_host() == of_known_hosts) act(*connection);
    }
  }
  void on_end(PeerConnection& connection, int error) override;
  LinkVerdict judge_greeting(const PeerConnection& connection, const Greeting& greeting,
                             const PeerIdentity& self);
  void link_up(PeerConnection& connection, const Greeting& greeting);
  void turn_away(PeerConnection& connection, TurnAwayReason reason, Rejection rejection,
                 const PeerIdentity& peer);
  void end_rejected(PeerConnection& connection);
  void tell_rejection(const PeerConnection& connection, Rejection rejection,
                      const std::string& text);
  void end_link(PeerConnection& connection, LinkEvidence evidence, AfterLink next);
  void close_overflowed();
  void close_unwanted();
  void forget(PeerConnection& connection);
  // A Greeting or TurnedAway.  That it cannot be said shows when the connection ends.
  void greet(PeerConnection& connection, Greeting greeting);
  template <typename Words>
  void say(PeerConnection& connection, const Words& words) {
    encoded_.clear();
    encoder_.append(words, encoded_);
    connection.write(encoded_);
  }

  // transport_dialling.cc
  void refresh();
  void refresh_peers();
  void refresh_targets();
  void on_connected(Dialler& dialler, UvPtr<uv_tcp_t> socket) override;
  void note_answer(const PeerConnection& connection, const Greeting& greeting, LinkVerdict verdict);
  void tell_missed_voter(const PeerConnection& connection);
  void dial_after_link(const Uuid& id, const Peer& peer, AfterLink next, Duration lifetime);
  std::vector<SocketAddress> addresses_of(const Uuid& id, const Peer& peer) const;
  // Where nobody is looked for: `detours` are a part of `occupied`.
  struct Found {
    AddressSet detours;
    AddressSet occupied;
  };
  Found found() const;
  AddressSet homes() const;
  AddressSet places_of_absent_voters() const;
  std::string other_voter_at(const SocketAddress& address, const std::string& own_name) const;
  void add_alternatives(AddressSet& addresses) const;
  bool is_awaited_at(const SocketAddress& address) const;
  bool has_dialled_alternative(const SocketAddress& address) const;
  bool has_everybody_answered(const AddressSet& occupied) const;
  Target* target_of(const PeerConnection& connection);

  // transport_security.cc
  bool is_welcome(PeerConnection& connection, const Greeting& greeting);
  bool is_of_voter(const PeerConnection& connection, const std::string& name) const;
  static bool is_another_bearer(const PeerConnection& newcomer, const PeerConnection& existing);
  static void note_tls_try(const PeerConnection& connection, Target& target);
  void tell_silent_refusal(const PeerConnection& connection);
  void forget_begun();
  void welcome_refused();
  void end_unbelieved();
  void end_links(const std::vector<Uuid>& ids);
  void renew_links();
  bool is_renewed_awaited();
  void renew(PeerConnection& link);
  void end_expired(std::time_t now);
  struct NextRenewal {
    PeerConnection* link = nullptr;  // to be made anew; nullptr: none is now
    std::time_t due = 0;             // when one may be
    bool is_put_off = false;         // one that is too young
  };
  NextRenewal next_to_renew(std::time_t now) const;
  bool may_be_renewed(const PeerConnection& link) const;
  bool must_end(const PeerConnection& link) const;
  bool shall_be_renewed(const Peer& peer) const;

  // transport_proof.cc
  void on_attempt_failed(Dialler& dialler, int error) override;
  bool is_needless(const Dialler& dialler) override;
  void tell_refusals(const SocketAddress& address);
  bool is_refused(const Uuid& id, const Peer& peer, const SocketAddress& address) const;
  void seek_proof(Dialler& dialler);
  void ask_kernel(const SocketAddress& address);
  void count_refusals(Dialler& dialler);
  void tell_proofs(const std::vector<Uuid>& proven);
  static bool is_behind_proxy(const Peer& peer);
  AddressSet inquiries() const;
  void hasten_inquiries(const AddressSet& asked);
  void on_inquiry_answered(PeerConnection& connection, const Greeting& greeting,
                           LinkVerdict verdict);
  bool may_prove(const PeerConnection& connection, const Greeting& greeting) const;
  bool is_itself(const Peer& peer, const Greeting& greeting) const;
  bool is_place_known(const SocketAddress& address);
  void tell_doubt(const PeerConnection& connection, const Greeting& greeting);
  void tell_doubt_once(const Uuid& id, ProofDoubt doubt);
  bool has_ended_with_all_others(const Uuid& id) const;

  Loop& loop_;
  TransportSettings settings_;
  TransportListener& listener_;
  Encoder encoder_;
  std::vector<uint8_t> encoded_;  // reused by every frame
  std::array<char, size_t{64} * 1024> read_buffer_{};

  // Wanted by the owner, done by catch_up().
  std::optional<std::vector<PeerAddress>> new_members_{};
  bool is_configured_ = false;
  bool is_all_answered_told_ = false;
  std::vector<PeerConnection*> overflowed_;
  std::vector<std::pair<Uuid, std::optional<TurnAwayReason>>> unwanted_;
  std::optional<Uuid> renewed_{};  // whose link was ended to be made anew, until it is back
  Instant renewed_at_{};
  bool is_renewing_ = false;       // all older links that are not as they should be now
  Instant secured_at_{};           // the last set_security()
  size_t dropped_heartbeats_ = 0;  // not yet reported
  Stage stage_ = Stage::kOpen;

  Peers peers_;
  Targets targets_;
  std::vector<std::unique_ptr<PeerConnection>> connections_;  // in the order they came about
  std::vector<std::unique_ptr<PeerConnection>> ended_;        // to be freed
  AddressBook book_;
  LoopTimer due_;  // catch_up(), or the end of flushing
  LoopTimer renewal_;
  LoopTimer burial_;      // of what has ended
  Handshakes strangers_;  // whose hosts are known for nothing
  Handshakes members_;    // and those of hosts where members are: no stranger keeps them waiting
  uint16_t port_ = 0;
  std::unique_ptr<ListenerSocket> socket_;
  std::optional<KernelSockets> kernel_{};  // with DeathProof::kAuto
};

}  // namespace bellwether::io
