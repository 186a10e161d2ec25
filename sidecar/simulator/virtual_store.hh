// The store behind guard "store": one record, written on condition, with every fault that the rule
// allows for.  It keeps what it has acknowledged, and takes a write only if the record is still the
// one of the version that the write names; all else may go wrong.
#pragma once

#include <deque>
#include <optional>
#include <set>

#include "core/member_view.hh"
#include "core/store_record.hh"
#include "simulator/random.hh"

namespace bellwether::simulator {

// How the way to it behaves.
struct StoreOptions {
  Duration latency = std::chrono::milliseconds(1);  // each way
  Duration jitter{};
  double lost_requests = 0;  // of all
  double lost_answers = 0;
  double repeated = 0;   // requests that arrive twice, the second time late
  double old_reads = 0;  // which show the record as it was before
};

class VirtualStore {
 public:
  explicit VirtualStore(uint64_t seed) : random_(seed) {}

  StoreOptions options;

  // --- requests that have arrived ---
  StoreSight read();
  // Returns the new version; nothing when the record is another one.
  std::optional<StoreVersion> write(const StoreVersion& expected, const StoreRecord& record);
  const StoreSight& sight() const { return sight_; }

  // --- what somebody does to the record ---
  void remove() { change({}); }
  void empty_holder();
  void shorten_lease();

  // --- who reaches it ---
  void cut(uint32_t process) { cut_.insert(process); }
  void heal() { cut_.clear(); }
  void set_down(bool is_down) { is_down_ = is_down; }
  bool is_reached_by(uint32_t process) const { return !is_down_ && !cut_.contains(process); }

  // --- how long the way takes, and whether it is found ---
  Duration way() { return options.latency + below(options.jitter); }
  bool happens(double probability) { return probability > 0 && random_.happens(probability); }
  // Long after whoever has sent it has given it up.
  Duration late() { return below(std::chrono::seconds(20)); }

 private:
  static constexpr size_t kKept = 4;

  Duration below(Duration most) {
    return Duration(static_cast<Duration::rep>(random_.below(static_cast<uint64_t>(most.count()))));
  }
  void change(StoreSight sight);
  void rewrite(const StoreRecord& record);

  Random random_;
  uint64_t versions_ = 0;
  StoreSight sight_;
  std::deque<StoreSight> earlier_;  // for reads that are old
  std::set<uint32_t> cut_;
  bool is_down_ = false;
};

// Somebody else's elector on the same record, as client-go's: it takes a record that is empty, or
// that it has seen unchanged for its length, and renews it.  Or a process of a member's state
// folder that was copied, which no other member can reach.
class ForeignElector {
 public:
  // Its turn to look at the record.
  void look(VirtualStore& store, Instant now);
  // It ends and empties the record, which says nothing of whether it believes in it still; it does
  // not.  A twin leaves it as it is.
  void stop(VirtualStore& store);
  bool is_on() const { return is_on_; }
  void start() { is_on_ = true; }
  // As the twin of this member.
  void start_as(const MemberEntry& member);
  bool leads(Instant now) const { return now < leads_until_; }

  static constexpr Duration kPeriod = std::chrono::milliseconds(200);

 private:
  bool holds(const StoreRecord& record) const;
  StoreRecord claimed(const StoreSight& before, Instant now) const;
  uint64_t epoch_over(const StoreSight& before, Instant now) const;

  bool is_on_ = false;
  std::optional<MemberEntry> twin_{};
  StoreVersion seen_;
  Instant seen_at_{};
  Instant leads_until_{};
};

}  // namespace bellwether::simulator
