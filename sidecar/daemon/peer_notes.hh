// What is known of peers beyond what the node needs: for answers and metrics.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>

#include "api/backend.hh"
#include "base/clock.hh"
#include "core/effects.hh"
#include "io/wire/codec.hh"

namespace bellwether::daemon {

class PeerNotes {
 public:
  void on_greeting(const Greeting& greeting, Instant now);
  void on_heard(const Uuid& id, Instant now);
  // A heartbeat of this node goes out.
  void on_beat(uint64_t epoch, uint64_t sequence, Instant now);
  // Returns the round trip, unless the beat is too long ago.
  std::optional<Duration> on_acknowledgement(const Uuid& id, uint64_t epoch, uint64_t sequence,
                                             Instant now);
  // Keeps the notes of members only.
  void on_members_changed(const Members& members);

  // Of a stranger: empty.
  api::PeerInfo of(const Uuid& id) const;

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
