// A proxy: takes connections at a place of its own, and carries what is said to another one and
// back.
#pragma once

#include <atomic>
#include <list>
#include <thread>

#include "transport_harness.hh"

namespace bellwether::io::test {

// Its thread looks every millisecond, for tests are about what is said, not about when.
class Relay {
 public:
  // To 127.0.0.1.
  explicit Relay(uint16_t target);
  // Ends all connections, and nobody listens any more: its port refuses as long as this lives.
  ~Relay() { end(); }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  HostPort place() const { return place_; }
  void end();
  // Connections that come from now on are carried to this port of 127.0.0.1.
  void lead_to(uint16_t target) { target_ = target; }

 private:
  struct Carried {
    RawSocket here;
    RawSocket there;
    size_t passed_there = 0;
    size_t passed_here = 0;
  };

  void run();

  std::atomic<uint16_t> target_;
  std::optional<RawListener> listener_{std::in_place};
  HostPort place_ = listener_->place();
  std::list<Carried> carried_{};
  std::optional<HeldPort> held_{};
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

}  // namespace bellwether::io::test
