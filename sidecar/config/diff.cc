// Values are compared, not texts: a default and the same value written out are no change.
#include "config/diff.hh"

#include "config/core_options.hh"
#include "config/effective.hh"
#include "config/keys.hh"

namespace bellwether {

std::vector<ConfigChange> diff(const Config& before, const Config& after) {
  std::vector<ConfigChange> changes;
  const auto old_texts = value_texts(before);
  const auto new_texts = value_texts(after);
  for (size_t i = 0; i < old_texts.size(); ++i) {
    const auto& [key, old_text] = old_texts[i];
    const std::string& new_text = new_texts[i].second;
    if (old_text != new_text) changes.push_back({key, old_text, new_text});
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
  // Another plugin waits for a restart, and its variant with it.
  if (wanted.election.plugin != election.plugin) in_force.election.variant = election.variant;
  // What was made for another lease, or another guard, waits with it.
  if (in_force.failure_detector.suspect_after > longest_silence(election.lease)) {
    in_force.failure_detector = failure_detector;
  }
  if (wanted.has_majority_guard() != in_force.has_majority_guard()) {
    in_force.election.preempt_delay = election.preempt_delay;
  }
  return in_force;
}

}  // namespace bellwether
