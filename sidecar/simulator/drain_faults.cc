// Lines of scenarios about the end of reigns.
#include "simulator/drain_faults.hh"

#include <utility>

namespace bellwether::simulator {

std::string DrainFaults::at_start(uint32_t size) {
  static constexpr const char* kTimeouts[] = {"50", "300", "1500"};
  has_drains_ = random_.happens(0.4);
  if (!has_drains_) return "";
  const std::string everybody = "1.." + std::to_string(size);
  line("reconfigure " + everybody + " drain_timeout=" + kTimeouts[random_.below(3)]);
  line("application " + everybody + " here");
  for (uint32_t node = 1; node <= size; ++node) {
    if (random_.happens(0.5)) line("application " + std::to_string(node) + " here" + drains());
  }
  return std::exchange(text_, {});
}

std::string DrainFaults::next(uint32_t size) {
  if (!has_drains_ || random_.happens(0.5)) return "";
  end_a_reign(size);
  return std::exchange(text_, {});
}

std::string DrainFaults::at_end(uint32_t size, bool are_asked) {
  if (are_asked) move_in_the_calm(size);
  if (has_drains_) {
    line("reconfigure 1.." + std::to_string(size) + " drain_timeout=0");
    line("settle");
  }
  return std::exchange(text_, {});
}

void DrainFaults::move_in_the_calm(uint32_t size) {
  line("# Nothing is in the way of any message: each leader gives its place away.");
  line("calm");
  const uint64_t acts = random_.between(1, 4);
  for (uint64_t act = 0; act < acts; ++act) {
    switch (random_.below(4)) {
      case 0:
        line("elect " + any(size));
        break;
      case 1:
        line("score " + any(size) + " " + random_score());
        break;
      default:
        line("step_down leader hold=" + std::to_string(random_.below(400)));
    }
    wait(1200);
  }
  line("settle");
  line("expect agreement");
  line("expect one list");
}

// An application that is never done, or for longer than it may be, is gone once in a while.
std::string DrainFaults::drains() {
  if (random_.happens(0.2)) return " drains=never";
  return " drains=" + std::to_string(random_.below(random_.happens(0.5) ? 40 : 800));
}

void DrainFaults::end_a_reign(uint32_t size) {
  switch (random_.below(7)) {
    case 0:
      line("application " + anybody(size) + " here" + drains());
      return;
    case 1:
      line("elect " + any(size));
      return;
    case 2:
      line("leave leader");
      break;
    case 3:
      line("score " + any(size) + " " + random_score());
      break;
    default:
      line("step_down leader hold=" + std::to_string(random_.below(600)));
  }
  // Meanwhile something else comes.
  wait(200);
  switch (random_.below(6)) {
    case 0:
      line("application leader gone");
      wait(300);
      line("application 1.." + std::to_string(size) + " here");
      return;
    case 1:
      line("step_down leader hold=0 now");
      return;
    case 2:
      line("leave leader");
      return;
    case 3:
      line("transfer " + any(size) + " " + any(size));
      return;
    default:
      return;
  }
}

std::string DrainFaults::random_score() {
  return std::to_string(static_cast<int64_t>(random_.below(12)) - 4);
}

}  // namespace bellwether::simulator
