// What a voter has promised: "until then I support nobody but this leader in this epoch".  A
// promise is made by acknowledging a heartbeat and lasts for the lease that the heartbeat names,
// from its receipt on.  A later leader waits until the promises of its voters are over or released.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.hh"
#include "core/identity.hh"

namespace bellwether {

struct Promise {
  Uuid leader{};
  uint64_t epoch = 0;
  Instant until{};

  friend bool operator==(const Promise&, const Promise&) = default;
};

class Promises {
 public:
  // Bounded: a voter that grants an epoch stops to renew the promises before, so more than a few
  // run at a time only when leaders change faster than their leases run out.
  static constexpr size_t kMax = 16;

  // Renews the promise to this leader, or makes it.  False when there are too many already.
  bool make(const Promise& promise) {
    for (Promise& made : made_) {
      if (made.leader != promise.leader) continue;
      made.epoch = std::max(made.epoch, promise.epoch);
      made.until = std::max(made.until, promise.until);
      return true;
    }
    if (made_.size() >= kMax) return false;
    made_.push_back(promise);
    return true;
  }

  // The leader will never again lead an epoch up to `epoch`: what was promised to it there is
  // void.  Returns whether anything was.
  bool release(const Uuid& leader, uint64_t epoch) {
    return std::erase_if(made_, [&](const Promise& promise) {
             return promise.leader == leader && promise.epoch <= epoch;
           }) != 0;
  }

  // Forgets what is over.
  void expire(Instant now) {
    std::erase_if(made_, [&](const Promise& promise) { return promise.until <= now; });
  }

  std::span<const Promise> all() const { return made_; }

  // When the last of them is over, and whether that is so at `now`.
  Instant empty_at() const {
    Instant last{};
    for (const Promise& promise : made_) last = std::max(last, promise.until);
    return last;
  }
  bool is_empty_at(Instant now) const { return empty_at() <= now; }

 private:
  std::vector<Promise> made_;
};

}  // namespace bellwether
