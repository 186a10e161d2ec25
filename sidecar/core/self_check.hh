// A node watched from beside, step by step: does it still keep its own promises?  It sees what the
// node was told, what it is, and what it wants done, before any of it is done.  So a node that has
// gone wrong can be stopped before its flag, its disk or its peers learn of it.
//
// The same checks judge every step in the simulator and in the running sidecar.  They are about the
// node alone: nothing that a peer, an operator or a disk does can break them, only a bug of ours
// (or of the plugin).  What it takes a cluster to see (S1, S2) is the simulator's.  Nothing
// allocates as long as all is well.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "core/invariants.hh"

namespace bellwether {

class SelfCheck {
 public:
  // Of a node that has not started; `node` outlives this.
  explicit SelfCheck(const Node& node) : node_(node), before_(node), after_(node) {}

  // Before the node is told.
  void before_step(Instant now, const Input& input);
  // After it, with its effects, none of which has been carried out.  Returns what is broken, in
  // words, or nothing.
  std::optional<std::string> broken_by_step(const Effects& effects);

  // For the log of a process that ends: the state before the last step and after it, the last
  // inputs, the newest first, and what the broken step wanted done.
  std::string state_before() const { return describe(before_); }
  std::string state_after() const { return describe(after_); }
  std::string last_inputs() const;
  const std::string& wanted() const { return wanted_; }

  // The state before the last step.
  const NodeSummary& before() const { return before_; }

 private:
  // What there is to say of an input, without a copy of it.
  struct Note {
    const char* what = nullptr;  // static; nullptr: there was none
    Instant at{};
    Uuid peer{};
    uint64_t epoch = 0;
  };
  static constexpr size_t kNotes = 8;

  static std::string describe(const NodeSummary& summary);
  static Note note_of(Instant now, const Input& input);
  std::string describe(const Effects& effects) const;
  std::optional<std::string> first_broken(const Effects& effects);
  std::optional<std::string> broken_by_memory();
  std::optional<std::string> broken_by_history(const Effects& effects);
  std::optional<std::string> broken_by_flag() const;

  const Node& node_;
  NodeSummary before_;
  NodeSummary after_;  // nothing but a step changes a node, so also that before the next one
  Instant now_{};
  std::array<Note, kNotes> notes_{};
  size_t next_note_ = 0;
  std::string wanted_;

  Instant earlier_lives_until_{};  // when whatever they had promised is over

  // Of this life.
  Duration longest_lease_{};      // of a claim that had this voter's vote
  Publish flag_;                  // as it is published
  uint64_t published_epoch_ = 0;  // the highest
  uint64_t released_epoch_ = 0;   // the highest that a frame has released
  Instant last_beat_at_{};        // of the last COORDINATOR or heartbeat with a number of its own
  Instant last_write_at_{};       // and a write to the store
};

}  // namespace bellwether
