// Printing by the table of keys.  Values are compared, not texts of the user: a default and the
// same value written out are no change.
#include "config/effective.hh"

#include <fmt/core.h>

#include <algorithm>

#include "base/ascii.hh"
#include "config/core_options.hh"
#include "config/keys.hh"
#include "config/text_forms.hh"

namespace bellwether {
namespace {

constexpr size_t kCommentColumn = 44;

// TOML takes these characters in a key without quotes.
std::string key_text(const std::string& key) {
  const bool is_bare =
      std::ranges::all_of(key, [](char c) { return is_alphanumeric(c) || c == '_' || c == '-'; });
  return is_bare ? key : "\"" + key + "\"";
}

std::string line(const std::string& key, const std::string& value, const std::string& comment) {
  const std::string text = key_text(key) + " = " + value;
  if (comment.empty()) return text + "\n";
  return fmt::format("{:{}} # {}\n", text, kCommentColumn - 1, comment);
}

// What the comment says of a value that stands there by default.
template <typename Owner>
std::string default_comment(const ConfigKey<Owner>& key, const std::string& value) {
  return key.default_words == value ? "default" : "default: " + key.default_words;
}

template <typename Owner>
std::string key_line(const ConfigKey<Owner>& key, const Owner& owner, bool is_given) {
  const std::string value = toml_text(key.write(owner));
  return line(key.name, value, is_given ? "" : default_comment(key, value));
}

std::string voters_text(const Config& config) {
  if (!config.has_guard()) return "\n# no [voters], [kubernetes] or [etcd]: guard = \"none\"\n";
  if (config.voters.empty()) return "";
  std::string text = fmt::format("\n[{}]  # guard = \"majority\"\n", kVotersTable);
  for (const auto& [name, address] : config.voters) {
    text += line(name, toml_text(address.text()), "");
  }
  return text;
}

std::string hooks_text(const ParsedConfig& parsed) {
  if (parsed.config.hooks.empty()) return "\n# no [[hook]]: nobody is told\n";
  std::string text;
  for (size_t i = 0; i < parsed.config.hooks.size(); ++i) {
    text += fmt::format("\n[[{}]]\n", kHookTable);
    for (const auto& key : hook_keys()) {
      const bool is_given = parsed.given.contains(hook_path(i) + "." + key.name);
      text += key_line(key, parsed.config.hooks[i], is_given);
    }
  }
  return text;
}

// { orders-0 = "…" }
std::string inline_table(const std::map<std::string, HostPort>& voters) {
  std::string text;
  for (const auto& [name, address] : voters) {
    text += (text.empty() ? " " : ", ") + key_text(name) + " = " + toml_text(address.text());
  }
  return text.empty() ? "{}" : "{" + text + " }";
}

// [{ url = "…", timeout = "…" }], without the files that are not given, nor what may be a secret.
std::string inline_list(const std::vector<HookSettings>& hooks) {
  std::string text;
  for (const HookSettings& hook : hooks) {
    std::string item;
    for (const auto& key : hook_keys()) {
      const bool is_url = key.name == "url";
      const std::string value = toml_text(is_url ? shown_url(hook.url) : key.write(hook));
      if (value != "\"\"") item += (item.empty() ? " " : ", ") + key.name + " = " + value;
    }
    text += (text.empty() ? "{" : ", {") + item + " }";
  }
  return "[" + text + "]";
}

}  // namespace

std::string effective_toml(const ParsedConfig& parsed) {
  std::string text;
  std::string table;
  for (const auto& key : config_keys()) {
    if (!is_used(key.table, parsed.config)) continue;
    if (key.table != table) {
      table = key.table;
      const bool is_guard = table == kKubernetesTable || table == kEtcdTable;
      text += (text.empty() ? "[" : "\n[") + table + "]";
      text += is_guard ? fmt::format("  # guard = \"{}\"\n", parsed.config.guard()) : "\n";
    }
    text += key_line(key, parsed.config, parsed.given.contains(key.path()));
  }
  return text + voters_text(parsed.config) + hooks_text(parsed);
}

std::vector<std::pair<std::string, std::string>> value_texts(const Config& config) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& key : config_keys()) {
    texts.emplace_back(key.path(), toml_text(key.write(config)));
  }
  texts.emplace_back(kVotersTable, inline_table(config.voters));
  texts.emplace_back(kHookTable, inline_list(config.hooks));
  return texts;
}

std::vector<ConfigChange> diff(const Config& before, const Config& after) {
  std::vector<ConfigChange> changes;
  const auto old_texts = value_texts(before);
  const auto new_texts = value_texts(after);
  for (size_t i = 0; i < old_texts.size(); ++i) {
    const auto& [key, old_text] = old_texts[i];
    const std::string& new_text = new_texts[i].second;
    const bool is_secret_changed = key == kHookTable && before.hooks != after.hooks;
    if (old_text != new_text || is_secret_changed) changes.push_back({key, old_text, new_text});
  }
  return changes;
}

Config take_over(Config in_force, const Config& wanted) {
  const ElectionSettings election = in_force.election;
  const FailureDetectorSettings failure_detector = in_force.failure_detector;
  for (const auto& key : config_keys()) {
    if (key.takes_effect == TakesEffect::kAtOnce) key.copy(wanted, in_force);
  }
  if (kVotersTakeEffect == TakesEffect::kAtOnce) in_force.voters = wanted.voters;
  if (kHookTakesEffect == TakesEffect::kAtOnce) in_force.hooks = wanted.hooks;
  // The timers of a profile fit each other, and not those of another one: they wait with it.
  if (wanted.election.profile != election.profile) {
    in_force.election = election;
    in_force.failure_detector = failure_detector;
  }
  // Another plugin waits for a restart, and its variant with it.
  if (wanted.election.plugin != election.plugin) in_force.election.variant = election.variant;
  // What was made for another lease, or another guard, waits with it.
  if (in_force.failure_detector.suspect_after > longest_silence(election.lease)) {
    in_force.failure_detector = failure_detector;
  }
  if (wanted.has_guard() != in_force.has_guard()) {
    in_force.election.preempt_delay = election.preempt_delay;
  }
  return in_force;
}

}  // namespace bellwether
