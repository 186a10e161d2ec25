// A beat goes to all members with the same sequence, so one time serves all their answers.
#include "daemon/peer_notes.hh"

namespace bellwether::daemon {

void PeerNotes::on_greeting(const Greeting& greeting, Instant now) {
  api::PeerInfo& peer = peers_[greeting.hello.self.id];
  peer.software = greeting.software;
  peer.plugin = greeting.plugin;
  peer.heard = now;
}

void PeerNotes::on_heard(const Uuid& id, Instant now) {
  const auto peer = peers_.find(id);
  if (peer != peers_.end()) peer->second.heard = now;
}

void PeerNotes::on_beat(uint64_t epoch, uint64_t sequence, Instant now) {
  Beat& beat = beats_[sequence % beats_.size()];
  if (beat.epoch != epoch || beat.sequence != sequence) beat = {epoch, sequence, now};
}

std::optional<Duration> PeerNotes::on_acknowledgement(const Uuid& id, uint64_t epoch,
                                                      uint64_t sequence, Instant now) {
  const Beat& beat = beats_[sequence % beats_.size()];
  const auto peer = peers_.find(id);
  if (beat.epoch != epoch || beat.sequence != sequence || peer == peers_.end()) return std::nullopt;
  peer->second.rtt = now - beat.sent;
  return peer->second.rtt;
}

void PeerNotes::on_members_changed(const Members& members) {
  std::erase_if(peers_, [&](const auto& peer) { return members.find(peer.first) == nullptr; });
}

api::PeerInfo PeerNotes::of(const Uuid& id) const {
  const auto peer = peers_.find(id);
  return peer != peers_.end() ? peer->second : api::PeerInfo{};
}

}  // namespace bellwether::daemon
