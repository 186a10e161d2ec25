// The table of keys: each is declared once, with its type and limits, its default, whether a change
// of it is applied while running, and what it is for.  Reading, printing, comparing and the help
// all go through this table.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "config/config.hh"
#include "config/environment.hh"
#include "config/value_types.hh"

namespace bellwether {

// What a profile sets; everything else about time is derived from these.
struct ProfileTimers {
  Duration heartbeat_interval;
  Duration suspect_after;
  Duration lease;
  Duration answer_timeout;
};

ProfileTimers timers_of(Profile profile);

// What [application] health_* are where they are left out.
inline constexpr Duration kHealthInterval = std::chrono::milliseconds(500);
inline constexpr Duration kHealthTimeout = std::chrono::milliseconds(250);
inline constexpr uint32_t kHealthFailures = 3;

// When a changed value takes effect.
enum class TakesEffect : uint8_t { kAtOnce, kAtRestart };
inline const char* words(TakesEffect takes_effect) {
  return takes_effect == TakesEffect::kAtOnce ? "a change is applied while running"
                                              : "a change waits for a restart";
}

// A key of `Owner`: the configuration, or one hook.
template <typename Owner>
struct ConfigKey {
  std::string table;
  std::string name;
  std::string expects;        // what it takes, as a phrase
  std::string default_words;  // how the default comes about; empty: it is required
  TakesEffect takes_effect = TakesEffect::kAtRestart;
  std::string help;

  // Complains and leaves the owner alone when the value is not right.
  std::function<bool(const SourceNode& node, Owner& owner, const Complain& complain)> read;
  // May look at keys that stand before this one in the table, and at the voters.
  std::function<void(Owner& owner, const Environment& environment)> set_default;
  std::function<PlainValue(const Owner& owner)> write;
  std::function<void(const Owner& from, Owner& to)> copy;

  bool is_required() const { return default_words.empty(); }
  std::string path() const { return table + "." + name; }
  // "default: 24h; a change is applied while running"
  std::string default_and_effect() const {
    return (is_required() ? "is required" : "default: " + default_words) + "; " +
           words(takes_effect);
  }
};

// In the order in which they are read and printed; the keys of a table follow each other.
const std::vector<ConfigKey<Config>>& config_keys();
// Those of every [[hook]].
const std::vector<ConfigKey<HookSettings>>& hook_keys();

// The tables of which one at most is there, for the guard follows from them; an empty one counts,
// so they are printed only where they are used.
inline constexpr const char* kKubernetesTable = "kubernetes";
inline constexpr const char* kEtcdTable = "etcd";
bool is_used(const std::string& table, const Config& config);

// The two tables whose keys are not a fixed set.
inline constexpr const char* kVotersTable = "voters";
inline constexpr const char* kVotersHelp =
    "names and addresses of the full group, 1 or from 3 to 9: guard = majority; left out: the "
    "guard "
    "is another one, or none";
inline constexpr TakesEffect kVotersTakeEffect = TakesEffect::kAtRestart;
inline constexpr const char* kHookTable = "hook";
inline constexpr const char* kHookHelp =
    "a receiver that is told of every change of leadership by HTTP POST; at most 16";
inline constexpr TakesEffect kHookTakesEffect = TakesEffect::kAtOnce;
inline constexpr size_t kMaxHooks = 16;

// "hook[1]", of the first.
inline std::string hook_path(size_t index) {
  return kHookTable + ("[" + std::to_string(index + 1) + "]");
}

}  // namespace bellwether
