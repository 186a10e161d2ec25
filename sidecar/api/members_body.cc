// The members as this node sees them.
#include <algorithm>

#include "api/bodies.hh"

namespace bellwether::api {
namespace {

constexpr double kMicrosecondsPerMillisecond = 1000.0;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// How long ago, in milliseconds; a node does not hear itself.
Json heard_ago(const Backend& backend, const PeerInfo& info) {
  if (info.heard == Instant{}) return nullptr;
  return whole_ms(backend.now() - info.heard);
}

Json round_trip(const PeerInfo& info) {
  if (info.rtt == Duration::zero()) return nullptr;
  const auto us = std::chrono::round<std::chrono::microseconds>(info.rtt);
  return static_cast<double>(us.count()) / kMicrosecondsPerMillisecond;
}

PeerInfo info_of_self(const Backend& backend) {
  return {.software = backend.identity().version, .plugin = backend.identity().plugin};
}

Json member_json(const Backend& backend, const LeadershipFeed& feed, const Member& member) {
  const MemberEntry& entry = member.entry;
  const bool is_self = entry.id == backend.node().members().self().id;
  const auto& leader = feed.current().leader;
  const PeerInfo info = is_self ? info_of_self(backend) : backend.peer(entry.id);
  return {{"name", entry.name},
          {"id", to_string(entry.id)},
          {"address", entry.address},
          {"priority", entry.priority},
          {"voter", backend.config().voters.contains(entry.name)},
          {"state", name(entry.liveness)},
          {"is_self", is_self},
          {"is_leader", leader && leader->id == entry.id},
          {"may_lead", entry.is_electable},
          {"last_heard_ms", heard_ago(backend, info)},
          {"rtt_ms", round_trip(info)},
          {"variant", text_or_null(entry.variant)},
          {"version", text_or_null(info.software)}};
}

}  // namespace

std::vector<const Member*> members_by_rank(const Node& node) {
  std::vector<const Member*> members;
  for (const Member& member : node.members().all()) members.push_back(&member);
  std::sort(members.begin(), members.end(), [](const Member* left, const Member* right) {
    const bool has_left = left->entry.liveness == Liveness::kLeft;
    const bool other_has_left = right->entry.liveness == Liveness::kLeft;
    if (has_left != other_has_left) return other_has_left;
    return right->entry.rank() < left->entry.rank();
  });
  return members;
}

Json members_body(const Backend& backend, const LeadershipFeed& feed) {
  Json members = Json::array();
  for (const Member* member : members_by_rank(backend.node())) {
    members.push_back(member_json(backend, feed, *member));
  }
  return {{"group", backend.config().group.name}, {"members", std::move(members)}};
}

}  // namespace bellwether::api
