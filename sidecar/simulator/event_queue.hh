// Virtual time: what is to happen, ordered by when; of things at the same moment, by who asked
// first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "base/clock.hh"

namespace bellwether::simulator {

template <typename Event>
class EventQueue {
 public:
  Instant now() const { return now_; }
  bool is_empty() const { return heap_.empty(); }
  Instant next_at() const { return heap_.empty() ? kNever : heap_.front().at; }

  // A moment in the past counts as now.
  template <typename What>
  void push(Instant at, What&& what) {
    const size_t slot = take_slot();
    slots_[slot] = std::forward<What>(what);
    heap_.push_back({std::max(at, now_), ++pushed_, slot});
    std::push_heap(heap_.begin(), heap_.end());
  }

  // Moves time on to the next event and hands it, where it is, to `handle`, which may push others;
  // the queue must not be empty.
  template <typename Handle>
  void pop(Handle&& handle) {
    std::pop_heap(heap_.begin(), heap_.end());
    const Entry entry = heap_.back();
    heap_.pop_back();
    now_ = entry.at;
    handle(slots_[entry.slot]);
    free_.push_back(entry.slot);
  }

  // Moves time on to where no event is before.
  void advance_to(Instant at) { now_ = std::max(now_, at); }

 private:
  // Small, so that the heap moves keys and not events.
  struct Entry {
    Instant at{};
    uint64_t order = 0;
    size_t slot = 0;

    friend bool operator<(const Entry& left, const Entry& right) {
      return left.at != right.at ? left.at > right.at : left.order > right.order;
    }
  };

  size_t take_slot() {
    if (free_.empty()) {
      slots_.emplace_back();
      return slots_.size() - 1;
    }
    const size_t slot = free_.back();
    free_.pop_back();
    return slot;
  }

  Instant now_{};
  uint64_t pushed_ = 0;
  std::vector<Entry> heap_;
  std::deque<Event> slots_;  // stay where they are
  std::vector<size_t> free_;
};

}  // namespace bellwether::simulator
