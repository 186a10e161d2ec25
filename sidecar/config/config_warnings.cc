// The rules whose violation is legal, but probably not what was meant, or not without risk.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/duration_text.hh"
#include "config/config_rules.hh"
#include "config/keys.hh"
#include "config/value_types.hh"

namespace bellwether {
namespace {

using Objections = std::vector<Objection>;
using std::chrono::milliseconds;

// Below this an ordinary machine's scheduler alone looks like a failure.
constexpr Duration kSchedulingNoise = milliseconds(50);
// What a claim needs beyond waiting: the way of a message, and a write to the disk.
constexpr Duration kClaimMargin = milliseconds(50);

Objections guard_is_majority(const ParsedConfig& parsed) {
  if (parsed.config.has_majority_guard()) return {};
  return {
      {"without [voters] the guard is \"none\": a network partition, or a leader that was only "
       "slow, gives two leaders until they hear of each other",
       "name the voters if a second leader does harm"}};
}

// Who shall only follow says so with priority 0.
Objections node_is_a_voter(const ParsedConfig& parsed) {
  const Config& config = parsed.config;
  const std::string& name = config.node.name;
  const bool is_as_meant = config.voters.contains(name) || config.node.priority == 0;
  if (!config.has_majority_guard() || is_as_meant) return {};
  return {{"this node, " + toml_text(name) +
               ", is not among its own [voters]: it follows, and never leads",
           "add it, give it a voter's name as node.name, or set node.priority to 0" +
               did_you_mean(name, config.voter_names())}};
}

Objections number_of_voters_is_odd(const ParsedConfig& parsed) {
  const size_t count = parsed.config.voters.size();
  if (count < 4 || count % 2 == 1) return {};
  return {{fmt::format("{} voters survive no more failures than {} do", count, count - 1),
           "name an odd number"}};
}

Objections somebody_can_lead(const ParsedConfig& parsed) {
  const Config& config = parsed.config;
  const bool is_the_only_one =
      config.voters.size() == 1 && config.voters.contains(config.node.name);
  if (!is_the_only_one || config.node.priority > 0) return {};
  return {{"priority 0 never leads, and this is the only voter: nobody will lead",
           "give it a priority above 0"}};
}

Objections api_is_local(const ParsedConfig& parsed) {
  const HostPort& listen = parsed.config.api.listen;
  if (listen.is_none() || listen.is_loopback()) return {};
  return {{"whoever reaches " + listen.text() + " can make the leader step down",
           "listen on 127.0.0.1, or on a unix socket, and serve metrics apart (metrics.listen)"}};
}

Objections two_beats_may_be_lost(const ParsedConfig& parsed) {
  const FailureDetectorSettings& detector = parsed.config.failure_detector;
  const Duration least = 3 * detector.heartbeat_interval;
  if (detector.suspect_after >= least) return {};
  return {
      {fmt::format("suspect_after {} is less than three heartbeat_interval: one lost beat and one "
                   "late one depose a leader",
                   duration_text(detector.suspect_after)),
       fmt::format("give suspect_after at least {}, better five intervals", duration_text(least))}};
}

Objections suspicion_is_longer_than_noise(const ParsedConfig& parsed) {
  const Duration suspect_after = parsed.config.failure_detector.suspect_after;
  if (suspect_after >= kSchedulingNoise) return {};
  return {{fmt::format("a process that waits for a processor for {} is taken for dead",
                       duration_text(suspect_after)),
           fmt::format("give at least {}, and a reserved processor even then",
                       duration_text(kSchedulingNoise))}};
}

Objections election_fits_into_lease(const ParsedConfig& parsed) {
  const Config& config = parsed.config;
  const Duration needed = config.failure_detector.suspect_after + config.election.answer_timeout;
  if (!config.has_majority_guard() || needed <= config.election.lease) return {};
  return {
      {fmt::format("lease {} is over before suspect_after and answer_timeout are: a failover takes "
                   "longer than the lease would allow",
                   duration_text(config.election.lease)),
       fmt::format("give lease at least {}, or shorten the others", duration_text(needed))}};
}

Objections winner_has_time_to_announce(const ParsedConfig& parsed) {
  const ElectionSettings& election = parsed.config.election;
  const Duration least = election.answer_timeout + kClaimMargin;
  if (election.coordinator_timeout >= least) return {};
  return {
      {fmt::format("coordinator_timeout {} leaves less than {} after answer_timeout: elections may "
                   "be repeated although somebody wins",
                   duration_text(election.coordinator_timeout), duration_text(kClaimMargin)),
       fmt::format("give coordinator_timeout at least {}, or leave it out", duration_text(least))}};
}

Objections preemption_is_damped(const ParsedConfig& parsed) {
  const Config& config = parsed.config;
  const bool is_at_once =
      config.election.preempt != Preempt::kOff && config.election.preempt_delay == Duration::zero();
  if (!config.has_majority_guard() || !is_at_once) return {};
  return {
      {"with [voters] and preempt_delay \"0s\" two nodes can take leadership from each other "
       "again and again",
       "give election.preempt_delay, like \"5s\""}};
}

Objections preempt_delay_has_an_effect(const ParsedConfig& parsed) {
  const bool is_idle = parsed.config.election.preempt == Preempt::kOff &&
                       parsed.given.contains("election.preempt_delay");
  if (!is_idle) return {};
  return {{"has no effect while preempt is \"never\"", "remove it"}};
}

Objections death_proof_has_an_effect(const ParsedConfig& parsed) {
  const bool is_idle =
      !parsed.config.has_majority_guard() && parsed.given.contains("election.death_proof");
  if (!is_idle) return {};
  return {{"has no effect without [voters]", "remove it, or name the voters"}};
}

Objections refusals_are_vouched_for(const ParsedConfig& parsed) {
  const Config& config = parsed.config;
  const bool is_trusting =
      config.has_majority_guard() && config.election.death_proof == DeathProof::kRefused;
  if (!is_trusting) return {};
  return {
      {"you vouch that no firewall between voters rejects connections for a host, and that no "
       "voter's address moves to another host; where that is wrong, two may lead. Proxies and "
       "translated addresses are noticed",
       "give \"auto\" unless you are sure"}};
}

Objections somebody_is_looked_for(const ParsedConfig& parsed) {
  const Config& config = parsed.config;
  const bool is_alone =
      config.membership.peers.empty() && config.membership.dns.is_none() && config.voters.empty();
  if (!is_alone) return {};
  return {{"there is nobody to connect to: unless others name it, this node will lead itself alone",
           "give membership.peers, membership.dns or [voters]"}};
}

Objections peers_are_named_once(const ParsedConfig& parsed) {
  Objections objections;
  std::set<HostPort> seen;
  for (const HostPort& peer : parsed.config.membership.peers) {
    if (!seen.insert(peer).second) {
      objections.push_back({peer.text() + " is named twice", "remove one of them"});
    }
  }
  return objections;
}

Objections advertised_address_is_known(const ParsedConfig& parsed) {
  const NodeSettings& node = parsed.config.node;
  const bool is_guess = !parsed.given.contains("node.advertise") && node.listen.is_wildcard() &&
                        !parsed.config.voters.contains(node.name);
  if (!is_guess) return {};
  return {{"peers are told to find this node at " + node.advertise.text() +
               ", made of the host's name, and must be able to look it up",
           fmt::format("give node.advertise, for example \"${{POD_IP}}:{}\"", node.listen.port)}};
}

Objections advertised_address_is_reachable(const ParsedConfig& parsed) {
  const Config& config = parsed.config;
  std::vector<HostPort> others = config.membership.peers;
  if (!config.membership.dns.is_none()) others.push_back(config.membership.dns);
  for (const auto& [name, address] : config.voters) others.push_back(address);
  const bool has_distant = std::any_of(others.begin(), others.end(),
                                       [](const HostPort& other) { return !other.is_loopback(); });
  if (!has_distant || !config.node.advertise.is_loopback()) return {};
  return {{"peers on other hosts are told to find this node at " + config.node.advertise.text() +
               ", which is themselves",
           "give node.advertise an address that they reach"}};
}

Objections advertised_address_is_the_voters(const ParsedConfig& parsed) {
  const Config& config = parsed.config;
  const auto own = config.voters.find(config.node.name);
  if (own == config.voters.end() || own->second == config.node.advertise) return {};
  return {{config.node.advertise.text() + " is advertised, but this voter's address is " +
               own->second.text(),
           "give the same, or leave node.advertise out"}};
}

}  // namespace

const std::vector<ConfigRule>& warning_rules() {
  static const std::vector<ConfigRule> kRules{
      {{kVotersTable}, guard_is_majority},
      {{"node.name", kVotersTable}, node_is_a_voter},
      {{kVotersTable}, number_of_voters_is_odd},
      {{"node.priority", kVotersTable}, somebody_can_lead},
      {{"api.listen"}, api_is_local},
      {{"failure_detector.suspect_after", "failure_detector.heartbeat_interval",
        "election.profile"},
       two_beats_may_be_lost},
      {{"failure_detector.suspect_after", "election.profile"}, suspicion_is_longer_than_noise},
      {{"election.lease", "failure_detector.suspect_after", "election.answer_timeout",
        "election.profile"},
       election_fits_into_lease},
      {{"election.coordinator_timeout", "election.answer_timeout", "election.profile"},
       winner_has_time_to_announce},
      {{"election.preempt_delay", "election.profile", "election.preempt", kVotersTable},
       preemption_is_damped},
      {{"election.preempt_delay", "election.preempt"}, preempt_delay_has_an_effect},
      {{"election.death_proof", kVotersTable}, death_proof_has_an_effect},
      {{"election.death_proof"}, refusals_are_vouched_for},
      {{"membership.peers", "membership.dns", kVotersTable}, somebody_is_looked_for},
      {{"membership.peers"}, peers_are_named_once},
      {{"node.advertise", "node.listen"}, advertised_address_is_known},
      {{"node.advertise", "node.listen"}, advertised_address_is_reachable},
      {{"node.advertise", kVotersTable}, advertised_address_is_the_voters},
  };
  return kRules;
}

}  // namespace bellwether
