// Layer A seen from the node: one plugin instance, called with values and answered in values.
// What a plugin must not do (an unknown action, an index out of range) is found here.
#pragma once

#include <bellwether/election_plugin.h>

#include <memory>
#include <span>
#include <string>

#include "base/clock.hh"
#include "core/frames.hh"
#include "core/members.hh"
#include "core/options.hh"

namespace bellwether {

// ELECTION_STATE_*; "other" for what the interface does not know.
const char* election_state_name(uint32_t state);

class Elector {
 public:
  // `plugin` must outlive the elector.  is_working() is false when the plugin made no instance.
  Elector(const election_plugin& plugin, const Options& options, const Uuid& self);

  struct Situation {
    Instant now{};
    const Members& members;
    uint32_t leader = ELECTION_NOBODY;  // index into members.ranked()
  };

  // Each returns the plugin's actions, valid until the next call; empty when it failed.
  // `flags` stand in for the frame's.
  std::span<const election_action> message(const Situation& situation, uint32_t from,
                                           const ElectionFrame& frame, uint32_t flags);
  // `type`: TIMEOUT, MEMBERS, LEADER, ELECT or STAND_DOWN; `reason` for the last three.
  std::span<const election_action> event(const Situation& situation, uint32_t type,
                                         uint32_t reason = ELECTION_REASON_NONE);

  // Lets the next election follow these options and this variant, with a new instance of the plugin
  // when anything it was set up with differs; says whether there is one.  Between elections only.
  bool adopt(const Options& options, const std::string& variant);
  // The one that the plugin elects by.
  const std::string& variant() const { return setup_.variant; }
  bool is_idle() const { return deadline_ == kNever; }

  // When the plugin wants TIMEOUT; kNever: it is in no election.
  Instant deadline() const { return deadline_; }

  // False once the plugin has broken its contract; `flaw()` says how.
  bool is_working() const { return flaw_.empty(); }
  const std::string& flaw() const { return flaw_; }

 private:
  struct Destroy {
    const election_plugin* plugin;
    void operator()(election_instance* instance) const { plugin->destroy(instance); }
  };

  // What an instance is made from.
  struct Setup {
    std::string variant;
    Duration answer_timeout{};
    Duration coordinator_timeout{};
    uint32_t flags = 0;

    Setup(const Options& options, std::string variant);
    friend bool operator==(const Setup&, const Setup&) = default;
  };

  void make_instance();
  std::span<const election_action> step(election_event& event, const Situation& situation);
  void note_round(const election_action& action);
  std::string flaw_of(const election_action& action, const election_event& event) const;

  const election_plugin& plugin_;
  Uuid self_;
  Setup setup_;
  uint64_t last_round_;  // that an instance may have used
  std::unique_ptr<election_instance, Destroy> instance_;
  Instant deadline_ = kNever;
  std::string flaw_;
};

}  // namespace bellwether
