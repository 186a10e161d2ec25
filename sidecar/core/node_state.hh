// What a node remembers from one input to the next: the parts it is composed of, its role, and what
// it has noted beside.  Private to node*.cc; what of it others may ask for, node.hh says.
#pragma once

#include <bellwether/election_plugin.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/backoff.hh"
#include "core/declined.hh"
#include "core/effects.hh"
#include "core/elector.hh"
#include "core/epoch_horizon.hh"
#include "core/failure_detector.hh"
#include "core/guard.hh"
#include "core/handover.hh"
#include "core/members.hh"
#include "core/options.hh"
#include "core/preemption.hh"
#include "core/record.hh"
#include "core/role.hh"
#include "core/store_guard.hh"
#include "core/timers.hh"

namespace bellwether {

class NodeState {
 protected:
  // See Node's (node.hh).
  NodeState(const election_plugin& plugin, Options options, MemberEntry self, Record record);

  const election_plugin& plugin_;
  Options options_;
  Record record_;
  uint64_t heard_epoch_ = 0;  // of claims that this process has not followed; not guard "none"
  Members members_;
  Elector elector_;
  std::optional<Majority> majority_;
  std::optional<StoreGuard> store_;
  EpochHorizon epoch_horizon_;
  struct {
    std::string name;
    bool knows_epoch = false;  // and has voters at all
    Instant until{};
  } other_voters_;  // of a peer that was refused for them last
  FailureDetector detector_;
  Preemption preemption_;
  ElectionBackoff backoff_;
  Timers timers_;
  Role role_;
  Instant now_{};
  Instant told_leader_at_{};
  uint32_t election_state_ = ELECTION_STATE_IDLE;
  uint32_t elect_reason_ = ELECTION_REASON_NONE;
  // While joining: there is a leader somewhere, which is not heard yet, or may not be.
  bool expects_leader_ = false;
  bool has_met_all_ = false;  // that were to be found at start and are there
  bool has_tried_to_preempt_ = false;
  Instant preempts_again_at_{};  // at the earliest
  Flapping silence_;             // of those that were asked for the leader's place
  Instant refused_until_{};      // the leader has said so
  Declined declined_;
  bool is_pause_noted_ = false;
  bool is_called_ = false;  // an operator wants the election that is going on
  bool is_leaving_ = false;
  bool has_left_ = false;
  bool has_failed_ = false;
  int plugin_depth_ = 0;
  std::optional<Handover> handover_;
  std::optional<Asking> asking_;
  uint64_t drains_ = 0;     // begun by this process
  Flapping asked_in_vain_;  // drains for a higher rank that has gone meanwhile
  uint64_t questions_ = 0;  // asked of leaders; not guard "majority"
  Application application_;
  Instant told_of_application_at_{};  // all others
  bool was_told_able_ = true;
  Instant listed_at_{};  // leader: scores or its own state, in a new version of its list
  bool has_unlisted_scores_ = false;
  Effects effects_;
};

}  // namespace bellwether
