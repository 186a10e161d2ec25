// Drives the node: hands it one input at a time, has what follows carried out in order, and wakes
// it at its deadline.
#pragma once

#include <functional>

#include "core/node.hh"
#include "io/timer.hh"

namespace bellwether {

// Carries out effects.  Nothing that it does may lead back into the driver before it returns.
class EffectSink {
 public:
  virtual ~EffectSink() = default;
  virtual void carry_out(Instant now, const Effect& effect) = 0;
  // The same effects again, in order, when all of the step are carried out: for those who only want
  // to know.  Peers and the application need not wait for a line of the log.
  virtual void tell(const Effect& effect) = 0;
};

class NodeDriver {
 public:
  using Done = std::function<void(Outcome::Kind)>;

  // Both must outlive the driver.
  NodeDriver(Loop& loop, Node& node, EffectSink& sink);

  void step(const Input& input);

  // An input that has an Outcome (effects.hh); `done` gets it when all effects are carried out.
  void command(const Input& input, const Done& done);

 private:
  Node& node_;
  EffectSink& sink_;
  std::optional<Outcome::Kind> outcome_;
  bool is_stepping_ = false;
  DeadlineTimer timer_;
};

}  // namespace bellwether
