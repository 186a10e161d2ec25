// The sums.  Under guard "none": detection, the stagger (nobody waits who is next in line), an
// answer timeout for who is asked in vain; a claim is effective at once.  Under "majority" votes
// and two writes to disk come on top, and all of it runs while the old leader's lease runs out.
#include "config/failover.hh"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/duration_text.hh"
#include "config/core_options.hh"
#include "core/handover.hh"
#include "core/lease.hh"
#include "core/store_guard.hh"

namespace bellwether {
namespace {

using std::chrono::milliseconds;

// A peer whose connection broke is called again within this time.
constexpr Duration kReconnect = milliseconds(50);
// The claimant stores its claim, then the voters their votes: this long for each of both.
constexpr Duration kStore = milliseconds(20);
// A write to Kubernetes or etcd that is not in a hurry.
constexpr Duration kStoreWrite = milliseconds(50);

// `what` tells one from another; "": it is as planned.
Failover planned_handover(const std::string& what, Duration at_most, int round_trips,
                          const std::string& formula) {
  return {.failure = "planned hand-over" + what,
          .at_most = at_most,
          .round_trips = round_trips,
          .formula = formula,
          .old_flag = "off before",
          .is_planned = true};
}

struct Waits {
  Options options;
  Duration silence = options.suspect_after_max;  // until a leader that says nothing is suspected

  // One answer timeout to let the next in line go first, one to ask it in vain; without the stagger
  // everybody asks at once.
  Duration behind_silent() const { return (options.stagger ? 2 : 1) * options.answer_timeout; }
  std::string behind_silent_text() const {
    return options.stagger ? " + 2 answer_timeout" : " + answer_timeout";
  }
};

std::vector<Failover> without_guard(const Waits& timers) {
  // Before anybody may suspect it.
  const std::string runs_out = "off after " + duration_text(timers.options.suspect_after_min);
  const Duration join = timers.options.join_timeout;
  const std::string reconnect = "reconnect " + duration_text(kReconnect);
  return {
      {"sidecar killed, connection refused", kReconnect, 2, reconnect, "off at once"},
      {"machine of the leader dies", timers.silence, 1, "4/5 lease", "gone with it"},
      {"leader cut off from the others", timers.silence, 1, "4/5 lease", "stays on: two leaders"},
      {"sidecar stopped (SIGSTOP)", timers.silence, 1, "4/5 lease", runs_out},
      {"leader and the next in line silent", timers.silence + timers.behind_silent(), 2,
       "4/5 lease" + timers.behind_silent_text(), runs_out},
      planned_handover("", Duration::zero(), 1, "one message"),
      planned_handover(", successor silent", timers.options.handover_timeout, 2,
                       "3 answer_timeout for each"),
      {"cold start", join, 2, "join", "off"},
  };
}

// Where nobody stands between the voters, which shows when they are connected only.
bool may_refusal_be_a_proof(const Config& config) {
  if (config.election.death_proof != DeathProof::kAuto) {
    return config.election.death_proof == DeathProof::kRefused;
  }
  return std::ranges::all_of(config.voters,
                             [](const auto& voter) { return voter.second.is_loopback(); });
}

std::vector<Failover> with_majority(const Config& config, const Waits& timers) {
  // For how long a leader beats that nobody answers any more.
  const Duration running_out = timers.options.suspect_after_max;
  const std::string runs_out = "off after " + duration_text(running_out);
  const Duration election = 2 * kStore;
  const std::string votes = " + votes " + duration_text(election);
  const Duration killed = kReconnect + election;
  const Duration silent = timers.silence + election;
  const std::string silent_text = "max(lease, 4/5 lease" + votes + ")";
  const std::string proof_text = "reconnect " + duration_text(kReconnect) + votes;
  const auto within_lease = [&](Duration needed) { return std::max(timers.options.lease, needed); };
  const std::string killed_text = "max(lease, " + proof_text + ")";
  std::vector<Failover> found;
  if (may_refusal_be_a_proof(config)) {
    found = {{"sidecar killed, connection refused", killed, 4, proof_text, "off at once"},
             {"sidecar killed, something in between", within_lease(killed), 4, killed_text,
              "off at once"}};
  } else {
    found = {{"sidecar killed, connection refused", within_lease(killed), 4, killed_text,
              "off at once"}};
  }
  const std::vector<Failover> others{
      {"machine of the leader dies", within_lease(silent), 3, silent_text, "gone with it"},
      {"leader cut off from the others", within_lease(silent), 3, silent_text, runs_out},
      {"leader hears nobody, all hear it", running_out + within_lease(silent), 3,
       "4/5 lease + " + silent_text, runs_out},
      {"sidecar stopped (SIGSTOP)", within_lease(silent), 3, silent_text, runs_out},
      {"leader and the next in line silent", within_lease(silent + timers.behind_silent()), 4,
       "max(lease, 4/5 lease" + timers.behind_silent_text() + votes + ")", runs_out},
      planned_handover("", election, 2, "votes " + duration_text(election)),
      planned_handover(", successor silent", timers.options.handover_timeout + election, 3,
                       "3 answer_timeout for each" + votes),
      {"cold start", within_lease(timers.options.join_timeout) + election, 3,
       "max(lease of before, join)" + votes, "off"},
  };
  found.insert(found.end(), others.begin(), others.end());
  return found;
}

// Whoever is next in line counts from when it has seen the last renewal in the store, not from the
// leader's silence; so what silence takes is over by then.
std::vector<Failover> with_store(const Config& config, const Waits& timers) {
  const std::string write = " + write " + duration_text(kStoreWrite);
  const Duration off_after = validity_of(timers.options.lease);
  const std::string off = "off after " + duration_text(off_after);
  // Of the next in line, which is passed over then.
  const Duration asked = longest_patience(timers.options.lease);
  const Duration taken = timers.options.lease + kStoreWrite;
  const Duration proven = kReconnect + kStoreWrite;
  std::vector<Failover> found;
  if (config.election.death_proof != DeathProof::kNone) {
    found.push_back({"sidecar killed, connection refused and proof", proven, 3,
                     "reconnect " + duration_text(kReconnect) + write, "off at once"});
  }
  const std::vector<Failover> others{
      {"sidecar killed elsewhere", taken, 2, "lease" + write, "off at once"},
      {"machine of the leader dies", taken, 2, "lease" + write, "gone with it"},
      {"leader cut off from the store", taken, 2, "lease" + write, off},
      {"leader cut off from the others", Duration::zero(), 0, "it renews its lease", "stays on"},
      {"sidecar stopped (SIGSTOP)", taken, 2, "lease" + write, off},
      {"leader and the next in line silent", 2 * timers.options.lease + kStoreWrite, 3,
       "2 lease" + write, off},
      {"leader and next cut off from the store", off_after + asked + taken, 4,
       "4/5 lease + request " + duration_text(asked) + " + lease" + write, off},
      planned_handover("", 2 * kStoreWrite, 3, "2 writes " + duration_text(2 * kStoreWrite)),
      planned_handover(
          ", successor silent",
          timers.options.handover_timeout + least_patience(timers.options) + 3 * kStoreWrite, 4,
          "3 answer_timeout + request " + duration_text(least_patience(timers.options)) +
              " for each + 3 writes"),
      {"cold start", timers.options.join_timeout + taken, 3, "join + lease of before" + write,
       "off"},
  };
  found.insert(found.end(), others.begin(), others.end());
  return found;
}

// What becomes of a leader's application ends in a hand-over; before it comes what it takes to
// know.
void add_application(const ApplicationSettings& settings, std::vector<Failover>& found) {
  const Failover planned = *std::ranges::find(found, true, &Failover::is_planned);
  const auto add = [&](const char* failure, Duration until_known, const std::string& formula) {
    Failover row = planned;
    row.failure = failure;
    row.is_planned = false;
    row.at_most += until_known;
    if (!formula.empty()) row.formula = formula + " + " + planned.formula;
    found.push_back(std::move(row));
  };
  if (settings.is_attachment_needed) {
    add("application ends", settings.grace, settings.grace > Duration::zero() ? "grace" : "");
  }
  if (settings.health.empty()) return;
  add(settings.is_attachment_needed ? "application hangs" : "application ends or hangs",
      settings.health_failures * settings.health_interval + settings.health_timeout,
      fmt::format("{} health_interval + health_timeout", settings.health_failures));
}

// Whoever is asked for its place lets its application finish first.
void add_drain(const ApplicationSettings& settings, std::vector<Failover>& found) {
  if (settings.drain_timeout == Duration::zero()) return;
  for (Failover& row : found) {
    if (!row.is_planned) continue;
    row.at_most += settings.drain_timeout;
    row.formula = "drain_timeout + " + row.formula;
  }
}

std::vector<Failover> rows(const Config& config, const Waits& timers) {
  std::vector<Failover> found = config.has_store_guard()      ? with_store(config, timers)
                                : config.has_majority_guard() ? with_majority(config, timers)
                                                              : without_guard(timers);
  add_application(config.application, found);
  add_drain(config.application, found);
  return found;
}

}  // namespace

std::vector<Failover> worst_case_failover(const Config& config) {
  Waits timers{to_options(config)};
  std::vector<Failover> found = rows(config, timers);
  timers.silence *= 2;
  const std::vector<Failover> after_pause = rows(config, timers);
  for (size_t i = 0; i < found.size(); ++i) found[i].at_most_after_pause = after_pause[i].at_most;
  return found;
}

// A leader asks so many successors, each for handover_timeout; at a store it writes for each of
// them, as they do, and reads once.
Duration longest_departure(const Config& config) {
  constexpr auto kSuccessors = static_cast<int>(kMaxSuccessors);
  constexpr Duration kMargin = std::chrono::seconds(1);
  const Options options = to_options(config);
  const Duration request = config.has_store_guard() ? least_patience(options) : Duration::zero();
  const Duration hand_over = kSuccessors * (options.handover_timeout + 2 * request) + request;
  return options.drain_timeout + hand_over + kMargin;
}

}  // namespace bellwether
