// What a process's disk holds, and how the disk behaves.  Writes are done one after the other, each
// takes its time, and a crash before it is done loses it.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "base/clock.hh"
#include "core/lease.hh"
#include "core/member_view.hh"
#include "core/record.hh"

namespace bellwether::simulator {

// What the node wants kept: the record, and whether it is that of a voter that has forgotten.
struct Kept {
  Record record;
  bool is_vote_lost = false;
};

struct Disk {
  Record record;                              // durable
  bool is_vote_lost = false;                  // durable
  std::shared_ptr<const MemberView> members;  // durable; shared with the node that made it
  bool is_written = false;                    // there is a record at all
  bool was_lost = false;
  std::optional<Record> copy;  // that an operator has made
  Duration latency{};
  bool is_failing = false;
  Instant last_done_at{};  // when the last write of this life is done

  // As StateWriter: what could not be written is tried again, and what comes meanwhile waits.
  static constexpr Duration kFirstRest = std::chrono::milliseconds(100);
  static constexpr Duration kLastRest = std::chrono::seconds(5);
  Kept newest{};  // what this life has wanted kept last
  Duration rest = kFirstRest;
  bool is_resting = false;

  // For how long a voter that starts with it waits.
  Duration boot_wait() const { return !is_written || is_vote_lost ? kMaxLease : record.lease_seen; }
  // When a write that begins now is done; writes never overtake each other.
  Instant write(Instant now) {
    last_done_at = std::max(last_done_at, now + latency);
    return last_done_at;
  }
  void lose() {
    record = {};
    is_vote_lost = false;
    members.reset();
    is_written = false;
    was_lost = true;
  }
  void put_back() {
    record = copy.value();
    is_vote_lost = false;
  }
  // A new life of its process.
  void begin_life() {
    last_done_at = {};
    rest = kFirstRest;
    is_resting = false;
  }
};

}  // namespace bellwether::simulator
