// The list of members as it is sent and stored: what the leader's view says of each.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hh"
#include "core/ability.hh"
#include "core/identity.hh"

namespace bellwether {

enum class Liveness : uint8_t {
  kAlive,
  kSuspect,  // silent, or its connection is gone without proof of its death
  kDown,     // its host says that the process is not there any more
  kLeft,     // it said goodbye
  kLast = kLeft,
};

// "alive", "suspect", "down", "left".
const char* name(Liveness liveness);

struct MemberEntry {
  Uuid id{};
  std::string name;     // what people call it; unique within the group
  std::string address;  // host:port
  uint32_t priority = 0;
  uint64_t boot = 0;  // random at every process start: tells a new life from the one before
  // Where it runs: a state folder, which one process at a time uses, on a machine that has not
  // restarted.  So of two processes of one id and one home the earlier one has ended; those of a
  // copied folder have two.  0: it does not say.
  uint64_t home = 0;
  // Under a guard on a store: how long it may believe in a record that it has written.  0: it does
  // not say.
  Duration lease{};
  Liveness liveness = Liveness::kAlive;
  bool is_electable = true;
  std::string variant;  // the one it wants to elect by; "" when it does not say
  // Of its application, by its own word: whether it can work, and how well it would.
  Ability ability = Ability::kAble;
  int64_t score = 0;
  // How often, in this life, its application has changed what it is worth (ability, score): of two
  // words on that the one with the higher number is the later one.
  uint64_t revision = 0;
  // Whether what somebody else says of the member can be news: what is ahead of it by more than an
  // application changes in years is made up.
  bool can_be_news(uint64_t its_revision) const {
    constexpr uint64_t kMostChanges = uint64_t{1} << 32;
    return its_revision >= revision && its_revision - revision <= kMostChanges;
  }

  Rank rank() const { return {.priority = priority, .score = score, .id = id}; }
  friend bool operator==(const MemberEntry&, const MemberEntry&) = default;
};

// The epoch of the leader that made the view, and a counter within it; the higher one is newer.
struct ViewVersion {
  uint64_t epoch = 0;
  uint64_t counter = 0;

  friend auto operator<=>(const ViewVersion&, const ViewVersion&) = default;
};

struct MemberView {
  ViewVersion version;
  std::vector<MemberEntry> entries;
};

}  // namespace bellwether
