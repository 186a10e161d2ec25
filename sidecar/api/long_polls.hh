// Clients that wait for the next change of leadership, each until its own deadline.
#pragma once

#include <cstddef>
#include <vector>

#include "api/exchange.hh"
#include "base/clock.hh"

namespace bellwether::api {

class LongPolls {
 public:
  // A quarter of the connections that the server takes (HttpLimits); the rest is for those that do
  // not wait.
  static constexpr size_t kMaxWaiting = 128;

  bool is_full() const { return waiting_.size() >= kMaxWaiting; }
  size_t size() const { return waiting_.size(); }
  void add(Instant deadline, Exchange exchange);

  // Those that wait no longer, to be answered: all of them; or those whose deadline has passed.
  std::vector<Exchange> take_all();
  std::vector<Exchange> take_due(Instant now);

  // Forgets those whose client has gone.
  void drop_gone();

  // The earliest; kNever when nobody waits.
  Instant deadline() const;

 private:
  struct Waiting {
    Instant deadline;
    Exchange exchange;
  };
  std::vector<Waiting> waiting_;
};

}  // namespace bellwether::api
