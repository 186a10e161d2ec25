// The one place where the node is stepped.
#include "daemon/node_driver.hh"

#include "base/check.hh"

namespace bellwether::daemon {

NodeDriver::NodeDriver(io::Loop& loop, Node& node, EffectSink& sink)
    : node_(node), sink_(sink), self_check_(node), timer_(loop, [this] { step(Tick{}); }) {}

void NodeDriver::step(const Input& input) {
  check(!is_stepping_, "carrying out an effect does not step the node");
  if (is_broken_) return;
  is_stepping_ = true;
  const Instant now = io::Loop::now();
  self_check_.before_step(now, input);
  const Effects& effects = node_.step(now, input);
  if (const auto broken = self_check_.broken_by_step(effects)) {
    is_broken_ = true;
    timer_.arm(kNever);
    sink_.on_broken(*broken, self_check_);
    is_stepping_ = false;
    return;
  }
  for (const Effect& effect : effects) {
    if (const auto* outcome = std::get_if<Outcome>(&effect)) outcome_ = outcome->kind;
    sink_.carry_out(now, effect);
  }
  for (const Effect& effect : effects) sink_.tell(effect);
  is_stepping_ = false;
  timer_.arm(node_.deadline());
}

Outcome::Kind NodeDriver::command(const Input& input) {
  outcome_.reset();
  step(input);
  if (is_broken_) return Outcome::Kind::kNotEligible;
  check(outcome_.has_value(), "a command has an outcome at once");
  return *outcome_;
}

}  // namespace bellwether::daemon
