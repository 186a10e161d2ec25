// Runs the event loop in a test until something has happened.
#pragma once

#include <chrono>
#include <functional>

#include "io/loop/loop.hh"
#include "io/loop/timer.hh"

// False when it did not happen within a minute, which means never, also where the machine stands
// still now and then.
inline bool run_until(bellwether::io::Loop& loop, const std::function<bool()>& has_happened) {
  const auto give_up = bellwether::io::Loop::now() + std::chrono::minutes(1);
  // Wakes the loop, so that the bound is looked at.
  bellwether::io::LoopTimer waker(loop, [] {});
  while (!has_happened()) {
    if (bellwether::io::Loop::now() > give_up) return false;
    waker.arm(std::chrono::milliseconds(2));
    uv_run(loop.uv(), UV_RUN_ONCE);
  }
  return true;
}
