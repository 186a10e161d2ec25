// Every step is judged here.
#include "simulator/referee.hh"

namespace bellwether::simulator {

void Referee::before_step(uint32_t process, Instant now, const Input& input) {
  self_checks_[process]->before_step(now, input);
}

void Referee::on_step(uint32_t process, const Node& after, const Effects& effects) {
  SelfCheck& self_check = *self_checks_[process];
  const NodeSummary& before = self_check.before();
  const bool claimed =
      after.is_leading() && (!before.is_leading || before.leader->epoch != after.leader()->epoch);
  if (claimed) ++claims_;
  if (const auto broken = self_check.broken_by_step(effects)) blame(process, *broken);
}

void Referee::on_publish(uint32_t process, const Publish& publish) {
  flags_[process] = {publish.is_leader, publish.epoch, publish.leader, publish.valid_until,
                     publish.is_draining};
}

void Referee::blame(uint32_t process, const std::string& text) {
  if (!violation_) violation_ = Violation{process, text};
}

}  // namespace bellwether::simulator
