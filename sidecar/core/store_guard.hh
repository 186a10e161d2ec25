// Guard on a store (a Kubernetes Lease, a key of etcd): a victory is effective once the store has
// written it into the group's record, on the condition that nobody else has written since.
//
// All that is asked of the store is that a write is conditional on the version that was read, and
// that one which was acknowledged is not lost.  Reads and events may be old, requests may arrive
// late, twice or never: then a condition fails.  Who may write is StoreView's; when it is asked,
// and what is made of the answers, is in node_store.cc (requests), node_bid.cc (the candidate) and
// node_reign.cc (the leader and its hand-over).
//
// At most one request is under way.  One that is given up is given up for good: it may still reach
// the store, much later, and its answer is not looked at, for meanwhile this process has told
// others that it does not lead.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.hh"
#include "base/fnv1a.hh"
#include "core/candidacy.hh"
#include "core/disk_watch.hh"
#include "core/ended_lives.hh"
#include "core/flapping.hh"
#include "core/lease.hh"
#include "core/options.hh"
#include "core/store_view.hh"
#include "core/why.hh"

namespace bellwether {

struct StoreRequest {
  enum class Kind : uint8_t {
    kRead,
    kMake,   // there is no record: make one, that nobody holds
    kClaim,  // this process, in a new epoch
    kRenew,  // the same again
    kGive,   // name the successor, or release
  };

  Kind kind{};
  uint64_t number = 0;
  Instant sent_at{};  // before its first byte
};

// A claim that is with the store.
struct StoreClaim {
  uint64_t epoch = 0;
  Instant sent_at{};                    // before the first byte of the write
  std::optional<Instant> held_until{};  // once it is written
};

// Members that use another store, or another record in it, are another group.
inline uint64_t store_hash(const std::string& store) { return fnv1a(store); }

// A write that takes longer is of no use: its answer and that of the next renewal have to come
// while the flag holds.
constexpr Duration longest_patience(Duration lease) { return validity_of(lease) / 2; }
// Of a store that answers as it should.
inline Duration least_patience(const Options& options) {
  return std::max(options.renew_interval / 2, options.answer_timeout);
}

// How long an answer of the store is waited for: not for long as long as it is fast, so that one
// that will never come costs little; and as long as is of any use once it has turned out to be
// slow.
class Patience {
 public:
  Patience(Duration least, Duration most)
      : least_(least), most_(std::max(least, most)), now_(least) {}

  Duration least() const { return least_; }
  // A leader whose lease has this much left waits so long for a renewal: it has a second try then.
  Duration within(Duration left) const { return std::clamp(left / 2, now_, most_); }
  Duration now() const { return now_; }
  // Of one that leaves, and is waited for itself: as short as the store lets it be.
  Duration last() const {
    constexpr Duration kShortest = std::chrono::milliseconds(350);
    return std::min(least_, std::max(kShortest, 2 * took_));
  }

  void on_timeout() { now_ = std::min(2 * now_, most_); }
  void on_answer(Duration took) {
    took_ = took;
    if (took < now_ / 4) now_ = std::max(now_ / 2, least_);
    if (2 * took > now_) now_ = std::min(2 * took, most_);
  }

 private:
  Duration least_;
  Duration most_;
  Duration now_;
  Duration took_{};  // the last answer
};

struct StoreGuard {
  StoreGuard(const Options& options, const Record& stored)
      : hash(store_hash(options.store)),
        lease(options.lease),
        renew_interval(options.renew_interval),
        patience(least_patience(options), longest_patience(options.lease)),
        disk(stored),
        view(options.lease),
        number(options.seed << 20),
        backoff(options.seed, std::chrono::seconds(1),
                std::max<Duration>(options.lease / 2, std::chrono::seconds(1)), 2) {}

  uint64_t hash;  // store_hash()
  Duration lease;
  Duration renew_interval;
  Patience patience;

  DiskWatch disk;
  bool is_disk_broken = false;
  StoreView view;
  EndedLives ended{};
  bool is_watching = false;
  Instant watched_since{};

  // A candidate that waits until it may write, or for a successor's word; ends with it.
  std::optional<Proposal> asking{};
  Instant asking_until = kNever;      // of one that has a leader
  uint64_t canvass = 0;               // the number of the last one
  Instant canvass_again{};            // not before
  std::optional<StoreClaim> claim{};  // of a claimant, or of a leader that takes a new epoch
  std::optional<StoreRequest> request{};
  uint64_t number;  // of the last request
  // Another candidate, whose turn it is.
  std::optional<Uuid> awaited{};
  // Of a candidate: who has said that it need not wait, and was told to claim; the last one has
  // until then for it.
  std::vector<Uuid> told{};
  Instant told_until{};

  // Since the last answer; that of a write until a write succeeds, of this process or another.
  std::optional<StoreFailure> failure{};
  bool has_write_failed = false;
  bool is_away = false;   // for a moment nobody need ask this process to lead
  bool has_twin = false;  // because another one leads under its id
  Backoff backoff;
  Flapping late_disk;  // claims that the store had and the disk had not

  bool has_disk() const { return !is_disk_broken && !disk.is_late(); }
  // Until when whoever has sent a write at `sent_at` may believe in it.
  Instant held_until(Instant sent_at) const { return sent_at + validity_of(lease); }
};

}  // namespace bellwether
