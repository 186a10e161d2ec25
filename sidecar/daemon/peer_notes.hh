// What is known of peers beyond what the node needs: for answers and metrics.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>

#include "api/backend.hh"
#include "base/clock.hh"
#include "core/effects.hh"
#include "io/peers/link_security.hh"
#include "io/wire/codec.hh"

namespace bellwether::daemon {

class PeerNotes {
 public:
  void on_greeting(const io::Greeting& greeting, const io::LinkFacts& facts, Instant now) {
    api::PeerInfo& peer = peers_[greeting.hello.self.id];
    peer.security = facts.security;
    peer.certificate = facts.certificate;
    peer.software = greeting.software;
    peer.plugin = greeting.plugin;
    peer.heard = now;
  }
  void on_heard(const Uuid& id, Instant now) {
    const auto peer = peers_.find(id);
    if (peer != peers_.end()) peer->second.heard = now;
  }
  // A heartbeat of this node goes out: to all members with the same sequence, so one time serves
  // all their answers.
  void on_beat(uint64_t epoch, uint64_t sequence, Instant now) {
    Beat& beat = beats_[sequence % beats_.size()];
    if (beat.epoch != epoch || beat.sequence != sequence) beat = {epoch, sequence, now};
  }
  // Returns the round trip, unless the beat is too long ago.
  std::optional<Duration> on_acknowledgement(const Uuid& id, uint64_t epoch, uint64_t sequence,
                                             Instant now) {
    const Beat& beat = beats_[sequence % beats_.size()];
    const auto peer = peers_.find(id);
    const bool is_known = beat.epoch == epoch && beat.sequence == sequence && peer != peers_.end();
    if (!is_known) return std::nullopt;
    peer->second.rtt = now - beat.sent;
    return peer->second.rtt;
  }
  // Keeps the notes of members only.
  void on_members_changed(const Members& members) {
    std::erase_if(peers_, [&](const auto& peer) { return members.find(peer.first) == nullptr; });
  }

  // Of a stranger: empty.
  api::PeerInfo of(const Uuid& id) const {
    const auto peer = peers_.find(id);
    return peer != peers_.end() ? peer->second : api::PeerInfo{};
  }

 private:
  struct Beat {
    uint64_t epoch = 0;
    uint64_t sequence = 0;
    Instant sent{};
  };

  std::unordered_map<Uuid, api::PeerInfo, UuidHash> peers_;
  std::array<Beat, 64> beats_{};  // by sequence; older ones are overwritten
};

}  // namespace bellwether::daemon
