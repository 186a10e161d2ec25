// What the disk is known to have of this process's record, and whether it keeps up.
#pragma once

#include <utility>

#include "base/clock.hh"
#include "core/record.hh"

namespace bellwether {

class DiskWatch {
 public:
  explicit DiskWatch(const Record& stored) : stored_(stored) {}

  void on_stored(const Record& stored) { stored_ = stored; }
  const Record& stored() const { return stored_; }
  bool has(const Record& newest) const { return newest == stored_; }

  // After every input.  Returns whether is_late() has changed.
  bool look(const Record& newest, Instant now, Duration patience) {
    if (has(newest)) {
      waiting_since_ = kNever;
    } else if (waiting_since_ == kNever) {
      waiting_since_ = now;
    }
    const bool is_late = !has(newest) && now - waiting_since_ > patience;
    return std::exchange(is_late_, is_late) != is_late;
  }
  // A write takes so long that others had better lead.
  bool is_late() const { return is_late_; }

 private:
  Record stored_;
  Instant waiting_since_ = kNever;
  bool is_late_ = false;
};

}  // namespace bellwether
