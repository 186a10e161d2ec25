// All of this node.
#include <algorithm>
#include <array>
#include <cstdio>

#include "api/bodies.hh"
#include "api/vote_text.hh"
#include "config/effective.hh"
#include "config/keys.hh"
#include "io/wire/checksum.hh"

namespace bellwether::api {
namespace {

const char* role_name(const Role& role) {
  constexpr std::array kNames{"joining", "leaderless", "following", "claiming", "leading"};
  static_assert(kNames.size() == std::variant_size_v<Role>);
  return kNames[role.index()];
}

// What is armed, in milliseconds from now.
Json timers_json(const Backend& backend) {
  Json due = Json::object();
  const Timers& timers = backend.node().timers();
  for (size_t i = 0; i < kValues<Timer>; ++i) {
    const auto timer = static_cast<Timer>(i);
    if (!timers.is_armed(timer)) continue;
    due[name(timer)] = whole_ms(timers.deadline(timer) - backend.now());
  }
  return due;
}

Json node_json(const Backend& backend) {
  const MemberEntry& self = backend.node().members().self();
  return {{"name", self.name},
          {"id", to_string(self.id)},
          {"priority", self.priority},
          {"address", self.address}};
}

Json lease_json(const Backend& backend, const LeadershipFeed& feed) {
  const Config& config = backend.config();
  const bool has_lease = config.has_majority_guard();
  return {{"length_ms", has_lease ? Json(whole_ms(config.election.lease)) : Json(nullptr)},
          {"is_valid", feed.is_leading(backend.now())},
          {"valid_for_ms", whole_ms(dependable_validity(backend, feed))}};
}

std::string name_of(const Backend& backend, const Uuid& id) {
  const Member* member = backend.node().members().find(id);
  return member != nullptr ? member->entry.name : to_string(id);
}

// The promise that binds this voter longest: until then it supports nobody else.
Json promise_json(const Backend& backend) {
  const Majority* majority = backend.node().majority();
  if (majority == nullptr) return nullptr;
  const auto promises = majority->voter.promises().all();
  const auto last = std::ranges::max_element(promises, {}, &Promise::until);
  if (last == promises.end() || last->until <= backend.now()) return nullptr;
  return {{"to", name_of(backend, last->leader)},
          {"epoch", last->epoch},
          {"ends_in_ms", whole_ms(last->until - backend.now())}};
}

// What this node's vote is, and whether it has one.
Json vote_json(const Backend& backend) {
  const Majority* majority = backend.node().majority();
  if (majority == nullptr || !majority->slot) return nullptr;
  const Record& record = majority->disk.stored();
  const bool is_given = record.granted_to != Uuid{};
  const Vote vote = backend.node().vote(backend.now());
  return {{"state", name(vote)},
          {"why", vote == Vote::kInForce ? Json(nullptr) : Json(vote_text(backend))},
          {"epoch", record.max_epoch},
          {"granted_to", is_given ? Json(name_of(backend, record.granted_to)) : Json(nullptr)}};
}

// Equal on members that are configured alike: what belongs to one node alone is left out.
std::string hash_of(const Config& config) {
  std::string text;
  for (const auto& key : config_keys()) {
    if (key.table != "node") text += key.path() + " = " + toml_text(key.write(config)) + "\n";
  }
  text += inline_table(config.voters) + "\n" + inline_list(config.hooks);
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  std::array<char, sizeof "01234567"> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x",
                static_cast<unsigned>(crc32c({bytes, text.size()})));
  return digits.data();
}

Json config_json(const Backend& backend) {
  return {{"hash", hash_of(backend.config())},
          {"pending_restart", backend.pending_restart()},
          {"mismatches", backend.config_mismatches()}};
}

}  // namespace

Json status_body(const Backend& backend, const LeadershipFeed& feed) {
  const Node& node = backend.node();
  const Identity& identity = backend.identity();
  std::string why_not_ready;
  const bool is_ready = backend.is_ready(&why_not_ready);
  return {{"group", backend.config().group.name},
          {"node", node_json(backend)},
          {"role", role_name(node.role())},
          {"leader", leader_json(feed.current().leader)},
          {"epoch", feed.current().epoch},
          {"highest_epoch", node.known_epoch()},
          {"is_ready", is_ready},
          {"why_not_ready", is_ready ? Json(nullptr) : Json(why_not_ready)},
          {"may_lead", node.may_lead()},
          {"variant", node.options().variant},
          {"active_variant", node.active_variant()},
          {"guard", backend.config().guard()},
          {"election_state", election_state_name(node.election_state())},
          {"timers_due_in_ms", timers_json(backend)},
          {"lease", lease_json(backend, feed)},
          {"promise", promise_json(backend)},
          {"vote", vote_json(backend)},
          {"config", config_json(backend)},
          {"plugin",
           {{"name", identity.plugin},
            {"version", identity.plugin_version},
            {"abi", identity.plugin_abi}}},
          {"version", identity.version},
          {"uptime_ms", whole_ms(backend.now() - backend.started())},
          {"loop_age_ms", whole_ms(backend.loop_age())}};
}

}  // namespace bellwether::api
