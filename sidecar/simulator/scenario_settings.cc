// The `key=value` words of `nodes` and `link`.
#include <algorithm>
#include <map>
#include <vector>

#include "simulator/scenario_runner.hh"

namespace bellwether::simulator {
namespace {

// One `key=value` of `nodes`, `link` or `store`.
struct Setting {
  const char* key;
  void (*apply)(GroupSettings& group, const std::string& value);
};

// As `renew_interval` by default.
constexpr int kRenewalsInLease = 5;

bool parse_switch(const std::string& value) {
  return parse_choice<bool>("a switch", value, {{"on", true}, {"off", false}});
}

double parse_probability(const std::string& value) {
  const auto number = parse_fraction(value, 0, 1);
  if (!number) throw std::invalid_argument("'" + value + "' is not a probability from 0 to 1");
  return *number;
}

template <Duration Options::*kField>
void set_duration(GroupSettings& group, const std::string& value) {
  group.cluster.node.*kField = parse_duration(value);
}

void set_profile(GroupSettings& group, const std::string& value) {
  using Make = Options (*)();
  const auto make =
      parse_choice<Make>("profile", value, {{"default", nullptr}, {"textbook", textbook_options}});
  if (make != nullptr) group.cluster.node = make();
}

void set_guard(GroupSettings& group, const std::string& value) {
  using enum GroupSettings::Guard;
  group.guard = parse_choice<GroupSettings::Guard>(
      "guard", value, {{"none", kNone}, {"majority", kMajority}, {"store", kStore}});
  if (group.guard != kStore) return;
  Options& node = group.cluster.node;
  node.store = "virtual";
  node.lease = std::chrono::seconds(2);
  node.renew_interval = node.lease / kRenewalsInLease;
}

void set_voters(GroupSettings& group, const std::string& value) {
  const uint64_t count = parse_number(value);
  if (group.guard != GroupSettings::Guard::kMajority)
    throw std::invalid_argument("voters need guard=majority");
  if (count < 1 || count > kMaxVoters) throw std::invalid_argument("voters are from 1 to 9");
  group.voters = static_cast<uint32_t>(count);
}

void set_lease(GroupSettings& group, const std::string& value) {
  Options& node = group.cluster.node;
  node.lease = parse_duration(value);
  node.renew_interval = node.lease / kRenewalsInLease;
  if (node.lease > kMaxLease) throw std::invalid_argument("a lease is at most 10s");
}

void set_detector(GroupSettings& group, const std::string& value) {
  group.cluster.detection = parse_choice<Detection>(
      "detector", value,
      {{"heartbeats", Detection::kHeartbeats}, {"script", Detection::kScripted}});
}

void set_score_margin(GroupSettings& group, const std::string& value) {
  const uint64_t margin = parse_number(value);
  if (margin > kMaxScore) throw std::invalid_argument("a margin of scores is below 2^53");
  group.cluster.node.score_margin = static_cast<int64_t>(margin);
}

void set_suspect_after(GroupSettings& group, const std::string& value) {
  group.cluster.node.suspect_after_min = parse_duration(value);
  group.cluster.node.suspect_after_max =
      std::max(group.cluster.node.suspect_after_min, group.cluster.node.suspect_after_max);
}

void set_scope(GroupSettings& group, const std::string& value) {
  group.cluster.node.skip_suspected =
      parse_choice<bool>("scope", value, {{"all", false}, {"alive", true}});
}

// What a running node takes over, too.
constexpr Setting kNodeSettings[] = {
    {"variant", [](GroupSettings& g, const std::string& v) { g.variant = v; }},
    {"preempt",
     [](auto& g, auto& v) { g.cluster.node.preempt = parse_name<Preempt>("preempt", v); }},
    {"preempt_delay", set_duration<&Options::preempt_delay>},
    {"score_margin", set_score_margin},
    {"heartbeat_interval", set_duration<&Options::heartbeat_interval>},
    {"suspect_after", set_suspect_after},
    {"answer_timeout", set_duration<&Options::answer_timeout>},
    {"coordinator_timeout", set_duration<&Options::coordinator_timeout>},
    {"join_timeout", set_duration<&Options::join_timeout>},
    {"drain_timeout", set_duration<&Options::drain_timeout>},
    {"reap_after", set_duration<&Options::reap_after>},
    {"lease", set_lease},  // from the next start on
};

// What a group is made with.  `profile` stands first: it sets what the others then change.
constexpr Setting kBirthSettings[] = {
    {"profile", set_profile},
    {"guard", set_guard},
    {"voters", set_voters},
    {"death_proof",
     [](auto& g, auto& v) {
       g.cluster.is_refusal_proof =
           parse_choice<bool>("death_proof", v, {{"none", false}, {"refused", true}});
     }},
    {"detector", set_detector},
    {"scope", set_scope},
    {"sticky", [](auto& g, auto& v) { g.cluster.node.sticky = parse_switch(v); }},
    {"query_first", [](auto& g, auto& v) { g.cluster.node.query_first = parse_switch(v); }},
    {"stagger", [](auto& g, auto& v) { g.cluster.node.stagger = parse_switch(v); }},
    {"epoch_seed", [](auto& g, auto& v) { g.cluster.node.epoch_seed = parse_number(v); }},
    {"seed", [](auto& g, auto& v) { g.cluster.seed = parse_number(v); }},
};

constexpr Setting kLinkSettings[] = {
    {"latency", [](auto& g, auto& v) { g.cluster.network.latency = parse_duration(v); }},
    {"jitter", [](auto& g, auto& v) { g.cluster.network.jitter = parse_duration(v); }},
    {"loss", [](auto& g, auto& v) { g.cluster.network.loss = parse_probability(v); }},
    {"duplicate", [](auto& g, auto& v) { g.cluster.network.duplicate = parse_probability(v); }},
};

constexpr Setting kStoreSettings[] = {
    {"latency", [](auto& g, auto& v) { g.cluster.store.latency = parse_duration(v); }},
    {"jitter", [](auto& g, auto& v) { g.cluster.store.jitter = parse_duration(v); }},
    {"lost_requests",
     [](auto& g, auto& v) { g.cluster.store.lost_requests = parse_probability(v); }},
    {"lost_answers", [](auto& g, auto& v) { g.cluster.store.lost_answers = parse_probability(v); }},
    {"repeated", [](auto& g, auto& v) { g.cluster.store.repeated = parse_probability(v); }},
    {"old_reads", [](auto& g, auto& v) { g.cluster.store.old_reads = parse_probability(v); }},
};

using Settings = std::vector<Setting>;

std::string keys_of(const Settings& settings) {
  std::string keys;
  for (const Setting& setting : settings) {
    keys += std::string(keys.empty() ? "" : ", ") + setting.key;
  }
  return keys;
}

// In the order of the table, whatever order they are written in.
void apply_settings(GroupSettings& group, Words& words, const Settings& settings) {
  std::map<std::string, std::string> values;
  while (!words.is_empty()) {
    const std::string& word = words.take("a setting");
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const bool is_known = std::any_of(settings.begin(), settings.end(),
                                      [&](const Setting& setting) { return key == setting.key; });
    if (!is_known) {
      throw std::invalid_argument("unknown setting '" + key + "'; there are " + keys_of(settings));
    }
    if (equals == std::string::npos) throw std::invalid_argument("'" + key + "=' needs a value");
    if (!values.emplace(key, word.substr(equals + 1)).second) {
      throw std::invalid_argument("'" + key + "' is set twice");
    }
  }
  for (const Setting& setting : settings) {
    const auto value = values.find(setting.key);
    if (value != values.end()) setting.apply(group, value->second);
  }
}

}  // namespace

void apply_group_settings(GroupSettings& group, Words& words) {
  Settings all(std::begin(kBirthSettings), std::end(kBirthSettings));
  all.insert(all.end(), std::begin(kNodeSettings), std::end(kNodeSettings));
  apply_settings(group, words, all);
}

void apply_link_settings(GroupSettings& group, Words& words) {
  apply_settings(group, words, {std::begin(kLinkSettings), std::end(kLinkSettings)});
}

void apply_store_settings(GroupSettings& group, Words& words) {
  apply_settings(group, words, {std::begin(kStoreSettings), std::end(kStoreSettings)});
}

void apply_node_settings(GroupSettings& group, Words& words) {
  if (words.is_empty()) throw std::invalid_argument("missing a setting");
  apply_settings(group, words, {std::begin(kNodeSettings), std::end(kNodeSettings)});
}

}  // namespace bellwether::simulator
