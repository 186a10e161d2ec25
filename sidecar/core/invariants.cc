// The invariants, one after the other; the numbers are those of ARCHITECTURE.md.
#include "core/invariants.hh"

#include <algorithm>

namespace bellwether {
namespace {

std::optional<std::string> broken_by_role(const Node& node, const Joining&) {
  if (node.timers().is_armed(Timer::kJoin) || node.has_left()) return std::nullopt;
  return "looks for a leader for ever";  // [I13]
}

// [I13] Nobody waits for ever: who could lead and knows no leader has a timer that brings it on.
std::optional<std::string> broken_by_role(const Node& node, const Leaderless&) {
  const Timers& timers = node.timers();
  const bool has_timer = timers.is_armed(Timer::kPlugin) || timers.is_armed(Timer::kElect) ||
                         timers.is_armed(Timer::kClaim) || timers.is_armed(Timer::kStore);
  if (node.may_lead() && !node.has_left() && !has_timer)
    return "knows no leader and waits for ever";
  return std::nullopt;
}

std::optional<std::string> broken_by_role(const Node& node, const Claiming& claiming) {
  const Timers& timers = node.timers();
  if (claiming.epoch != node.record().max_epoch) return "claims an epoch that it has not voted for";
  const bool has_forgotten = node.majority() != nullptr && node.majority()->voter.recall.is_lost();
  if (has_forgotten) return "claims without a vote";  // [I2]
  const bool has_timer = timers.is_armed(Timer::kClaim) || timers.is_armed(Timer::kLease) ||
                         timers.is_armed(Timer::kStore);
  return has_timer ? std::nullopt : std::optional<std::string>("claims for ever");  // [I13]
}

std::optional<std::string> broken_by_role(const Node& node, const Following& following) {
  if (following.leader == node.members().self().id) return "follows itself";
  if (following.epoch > node.record().max_epoch) return "follows an epoch it has not seen";
  if (!node.timers().is_armed(Timer::kSuspicion)) return "follows without watching the leader";
  return std::nullopt;
}

// [I3] Who leads, leads the newest epoch it knows of.
std::optional<std::string> broken_by_role(const Node& node, const Leading& leading) {
  // Where a store decides it may have asked for a later one, and not got it yet.
  const bool is_newest = leading.epoch == node.record().max_epoch;
  if (!is_newest && node.store() == nullptr) return "leads an epoch that is not the newest";
  if (!node.timers().is_armed(Timer::kHeartbeat)) return "leads without heartbeats";
  if (node.members().self().priority == 0) return "leads with priority 0";
  if (!node.application().is_able()) return "leads without an application that can work";  // [I16]
  if (node.store() != nullptr) {
    const bool has_end = node.timers().is_armed(Timer::kLease);
    const bool goes_on = node.timers().is_armed(Timer::kRenew) || node.store()->request ||
                         node.timers().is_armed(Timer::kClaim);
    return has_end && goes_on ? std::nullopt : std::optional<std::string>("leads without end");
  }
  if (node.majority() == nullptr) return std::nullopt;
  // Under guard "majority" it has this process's own vote, and a lease that ends.
  if (node.record().granted_to != node.members().self().id) return "leads without its own vote";
  if (!node.timers().is_armed(Timer::kLease)) return "leads without end";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> broken_by_state(const Node& node) {
  const bool is_reigning = node.is_leading() || node.is_claiming();
  const bool is_giving = node.store() != nullptr && node.is_handing_over();
  if (node.timers().is_armed(Timer::kHeartbeat) && !is_reigning && !is_giving) {
    return "has a heartbeat timer without leading";  // [I8]
  }
  const Drain* drain = node.drain();
  const bool is_draining = drain != nullptr && !drain->is_over;
  if (is_draining != node.timers().is_armed(Timer::kDrain)) return "drains without end";  // [I17]
  if (is_draining && node.timers().is_armed(Timer::kHandover)) {
    return "ends a drain by the timer of an earlier hand-over";  // [I17]
  }
  if (is_draining && node.timers().deadline(Timer::kDrain) > drain->until) {
    return "drains for longer than it may";  // [I17]
  }
  if (node.is_handing_over() && !is_draining && !node.timers().is_armed(Timer::kHandover)) {
    return "waits for its successor for ever";  // [I13]
  }
  if (node.store() != nullptr && node.store()->is_away && !node.timers().is_armed(Timer::kStore)) {
    return "stays away from the store for ever";  // [I13]
  }
  if (node.is_asking() && !node.timers().is_armed(Timer::kClaim)) {
    return "waits for its leader's place for ever";  // [I13]
  }
  const uint32_t state = node.election_state();
  const bool waits = state == ELECTION_STATE_COLLECTING || state == ELECTION_STATE_WAITING ||
                     state == ELECTION_STATE_HALTED;
  if (waits && !node.timers().is_armed(Timer::kPlugin)) {
    return "is in an election and waits for ever";  // [I13]
  }
  if (state == ELECTION_STATE_CLAIMING && !node.seeks_to_lead()) {
    return "a claim has no outcome";
  }
  return std::visit([&](const auto& role) { return broken_by_role(node, role); }, node.role());
}

std::optional<std::string> broken_by_change(const NodeSummary& before, const NodeSummary& after) {
  if (after.max_epoch < before.max_epoch) return "the highest epoch fell";  // [I1]
  // A voter that has forgotten whom it granted an epoch may still back the one that leads it.
  const bool is_granted_anew = after.max_epoch == before.max_epoch &&
                               after.granted_to != before.granted_to &&
                               after.granted_to != Uuid{} && before.granted_to != Uuid{};
  if (is_granted_anew) return "granted one epoch twice";  // [I2]
  const bool has_changed =
      after.leader && (!before.leader || before.leader->id != after.leader->id ||
                       before.leader->epoch != after.leader->epoch);
  if (!has_changed) return std::nullopt;
  const bool waited = before.is_handing_over && !before.is_leading;
  if (waited && after.is_handing_over && after.is_leading) {
    return "is its own successor";  // [I16]
  }
  if (after.is_leading && after.leader->epoch <= before.max_epoch && !before.is_claiming) {
    return "claimed an epoch that is not new";  // [I2]
  }
  if (!after.is_leading && after.leader->epoch < before.max_epoch) {
    return "follows a leader of an older epoch";  // [I10]
  }
  return std::nullopt;
}

namespace {

// The vote for `epoch` of a voter that has told `claimant` so.
std::optional<std::string> broken_by_vote(const Majority& majority, const Uuid& claimant,
                                          uint64_t epoch) {
  if (majority.voter.terms().voters != majority.hash)
    return "voted for one with other [voters]";  // [I7]
  const Record& durable = majority.disk.stored();
  if (durable.max_epoch == epoch && durable.granted_to == claimant) return std::nullopt;
  return "told of a vote that the disk does not have";
}

// The promise to `leader` of a voter that has told it so.
std::optional<std::string> broken_by_promise(const Majority& majority, Instant now, Duration lease,
                                             const Uuid& leader, uint64_t epoch) {
  if (majority.disk.stored().lease_seen < lease)
    return "promised for longer than the disk remembers";
  for (const Promise& made : majority.voter.promises().all()) {
    if (made.leader == leader && made.epoch >= epoch && made.until >= now + lease)
      return std::nullopt;
  }
  return "told of a promise that it does not keep";
}

}  // namespace

// [I6, I7] A vote and a promise are told when the disk has what they need, and are kept.
std::optional<std::string> broken_by_promises(const NodeSummary& before, const Node& node,
                                              Instant now, const Effects& effects) {
  if (node.majority() == nullptr) return std::nullopt;
  const Majority& majority = *node.majority();
  const Duration voted = majority.voter.terms().lease;
  // A step that begins with a promise may end with a vote for a longer lease, which is told later.
  const Duration lease =
      before.voted_lease == Duration::zero() ? voted : std::min(before.voted_lease, voted);
  for (const Effect& effect : effects) {
    const auto* send = std::get_if<Send>(&effect);
    if (send == nullptr) continue;
    uint64_t voted_epoch = 0;
    bool is_promised = false;
    if (const auto* grant = std::get_if<Grant>(&send->frame.body)) {
      voted_epoch = grant->is_granted ? grant->epoch : 0;
      is_promised = grant->is_granted && grant->sequence != 0;
    } else if (const auto* ack = std::get_if<HeartbeatAck>(&send->frame.body)) {
      voted_epoch = ack->promised_epoch;
      is_promised = ack->promised_epoch != 0;
    }
    if (voted_epoch == 0) continue;
    if (auto broken = broken_by_vote(majority, send->to, voted_epoch)) return broken;
    if (!is_promised) continue;
    if (auto broken = broken_by_promise(majority, now, lease, send->to, voted_epoch)) return broken;
  }
  return std::nullopt;
}

// [I3] A leader among voters has a lease.
std::optional<std::string> broken_by_missing_lease(const Node& node) {
  if (node.is_leading() && node.majority() != nullptr && node.lease() == nullptr) {
    return "leads without a lease";
  }
  return std::nullopt;
}

// [I3] A leader's flag holds no longer than its right to lead.
std::optional<std::string> broken_by_lease(const Node& node, Instant now, const Effects& effects) {
  if (!node.is_leading()) return std::nullopt;
  const Instant valid_until = node.valid_until();
  if (valid_until <= now) return "leads beyond its lease";
  for (const Effect& effect : effects) {
    const auto* publish = std::get_if<Publish>(&effect);
    if (publish == nullptr || !publish->is_leader) continue;
    if (publish->valid_until > valid_until) return "its flag holds longer than its lease";
  }
  return std::nullopt;
}

std::optional<std::string> broken_by_effects(const NodeSummary& before, const Effects& effects) {
  bool is_on = before.is_leading;
  uint64_t flag_epoch = before.leader ? before.leader->epoch : 0;
  for (const Effect& effect : effects) {
    if (const auto* publish = std::get_if<Publish>(&effect)) {
      if (publish->leader && publish->epoch < flag_epoch) return "a published epoch fell";  // [I10]
      is_on = publish->is_leader;
      if (publish->leader) flag_epoch = publish->epoch;
    } else if (const auto* send = std::get_if<Send>(&effect)) {
      const bool releases = send->frame.header.released >= flag_epoch;
      if (is_on && releases) return "released an epoch while the flag was on";  // [I4, I5]
      const auto* beat = std::get_if<Heartbeat>(&send->frame.body);
      if (beat != nullptr && beat->is_effective && !is_on)
        return "sent a heartbeat without leading";  // [I8]
    }
  }
  return std::nullopt;
}

}  // namespace bellwether
