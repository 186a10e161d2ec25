// What a process's disk holds, and how the disk behaves.  A write takes its time; a crash before it
// is done loses it.
#pragma once

#include <memory>

#include "core/clock.hh"
#include "core/member_view.hh"
#include "core/record.hh"

namespace bellwether::simulator {

struct Disk {
  Record record;                              // durable
  std::shared_ptr<const MemberView> members;  // durable; shared with the node that made it
  Duration latency{};
  bool is_failing = false;

  void lose() {
    record = {};
    members.reset();
  }
};

}  // namespace bellwether::simulator
