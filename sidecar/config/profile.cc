// The profiles' table.
#include "config/profile.hh"

namespace bellwether {

ProfileTimers timers_of(Profile profile) {
  using std::chrono::milliseconds;
  const auto timers = [](int heartbeat_ms, int suspect_ms, int lease_ms, int answer_ms) {
    return ProfileTimers{milliseconds(heartbeat_ms), milliseconds(suspect_ms),
                         milliseconds(lease_ms), milliseconds(answer_ms)};
  };
  switch (profile) {
    case Profile::kLan:
      return timers(50, 200, 400, 50);
    case Profile::kWan:
      return timers(500, 2500, 6000, 1500);
    case Profile::kFast:
      return timers(10, 50, 150, 25);
    case Profile::kDefault:
    case Profile::kTextbook:
      break;
  }
  return timers(100, 500, 1000, 100);
}

}  // namespace bellwether
