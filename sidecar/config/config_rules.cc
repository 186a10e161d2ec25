// The rules whose violation makes a configuration unusable.
#include "config/config_rules.hh"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/duration_text.hh"
#include "config/core_options.hh"
#include "config/keys.hh"
#include "config/text_forms.hh"
#include "core/electorate.hh"

namespace bellwether {
namespace {

using Objections = std::vector<Objection>;

constexpr uint32_t kOwnerReadWrite = 0600;
constexpr uint32_t kOthersWrite = 0022;

// The host's name is the default, and may be unusable.
Objections names_of_host_fit(const ParsedConfig& parsed) {
  const std::string& name = parsed.config.node.name;
  if (is_name(name)) return {};
  return {{"the host's name, " + toml_text(name) + ", cannot be a node's name",
           "give node.name, for example \"node-1\""}};
}

Objections advertised_address_is_of_use(const ParsedConfig& parsed) {
  const HostPort& address = parsed.config.node.advertise;
  HostPort unused;
  if (!parsed.given.contains("node.advertise")) {
    if (parse_host_port(address.text(), unused).empty()) return {};
    return {{"cannot be made of the host's name", "give the address where peers reach this node"}};
  }
  if (!address.is_wildcard()) return {};
  return {{address.text() + " is every address of a host; nobody can connect to it",
           "give the address where peers reach this node"}};
}

Objections number_of_voters_makes_sense(const ParsedConfig& parsed) {
  const size_t count = parsed.config.voters.size();
  if (count == 0 && parsed.given.contains(kVotersTable)) {
    return {{"names nobody", "name 1 voter or at least 3, or leave the table out"}};
  }
  if (count == 2) {
    return {
        {"2 voters are no better than 1: a majority of 2 is both, so either one's end leaves "
         "the group without a leader",
         "name 1 voter or at least 3"}};
  }
  if (count <= kMaxVoters) return {};
  return {{fmt::format("{} voters are too many, for every change waits for a majority", count),
           "name at most 9; further members follow without a vote"}};
}

Objections voters_are_apart(const ParsedConfig& parsed) {
  Objections objections;
  std::map<HostPort, std::string> owners;
  for (const auto& [name, address] : parsed.config.voters) {
    const std::string key = std::string(kVotersTable) + "." + name;
    const auto [owner, is_new] = owners.emplace(address, name);
    if (address.is_wildcard()) {
      objections.push_back(
          {address.text() + " is every address of a host; nobody can connect to it",
           "give the address where others reach this voter", key});
    } else if (!is_new) {
      objections.push_back({address.text() + " is the address of " + owner->second + ", too",
                            "give each voter its own", key});
    }
  }
  return objections;
}

Objections voters_remember(const ParsedConfig& parsed) {
  const Config& config = parsed.config;
  if (!config.voters.contains(config.node.name) || !config.node.state_dir.empty()) return {};
  return {{"a voter that forgets its vote at a restart can vote twice",
           "give a folder that outlives the process, or leave [voters] out"}};
}

Objections variant_exists(const ParsedConfig& parsed) {
  const ElectionSettings& election = parsed.config.election;
  const std::vector<std::string>& known = parsed.variants;
  const bool is_known = std::find(known.begin(), known.end(), election.variant) != known.end();
  if (known.empty() || is_known) return {};
  return {
      {"plugin " + toml_text(election.plugin) + " has no variant " + toml_text(election.variant),
       "give " + any_of_words(known) + did_you_mean(election.variant, known)}};
}

Objections a_lost_beat_is_not_fatal(const ParsedConfig& parsed) {
  const FailureDetectorSettings& detector = parsed.config.failure_detector;
  const Duration least = 2 * detector.heartbeat_interval;
  if (detector.suspect_after >= least) return {};
  return {
      {fmt::format("suspect_after {} is less than two heartbeat_interval, so one late beat deposes "
                   "a leader",
                   duration_text(detector.suspect_after)),
       fmt::format("give suspect_after at least {}, better five intervals", duration_text(least))}};
}

Objections lease_outlasts_suspicion(const ParsedConfig& parsed) {
  const Duration suspect_after = parsed.config.failure_detector.suspect_after;
  const Duration lease = parsed.config.election.lease;
  if (longest_silence(lease) >= suspect_after) return {};
  const Duration least = std::chrono::ceil<std::chrono::milliseconds>(suspect_after / 4 * 5);
  return {{fmt::format("4/5 of lease {} is less than suspect_after {}, so leadership would run out "
                       "before anybody looks for a successor",
                       duration_text(lease), duration_text(suspect_after)),
           fmt::format("give lease at least {}, or shorten suspect_after", duration_text(least))}};
}

Objections chosen_one_can_announce_itself(const ParsedConfig& parsed) {
  const ElectionSettings& election = parsed.config.election;
  if (election.coordinator_timeout > election.answer_timeout) return {};
  return {{fmt::format(
               "coordinator_timeout {} is not longer than answer_timeout {}, which the winner "
               "may have to wait itself before it announces",
               duration_text(election.coordinator_timeout), duration_text(election.answer_timeout)),
           "give coordinator_timeout more than answer_timeout, or leave it out"}};
}

bool would_collide(const HostPort& left, const HostPort& right) {
  if (left.is_none() || right.is_none() || left.port != right.port) return false;
  return left.host == right.host || left.is_wildcard() || right.is_wildcard();
}

Objections listeners_are_apart(const ParsedConfig& parsed) {
  const Config& config = parsed.config;
  const std::vector<std::pair<std::string, HostPort>> listeners{
      {"node.listen", config.node.listen},
      {"api.listen", config.api.listen},
      {"metrics.listen", config.metrics.listen}};
  Objections objections;
  for (size_t i = 0; i < listeners.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!would_collide(listeners[i].second, listeners[j].second)) continue;
      const bool blames_later = parsed.given.contains(listeners[i].first);
      const auto& [other, place] = listeners[j];
      const auto& [key, same_place] = listeners[i];
      objections.push_back({fmt::format("{} {} and {} {} want the same port", other, place.text(),
                                        key, same_place.text()),
                            "give them different ports", blames_later ? key : other});
    }
  }
  return objections;
}

Objections api_is_somewhere(const ParsedConfig& parsed) {
  const ApiSettings& api = parsed.config.api;
  if (!api.listen.is_none() || !api.socket.empty()) return {};
  return {{"the API would be nowhere, and the leader could not be made to step down",
           "give api.listen, api.socket or both"}};
}

Objections only_the_owner_writes_the_flag(const ParsedConfig& parsed) {
  const uint32_t mode = parsed.config.flag.mode;
  if ((mode & kOwnerReadWrite) != kOwnerReadWrite) {
    return {
        {"the sidecar itself could not open the flag again", "give 0o600 and more, like 0o640"}};
  }
  if ((mode & kOthersWrite) == 0) return {};
  return {{"others than the sidecar could write that they lead", "give 0o640 or 0o644"}};
}

Objections hooks_are_apart(const ParsedConfig& parsed) {
  const std::vector<HookSettings>& hooks = parsed.config.hooks;
  Objections objections;
  if (hooks.size() > kMaxHooks) {
    objections.push_back({fmt::format("{} hooks are too many", hooks.size()),
                          fmt::format("give at most {}", kMaxHooks)});
  }
  std::map<std::string, size_t> seen;
  for (size_t i = 0; i < hooks.size(); ++i) {
    if (hooks[i].url.empty()) continue;  // has an error of its own
    const auto [first, is_new] = seen.emplace(hooks[i].url, i + 1);
    if (is_new) continue;
    objections.push_back({fmt::format("hook {} has the same url", first->second),
                          "remove one of them", hook_path(i) + ".url"});
  }
  return objections;
}

}  // namespace

const std::vector<ConfigRule>& error_rules() {
  static const std::vector<ConfigRule> kRules{
      {{"node.name"}, names_of_host_fit},
      {{"node.advertise"}, advertised_address_is_of_use},
      {{kVotersTable}, number_of_voters_makes_sense},
      {{kVotersTable}, voters_are_apart},
      {{"node.state_dir", kVotersTable}, voters_remember},
      {{"election.variant", "election.plugin"}, variant_exists},
      {{"failure_detector.suspect_after", "failure_detector.heartbeat_interval",
        "election.profile"},
       a_lost_beat_is_not_fatal},
      {{"election.lease", "failure_detector.suspect_after", "election.profile"},
       lease_outlasts_suspicion},
      {{"election.coordinator_timeout", "election.answer_timeout", "election.profile"},
       chosen_one_can_announce_itself},
      {{"node.listen", "api.listen", "metrics.listen"}, listeners_are_apart},
      {{"api.listen", "api.socket"}, api_is_somewhere},
      {{"flag.mode"}, only_the_owner_writes_the_flag},
      {{kHookTable}, hooks_are_apart},
  };
  return kRules;
}

}  // namespace bellwether
