// Lines of scenarios about applications.
#include "simulator/application_faults.hh"

namespace bellwether::simulator {

std::string ApplicationFaults::at_start(uint32_t size) {
  has_applications_ = random_.happens(0.3);
  if (!has_applications_) return "";
  for (uint32_t node = 1; node <= size; ++node) {
    if (random_.happens(0.5)) line("score " + number(node) + " " + score());
  }
  if (random_.happens(0.5)) {
    line("reconfigure " + everybody(size) + " score_margin=" + number(random_.below(8)));
  }
  return take_lines();
}

std::string ApplicationFaults::next(uint32_t size) {
  if (!has_applications_ || random_.happens(0.5)) return "";
  switch (random_.below(9)) {
    case 0:
    case 1:
      line("application " + anybody(size) + " gone");
      break;
    case 2:
      line("application " + anybody(size) + " hung");
      break;
    case 3:
    case 4:
      line("application " + anybody(size) + " here");
      break;
    case 5:
    case 6:
      line("score " + anybody(size) + " " + score());
      break;
    case 7:
      crash_in_a_loop(size);
      break;
    default:
      take_all(size);
  }
  return take_lines();
}

std::string ApplicationFaults::at_end(uint32_t size) const {
  return has_applications_ ? "application " + everybody(size) + " here\n" : "";
}

std::string ApplicationFaults::anybody(uint32_t size) {
  return random_.happens(0.4) ? "leader" : any(size);
}

// The same one, whoever leads by then.
void ApplicationFaults::crash_in_a_loop(uint32_t size) {
  const std::string node = any(size);
  const uint64_t crashes = random_.between(2, 5);
  for (uint64_t crash = 0; crash < crashes; ++crash) {
    line("application " + node + " gone");
    line("wait " + number(random_.below(60)));
    line("application " + node + " here");
    line("wait " + number(random_.below(200)));
  }
}

// Nobody can lead for a while; then one can.
void ApplicationFaults::take_all(uint32_t size) {
  line("application " + everybody(size) + " gone");
  line("wait " + number(random_.below(400)));
  line("application " + any(size) + " here");
}

}  // namespace bellwether::simulator
