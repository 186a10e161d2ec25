// Layer B: when does a victory become effective?  The plugin may claim at any moment and may be
// wrong; the guard decides whether, and from when, the flag may say "leader".
//
// Guard "none" is the papers' own rule, a victory is effective when it is announced: right as long
// as messages arrive within the timeouts and the failure detector does not err.  A partition, or a
// leader that was only slow, gives two leaders until they hear of each other.
#pragma once

#include <cstdint>

#include "core/clock.hh"

namespace bellwether {

class Guard {
 public:
  virtual ~Guard() = default;

  // May this process claim now, for all the guard knows?
  virtual bool may_claim(Instant now) const = 0;

  // This process claims `epoch`.
  enum class Verdict : uint8_t { kEffective, kRefused };
  virtual Verdict claim(uint64_t epoch, Instant now) = 0;

  // How long the leadership holds, seen from `now`, if nothing else is heard.
  virtual Instant valid_until(Instant now) const = 0;
};

class GuardNone : public Guard {
 public:
  // `suspect_after`: the shortest silence after which a peer may give this process up.  Renewed
  // with every beat, so a process that hangs loses its flag before anybody elects for that reason.
  explicit GuardNone(Duration suspect_after) : suspect_after_(suspect_after) {}

  bool may_claim(Instant) const override { return true; }
  Verdict claim(uint64_t, Instant) override { return Verdict::kEffective; }
  Instant valid_until(Instant now) const override { return now + suspect_after_; }

 private:
  Duration suspect_after_;
};

}  // namespace bellwether
