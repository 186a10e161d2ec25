// Values are compared, not texts: a default and the same value written out are no change.
#include "config/diff.hh"

#include "config/effective.hh"
#include "config/keys.hh"

namespace bellwether {

std::vector<ConfigChange> diff(const Config& before, const Config& after) {
  std::vector<ConfigChange> changes;
  const auto compare = [&](const std::string& key, TakesEffect takes_effect,
                           const std::string& old_text, const std::string& new_text) {
    if (old_text == new_text) return;
    changes.push_back({key, old_text, new_text, takes_effect == TakesEffect::kAtRestart});
  };
  for (const auto& key : config_keys()) {
    compare(key.path(), key.takes_effect, toml_text(key.write(before)),
            toml_text(key.write(after)));
  }
  compare(kVotersTable, kVotersTakeEffect, inline_table(before.voters), inline_table(after.voters));
  compare(kHookTable, kHookTakesEffect, inline_list(before.hooks), inline_list(after.hooks));
  return changes;
}

}  // namespace bellwether
