// What a process's disk holds, and how the disk behaves.  Writes are done one after the other, each
// takes its time, and a crash before it is done loses it.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "core/clock.hh"
#include "core/member_view.hh"
#include "core/record.hh"

namespace bellwether::simulator {

struct Disk {
  Record record;                              // durable
  std::shared_ptr<const MemberView> members;  // durable; shared with the node that made it
  bool is_written = false;                    // there is a record at all
  bool was_lost = false;
  std::optional<Record> copy;  // that an operator has made
  Duration latency{};
  bool is_failing = false;
  Instant last_done_at{};  // when the last write of this life is done

  // When a write that begins now is done; writes never overtake each other.
  Instant write(Instant now) {
    last_done_at = std::max(last_done_at, now + latency);
    return last_done_at;
  }
  void lose() {
    record = {};
    members.reset();
    is_written = false;
    was_lost = true;
  }
  void put_back() { record = copy.value(); }
};

}  // namespace bellwether::simulator
