// A leader that is asked for its place, and what it answers.
#pragma once

#include <utility>
#include <variant>

#include "node_harness.hh"

namespace bellwether::tests {

// 3 leads 1 and 2; 4 and 5 could not when it claimed.
struct Asked : NodeHarness {
  explicit Asked(Options options = {}) : NodeHarness({.self = 3, .options = std::move(options)}) {
    lead();
  }

  Effects receive_question(uint32_t from, bool is_planned = false, int64_t score = 0) {
    return receive(
        from, 1,
        Canvass{.number = 7, .is_planned = is_planned, .is_take_over = true, .score = score});
  }
};

inline const CanvassReply* reply_to(uint32_t asker, const Effects& effects) {
  for (const Effect& effect : effects) {
    const auto* send = std::get_if<Send>(&effect);
    if (send != nullptr && send->to == uuid(asker))
      return std::get_if<CanvassReply>(&send->frame.body);
  }
  return nullptr;
}

// And nobody is missed before that is over.
inline Options with_drain() {
  Options options;
  options.drain_timeout = seconds(10);
  options.suspect_after_min = options.suspect_after_max = seconds(20);
  return options;
}

}  // namespace bellwether::tests
