// How a leader ends its reign by its own will, and how somebody else asks it to.
//
// First the application is asked to finish what it has begun (the drain): the leader leads on, and
// its flag says that nothing new is to be begun.  Then the successor is asked to claim.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.hh"
#include "base/names.hh"
#include "core/candidacy.hh"
#include "core/identity.hh"
#include "core/store_record.hh"

namespace bellwether {

// Why a leader hands over, as far as its application is told.
enum class DrainReason : uint8_t {
  kStepDown,
  kTransfer,
  kLeave,
  kTakeOver,  // a higher rank asked for its place
  kLast = kTakeOver,
};
inline const char* name(DrainReason reason) {
  static constexpr Names<DrainReason> kNames({"step_down", "transfer", "leave", "take_over"});
  return kNames[reason];
}

// How a drain ended.
enum class DrainEnd : uint8_t {
  kDrained,    // the application has finished
  kDetached,   // it is not there any more
  kTimeout,    // it took longer than it may
  kCut,        // leadership was lost meanwhile, or somebody wanted the end at once
  kCalledOff,  // nobody is there any more to take over: the leader stays
  kLast = kCalledOff,
};
inline const char* name(DrainEnd end) {
  static constexpr Names<DrainEnd> kNames({"drained", "detached", "timeout", "cut", "called_off"});
  return kNames[end];
}

struct Drain {
  uint64_t number = 0;  // of this process: one epoch may see more than one
  uint64_t epoch = 0;   // as the application was told
  DrainReason reason{};
  Instant since{};
  Instant until{};       // the hand-over waits no longer
  bool is_over = false;  // and yet it may lead on, until its successor has claimed
};

// As somebody asked for the place.
struct PlaceQuestion {
  uint64_t number = 0;
  bool is_planned = false;  // an operator wants it, whatever the ranks are
  int64_t score = 0;        // its own, until it has said a word with another number than
  uint64_t revision = 0;    // this, which is the last that was known
};

// One life of a member that has asked for the place.
struct Asker {
  Uuid id{};
  uint64_t boot = 0;

  friend bool operator==(const Asker&, const Asker&) = default;
};

// After so many candidates that did not claim the others shall hold an election.
inline constexpr size_t kMaxSuccessors = 3;

// Of a leader, until somebody has claimed.  Except under guard "majority" it has stopped leading
// once the drain is over.
struct Handover {
  std::optional<Uuid> named;  // nobody else is to take over
  bool is_appointed = false;  // an operator has named it
  uint64_t epoch = 0;         // that this process has led
  Duration hold{};            // how long it then stays out
  // An operator wants this reign to end, whoever takes over.
  bool steps_down = false;
  // Of `named`, which has been told that it may have the place.
  std::optional<PlaceQuestion> question{};
  std::optional<Drain> drain{};
  std::vector<Asker> outranked{};  // have asked as well, while a higher rank was to have the place
  std::vector<Uuid> tried{};
  // Guard on a store: the record as it has written it last, or is writing it.
  std::optional<StoreRecord> given{};
  bool has_failed = false;  // ... a request of it came to nothing

  bool is_draining() const { return drain && !drain->is_over; }
};

// Of one that has won an election against a leader that works: it has asked for its place.
struct Asking {
  Proposal proposal;
  uint64_t number = 0;  // of the question
};

}  // namespace bellwether
