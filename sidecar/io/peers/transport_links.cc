// Connections: who comes, what is said, and how it ends.
#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/check.hh"
#include "io/peers/transport.hh"

namespace bellwether::io {
namespace {

LinkEvidence evidence_of(int error) {
  // When nothing has come back for too long, the kernel names the network's last word about it, if
  // there was one: unreachable, or forbidden, or, by a firewall, refused.  A peer that resets a
  // connection is ECONNRESET.
  constexpr std::array kTimeouts{ETIMEDOUT, EHOSTUNREACH, ENETUNREACH,
                                 EHOSTDOWN, EACCES,       ECONNREFUSED};
  const bool is_timeout = std::ranges::find(kTimeouts, error) != kTimeouts.end();
  return is_timeout ? LinkEvidence::kTimeout : LinkEvidence::kClosed;
}

// FIN or RST, not a silence, nor anything that this process did.
bool is_by_peer(int error) { return error == 0 || error == ECONNRESET || error == EPIPE; }

PeerIdentity identity_of(const Greeting& greeting) {
  const MemberEntry& self = greeting.hello.self;
  return {.id = self.id, .boot = self.boot, .name = self.name};
}

// Nothing when it makes no sense.  "127.0.0.1" means another host when the peer says it than when
// this process does, unless both are on the same; and what another port of this host refuses must
// never prove the end of a peer.
HostPort advertised_in(const Greeting& greeting, const PeerConnection& connection) {
  HostPort advertised;
  parse_host_port(greeting.hello.self.address, advertised);
  HostPort remote;
  parse_host_port(connection.remote(), remote);
  const bool is_elsewhere = advertised.is_loopback() && !remote.is_loopback();
  return advertised.is_wildcard() || is_elsewhere ? HostPort{} : advertised;
}

constexpr Duration kUntilBurial = std::chrono::milliseconds(10);

std::string described(const PeerIdentity& peer) {
  return "\"" + peer.name + "\" (" + to_string(peer.id) + ")";
}

}  // namespace

void Transport::on_accepted(UvPtr<uv_tcp_t> socket) {
  const LinkSecurity& security = settings_.security;
  const bool is_ready = security.tls != nullptr || security.takes_plain;
  if (stage_ != Stage::kOpen || !is_ready) return;
  if (is_spare(descriptor_of(*socket))) {
    close_oldest_silent(false, 1);
    return listener_.on_limit(Limit::kPeerConnections);
  }
  const auto from = SocketAddress::remote_of(descriptor_of(*socket));
  const bool is_from_known_host = from && is_of_known_host(*from);
  close_oldest_silent(is_from_known_host, kMaxSilent);
  if (!has_room()) return;
  PeerConnection& connection = add(std::move(socket), std::nullopt, is_from_known_host);
  if (handshakes(is_from_known_host).resume.is_armed()) connection.pause();
}

bool Transport::is_of_known_host(const SocketAddress& address) const {
  const SocketAddress host = address.with_port(0);
  return std::ranges::any_of(
      book_.all(), [&](const SocketAddress& known) { return known.with_port(0) == host; });
}

void Transport::close_oldest_silent(bool of_known_hosts, size_t most) {
  PeerConnection* oldest = nullptr;
  size_t count = 0;
  for_each_silent(of_known_hosts, [&](PeerConnection& connection) {
    if (++count == 1) oldest = &connection;
  });
  if (count < most) return;
  forget(*oldest);
  listener_.on_limit(Limit::kPeerConnections);
}

bool Transport::has_room() {
  if (connections_.size() < kMaxConnections) return true;
  listener_.on_limit(Limit::kPeerConnections);
  return false;
}

PeerConnection& Transport::add(UvPtr<uv_tcp_t> socket, std::optional<SocketAddress> dialled,
                               bool is_from_known_host) {
  const LinkSecurity& security = settings_.security;
  const bool is_plain_due = dialled && security.takes_plain && targets_.at(*dialled).is_tls_in_vain;
  PeerConnection::Owner& owner = *this;
  connections_.push_back(std::make_unique<PeerConnection>(
      loop_, std::move(socket), owner, read_buffer_,
      PeerConnection::Settings{.group = settings_.group,
                               .limits = settings_.limits,
                               .dialled = std::move(dialled),
                               .tls = is_plain_due ? nullptr : security.tls,
                               .takes_plain = security.takes_plain,
                               .is_from_known_host = is_from_known_host}));
  return *connections_.back();
}

// --- what connections say ---

void Transport::greet(PeerConnection& connection, Greeting greeting) {
  greeting.ends = connection.ends();
  greeting.takes_tls = settings_.security.tls != nullptr;
  connection.note_told(greeting.hello.self.revision);
  say(connection, greeting);
}

void Transport::on_greeting(PeerConnection& connection, const Greeting& greeting) {
  if (stage_ != Stage::kOpen || !is_welcome(connection, greeting)) return;
  const Greeting ours = listener_.greeting();
  if (greeting.is_inquiry && !connection.dialled()) {
    greet(connection, ours);
    return forget(connection);
  }
  const PeerIdentity peer = identity_of(greeting);
  const LinkVerdict verdict = judge_greeting(connection, greeting, identity_of(ours));
  const Target* target = target_of(connection);
  if (target != nullptr && target->is_inquiry)
    return on_inquiry_answered(connection, greeting, verdict);
  note_answer(connection, greeting, verdict);
  // A peer that has dialled is answered even when the connection will not stay: it learns whom it
  // has reached, and dials there rarely from then on.
  const bool is_answer_due = !connection.dialled();
  switch (verdict) {
    case LinkVerdict::kReplace:
      end_link(*peers_[peer.id].link, LinkEvidence::kClosed, AfterLink::kNothing);
      [[fallthrough]];
    case LinkVerdict::kAccept:
      if (is_answer_due) {
        greet(connection, ours);
        hold_up_others(connection);
      }
      return link_up(connection, greeting);
    case LinkVerdict::kSelf:
      tell_missed_voter(connection);
      [[fallthrough]];
    case LinkVerdict::kKeepExisting:
      if (is_answer_due) greet(connection, ours);
      return end_rejected(connection);
    case LinkVerdict::kOwnId:
      return turn_away(connection, TurnAwayReason::kDuplicateId, Rejection::kOwnId, peer);
    case LinkVerdict::kDuplicateId:
      return turn_away(connection, TurnAwayReason::kDuplicateId, Rejection::kDuplicateId, peer);
    case LinkVerdict::kDuplicateName:
      return turn_away(connection, TurnAwayReason::kDuplicateName, Rejection::kDuplicateName, peer);
  }
}

void Transport::on_frame(PeerConnection& connection, Frame frame, size_t bytes) {
  if (stage_ == Stage::kOpen) listener_.on_frame(connection.peer().id, std::move(frame), bytes);
}

void Transport::on_turned_away(PeerConnection& connection, TurnedAway words) {
  if (stage_ != Stage::kOpen) return;
  const std::string peer = connection.is_link() ? described(connection.peer()) : "the peer";
  listener_.on_rejected(Rejection::kTurnedAway, connection.remote(),
                        peer + " turned this process away: " + name(words.reason));
  if (Target* target = target_of(connection)) target->has_answered = true;
  end_rejected(connection);
}

void Transport::on_skipped(PeerConnection& connection) {
  if (stage_ != Stage::kOpen) return;
  listener_.on_rejected(Rejection::kUnknownKind, connection.remote(),
                        "a frame of a kind that this release does not know");
}

void Transport::on_flaw(PeerConnection& connection, const FrameError& error) {
  if (stage_ != Stage::kOpen) return;
  tell_rejection(connection, error.flaw, error.text);
  if (connection.is_link()) {
    return end_link(connection, LinkEvidence::kClosed, AfterLink::kDialAgain);
  }
  Target* target = target_of(connection);
  if (target == nullptr || connection.tls() == nullptr || !settings_.security.takes_plain) {
    return end_rejected(connection);
  }
  forget(connection);
  target->dialler->start_after_failure();  // the next try is plain
}

void Transport::on_silence(PeerConnection& connection) {
  if (!connection.dialled()) listener_.on_limit(Limit::kPeerSilence);
  on_end(connection, ETIMEDOUT);
}

// Links go on, and those of the other kind.
void Transport::on_handshake_work(PeerConnection& connection, Duration spent) {
  if (stage_ != Stage::kOpen || connection.dialled()) return;
  const bool is_from_known_host = connection.is_from_known_host();
  Handshakes& kind = handshakes(is_from_known_host);
  hold_up(is_from_known_host,
          kind.budget.spend(Loop::now(), spent, settings_.limits.handshake_work));
}

// A process that comes and goes all the time would keep a group busy with nothing else: it keeps up
// with two hundred links a second, and with more at once than most groups have members.
void Transport::hold_up_others(const PeerConnection& newcomer) {
  constexpr Duration kWork = std::chrono::milliseconds(3);
  constexpr Duration kMostAtOnce = std::chrono::milliseconds(200);
  const bool is_from_known_host = newcomer.is_from_known_host();
  HandshakeBudget& links = handshakes(is_from_known_host).links;
  hold_up(is_from_known_host, links.spend(Loop::now(), kWork, kMostAtOnce));
}

void Transport::hold_up(bool of_known_hosts, Duration pause) {
  if (pause == Duration::zero()) return;
  for_each_silent(of_known_hosts, [](PeerConnection& silent) { silent.pause(); });
  handshakes(of_known_hosts).resume.arm(pause);
  listener_.on_limit(Limit::kHandshakes);
}

void Transport::resume_silent(bool of_known_hosts) {
  for_each_silent(of_known_hosts, [](PeerConnection& silent) { silent.resume(); });
}

void Transport::on_end(PeerConnection& connection, int error) {
  const bool is_over = stage_ != Stage::kOpen;
  if (!is_over && connection.is_link()) {
    Peer& peer = peers_[connection.peer().id];
    if (is_by_peer(error)) {
      peer.proof.death.on_ended_by_peer();
      peer.proof.ended_at = Loop::now();
    }
    return end_link(connection, evidence_of(error), AfterLink::kDialAgain);
  }
  Target* target = target_of(connection);
  if (!is_over && error != ETIMEDOUT) tell_silent_refusal(connection);
  forget(connection);
  if (!is_over && target != nullptr) target->dialler->start_after_failure();
}

// --- links ---

LinkVerdict Transport::judge_greeting(const PeerConnection& connection, const Greeting& greeting,
                                      const PeerIdentity& self) {
  const PeerIdentity newcomer = identity_of(greeting);
  const Target* target = target_of(connection);
  const Instant now = Loop::now();
  std::optional<LinkSketch> existing;
  bool has_namesake = false, is_another = false;
  for (const auto& other : connections_) {
    if (!other->is_link()) continue;
    if (other->peer().id == newcomer.id) {
      existing = LinkSketch{.peer = other->peer(),
                            .is_dialled_here = other->dialled().has_value(),
                            .is_of_voter = is_of_voter(*other, other->peer().name),
                            .age = other->link_age(now)};
      is_another = is_another_bearer(connection, *other);
    } else if (other->peer().name == newcomer.name) {
      has_namesake = true;
    }
  }
  const LinkSketch asking{
      .peer = newcomer,
      .is_dialled_here = connection.dialled().has_value(),
      .is_tentative = target == nullptr ? greeting.is_tentative : target->is_tentative,
      .is_of_voter = is_of_voter(connection, newcomer.name),
      .is_another = is_another};
  return judge(asking, self, existing ? &*existing : nullptr, has_namesake,
               settings_.limits.handshake);
}

void Transport::link_up(PeerConnection& connection, const Greeting& greeting) {
  // The listener may have closed the transport when the link before this one went down.
  if (stage_ != Stage::kOpen) return;
  Peer& peer = peers_[greeting.hello.self.id];
  peer.link = &connection;
  peer.proof.is_refusal_told = false;
  peer.proof.is_link_indirect = is_indirect(connection.ends(), greeting.ends);
  const bool is_peer_itself = is_itself(peer, greeting);
  const bool is_renamed = !peer.name.empty() && peer.name != greeting.hello.self.name;
  if (is_renamed && !connection.dialled()) peer.proven.reset();  // somebody else was there
  peer.proof.death.on_link(life_of(greeting), is_peer_itself && greeting.is_flag_robust &&
                                                  may_prove(connection, greeting));
  // What the process itself says is newer than what others say of it.
  if (is_peer_itself) peer.advertised = advertised_in(greeting, connection);
  connection.become_link(identity_of(greeting), Loop::now());
  peer.renewal.takes_tls = greeting.takes_tls;
  peer.proof.is_to_be_found = peer.ended_boot != greeting.hello.self.boot;
  if (connection.tls() != nullptr) peer.renewal.wishes = 0;
  due_.arm(Duration::zero());
  if (settings_.security.tls != nullptr) renewal_.arm(Duration::zero());
  listener_.on_link_up(greeting, connection.facts());
  tell_doubt(connection, greeting);
}

void Transport::end_link(PeerConnection& connection, LinkEvidence evidence, AfterLink next) {
  const Uuid id = connection.peer().id;
  Peer& peer = peers_[id];
  const Duration lifetime =
      counted_lifetime(std::exchange(peer.ended_boot, connection.peer().boot),
                       connection.peer().boot, connection.link_age(Loop::now()));
  peer.link = nullptr;
  forget(connection);
  // Before anybody is told: the answer is under way while they think.
  if (next != AfterLink::kNothing) dial_after_link(id, peer, next, lifetime);
  listener_.on_link_down(id, evidence, false);
}

void Transport::turn_away(PeerConnection& connection, TurnAwayReason reason, Rejection rejection,
                          const PeerIdentity& peer) {
  say(connection, TurnedAway{reason});
  const char* what = rejection == Rejection::kOwnId         ? " has the id of this process"
                     : rejection == Rejection::kDuplicateId ? " has the id of a living member"
                                                            : " has a name that is in use";
  listener_.on_rejected(rejection, connection.remote(), described(peer) + what);
  end_rejected(connection);
}

void Transport::tell_rejection(const PeerConnection& connection, Rejection rejection,
                               const std::string& text) {
  if (connection.dialled()) {
    listener_.on_dial_rejected(rejection, connection.remote(), text);
  } else {
    listener_.on_rejected(rejection, connection.remote(), text);
  }
}

// Whoever was rejected, or has rejected this process, is not dialled again soon.
void Transport::end_rejected(PeerConnection& connection) {
  if (connection.is_link()) {
    return end_link(connection, LinkEvidence::kClosed, AfterLink::kDialRarely);
  }
  Target* target = target_of(connection);
  forget(connection);
  if (target != nullptr) target->dialler->start_after_rejection();
}

void Transport::close_unwanted() {
  for (const auto& [id, refusal] : std::exchange(unwanted_, {})) {
    const auto peer = peers_.find(id);
    if (stage_ != Stage::kOpen || peer == peers_.end() || peer->second.link == nullptr) continue;
    PeerConnection& connection = *peer->second.link;
    if (!refusal) {
      end_link(connection, LinkEvidence::kClosed, AfterLink::kDialAgain);
      continue;
    }
    say(connection, TurnedAway{*refusal});
    end_rejected(connection);
  }
}

void Transport::close_overflowed() {
  while (!overflowed_.empty() && stage_ == Stage::kOpen) {
    PeerConnection& connection = *overflowed_.back();  // forget() takes it out
    listener_.on_limit(Limit::kSendQueue);
    end_link(connection, LinkEvidence::kClosed, AfterLink::kDialAgain);
  }
}

// Closes it at once; its memory is freed later, for it may be what is calling.  And to free what
// TLS has takes as long as two frames, which an election would wait for.
void Transport::forget(PeerConnection& connection) {
  connection.close();
  if (Target* target = target_of(connection)) {
    target->connection = nullptr;
    note_tls_try(connection, *target);
  }
  std::erase(overflowed_, &connection);
  const auto owned =
      std::ranges::find(connections_, &connection, [](const auto& owner) { return owner.get(); });
  check(owned != connections_.end(), "a connection is forgotten once");
  ended_.push_back(std::move(*owned));
  if (!burial_.is_armed()) burial_.arm(kUntilBurial);
  connections_.erase(owned);
  if (stage_ != Stage::kFlushing || connections_.empty()) due_.arm(Duration::zero());
}

}  // namespace bellwether::io
