// Profiles: timers that fit together, chosen by one word.
#pragma once

#include <cstdint>

#include "base/clock.hh"

namespace bellwether {

enum class Profile : uint8_t {
  kDefault,   // one data centre, shared machines
  kLan,       // one data centre, machines with time to spare
  kWan,       // between regions
  kFast,      // sidecars with a reserved processor
  kTextbook,  // the papers' rules: the default's timers without the departures from the papers
};

// What a profile sets; everything else about time is derived from these.
struct ProfileTimers {
  Duration heartbeat_interval;
  Duration suspect_after;
  Duration lease;
  Duration answer_timeout;
};

ProfileTimers timers_of(Profile profile);

}  // namespace bellwether
