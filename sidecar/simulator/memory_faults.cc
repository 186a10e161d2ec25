// Lines of scenarios about what voters know.
#include "simulator/memory_faults.hh"

#include "simulator/scenario_verbs.hh"

namespace bellwether::simulator {

// Wall clocks may be wrong by years, and who has voted for itself may die before it says so.
std::string MemoryFaults::at_start(uint32_t size, uint32_t voters) {
  size_ = size;
  voters_ = voters;
  const bool has_wrong_clocks = random_.happens(0.25);
  for (uint32_t node = 1; has_wrong_clocks && node <= size; ++node) {
    if (random_.happens(0.5)) continue;
    line("clock " + number(node) + " days_ahead=" + number(random_.below(kMostDaysAhead)));
  }
  line("start " + everybody(size));
  if (has_wrong_clocks && random_.happens(0.7)) {
    const std::string node = any(voters);
    line("wait " + number(random_.below(700)));
    line("kill " + node + " at stored");
    doomed_.insert(node);
  }
  line("wait 1500");
  if (voters > 1 && random_.happens(0.15)) {
    copied_ = any(voters);
    line("disk " + copied_ + " copied");
  }
  return take_lines();
}

std::string MemoryFaults::at_end(const std::set<std::string>& forgetful) {
  // Whoever has lost its state is another process, which an older state does not fit.
  if (!copied_.empty() && !forgetful.contains(copied_)) put_back();
  if (voters_ > 1 && random_.happens(0.06)) replace_voters();
  return take_lines();
}

// Those it has told of its votes are there, so it learns that it has forgotten some.
void MemoryFaults::put_back() {
  line("# An operator puts back an older state.");
  line("kill " + copied_);
  line("disk " + copied_ + " put-back");
  line("start " + copied_);
  expect_recovery(copied_);
}

// One after the other, each when the last is ready; or so many at once that no majority remembers.
void MemoryFaults::replace_voters() {
  const bool is_rolling = random_.happens(0.5);
  const uint32_t replaced = is_rolling ? voters_ : voters_ / 2 + 1;
  line(is_rolling ? "# All voters are replaced, one after the other."
                  : "# A majority loses its state at once.");
  for (uint32_t voter = 1; voter <= replaced; ++voter) {
    line("kill " + number(voter));
    line("disk " + number(voter) + " lost");
    if (!is_rolling) continue;
    line("start " + number(voter));
    line("expect ready " + number(voter) + " within 30s");
  }
  line("start " + everybody(size_));
  expect_recovery(everybody(voters_));
}

void MemoryFaults::expect_recovery(const std::string& voters) {
  line("expect ready " + voters + " within 30s");
  line("expect agreement within 30s");
  line("settle");
  line("expect agreement");
  line("expect one list");
}

}  // namespace bellwether::simulator
