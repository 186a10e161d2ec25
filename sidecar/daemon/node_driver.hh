// Drives the node: hands it one input at a time, has what follows carried out in order, and wakes
// it at its deadline.
#pragma once

#include <optional>
#include <string>

#include "core/node.hh"
#include "core/self_check.hh"
#include "io/loop/timer.hh"

namespace bellwether::daemon {

// Carries out effects.  Nothing that it does may lead back into the driver before it returns.
class EffectSink {
 public:
  virtual ~EffectSink() = default;
  virtual void carry_out(Instant now, const Effect& effect) = 0;
  // The same effects again, in order, when all of the step are carried out: for those who only want
  // to know.  Peers and the application need not wait for a line of the log.
  virtual void tell(const Effect& effect) = 0;
  // The node has gone wrong (self_check.hh): `invariant` is broken.  Nothing of the step is carried
  // out, and there will be no other; what the node did before may still stand in the world.
  virtual void on_broken(const std::string& invariant, const SelfCheck& evidence) = 0;
};

class NodeDriver {
 public:
  // Both must outlive the driver.  The node has not started.
  NodeDriver(io::Loop& loop, Node& node, EffectSink& sink);

  void step(const Input& input);

  // An input that has an Outcome (effects.hh), which is returned when all effects are carried out.
  // A node that has gone wrong is not eligible.
  Outcome::Kind command(const Input& input);

 private:
  Node& node_;
  EffectSink& sink_;
  SelfCheck self_check_;
  std::optional<Outcome::Kind> outcome_;
  bool is_stepping_ = false;
  bool is_broken_ = false;
  io::DeadlineTimer timer_;
};

}  // namespace bellwether::daemon
