// Who leads, as JSON.
#include "api/bodies.hh"

namespace bellwether::api {

Json leader_body(const Backend& backend, const LeadershipFeed& feed, const Leadership& leadership) {
  const Config& config = backend.config();
  const bool is_current = leadership.index == feed.current().index;
  const bool is_leader = is_current && feed.is_leading(backend.now());
  const Duration valid_for = is_current ? dependable_validity(backend, feed) : Duration::zero();
  return {{"group", config.group.name},
          {"leader", leader_json(leadership.leader)},
          {"is_leader", is_leader},
          {"epoch", leadership.epoch},
          {"fencing_token", leadership.leader ? Json(leadership.epoch) : Json(nullptr)},
          {"valid_for_ms", whole_ms(valid_for)},
          {"since", rfc3339(leadership.since)},
          {"variant", backend.node().active_variant()},
          {"guard", config.guard()},
          {"index", leadership.index},
          {"reason", leadership.reason}};
}

Duration dependable_validity(const Backend& backend, const LeadershipFeed& feed) {
  const Config& config = backend.config();
  const bool only_time_ends_it =
      config.has_majority_guard() && config.election.death_proof == DeathProof::kNone;
  return only_time_ends_it ? feed.valid_for(backend.now()) : Duration::zero();
}

Json leader_json(const std::optional<NamedLeader>& leader) {
  if (!leader) return nullptr;
  return {{"name", leader->name}, {"id", to_string(leader->id)}, {"address", leader->address}};
}

}  // namespace bellwether::api
