// What a node is at a moment, with what belongs to that alone.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "base/clock.hh"
#include "core/candidacy.hh"
#include "core/identity.hh"
#include "core/lease.hh"

namespace bellwether {

// Looks for a leader after its start.
struct Joining {};
// Knows no leader.
struct Leaderless {};
struct Following {
  Uuid leader{};
  uint64_t epoch = 0;
  bool is_appointed = false;
  bool is_effective = true;  // as in its Heartbeat
  int64_t score = 0;         // as in LeaderHint
  bool is_draining = false;  // as in its last Heartbeat
};
// Has claimed its epoch and waits for a majority of voters, or for the store.
struct Claiming {
  uint64_t epoch = 0;
  Candidacy candidacy;
  uint64_t sequence = 0;         // of the last heartbeat
  std::optional<Lease> lease{};  // from when its own vote is stored; nothing leaves before
  int64_t score = 0;             // as in LeaderHint
};
// By which a process leads: its own word (guard "none"), ...
struct ByWord {};
// ... promises of voters (guard "majority"), ...
struct ByPromises {
  Lease lease;
  // A voter that has granted a newer epoch has been refusing this leader since then, and did so
  // last.
  Instant stuck_since = kNever;
  Instant stuck_last{};
};
// ... the record in a store.
struct ByRecord {
  Instant until{};  // this process may believe in it
};
struct Leading {
  uint64_t epoch = 0;
  bool is_appointed = false;
  uint64_t sequence = 0;  // of the last heartbeat
  int64_t score = 0;      // as in LeaderHint
  std::variant<ByWord, ByPromises, ByRecord> right{};
};
using Role = std::variant<Joining, Leaderless, Following, Claiming, Leading>;

}  // namespace bellwether
