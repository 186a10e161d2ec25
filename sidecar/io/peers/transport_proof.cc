// What a refusal says of the peers that may have been there: that they are gone, and, where
// death_proof.hh and the kernel find it so, that their flags are off.
//
// For a proof one must know where a peer listens.  Who was dialled has shown it; who has dialled
// this process is asked: a connection of its own, to where it says that it is, over which both
// sides say HELLO and no more.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/shared_end.hh"
#include "io/peers/transport.hh"

namespace bellwether::io {

void Transport::on_attempt_failed(Dialler& dialler, int error) {
  if (stage_ != Stage::kOpen) return;
  const SocketAddress& address = dialler.address();
  Target& target = targets_.at(address);
  // That a host or network cannot be reached proves nothing.
  target.is_refusing = error == ECONNREFUSED;
  if (!target.is_refusing) return;
  target.has_answered = true;
  if (!is_all_answered_told_) due_.arm(Duration::zero());
  tell_refusals(address);
  if (stage_ == Stage::kOpen) seek_proof(dialler);
}

void Transport::tell_refusals(const SocketAddress& address) {
  std::vector<Uuid> gone;
  for (auto& [id, peer] : peers_) {
    const bool is_answer = peer.link == nullptr && !is_behind_proxy(peer);
    if (!is_answer || peer.proof.is_refusal_told || !is_refused(id, peer, address)) continue;
    peer.proof.is_refusal_told = true;
    gone.push_back(id);
  }
  for (const Uuid& id : gone) {
    if (stage_ == Stage::kOpen) listener_.on_link_down(id, LinkEvidence::kRefused, false);
  }
}

// What refuses is then the one between, which says nothing of the process behind it.
bool Transport::is_behind_proxy(const Peer& peer) {
  return peer.proven ? peer.proof.is_place_indirect : peer.proof.is_link_indirect;
}

// A refusal shows the end of the process that was there: at the address where the peer has
// answered, or, where only its name for itself is known, at all that the name stands for.
bool Transport::is_refused(const Uuid& id, const Peer& peer, const SocketAddress& address) const {
  const std::vector<SocketAddress> addresses = addresses_of(id, peer);
  return std::ranges::find(addresses, address) != addresses.end() &&
         std::ranges::all_of(addresses, [this](const SocketAddress& each) {
           const auto target = targets_.find(each);
           return target != targets_.end() && target->second.is_refusing;
         });
}

void Transport::seek_proof(Dialler& dialler) {
  if (!is_telling(dialler.address(), settings_.death_proof)) return;
  if (kernel_) {
    ask_kernel(dialler.address());
  } else {
    count_refusals(dialler);
  }
}

void Transport::ask_kernel(const SocketAddress& address) {
  std::vector<Uuid> awaited;
  for (const auto& [id, peer] : peers_) {
    if (peer.link == nullptr && peer.proof.death.is_awaited(address)) awaited.push_back(id);
  }
  if (awaited.empty()) return;
  const KernelSockets::Answer answer = kernel_->who_listens(address);
  if (answer == KernelSockets::Answer::kNobody) {
    for (const Uuid& id : awaited) peers_.at(id).proof.death.on_proven();
    return tell_proofs(awaited);
  }
  const bool is_silent = answer == KernelSockets::Answer::kSilent;
  for (const Uuid& id : awaited) {
    tell_doubt_once(id, is_silent ? ProofDoubt::kSilent : ProofDoubt::kListening);
  }
}

void Transport::count_refusals(Dialler& dialler) {
  std::vector<Uuid> proven;
  std::vector<Uuid> doubted;
  bool shall_ask_again = false;
  for (auto& [id, peer] : peers_) {
    if (peer.link != nullptr) continue;
    const DeathWatch::Verdict verdict = peer.proof.death.on_refused(dialler.address(), Loop::now());
    if (verdict == DeathWatch::Verdict::kProof) {
      (has_ended_with_all_others(id) ? doubted : proven).push_back(id);
    }
    shall_ask_again |= verdict == DeathWatch::Verdict::kAskAgain;
  }
  if (shall_ask_again) dialler.start_after(DeathWatch::kRefusedFor);
  tell_proofs(proven);
  for (const Uuid& id : doubted) {
    if (stage_ == Stage::kOpen) listener_.on_doubt(id, ProofDoubt::kTogether);
  }
}

void Transport::tell_proofs(const std::vector<Uuid>& proven) {
  for (const Uuid& id : proven) {
    if (stage_ == Stage::kOpen) listener_.on_link_down(id, LinkEvidence::kRefused, true);
  }
}

bool Transport::has_ended_with_all_others(const Uuid& id) const {
  std::vector<LinkHistory> others;
  for (const auto& [other_id, peer] : peers_) {
    if (other_id != id)
      others.push_back({.is_up = peer.link != nullptr, .ended_at = peer.proof.ended_at});
  }
  return has_ended_with_all(*peers_.at(id).proof.ended_at, others, settings_.limits.moment);
}

// Whether nobody stands between the two ends of the connection, as the greeting over it shows, and
// the end of the process behind it would be told.
bool Transport::may_prove(const PeerConnection& connection, const Greeting& greeting) const {
  return settings_.death_proof != DeathProof::kNone && (!kernel_ || kernel_->can_tell()) &&
         is_direct(connection.ends(), greeting.ends, settings_.death_proof);
}

// A process with the id of a peer that the group knows under another name is somebody else, unless
// it is a voter whose id was used by one that is not.
bool Transport::is_itself(const Peer& peer, const Greeting& greeting) const {
  const auto& voters = settings_.security.voters;
  const std::string& name = greeting.hello.self.name;
  return peer.name.empty() || peer.name == name ||
         (voters.contains(name) && !voters.contains(peer.name));
}

// Whether who has just answered here will be missed here.  A listener that is bound to a device, or
// that a program of the administrator's chooses, may take connections where it is not found.
bool Transport::is_place_known(const SocketAddress& address) {
  return !kernel_ || kernel_->who_listens(address) == KernelSockets::Answer::kListens;
}

// Whoever counts on proofs shall know where there can be none.
void Transport::tell_doubt(const PeerConnection& connection, const Greeting& greeting) {
  HostPort remote;
  parse_host_port(connection.remote(), remote);
  const bool is_expected = settings_.death_proof == DeathProof::kRefused ||
                           (settings_.death_proof == DeathProof::kAuto && remote.is_loopback());
  if (!is_expected || may_prove(connection, greeting)) return;
  const bool is_between = !is_direct(connection.ends(), greeting.ends, settings_.death_proof);
  tell_doubt_once(greeting.hello.self.id, is_between ? ProofDoubt::kBetween : ProofDoubt::kSilent);
}

void Transport::tell_doubt_once(const Uuid& id, ProofDoubt doubt) {
  if (stage_ != Stage::kOpen || std::exchange(peers_.at(id).proof.is_doubt_told, true)) return;
  listener_.on_doubt(id, doubt);
}

// --- who listens where ---

// Where those say that they are who are linked, and were never dialled in this life.
Transport::AddressSet Transport::inquiries() const {
  AddressSet result;
  if (settings_.death_proof == DeathProof::kNone) return result;
  const AddressSet voters = places_of_absent_voters();
  for (const auto& [id, peer] : peers_) {
    if (peer.link == nullptr || !peer.proof.death.is_sought()) continue;
    for (const SocketAddress& address : book_.addresses(id)) {
      const bool is_free = !voters.contains(address);
      if (is_free && is_telling(address, settings_.death_proof)) result.insert(address);
    }
  }
  return result;
}

// However long it was dialled in vain where a peer listens, it is there now.  Once for each of its
// lives: whoever connects again and again shall not be dialled each time.
void Transport::hasten_inquiries(const AddressSet& asked) {
  for (auto& [id, peer] : peers_) {
    if (!std::exchange(peer.proof.is_to_be_found, false)) continue;
    for (const SocketAddress& address : book_.addresses(id)) {
      const auto target = targets_.find(address);
      if (asked.contains(address) && target != targets_.end()) target->second.dialler->hurry();
    }
  }
}

// Its answer, whoever it is, ends the inquiry.
void Transport::on_inquiry_answered(PeerConnection& connection, const Greeting& greeting,
                                    LinkVerdict verdict) {
  Target& target = *target_of(connection);
  note_answer(connection, greeting, verdict);
  const auto peer = peers_.find(greeting.hello.self.id);
  if (peer != peers_.end() && peer->second.link != nullptr) tell_doubt(connection, greeting);
  forget(connection);
  // One that did not bring what it was for is not repeated soon.
  target.dialler->start_after_rejection();
}

}  // namespace bellwether::io
