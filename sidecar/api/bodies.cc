// Who leads, who is there, how this node is, and what was; as JSON.
#include "api/bodies.hh"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "io/wire/checksum.hh"

namespace bellwether::api {
namespace {

constexpr double kMicrosecondsPerMillisecond = 1000.0;
constexpr const char* kDrains = "its application is to finish";

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// For how long a program may act on an answer; zero unless nothing but time can end the leadership.
// HTTP is not the flag: after a death that can be proven, others lead before the validity that was
// sent runs out.
Duration dependable_validity(const Backend& backend, const LeadershipFeed& feed) {
  const Config& config = backend.config();
  const bool only_time_ends_it =
      config.has_guard() && config.election.death_proof == DeathProof::kNone;
  return only_time_ends_it ? feed.valid_for(backend.now()) : Duration::zero();
}

Json leader_json(const std::optional<NamedLeader>& leader) {
  if (!leader) return nullptr;
  return {{"name", leader->name}, {"id", to_string(leader->id)}, {"address", leader->address}};
}

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

Json why_not(Ability ability) {
  return ability == Ability::kAble ? Json(nullptr) : Json(name(ability));
}

Json member_json(const Backend& backend, const LeadershipFeed& feed, const Member& member) {
  const MemberEntry& entry = member.entry;
  const bool is_self = entry.id == backend.node().members().self().id;
  const auto& leader = feed.current().leader;
  const bool is_leader = leader && leader->id == entry.id;
  const PeerInfo info = is_self ? info_of_self(backend) : backend.peer(entry.id);
  return {{"name", entry.name},
          {"id", to_string(entry.id)},
          {"address", entry.address},
          {"priority", entry.priority},
          {"voter", backend.config().voters.contains(entry.name)},
          {"state", name(entry.liveness)},
          {"is_self", is_self},
          {"is_leader", is_leader},
          {"is_draining", is_leader && backend.node().is_leader_draining()},
          {"may_lead", entry.is_electable},
          {"is_able", entry.ability == Ability::kAble},
          {"why_not_able", why_not(entry.ability)},
          {"score", entry.score},
          {"last_heard_ms", heard_ago(backend, info)},
          {"rtt_ms", round_trip(info)},
          {"variant", text_or_null(entry.variant)},
          {"version", text_or_null(info.software)},
          {"security", info.security ? Json(name(*info.security)) : Json(nullptr)},
          {"certificate", text_or_null(info.certificate)}};
}

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
  const bool has_lease = config.has_guard();
  return {{"length_ms", has_lease ? Json(whole_ms(config.election.lease)) : Json(nullptr)},
          {"is_valid", feed.is_leading(backend.now())},
          {"valid_for_ms", whole_ms(dependable_validity(backend, feed))}};
}

// The promise that binds this voter longest: until then it supports nobody else.
Json promise_json(const Backend& backend) {
  const Majority* majority = backend.node().majority();
  if (majority == nullptr) return nullptr;
  const auto promises = majority->voter.promises().all();
  const auto last = std::ranges::max_element(promises, {}, &Promise::until);
  if (last == promises.end() || last->until <= backend.now()) return nullptr;
  return {{"to", backend.node().members().name_of(last->leader)},
          {"epoch", last->epoch},
          {"ends_in_ms", whole_ms(last->until - backend.now())}};
}

// Who holds the record of the store that decides, as this node has seen it last, and what is wrong.
Json store_json(const Backend& backend) {
  const StoreGuard* guard = backend.node().store();
  const auto state = backend.store();
  if (guard == nullptr || !state) return nullptr;
  const StoreView& view = guard->view;
  Json record = nullptr;
  if (!view.is_absent()) {
    const StoreRecord& seen = view.record();
    record = {{"state", name(seen.holder)},
              {"holder", text_or_null(seen.name)},
              {"id", seen.id == Uuid{} ? Json(nullptr) : Json(to_string(seen.id))},
              {"epoch", seen.epoch},
              {"lease_ms", whole_ms(seen.lease)},
              {"unchanged_for_ms", whole_ms(backend.now() - view.changed_at())},
              {"is_watched", guard->is_watching || backend.node().is_leading()}};
  }
  return {{"name", state->name},
          {"server", state->server},
          {"trouble", text_or_null(state->trouble)},
          {"record", std::move(record)}};
}

// Equal on members that are configured alike: what belongs to one node alone is left out.
std::string hash_of(const Config& config) {
  std::string text;
  for (const auto& [key, value] : value_texts(config)) {
    if (!key.starts_with("node.")) text += key + " = " + value + "\n";
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  return fmt::format("{:08x}", io::crc32c({bytes, text.size()}));
}

Json config_json(const Backend& backend) {
  return {{"hash", hash_of(backend.config())},
          {"pending_restart", backend.pending_restart()},
          {"mismatches", backend.config_mismatches()}};
}

Json files_json(const TlsState& state) {
  const auto& expiry = state.expiry;
  return {{"why_not_in_force", text_or_null(state.flaw)},
          {"certificate_expires", expiry ? Json(rfc3339(wall_time_of(*expiry))) : Json(nullptr)}};
}

Json commands_json(const Backend& backend) {
  const ApiSettings& api = backend.config().api;
  return {{"from", name(api.writes)},
          {"needs_token", !api.token_file.empty()},
          {"why_no_token_counts", text_or_null(backend.authority().token_flaw())}};
}

// `mode` is the members'; what others do not use is null.
Json tls_json(const Backend& backend) {
  using metrics::TlsUse;
  const Config& config = backend.config();
  Json json{{"mode", name(config.tls.mode)}};
  json.update(files_json(backend.tls(TlsUse::kMembers)));
  const auto add = [&](TlsUse use, bool is_used) {
    json[metrics::name(use)] = is_used ? files_json(backend.tls(use)) : Json(nullptr);
  };
  add(TlsUse::kApi, config.api.has_tls());
  add(TlsUse::kMetrics, config.metrics.has_tls());
  add(TlsUse::kHooks, std::ranges::any_of(config.hooks, &HookSettings::has_files));
  return json;
}

Json confinement_json(const io::Confinement& confinement) {
  const int abi = confinement.landlock_abi;
  return {{"no_new_privs", confinement.has_no_new_privileges},
          {"seccomp", confinement.has_system_call_filter},
          {"landlock", abi > 0 ? Json(abi) : Json(nullptr)},
          {"why_not_whole", text_or_null(confinement.lack)}};
}

Json application_json(const Backend& backend) {
  const ApplicationState& state = backend.application();
  const ApplicationSettings& settings = backend.config().application;
  Json draining = draining_json(backend);
  if (!draining.is_null()) draining["waiting_for"] = names_of(state.waiting_for);
  return {{"is_able", state.worth.is_able()},
          {"why_not", why_not(state.worth.ability)},
          {"attach", settings.is_attachment_needed},
          {"attached", names_of(state.attached)},
          {"health", text_or_null(settings.health)},
          {"is_healthy", state.is_checked ? Json(state.is_healthy) : Json(nullptr)},
          {"why_not_healthy", text_or_null(state.health_flaw)},
          {"score", state.worth.score},
          {"draining", std::move(draining)}};
}

Json messages_json(const metrics::MessageCounts& messages) {
  return {{"election", messages.election},
          {"answer", messages.answer},
          {"handover", messages.handover},
          {"coordinator", messages.coordinator},
          {"total", messages.total()}};
}

Json election_json(const PastElection& election) {
  const metrics::ElectionSummary& summary = election.summary;
  return {{"time", rfc3339(election.ended)},
          {"trigger", metrics::name(summary.trigger)},
          {"variant", election.variant},
          {"result", metrics::name(summary.result)},
          {"winner", leader_json(election.winner)},
          {"epoch", election.winner ? Json(election.epoch) : Json(nullptr)},
          {"messages", messages_json(summary.messages)},
          {"duration_ms", summary.duration ? Json(whole_ms(*summary.duration)) : Json(nullptr)}};
}

}  // namespace

Json vote_json(const Backend& backend) {
  const Majority* majority = backend.node().majority();
  if (majority == nullptr || !majority->slot) return nullptr;
  const Record& record = majority->disk.stored();
  const bool is_given = record.granted_to != Uuid{};
  const Vote vote = backend.node().vote(backend.now());
  return {{"state", name(vote)},
          {"why", vote == Vote::kInForce ? Json(nullptr) : Json(vote_text(backend))},
          {"epoch", record.max_epoch},
          {"granted_to",
           is_given ? Json(backend.node().members().name_of(record.granted_to)) : Json(nullptr)}};
}

Json leader_body(const Backend& backend, const LeadershipFeed& feed, const Leadership& leadership) {
  const Config& config = backend.config();
  const bool is_current = leadership.index == feed.current().index;
  const bool is_leader = is_current && feed.is_leading(backend.now());
  const Duration valid_for = is_current ? dependable_validity(backend, feed) : Duration::zero();
  Json body{{"group", config.group.name},
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
  if (leadership.is_draining) body["draining"] = draining_json(backend);
  return body;
}

Json draining_json(const Backend& backend) {
  const Drain* drain = backend.node().drain();
  if (drain == nullptr || drain->is_over) return nullptr;
  const auto successor = backend.node().successor();
  const auto wall_time = [&](Instant instant) {
    const auto distance = std::chrono::round<std::chrono::milliseconds>(instant - backend.now());
    return rfc3339(std::chrono::system_clock::now() + distance);
  };
  return {
      {"epoch", drain->epoch},
      {"drain", drain->number},
      {"reason", name(drain->reason)},
      {"successor", successor ? Json(backend.node().members().name_of(*successor)) : Json(nullptr)},
      {"since", wall_time(drain->since)},
      {"until", wall_time(drain->until)},
      {"left_ms", whole_ms(std::max(drain->until - backend.now(), Duration::zero()))}};
}

std::vector<const Member*> members_by_rank(const Node& node) {
  std::vector<const Member*> members;
  for (const Member& member : node.members().all()) members.push_back(&member);
  std::ranges::sort(members, std::greater{}, [](const Member* member) {
    return std::pair(member->entry.liveness != Liveness::kLeft, member->entry.rank());
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

Json status_body(const Backend& backend, const LeadershipFeed& feed) {
  const Node& node = backend.node();
  const Identity& identity = backend.identity();
  const auto unready = backend.unready();
  return {{"group", backend.config().group.name},
          {"node", node_json(backend)},
          {"role", role_name(node.role())},
          {"leader", leader_json(feed.current().leader)},
          {"epoch", feed.current().epoch},
          {"highest_epoch", node.known_epoch()},
          {"is_ready", !unready},
          {"why_not_ready", unready ? Json(unready->why) : Json(nullptr)},
          {"lacks", unready ? Json(name(unready->lack)) : Json(nullptr)},
          {"may_lead", node.may_lead()},
          {"why_nobody_leads", text_or_null(why_nobody_leads(backend, feed))},
          {"variant", node.options().variant},
          {"active_variant", node.active_variant()},
          {"guard", backend.config().guard()},
          {"election_state", election_state_name(node.election_state())},
          {"timers_due_in_ms", timers_json(backend)},
          {"lease", lease_json(backend, feed)},
          {"promise", promise_json(backend)},
          {"vote", vote_json(backend)},
          {"store", store_json(backend)},
          {"config", config_json(backend)},
          {"tls", tls_json(backend)},
          {"commands", commands_json(backend)},
          {"application", application_json(backend)},
          {"plugin",
           {{"name", identity.plugin},
            {"version", identity.plugin_version},
            {"abi", identity.plugin_abi}}},
          {"confinement", confinement_json(identity.confinement)},
          {"version", identity.version},
          {"uptime_ms", whole_ms(backend.now() - backend.started())},
          {"loop_age_ms", whole_ms(backend.loop_age())}};
}

Json history_body(const Backend& backend, const ElectionHistory& history,
                  const LeadershipFeed& feed) {
  Json elections = Json::array();
  for (const PastElection& election : history.elections()) {
    elections.push_back(election_json(election));
  }
  // A hand-over is no election: whom it went to, and why, is to be seen here alone.
  Json leaders = Json::array();
  const auto& changes = feed.changes();
  std::for_each(changes.rbegin(), changes.rend(), [&](const Leadership& change) {
    leaders.push_back({{"time", rfc3339(change.changed)},
                       {"leader", change.leader ? Json(change.leader->name) : Json(nullptr)},
                       {"epoch", change.epoch},
                       {"is_draining", change.is_draining},
                       {"reason", change.is_draining ? kDrains : change.reason}});
  });
  return {{"group", backend.config().group.name},
          {"elections", std::move(elections)},
          {"leaders", std::move(leaders)}};
}

}  // namespace bellwether::api
