// Whether a link has ended together with all others.  What happens to every peer within a moment
// has happened here: this machine's proxy was restarted, or its network has gone.  Then a refused
// connection says nothing of the process at its other end.
#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "base/clock.hh"

namespace bellwether {

// What is known of the links to one other peer.
struct LinkHistory {
  bool is_up = false;
  std::optional<Instant> ended_at{};  // the last one that has ended; nothing: none has
};

// Whether the link that ended at `ended_at` did so with all that there were, one other at least.
// `others`: those to all other peers, now.  One that was up all the time is a witness; one that is
// up again is none.  "Within a moment" ends now: what ends later is not known yet.
inline bool has_ended_with_all(Instant ended_at, std::span<const LinkHistory> others,
                               Duration moment) {
  const auto has_ended_then = [&](const LinkHistory& other) {
    return other.ended_at && *other.ended_at + moment >= ended_at;
  };
  const bool has_witness = std::ranges::any_of(
      others, [&](const LinkHistory& other) { return other.is_up && !has_ended_then(other); });
  return !has_witness && std::ranges::any_of(others, has_ended_then);
}

}  // namespace bellwether
