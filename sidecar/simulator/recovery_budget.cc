// The sum, term by term.
#include "simulator/recovery_budget.hh"

#include <algorithm>

namespace bellwether::simulator {
namespace {

// One fails, and is held again.
constexpr int kElections = 2;
// Until a leader claims anew for a voter that has granted a newer epoch (core/node_candidate.cc),
// and does not follow it until then.
constexpr Duration kStuckVoter = std::chrono::seconds(5);

}  // namespace

Duration recovery_budget(const Cluster& cluster) {
  Duration noticed{};
  Duration election{};
  Duration lease{};
  Duration store{};
  for (uint32_t process = 0; process < cluster.size(); ++process) {
    const Options& options = cluster.options_of(process);
    // A leader falls silent at the very end, and who notices doubts itself first; or all start
    // anew.
    noticed = std::max({noticed, 2 * options.suspect_after_max, options.join_timeout});
    election = std::max(election, options.answer_timeout + options.coordinator_timeout);
    if (options.voters.empty() && options.store.empty()) continue;
    // Whoever is asked in place of the next in line has not watched the record so far; and whoever
    // did not reach the store stays away for half a lease, give or take a half.
    if (!options.store.empty()) {
      store = std::max(store, 2 * options.lease + options.renew_interval);
    }
    // What an earlier life promised may be longer than what its configuration says now.
    lease = std::max(lease, options.lease);
    if (cluster.is_running(process)) {
      lease = std::max(lease, cluster.node(process).record().lease_seen);
    }
  }
  // Promises, and what restarted voters may have promised, run out while the end is noticed; but a
  // leader that no majority answers beats until its lease ends, and its followers begin then.
  const bool is_guarded = lease != Duration::zero();
  return noticed + kElections * election + lease + store +
         (is_guarded ? kStuckVoter : Duration::zero());
}

}  // namespace bellwether::simulator
