// The `key=value` words of `nodes` and `link`.
#include <algorithm>
#include <map>
#include <vector>

#include "simulator/scenario_runner.hh"

namespace bellwether::simulator {
namespace {

// One `key=value` of `nodes` or `link`.
struct Setting {
  const char* key;
  void (*apply)(GroupSettings& group, const std::string& value);
};

bool parse_switch(const std::string& value) {
  if (value == "on") return true;
  if (value == "off") return false;
  throw std::invalid_argument("'" + value + "' is neither on nor off");
}

double parse_probability(const std::string& value) {
  const auto number = parse_fraction(value, 0, 1);
  if (!number) throw std::invalid_argument("'" + value + "' is not a probability from 0 to 1");
  return *number;
}

void set_profile(GroupSettings& group, const std::string& value) {
  if (value == "textbook") {
    group.cluster.node = textbook_options();
  } else if (value != "default") {
    throw std::invalid_argument("profile is default or textbook, not '" + value + "'");
  }
}

void set_guard(GroupSettings& group, const std::string& value) {
  if (value != "none" && value != "majority") {
    throw std::invalid_argument("guard is none or majority, not '" + value + "'");
  }
  group.is_guarded = value == "majority";
}

void set_voters(GroupSettings& group, const std::string& value) {
  const uint64_t count = parse_number(value);
  if (!group.is_guarded) throw std::invalid_argument("voters need guard=majority");
  if (count < 1 || count > kMaxVoters) throw std::invalid_argument("voters are from 1 to 9");
  group.voters = static_cast<uint32_t>(count);
}

void set_death_proof(GroupSettings& group, const std::string& value) {
  if (value != "none" && value != "refused") {
    throw std::invalid_argument("death_proof is none or refused, not '" + value + "'");
  }
  group.cluster.is_refusal_proof = value == "refused";
}

void set_lease(GroupSettings& group, const std::string& value) {
  group.cluster.node.lease = parse_duration(value);
  if (group.cluster.node.lease > kMaxLease) throw std::invalid_argument("a lease is at most 10s");
}

void set_detector(GroupSettings& group, const std::string& value) {
  if (value != "script" && value != "heartbeats") {
    throw std::invalid_argument("detector is heartbeats or script, not '" + value + "'");
  }
  group.cluster.detection = value == "script" ? Detection::kScripted : Detection::kHeartbeats;
}

void set_preempt(GroupSettings& group, const std::string& value) {
  Preempt& preempt = group.cluster.node.preempt;
  if (value == "always") {
    preempt = Preempt::kAlways;
  } else if (value == "priority") {
    preempt = Preempt::kPriority;
  } else if (value == "never") {
    preempt = Preempt::kOff;
  } else {
    throw std::invalid_argument("preempt is always, priority or never, not '" + value + "'");
  }
}

void set_suspect_after(GroupSettings& group, const std::string& value) {
  group.cluster.node.suspect_after_min = parse_duration(value);
  group.cluster.node.suspect_after_max =
      std::max(group.cluster.node.suspect_after_min, group.cluster.node.suspect_after_max);
}

void set_scope(GroupSettings& group, const std::string& value) {
  if (value != "all" && value != "alive") {
    throw std::invalid_argument("scope is all or alive, not '" + value + "'");
  }
  group.cluster.node.skip_suspected = value == "alive";
}

// What a running node takes over, too.
constexpr Setting kNodeSettings[] = {
    {"variant", [](GroupSettings& g, const std::string& v) { g.variant = v; }},
    {"preempt", set_preempt},
    {"preempt_delay", [](auto& g, auto& v) { g.cluster.node.preempt_delay = parse_duration(v); }},
    {"heartbeat_interval",
     [](auto& g, auto& v) { g.cluster.node.heartbeat_interval = parse_duration(v); }},
    {"suspect_after", set_suspect_after},
    {"answer_timeout", [](auto& g, auto& v) { g.cluster.node.answer_timeout = parse_duration(v); }},
    {"coordinator_timeout",
     [](auto& g, auto& v) { g.cluster.node.coordinator_timeout = parse_duration(v); }},
    {"join_timeout", [](auto& g, auto& v) { g.cluster.node.join_timeout = parse_duration(v); }},
    {"reap_after", [](auto& g, auto& v) { g.cluster.node.reap_after = parse_duration(v); }},
    {"lease", set_lease},  // from the next start on
};

// What a group is made with.  `profile` stands first: it sets what the others then change.
constexpr Setting kBirthSettings[] = {
    {"profile", set_profile},
    {"guard", set_guard},
    {"voters", set_voters},
    {"death_proof", set_death_proof},
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

void apply_node_settings(GroupSettings& group, Words& words) {
  if (words.is_empty()) throw std::invalid_argument("missing a setting");
  apply_settings(group, words, {std::begin(kNodeSettings), std::end(kNodeSettings)});
}

}  // namespace bellwether::simulator
