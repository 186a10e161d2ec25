// New options for a running node, and the change of variant.
//
// Each member tells which variant it wants, in its HELLO and its entry of the list.  A process goes
// over to the one it wants at the beginning of an election, when it knows of no living member that
// wants another; until then it elects as before.  So a group is reconfigured member by member,
// under a leader that does not change for it, and elects by one variant before and after.
#include <algorithm>

#include "base/check.hh"
#include "core/node.hh"
#include "core/node_send.hh"
#include "core/plugin_facts.hh"

namespace bellwether {

void Node::on(const Reconfigure& reconfigure) {
  const Options& wanted = reconfigure.options;
  const std::string variant = chosen_variant(plugin_, wanted.variant);
  const std::vector<std::string> known = variants_of(plugin_);
  check(std::find(known.begin(), known.end(), variant) != known.end(),
        "the wanted variant is one of the plugin's");
  remark("takes over new options");
  options_.answer_timeout = wanted.answer_timeout;
  options_.coordinator_timeout = wanted.coordinator_timeout;
  options_.join_timeout = wanted.join_timeout;
  options_.handover_timeout = wanted.handover_timeout;
  set_drain_timeout(wanted.drain_timeout);
  options_.reap_after = wanted.reap_after;
  set_detection(wanted);
  const bool is_new_policy =
      options_.preempt != wanted.preempt || options_.score_margin != wanted.score_margin;
  const bool is_new_wait = is_new_policy || options_.preempt_delay != wanted.preempt_delay;
  options_.preempt = wanted.preempt;
  options_.preempt_delay = wanted.preempt_delay;
  options_.score_margin = wanted.score_margin;
  preemption_.set_policy(wanted.preempt, wanted.preempt_delay, wanted.score_margin);
  change_opinions();
  if (is_new_wait) timers_.disarm(Timer::kPreempt);
  preempt_anew();
  // A member that was refused by the old policy asks again when it hears this.
  if (is_new_policy && is_leading() && !handover_) tell_anew();
  set_variant(variant);
}

// A drain that is under way may be shortened.  Whoever waits for the place was told how long it may
// take, and would not wait for longer.
void Node::set_drain_timeout(Duration timeout) {
  options_.drain_timeout = timeout;
  if (!is_draining()) return;
  Drain& drain = *handover_->drain;
  // Not in the past, which would look like a pause of this process.
  drain.until = std::min(drain.until, std::max(now_, drain.since + timeout));
  timers_.arm(Timer::kDrain, drain.until);
}

// Silence counts anew: what was patience before must not be suspicion now.
void Node::set_detection(const Options& options) {
  const bool is_same = options_.heartbeat_interval == options.heartbeat_interval &&
                       options_.suspect_after_min == options.suspect_after_min &&
                       options_.suspect_after_max == options.suspect_after_max;
  if (is_same) return;
  options_.heartbeat_interval = options.heartbeat_interval;
  options_.suspect_after_min = options.suspect_after_min;
  options_.suspect_after_max = options.suspect_after_max;
  detector_.configure(options_);
  for (Member& member : members_.all()) member.arrivals.restart(now_);
  if (is_leading()) return timers_.arm(Timer::kHeartbeat, now_);
  const auto* following = std::get_if<Following>(&role_);
  const Member* leader = following == nullptr ? nullptr : members_.find(following->leader);
  if (leader == nullptr) return;
  timers_.arm(Timer::kSuspicion, detector_.suspect_at(leader->arrivals, now_));
}

void Node::set_variant(const std::string& variant) {
  options_.variant = variant;
  if (!members_.set_self_variant(variant)) return;
  send_to_connected(wish());
  on_members_changed();
}

// Before an event that may begin an election.
void Node::renew_elector() {
  if (!elector_.is_idle() || plugin_depth_ > 0) return;
  const bool is_agreed = elector_.variant() != options_.variant && !has_variant_mismatch();
  // A copy: the elector takes its own variant back otherwise.
  const std::string variant = is_agreed ? options_.variant : elector_.variant();
  if (!elector_.adopt(options_, variant)) return;
  election_state_ = ELECTION_STATE_IDLE;
  if (is_agreed) remark("elects by the variant that all want from now on");
}

}  // namespace bellwether
