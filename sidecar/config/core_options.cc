// The timers that have no key of their own follow from the answer timeout.
#include "config/core_options.hh"

#include <algorithm>

#include "core/electorate.hh"
#include "core/store_guard.hh"

namespace bellwether {
namespace {

// Whoever looks for a leader must at least be able to connect and to be answered.
constexpr Duration kShortestJoin = std::chrono::milliseconds(500);

}  // namespace

Options to_options(const Config& config) {
  const ElectionSettings& election = config.election;
  Options options = election.profile == Profile::kTextbook ? textbook_options() : Options{};
  options.variant = election.variant;
  options.answer_timeout = election.answer_timeout;
  options.coordinator_timeout = election.coordinator_timeout;
  options.heartbeat_interval = config.failure_detector.heartbeat_interval;
  options.suspect_after_min = config.failure_detector.suspect_after;
  options.suspect_after_max = config.has_store_guard()
                                  ? config.failure_detector.suspect_after / 5 * 8
                                  : longest_silence(election.lease);
  options.join_timeout = std::max(kShortestJoin, 5 * election.answer_timeout);
  options.handover_timeout = 3 * election.answer_timeout;
  options.drain_timeout = config.application.drain_timeout;
  options.preempt = election.preempt;
  options.preempt_delay = election.preempt_delay;
  options.score_margin = config.application.score_margin;
  options.reap_after = config.membership.reap_after;
  options.voters = config.voter_names();
  options.lease = election.lease;
  options.renew_interval = election.renew_interval;
  options.store = store_name(config);
  return options;
}

std::string store_name(const Config& config) {
  switch (config.guard_kind()) {
    case GuardKind::kKubernetes:
      return "kubernetes " + config.kubernetes.namespace_name + "/" + config.kubernetes.lease_name;
    case GuardKind::kEtcd:
      return "etcd " + config.etcd.prefix + config.group.name;
    default:
      return "";
  }
}

uint64_t guard_hash(const Config& config) {
  if (config.has_store_guard()) return store_hash(store_name(config));
  return config.voters.empty() ? 0 : Electorate(config.voter_names()).hash();
}

}  // namespace bellwether
