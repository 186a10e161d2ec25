// The rules whose violation is legal, but probably not what was meant, or not without risk.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/duration_text.hh"
#include "config/config_rules.hh"
#include "config/failover.hh"
#include "config/keys.hh"
#include "config/value_types.hh"

namespace bellwether {
namespace {

using std::chrono::milliseconds;

// Below this an ordinary machine's scheduler alone looks like a failure.
constexpr Duration kSchedulingNoise = milliseconds(50);
// What a claim needs beyond waiting: the way of a message, and a write to the disk.
constexpr Duration kClaimMargin = milliseconds(50);

void judge_voters(Judge& judge) {
  const Config& config = judge.config();
  const std::string& name = config.node.name;
  const size_t count = config.voters.size();
  if (config.has_store_guard()) return;
  if (!config.has_guard()) {
    return judge.object({kVotersTable},
                        "without [voters] the guard is \"none\": a network partition, or a leader "
                        "that was only slow, gives two leaders until they hear of each other",
                        "if a second leader does harm, name the voters, or give [kubernetes] or "
                        "[etcd]");
  }
  // A node that shall only follow says so with priority 0.
  if (!config.voters.contains(name) && config.node.priority > 0) {
    judge.object({"node.name", kVotersTable},
                 "this node, " + toml_text(name) +
                     ", is not among its own [voters]: it follows, and never leads",
                 "add it, give it a voter's name as node.name, or set node.priority to 0" +
                     did_you_mean(name, config.voter_names()));
  }
  if (count >= 4 && count % 2 == 0) {
    judge.object({kVotersTable},
                 fmt::format("{} voters survive no more failures than {} do", count, count - 1),
                 "name an odd number");
  }
  if (count == 1 && config.voters.contains(name) && config.node.priority == 0) {
    judge.object({"node.priority", kVotersTable},
                 "priority 0 never leads, and this is the only voter: nobody will lead",
                 "give it a priority above 0");
  }
}

void judge_store_access(Judge& judge) {
  const KubernetesSettings& kubernetes = judge.config().kubernetes;
  if (kubernetes.is_used && kubernetes.token_file.empty() && kubernetes.cert.empty()) {
    judge.object({"kubernetes.token_file", "kubernetes.server"},
                 "the API server is not told who asks, and will refuse",
                 "give kubernetes.token_file, or kubernetes.cert and key");
  }
  if (kubernetes.is_insecure || judge.config().etcd.is_insecure) {
    judge.object({kubernetes.is_insecure ? "kubernetes.insecure" : "etcd.insecure"},
                 "whoever is on the way to the store can change who leads",
                 "give https:// URLs, and remove it");
  }
}

// What api.insecure permits, said at each start.
void judge_api(Judge& judge) {
  const ApiSettings& api = judge.config().api;
  if (!api.is_insecure) return;
  if (!api.is_exposed() || (api.has_tls() && api.is_guarded())) {
    return judge.object({"api.insecure", "api.listen"}, "has no effect: nothing here is insecure",
                        "remove it");
  }
  const std::string who = "whoever reaches " + api.listen.text();
  judge.object({"api.insecure", "api.listen"},
               !api.is_guarded() ? who + " can make the leader step down"
                                 : "whoever is on the way to " + api.listen.text() +
                                       " can read, and use, tokens and answers",
               "listen on 127.0.0.1 or a unix socket, or give api.cert, api.key, and "
               "api.token_file or api.client_ca");
}

// Users are known on the unix socket alone.
void judge_other_doors(Judge& judge) {
  const ApiSettings& api = judge.config().api;
  const bool names_users = !api.allow_users.empty() || !api.allow_groups.empty();
  if (!names_users || api.is_guarded() || api.listen.is_none()) return;
  judge.object({api.allow_users.empty() ? "api.allow_groups" : "api.allow_users", "api.listen"},
               "users are asked for on the unix socket alone: whoever reaches " +
                   api.listen.text() + " commands without being one of them",
               "give api.writes = \"socket\", or api.token_file for those on TCP");
}

// Whoever reaches the port of peers can say anything.
void judge_peers_security(Judge& judge) {
  const Config& config = judge.config();
  const HostPort& listen = config.node.listen;
  if (listen.is_loopback() || config.tls.mode == TlsMode::kStrict) return;
  if (config.tls.mode == TlsMode::kPermissive) {
    return judge.object({"tls.mode"},
                        "permissive takes members that prove nothing: whoever reaches " +
                            listen.text() + " can still move the group",
                        "give \"strict\" once all members have [tls]");
  }
  const bool has_files = !config.tls.cert.empty() || !config.tls.secret_file.empty();
  judge.object(
      {"tls.mode", "node.listen"},
      "members do not prove who they are: whoever reaches " + listen.text() +
          " can move, stop or confuse the group",
      has_files ? "take mode = \"off\" out: what [tls] names is not used with it"
                : "give [tls] certificates or a secret_file, or close the port to all but members");
}

void judge_suspicion(Judge& judge) {
  const FailureDetectorSettings& detector = judge.config().failure_detector;
  const std::string suspect_after = duration_text(detector.suspect_after);
  if (detector.suspect_after < 3 * detector.heartbeat_interval) {
    judge.object({"failure_detector.suspect_after", "failure_detector.heartbeat_interval",
                  "election.profile"},
                 fmt::format("suspect_after {} is less than three heartbeat_interval: one lost "
                             "beat and one late one depose a leader",
                             suspect_after),
                 fmt::format("give suspect_after at least {}, better five intervals",
                             duration_text(3 * detector.heartbeat_interval)));
  }
  if (detector.suspect_after < kSchedulingNoise) {
    judge.object(
        {"failure_detector.suspect_after", "election.profile"},
        fmt::format("a process that waits for a processor for {} is taken for dead", suspect_after),
        fmt::format("give at least {}, and a reserved processor even then",
                    duration_text(kSchedulingNoise)));
  }
}

void judge_election_timers(Judge& judge) {
  const Config& config = judge.config();
  const ElectionSettings& election = config.election;
  const Duration failover = config.failure_detector.suspect_after + election.answer_timeout;
  if (config.has_majority_guard() && failover > election.lease) {
    judge.object(
        {"election.lease", "failure_detector.suspect_after", "election.answer_timeout",
         "election.profile"},
        fmt::format(
            "lease {} is over before suspect_after and answer_timeout are: a failover takes "
            "longer than the lease would allow",
            duration_text(election.lease)),
        fmt::format("give lease at least {}, or shorten the others", duration_text(failover)));
  }
  // Who cannot store its claim within the lease must be known for that by the next election.
  const Duration shortest = 5 * election.coordinator_timeout;
  if (config.has_store_guard() && election.lease < shortest) {
    judge.object({"election.lease", "election.coordinator_timeout", "election.profile"},
                 fmt::format("lease {} is less than five coordinator_timeout: one whose disk is as "
                             "slow as that can win each election and never lead",
                             duration_text(election.lease)),
                 fmt::format("give lease at least {}, or shorten coordinator_timeout",
                             duration_text(shortest)));
  }
  const Duration least = election.answer_timeout + kClaimMargin;
  if (election.coordinator_timeout < least) {
    judge.object(
        {"election.coordinator_timeout", "election.answer_timeout", "election.profile"},
        fmt::format(
            "coordinator_timeout {} leaves less than {} after answer_timeout: elections may "
            "be repeated although somebody wins",
            duration_text(election.coordinator_timeout), duration_text(kClaimMargin)),
        fmt::format("give coordinator_timeout at least {}, or leave it out", duration_text(least)));
  }
}

void judge_takeovers(Judge& judge) {
  const ElectionSettings& election = judge.config().election;
  const bool has_guard = judge.config().has_guard();
  const bool may_preempt = election.preempt != Preempt::kOff;
  if (has_guard && may_preempt && election.preempt_delay == Duration::zero()) {
    judge.object({"election.preempt_delay", "election.profile", "election.preempt", kVotersTable},
                 "with a guard and preempt_delay \"0s\" two nodes can take leadership from each "
                 "other again and again",
                 "give election.preempt_delay, like \"5s\"");
  }
  if (!may_preempt && judge.is_given("election.preempt_delay")) {
    judge.object({"election.preempt_delay", "election.preempt"},
                 "has no effect while preempt is \"never\"", "remove it");
  }
  if (!has_guard && judge.is_given("election.death_proof")) {
    judge.object({"election.death_proof", kVotersTable}, "has no effect without a guard",
                 "remove it, or give [voters], [kubernetes] or [etcd]");
  }
  if (has_guard && election.death_proof == DeathProof::kRefused) {
    judge.object({"election.death_proof"},
                 "you vouch that no firewall between members rejects connections for a host, and "
                 "that no member's address moves to another host; where that is wrong, two may "
                 "lead. Proxies and translated addresses are noticed",
                 "give \"auto\" unless you are sure");
  }
}

// What is as it would be without being given is what `check` prints.
void judge_the_application(Judge& judge) {
  const ApplicationSettings& application = judge.config().application;
  if (application.grace > Duration::zero() && !application.is_attachment_needed) {
    judge.object({"application.grace", "application.attach"}, "has no effect while attach is off",
                 "give attach = \"on\", or remove it");
  }
  if (!application.health.empty()) return;
  const auto object_to = [&](const char* key, bool is_another) {
    if (!is_another) return;
    judge.object({key, "application.health"}, "has no effect without health",
                 "give health, or remove it");
  };
  object_to("application.health_interval", application.health_interval != kHealthInterval);
  object_to("application.health_timeout", application.health_timeout != kHealthTimeout);
  object_to("application.health_failures", application.health_failures != kHealthFailures);
}

// This process cannot see who would end it by force, or when.
void judge_departure(Judge& judge) {
  // TimeoutStopSec of the unit that is shipped; a pod has 30 s unless it says so.
  constexpr Duration kShortestPatience = std::chrono::seconds(20);
  const Config& config = judge.config();
  const Duration departure = longest_departure(config);
  if (config.application.drain_timeout == Duration::zero() || departure <= kShortestPatience) {
    return;
  }
  const std::string time = duration_text(departure);
  judge.object({"application.drain_timeout"},
               fmt::format("to end in good order this sidecar may take {}, and whoever ends it may "
                           "be less patient: systemd (TimeoutStopSec) or Kubernetes "
                           "(terminationGracePeriodSeconds)",
                           time),
               fmt::format("see that they give it more than {}, or shorten drain_timeout", time));
}

// By a whole name that is none of a Service: where a pod's own API server decides, members of
// another cluster have another one.
bool is_of_another_cluster(const HostPort& place) {
  const std::string& host = place.host;
  const bool is_number = !host.empty() && host.back() >= '0' && host.back() <= '9';
  return !is_number && std::ranges::count(host, '.') > 1 &&
         (host + '.').find(".svc.") == std::string::npos;
}

void judge_cluster(Judge& judge) {
  const Config& config = judge.config();
  if (!config.kubernetes.is_used || judge.is_given("kubernetes.server")) return;
  std::vector<HostPort> others = config.membership.peers;
  others.push_back(config.membership.dns);
  const auto other = std::ranges::find_if(others, is_of_another_cluster);
  if (other == others.end()) return;
  judge.object({"membership.peers", "membership.dns"},
               other->host +
                   " is no Service of this cluster: members of another cluster ask "
                   "another API server, so two would lead",
               "give kubernetes.server, the same API server for all members, or other names to "
               "the groups");
}

void judge_membership(Judge& judge) {
  const MembershipSettings& membership = judge.config().membership;
  if (membership.peers.empty() && membership.dns.is_none() && judge.config().voters.empty()) {
    judge.object(
        {"membership.peers", "membership.dns", kVotersTable},
        "there is nobody to connect to: unless others name it, this node will lead itself alone",
        "give membership.peers, membership.dns or [voters]");
  }
  std::set<HostPort> seen;
  for (const HostPort& peer : membership.peers) {
    if (seen.insert(peer).second) continue;
    judge.object({"membership.peers"}, peer.text() + " is named twice", "remove one of them");
  }
}

void judge_advertised_address(Judge& judge) {
  const Config& config = judge.config();
  const HostPort& advertise = config.node.advertise;
  const auto own = config.voters.find(config.node.name);
  const bool is_given = judge.is_given("node.advertise");
  if (!is_given && config.node.listen.is_wildcard() && own == config.voters.end()) {
    judge.object({"node.advertise", "node.listen"},
                 "peers are told to find this node at " + advertise.text() +
                     ", made of the host's name, and must be able to look it up",
                 fmt::format("give node.advertise, for example \"${{POD_IP}}:{}\"",
                             config.node.listen.port));
  }
  std::vector<HostPort> others = config.membership.peers;
  if (!config.membership.dns.is_none()) others.push_back(config.membership.dns);
  for (const auto& [name, address] : config.voters) others.push_back(address);
  const bool are_all_local = std::ranges::all_of(others, &HostPort::is_loopback);
  if (!are_all_local && advertise.is_loopback()) {
    judge.object({"node.advertise", "node.listen"},
                 "peers on other hosts are told to find this node at " + advertise.text() +
                     ", which is themselves",
                 "give node.advertise an address that they reach");
  }
  if (own != config.voters.end() && own->second != advertise) {
    judge.object(
        {"node.advertise", kVotersTable},
        advertise.text() + " is advertised, but this voter's address is " + own->second.text(),
        "give the same, or leave node.advertise out");
  }
}

}  // namespace

void judge_risks(Judge& judge) {
  judge_store_access(judge);
  judge_voters(judge);
  judge_api(judge);
  judge_other_doors(judge);
  judge_peers_security(judge);
  judge_suspicion(judge);
  judge_election_timers(judge);
  judge_takeovers(judge);
  judge_the_application(judge);
  judge_departure(judge);
  judge_membership(judge);
  judge_cluster(judge);
  judge_advertised_address(judge);
}

}  // namespace bellwether
