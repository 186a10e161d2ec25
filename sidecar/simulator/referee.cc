// Every step is judged here.
#include "simulator/referee.hh"

namespace bellwether::simulator {

void Referee::on_step(uint32_t process, const NodeSummary& before, const Node& after,
                      const Effects& effects) {
  const NodeSummary summary(after);
  const bool claimed =
      summary.is_leading && (!before.is_leading || before.leader->epoch != summary.leader->epoch);
  if (claimed) ++claims_;
  if (const auto broken = broken_by_effects(before, effects)) blame(process, *broken);
  if (const auto broken = broken_by_change(before, summary)) blame(process, *broken);
  // Who has ended keeps no promise any more, and why it failed it says itself.
  if (after.has_left() || after.has_failed()) return;
  if (const auto broken = broken_by_state(after)) blame(process, *broken);
}

void Referee::on_publish(uint32_t process, const Publish& publish) {
  Watched& watched = watched_[process];
  if (publish.leader) {
    // [I10] The epochs that one application sees never fall.
    if (publish.epoch < watched.highest_published) blame(process, "a published epoch fell");
    watched.highest_published = publish.epoch;
  }
  watched.flag = {publish.is_leader, publish.epoch, publish.leader, publish.valid_until};
}

void Referee::blame(uint32_t process, const std::string& text) {
  if (!violation_) violation_ = Violation{process, text};
}

}  // namespace bellwether::simulator
