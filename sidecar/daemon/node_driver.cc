// The one place where the node is stepped.
#include "daemon/node_driver.hh"

#include "core/check.hh"

namespace bellwether {

NodeDriver::NodeDriver(Loop& loop, Node& node, EffectSink& sink)
    : node_(node), sink_(sink), timer_(loop, [this] { step(Tick{}); }) {}

void NodeDriver::step(const Input& input) {
  check(!is_stepping_, "carrying out an effect does not step the node");
  is_stepping_ = true;
  const Instant now = Loop::now();
  const Effects& effects = node_.step(now, input);
  for (const Effect& effect : effects) {
    if (const auto* outcome = std::get_if<Outcome>(&effect)) outcome_ = outcome->kind;
    sink_.carry_out(now, effect);
  }
  for (const Effect& effect : effects) sink_.tell(effect);
  is_stepping_ = false;
  timer_.arm(node_.deadline());
}

void NodeDriver::command(const Input& input, const Done& done) {
  outcome_.reset();
  step(input);
  check(outcome_.has_value(), "a command has an outcome at once");
  done(*outcome_);
}

}  // namespace bellwether
