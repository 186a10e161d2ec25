// A leader's right to lead, and until when: a majority of voters has acknowledged a heartbeat that
// was sent not long ago.  It counts from the sending, the voters' promises count from the receipt,
// which is later; so the leader's flag is off before the first promise is over.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/clock.hh"
#include "core/electorate.hh"

namespace bellwether {

// Longer ones are refused: it bounds what a peer can make a voter promise.  Shorter ones, too:
// nobody can be configured so, and a promise for no time at all is none.
inline constexpr Duration kMaxLease = std::chrono::seconds(10);
inline constexpr Duration kMinLease = std::chrono::milliseconds(20);
constexpr bool is_lawful_lease(Duration lease) { return lease >= kMinLease && lease <= kMaxLease; }

// The part of the lease for which the leader believes in itself.  Its clock may run slow by a ninth
// while a voter's runs fast by a ninth: 0.8 on the one, and 1 on the other, both take 0.9.
constexpr Duration validity_of(Duration lease) { return lease * 4 / 5; }

class Lease {
 public:
  // `self`: the slot of this process among `voters`.
  Lease(size_t voters, size_t quorum, size_t self, Duration lease)
      : voters_(voters), quorum_(quorum), self_(self), lease_(lease) {
    backed_.fill(kNobody);
  }

  Duration length() const { return lease_; }

  // A heartbeat (or the COORDINATOR, which is the first) leaves now.
  void sent(uint64_t sequence, Instant now) { sent_[sequence % kRing] = {sequence, now}; }

  // A voter has made its promise on receipt of this heartbeat.  An old or unknown one adds nothing.
  void acknowledged(size_t slot, uint64_t sequence) {
    const Sent& sent = sent_[sequence % kRing];
    if (sent.sequence != sequence || sent.at == kNobody) return;
    backed_[slot] = std::max(backed_[slot], sent.at);
  }

  // The flag may say "leader" until then; long past when no majority has ever acknowledged.
  Instant valid_until(Instant now) const {
    std::array<Instant, kMaxVoters> backed = backed_;
    backed[self_] = now;  // this process always supports itself
    std::sort(backed.begin(), backed.begin() + static_cast<std::ptrdiff_t>(voters_),
              std::greater<>());
    const Instant since = backed[quorum_ - 1];
    return since == kNobody ? Instant{} : since + validity_of(lease_);
  }

 private:
  // The most heartbeats in flight.
  static constexpr size_t kRing = 128;
  static constexpr Instant kNobody = Instant::min();

  struct Sent {
    uint64_t sequence = 0;
    Instant at = kNobody;
  };

  size_t voters_;
  size_t quorum_;
  size_t self_;
  Duration lease_;
  std::array<Sent, kRing> sent_{};
  std::array<Instant, kMaxVoters> backed_{};
};

}  // namespace bellwether
