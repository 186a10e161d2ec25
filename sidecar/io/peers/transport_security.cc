// TLS between members: who is welcome, plain or not, and the renewal of links.
//
// A renewal ends a link and lets it come about again at once.  That costs the group nothing as long
// as it is one link at a time, and as it does come back: so the next one waits for that, and when
// one does not come back in time the rest stay as they are: a mistake in new files costs one link,
// which the log names, and not the group.  But what would be refused now ends at once, however many
// that are: plain links where all must be TLS, those of a secret, an authority or a name that was
// taken out, and those whose certificates are over.
#include <algorithm>
#include <ctime>
#include <utility>

#include "io/peers/transport.hh"

namespace bellwether::io {
namespace {

constexpr Duration kBetweenRenewals = std::chrono::milliseconds(250);
// Between tries with the same peer that come to nothing: doubling to a minute.
constexpr Duration kFirstPatience = std::chrono::seconds(1);
constexpr int kMaxDoublings = 6;
// With links that are to be renewed later; wall clocks may be set in between.
constexpr Duration kLongestLook = std::chrono::minutes(1);
// A link is renewed when a tenth of the time that was left to it is still left, but not long before
// it has to be.
constexpr std::time_t kPartLeft = 10;
constexpr std::time_t kEarliest = 600;  // seconds

std::time_t renewal_due(std::time_t expiry, std::time_t since) {
  return expiry - std::min((expiry - since) / kPartLeft, kEarliest);
}

// The wall clock may be set before then, so whoever waits looks again.
Duration time_until(std::time_t when) {
  constexpr Duration kLeast = std::chrono::milliseconds(10);
  const auto left = std::chrono::system_clock::from_time_t(when) - std::chrono::system_clock::now();
  return std::max(kLeast, std::chrono::duration_cast<Duration>(left));
}

}  // namespace

// A process that has shown a certificate may not use another voter's name.
bool Transport::is_welcome(PeerConnection& connection, const Greeting& greeting) {
  const TlsSession* session = connection.tls();
  if (session == nullptr || !session->peer()) return true;
  const auto& voters = settings_.security.voters;
  const auto voter = voters.find(greeting.hello.self.name);
  if (voter == voters.end()) return true;
  const CertificateNames& own = session->context().names();
  const auto flaw = judge_voter(session->peer()->names, voter->second.host, own);
  if (!flaw) return true;
  tell_rejection(connection, flaw->reason, flaw->text);
  end_rejected(connection);
  return false;
}

// It was welcome under this name.
bool Transport::is_of_voter(const PeerConnection& connection, const std::string& name) const {
  const TlsSession* session = connection.tls();
  return session != nullptr && session->peer() && settings_.security.voters.contains(name);
}

// Not of certificates that name no host, which all members may share, nor of a secret.
bool Transport::is_another_bearer(const PeerConnection& newcomer, const PeerConnection& existing) {
  const TlsSession* shown = newcomer.tls();
  const TlsSession* known = existing.tls();
  if (shown == nullptr || known == nullptr || !shown->peer() || !known->peer()) return false;
  return !have_name_in_common(shown->peer()->names, known->peer()->names);
}

// What a try to dial by TLS has brought, when it is over.  Beside plain peers the next one is
// plain, and the one after that is not.
void Transport::note_tls_try(const PeerConnection& connection, Target& target) {
  const TlsSession* session = connection.tls();
  target.is_tls_in_vain = session != nullptr && (!session->is_established() || session->flaw());
}

// A peer that speaks plain takes what TLS begins with for rubbish, and says nothing.
void Transport::tell_silent_refusal(const PeerConnection& connection) {
  const TlsSession* session = connection.tls();
  const bool is_expected = settings_.security.takes_plain || !connection.dialled();
  if (session == nullptr || session->is_established() || is_expected) return;
  tell_rejection(connection, Rejection::kTlsRefused,
                 "the peer ended the connection instead of answering by TLS; perhaps it has no "
                 "[tls], or is not a sidecar");
}

size_t Transport::count_links(Security security) const {
  return static_cast<size_t>(std::ranges::count_if(peers_, [&](const auto& entry) {
    const PeerConnection* link = entry.second.link;
    return link != nullptr && link->facts().security == security;
  }));
}

void Transport::set_security(LinkSecurity security) {
  settings_.security = std::move(security);
  if (stage_ != Stage::kOpen) return;
  forget_begun();
  welcome_refused();
  is_renewing_ = true;
  secured_at_ = Loop::now();
  renewed_.reset();
  for (auto& [id, peer] : peers_) peer.renewal.wishes = 0;
  renewal_.arm(Duration::zero());
  end_unbelieved();
}

// What was begun by other rules never becomes a link.
void Transport::forget_begun() {
  std::vector<PeerConnection*> begun;
  for (const auto& connection : connections_) {
    if (!connection->is_link()) begun.push_back(connection.get());
  }
  for (PeerConnection* connection : begun) forget(*connection);
}

// Whoever was refused until now may be welcome: all are dialled anew.
void Transport::welcome_refused() {
  for (auto& [address, target] : targets_) {
    target.is_tls_in_vain = false;
    if (target.connection == nullptr) target.dialler->stop();
  }
  due_.arm(Duration::zero());
}

// Ends the links that would be refused now, and tells of those whose peers are no members any more.
void Transport::end_unbelieved() {
  const TlsContextPtr tls = settings_.security.tls;
  std::vector<Uuid> unbelieved;
  for (const auto& [id, peer] : peers_) {
    if (peer.link == nullptr || !must_end(*peer.link)) continue;
    unbelieved.push_back(id);
    const TlsSession* session = peer.link->tls();
    if (session == nullptr || !session->peer()) continue;
    const auto flaw = tls->judge(*session->peer());
    if (flaw) listener_.on_rejected(flaw->reason, peer.link->remote(), flaw->text);
  }
  end_links(unbelieved);
}

// The listener may end others in between, or all.
void Transport::end_links(const std::vector<Uuid>& ids) {
  for (const Uuid& id : ids) {
    if (stage_ != Stage::kOpen) return;
    const auto peer = peers_.find(id);
    if (peer == peers_.end() || peer->second.link == nullptr) continue;
    end_link(*peer->second.link, LinkEvidence::kClosed, AfterLink::kDialAgain);
  }
}

// What may not stay, whatever comes after it: plain where all must be TLS, and what was shown by
// whoever could not show it any more.
bool Transport::must_end(const PeerConnection& link) const {
  const LinkSecurity& security = settings_.security;
  if (security.tls == nullptr) return false;
  return link.tls() == nullptr ? !security.takes_plain : !link.tls()->is_believed_by(*security.tls);
}

bool Transport::shall_be_renewed(const Peer& peer) const {
  const LinkSecurity& security = settings_.security;
  const TlsSession* session = peer.link->tls();
  const bool is_plain = session == nullptr;
  if (is_plain && security.tls != nullptr) {
    // Both could, but one did not yet when it was dialled; or they cannot with each other.
    const Duration patience = kFirstPatience * (1 << std::min(peer.renewal.wishes, kMaxDoublings));
    if (peer.renewal.wishes > 0 && Loop::now() - peer.renewal.wished_at < patience) return false;
    if (peer.renewal.takes_tls) return true;
  }
  const bool is_up_to_date = is_plain ? security.tls == nullptr
                                      : security.tls != nullptr && session->context().material() ==
                                                                       security.tls->material();
  // Beside plain peers a newer one is plain as well.
  const bool is_older = peer.link->link_age(Loop::now()) > Loop::now() - secured_at_;
  return is_renewing_ && is_older && !is_up_to_date;
}

Transport::NextRenewal Transport::next_to_renew(std::time_t now) const {
  const std::time_t longest =
      std::chrono::duration_cast<std::chrono::seconds>(kLongestLook).count();
  NextRenewal next{.due = now + longest};
  const auto found = [&](PeerConnection* link) {
    next.link = link;
    return next;
  };
  for (const auto& [id, peer] : peers_) {
    if (peer.link == nullptr) continue;
    if (shall_be_renewed(peer)) {
      if (may_be_renewed(*peer.link)) return found(peer.link);
      next.is_put_off = true;
    }
    const bool is_wanted = settings_.security.tls != nullptr && peer.renewal.takes_tls;
    if (next.is_put_off || (is_wanted && peer.link->tls() == nullptr)) {
      next.due = std::min(next.due, now + 1);
    }
    const auto expiry = peer.link->facts().expiry;
    if (!expiry) continue;
    const auto age =
        std::chrono::duration_cast<std::chrono::seconds>(peer.link->link_age(Loop::now()));
    const std::time_t link_due = renewal_due(*expiry, now - age.count());
    if (link_due <= now) return found(peer.link);
    next.due = std::min(next.due, link_due);
  }
  return next;
}

// Whoever dials takes links that end soon for those of a peer that cannot stand it, and waits
// longer each time (dial_backoff.hh): renewed each second, they would be lost for longer than a
// heartbeat.
bool Transport::may_be_renewed(const PeerConnection& link) const {
  return link.link_age(Loop::now()) >= 2 * settings_.limits.handshake;
}

void Transport::end_expired(std::time_t now) {
  std::vector<Uuid> expired;
  for (const auto& [id, peer] : peers_) {
    const auto expiry = peer.link == nullptr ? std::nullopt : peer.link->facts().expiry;
    if (expiry && *expiry <= now) expired.push_back(id);
  }
  end_links(expired);
}

// One that does not come back in time stays the last.
bool Transport::is_renewed_awaited() {
  if (!renewed_) return false;
  const auto peer = peers_.find(*renewed_);
  const bool is_back = peer == peers_.end() || peer->second.link != nullptr;
  const bool is_late = Loop::now() - renewed_at_ > 2 * settings_.limits.handshake;
  if (!is_back && !is_late) return true;
  renewed_.reset();
  if (!is_back) is_renewing_ = false;
  return false;
}

void Transport::renew_links() {
  const std::time_t now = std::time(nullptr);
  if (stage_ == Stage::kOpen) end_expired(now);
  if (stage_ != Stage::kOpen) return;
  if (is_renewed_awaited()) return renewal_.arm(kBetweenRenewals);
  const NextRenewal next = next_to_renew(now);
  if (next.link == nullptr) {
    is_renewing_ = is_renewing_ && next.is_put_off;
    return renewal_.arm(time_until(next.due));
  }
  renew(*next.link);
  renewal_.arm(kBetweenRenewals);
}

void Transport::renew(PeerConnection& link) {
  const Uuid id = link.peer().id;
  Peer& peer = peers_.at(id);
  renewed_ = id;
  renewed_at_ = Loop::now();
  if (link.tls() == nullptr) {
    ++peer.renewal.wishes;
    peer.renewal.wished_at = Loop::now();
  }
  end_link(link, LinkEvidence::kClosed, AfterLink::kDialAgain);
}

}  // namespace bellwether::io
