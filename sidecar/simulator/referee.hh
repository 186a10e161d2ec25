// Watches the whole virtual cluster: checks every step of every node against the invariants, and
// knows what each application would read from its flag.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/self_check.hh"

namespace bellwether::simulator {

class Referee {
 public:
  void resize(uint32_t processes) {
    flags_.resize(processes);
    self_checks_.resize(processes);
  }

  // A new life of the process begins, with this node; its application knows nothing yet.
  void on_start(uint32_t process, const Node& node) {
    on_end(process);
    self_checks_[process].emplace(node);
  }
  void on_end(uint32_t process) {
    flags_[process] = {};
    self_checks_[process].reset();
  }

  // One step is made.  The first violation is kept.
  void before_step(uint32_t process, Instant now, const Input& input) {
    self_checks_[process]->before_step(now, input);
  }
  void on_step(uint32_t process, const Node& after, const Effects& effects) {
    SelfCheck& self_check = *self_checks_[process];
    const NodeSummary& before = self_check.before();
    const bool claimed =
        after.is_leading() && (!before.is_leading || before.leader->epoch != after.leader()->epoch);
    if (claimed) ++claims_;
    if (const auto broken = self_check.broken_by_step(effects)) blame(process, *broken);
  }
  void on_publish(uint32_t process, const Publish& publish) { flags_[process] = publish; }

  // What the application beside it was told last; times are of the process's own clock.
  const Publish& flag(uint32_t process) const { return flags_[process]; }

  // How many claims became effective so far, in the whole cluster.
  uint64_t claims() const { return claims_; }

  // What was broken first and by which process; nothing when all is well.
  struct Violation {
    uint32_t process = 0;
    std::string text;
  };
  const std::optional<Violation>& violation() const { return violation_; }
  void blame(uint32_t process, const std::string& text) {
    if (!violation_) violation_ = Violation{process, text};
  }

 private:
  std::vector<Publish> flags_;                         // looked at after every step
  std::vector<std::optional<SelfCheck>> self_checks_;  // while they run
  uint64_t claims_ = 0;
  std::optional<Violation> violation_;
};

}  // namespace bellwether::simulator
