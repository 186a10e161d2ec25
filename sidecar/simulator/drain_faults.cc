// Lines of scenarios about the end of reigns.
#include "simulator/drain_faults.hh"

namespace bellwether::simulator {

std::string DrainFaults::at_start(uint32_t size) {
  static constexpr const char* kTimeouts[] = {"50", "300", "1500"};
  has_drains_ = random_.happens(0.4);
  if (!has_drains_) return "";
  line("reconfigure " + everybody(size) + " drain_timeout=" + kTimeouts[random_.below(3)]);
  line("application " + everybody(size) + " here");
  for (uint32_t node = 1; node <= size; ++node) {
    if (random_.happens(0.5)) line("application " + number(node) + " here" + drains());
  }
  return take_lines();
}

std::string DrainFaults::next(uint32_t size) {
  if (!has_drains_ || random_.happens(0.5)) return "";
  end_a_reign(size);
  return take_lines();
}

std::string DrainFaults::at_end(uint32_t size, bool are_asked) {
  if (are_asked) move_in_the_calm(size);
  if (has_drains_) {
    line("reconfigure " + everybody(size) + " drain_timeout=0");
    line("settle");
  }
  return take_lines();
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
        line("score " + any(size) + " " + score());
        break;
      default:
        line("step_down leader hold=" + number(random_.below(400)));
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
  return " drains=" + number(random_.below(random_.happens(0.5) ? 40 : 800));
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
      line("score " + any(size) + " " + score());
      break;
    default:
      line("step_down leader hold=" + number(random_.below(600)));
  }
  // Meanwhile something else comes.
  wait(200);
  switch (random_.below(6)) {
    case 0:
      line("application leader gone");
      wait(300);
      line("application " + everybody(size) + " here");
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

}  // namespace bellwether::simulator
