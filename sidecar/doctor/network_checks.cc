// Checks of names, addresses and connections.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "doctor/checks.hh"
#include "doctor/phrases.hh"

namespace bellwether::doctor {
namespace {

using Addresses = std::set<std::string>;

bool is_configured(const NameFacts& name) {
  return name.origin != Origin::kMember && name.origin != Origin::kSelf;
}

constexpr Names<Origin> kKeys({"membership.dns", "membership.peers", "[voters]",
                               "a member's address", "node.advertise"});

template <typename Wanted>
Addresses addresses_of(const Facts& facts, const Wanted& is_wanted) {
  Addresses found;
  for (const NameFacts& name : facts.names) {
    if (is_wanted(name)) found.insert(name.addresses.begin(), name.addresses.end());
  }
  return found;
}

Addresses own_addresses(const Facts& facts) {
  return addresses_of(facts, [](const NameFacts& name) { return name.origin == Origin::kSelf; });
}

Addresses configured_addresses(const Facts& facts) { return addresses_of(facts, is_configured); }

Addresses addresses_of_member(const Facts& facts, const MemberFacts& member) {
  return addresses_of(facts,
                      [&](const NameFacts& name) { return name.place.text() == member.address; });
}

HostPort place_of(const std::string& address) {
  HostPort place;
  parse_host_port(address, place);
  return place;
}

// All members that are somebody else and have not left.
std::vector<MemberFacts> others(const Facts& facts) {
  std::vector<MemberFacts> found;
  if (!facts.has_sidecar()) return found;
  for (const MemberFacts& member : facts.sidecar->members) {
    if (!member.is_self && member.state != Liveness::kLeft) found.push_back(member);
  }
  return found;
}

void judge_lookups(const Facts& facts, Findings& found) {
  const bool has_any = !configured_addresses(facts).empty();
  for (const NameFacts& name : facts.names) {
    if (!name.addresses.empty() || name.origin == Origin::kSelf) continue;
    const std::string seen = fmt::format("{} ({}) does not resolve: {}", name.place.text(),
                                         kKeys[name.origin], name.error);
    if (is_configured(name) && (!has_any || name.origin == Origin::kDns)) {
      found.problem(seen,
                    "correct the name, or look at the name server: in Kubernetes a headless "
                    "Service with publishNotReadyAddresses: true");
    } else {
      found.warning(seen, "correct the name, unless its host is only to come");
    }
  }
}

// What was seen says what to change; this says where.
const char* remedy_for_distrust(Rejection flaw) {
  switch (flaw) {
    case Rejection::kTlsRefused:
      return "see its log, which says why it refused this node";
    case Rejection::kTlsWrongSecret:
      return "give both sides the same secret (tls.secret_file)";
    default:
      return "change the certificate there, or what is believed here (tls.ca, tls.members)";
  }
}

// A process of several addresses is reached when one of them answers.
bool is_reached_elsewhere(const Facts& facts, const std::string& address) {
  for (const NameFacts& name : facts.names) {
    if (name.origin == Origin::kDns || std::ranges::count(name.addresses, address) == 0) continue;
    for (const ProbeFacts& probe : facts.probes) {
      if (probe.greeting && std::ranges::count(name.addresses, probe.address) > 0) return true;
    }
  }
  return false;
}

// Whether check_reach() says of an address that nobody listens there.
bool is_refused(const Facts& facts, const std::string& address) {
  const auto probe = std::ranges::find(facts.probes, address, &ProbeFacts::address);
  return probe != facts.probes.end() && probe->is_refused && !is_reached_elsewhere(facts, address);
}

// The configured addresses behind which the sidecar knows no member.
Addresses strangers(const Facts& facts) {
  Addresses found = configured_addresses(facts);
  for (const std::string& own : own_addresses(facts)) found.erase(own);
  std::set<std::string> known{facts.sidecar->id};
  for (const MemberFacts& member : others(facts)) {
    known.insert(member.id);
    for (const std::string& address : addresses_of_member(facts, member)) found.erase(address);
  }
  for (const ProbeFacts& probe : facts.probes) {
    if (probe.greeting && known.contains(probe.greeting->id)) found.erase(probe.address);
  }
  return found;
}

// What the names stand for, against whom the sidecar knows.  Where nobody listens is said once.
void judge_membership(const Facts& facts, Findings& found) {
  Addresses unknown = strangers(facts);
  std::erase_if(unknown, [&](const auto& address) { return is_refused(facts, address); });
  if (!unknown.empty() && !facts.is_tls_unusable()) {
    found.warning(
        "the sidecar knows no member at " + listed(unknown),
        "see reach for what is there; one that is only starting needs a moment, and one that "
        "is gone for good can be taken out of membership.peers");
  }
  const Addresses configured = configured_addresses(facts);
  std::vector<std::string> hidden;
  for (const MemberFacts& member : others(facts)) {
    const bool is_named =
        std::ranges::any_of(addresses_of_member(facts, member),
                            [&](const auto& each) { return configured.contains(each); });
    if (member.state == Liveness::kAlive && !is_named) hidden.push_back(member.name);
  }
  if (!hidden.empty() && !facts.config.config->membership.dns.is_none()) {
    found.warning(listed(hidden) + ": behind no configured name, known through others",
                  "look why the name server leaves them out");
  }
}

// Whom an address belongs to, for people: "orders-1 (10.0.0.1:7946)".
std::string subject(const Facts& facts, const ProbeFacts& probe) {
  if (probe.greeting) return probe.greeting->name + " (" + probe.address + ")";
  for (const MemberFacts& member : others(facts)) {
    if (addresses_of_member(facts, member).contains(probe.address)) {
      const std::string state = member.state ? name(*member.state) : "unknown";
      const std::string note = member.state == Liveness::kAlive ? "" : ", " + state;
      return member.name + " (" + probe.address + note + ")";
    }
  }
  return probe.address;
}

bool is_alive_at(const Facts& facts, const std::string& address) {
  const std::vector<MemberFacts> members = others(facts);
  return std::ranges::any_of(members, [&](const MemberFacts& member) {
    return member.state == Liveness::kAlive && addresses_of_member(facts, member).contains(address);
  });
}

void judge_failure(const Facts& facts, const ProbeFacts& probe, Findings& found) {
  if (probe.is_silent) {
    found.problem(subject(facts, probe) + ": " + probe.hello_error,
                  "that sidecar may hang: ask /livez on its host, and see whether it is a sidecar "
                  "that listens there");
    return;
  }
  if (probe.distrust) {
    found.problem(subject(facts, probe) + " is connected, but TLS fails: " + probe.hello_error,
                  remedy_for_distrust(*probe.distrust));
    return;
  }
  if (probe.is_connected()) {
    found.problem(
        subject(facts, probe) +
            " is connected, but no sidecar of this group answers: " + probe.hello_error,
        "find out who listens there: another group, another program, or a proxy (see proxies)");
    return;
  }
  if (is_reached_elsewhere(facts, probe.address)) return;
  const std::string seen = subject(facts, probe) + ": " + probe.connect_error;
  if (is_alive_at(facts, probe.address)) {
    found.problem(seen,
                  "let TCP through to it (firewall, NetworkPolicy), or correct its node.advertise: "
                  "only connections from there work");
  } else {
    std::string remedy =
        "start the sidecar there; if it runs, let TCP through to it (firewall, NetworkPolicy)";
    const Addresses peers =
        addresses_of(facts, [](const NameFacts& name) { return name.origin == Origin::kPeers; });
    if (peers.contains(probe.address)) {
      remedy += "; if it is gone for good, take it out of membership.peers";
    }
    found.warning(seen, remedy);
  }
}

// What is known of the two directions between this node and a member.
enum class Ways : uint8_t { kBoth, kFromHere, kFromThere, kUnheard, kUnlinked, kUnknown };

Ways ways_to(const Facts& facts, const MemberFacts& member) {
  const Addresses addresses = addresses_of_member(facts, member);
  bool was_tried = false;
  bool is_reached = false;
  bool is_connected = false;
  for (const ProbeFacts& probe : facts.probes) {
    was_tried |= addresses.contains(probe.address);
    is_connected |= addresses.contains(probe.address) && probe.is_connected() && !probe.greeting;
    is_reached |= probe.is_from(member.id);
  }
  const bool is_linked = member.state == Liveness::kAlive;
  if (is_reached && !is_linked) return Ways::kUnlinked;
  if (!is_linked || !was_tried) return Ways::kUnknown;
  if (!is_reached) return is_connected ? Ways::kUnheard : Ways::kFromThere;
  const bool comes_in = std::ranges::any_of(addresses, [&](const std::string& address) {
    return std::ranges::count(facts.inbound_hosts, place_of(address).host) > 0;
  });
  return comes_in ? Ways::kBoth : Ways::kFromHere;
}

// Where a refused connection is to prove a death, and cannot.
void judge_proofs(const Facts& facts, Findings& found) {
  const Config& config = *facts.config.config;
  const DeathProof accepted = config.election.death_proof;
  if (!config.has_majority_guard() || accepted == DeathProof::kNone) return;
  std::vector<std::string> hidden;
  for (const ProbeFacts& probe : facts.probes) {
    const bool is_trusted =
        accepted == DeathProof::kRefused || place_of(probe.address).is_loopback();
    if (probe.is_between && is_trusted) hidden.push_back(subject(facts, probe));
  }
  if (hidden.empty()) return;
  found.warning(
      "a proxy, a tunnel or an address translation stands before " + listed(hidden),
      "connect voters directly, or live with it: a refused connection proves no death there, and a "
      "killed leader's lease has to run out (bellwether check: \"something in between\")");
}

// All at once are rarely dead.
void judge_refusals(const Facts& facts, Findings& found) {
  const Addresses own = own_addresses(facts);
  size_t tried = 0;
  size_t refused = 0;
  for (const ProbeFacts& probe : facts.probes) {
    if (own.contains(probe.address)) continue;
    ++tried;
    if (probe.is_refused) ++refused;
  }
  if (tried < 2 || refused < tried) return;
  found.warning("all " + counted(tried, "address") + " of others refuse connections",
                "if sidecars run there, look at this host's own proxy, tunnels or firewall, which "
                "refuses in their name");
}

// What ends TCP on the way answers for the dead: a refused connection, the proof that a process is
// gone, never comes.
void check_decoys(const Facts& facts, Findings& found) {
  std::map<Decoy, std::vector<std::string>> hosts;
  for (const DecoyFacts& decoy : facts.decoys) hosts[decoy.outcome].push_back(decoy.host);
  const std::string signs = facts.mesh_signs.empty() ? "" : "; " + listed(facts.mesh_signs);
  if (!hosts[Decoy::kAccepted].empty()) {
    return found.problem(
        fmt::format("somebody answers for {} on a port where nobody can listen, so a proxy ends "
                    "TCP on the way{}",
                    listed(hosts[Decoy::kAccepted]), signs),
        fmt::format("take port {} out of the mesh, both ways (Istio: annotations "
                    "traffic.sidecar.istio.io/excludeInboundPorts and excludeOutboundPorts; "
                    "Linkerd: config.linkerd.io/skip-inbound-ports and skip-outbound-ports): death "
                    "would be noticed by silence only",
                    facts.config.config->node.listen.port));
  }
  if (!hosts[Decoy::kRefused].empty()) {
    return found.ok("connections to a port where nobody can listen are refused by " +
                    listed(hosts[Decoy::kRefused]) + signs);
  }
  if (!facts.mesh_signs.empty()) {
    return found.warning("there are signs of a service mesh: " + listed(facts.mesh_signs),
                         "take the port of [node] listen out of the mesh, both ways");
  }
  found.skipped(facts.decoys.empty()
                    ? "no address of another host is known"
                    : "no host answers on a port where nobody can listen (a firewall?)");
}

}  // namespace

void check_names(const Facts& facts, Findings& found) {
  const auto configured = std::ranges::count_if(facts.names, is_configured);
  if (configured == 0) return found.ok("no names are configured: others have to find this node");
  judge_lookups(facts, found);
  if (facts.has_sidecar()) judge_membership(facts, found);
  if (!found.is_empty()) return;
  std::string text = counted(static_cast<size_t>(configured), "configured place") + ", " +
                     counted(configured_addresses(facts).size(), "address");
  if (facts.has_sidecar()) {
    const auto closed = std::ranges::count_if(
        strangers(facts), [&](const auto& address) { return is_refused(facts, address); });
    text += closed == 0 ? ", all of members"
                        : fmt::format("; nobody listens at {} of them, see reach", closed);
  }
  found.ok(text);
}

void check_own_address(const Facts& facts, Findings& found) {
  const std::string place = facts.config.config->node.advertise.text();
  const Addresses addresses = own_addresses(facts);
  constexpr const char* kRemedy = "set node.advertise to an address at which peers reach this node";
  if (addresses.empty()) {
    return found.problem("peers are told " + place + ", which does not resolve here", kRemedy);
  }
  if (facts.is_tls_unusable()) return found.skipped(kNotProbed);
  Addresses sources;
  for (const ProbeFacts& probe : facts.probes) {
    if (!probe.local_host.empty() && !addresses.contains(probe.address)) {
      sources.insert(probe.local_host);
    }
    if (!addresses.contains(probe.address) || probe.is_from(facts.sidecar->id)) continue;
    if (probe.greeting) {
      const std::string& name = probe.greeting->name;
      const bool is_of_voters = facts.config.config->voters.contains(name);
      const std::string remedy =
          is_of_voters ? fmt::format(
                             "correct [voters] on all nodes, where this address may be that "
                             "of {}; or else node.advertise here",
                             name)
                       : kRemedy;
      found.problem("at " + place + ", which peers are told, answers " + name, remedy);
    } else if (probe.distrust) {
      found.warning(
          "peers are told " + place + ", where TLS with this node fails: " + probe.hello_error,
          "see tls for the files of this node; if they are well, find out who answers there");
    } else {
      found.warning("peers are told " + place + ", where from here nobody answers: " +
                        (probe.is_connected() ? probe.hello_error : probe.connect_error),
                    fmt::format("{}; behind NAT only they can try it", kRemedy));
    }
  }
  if (!found.is_empty()) return;
  found.ok("peers are told " + place + ", where this node answers" +
           (sources.empty() ? "" : "; its connections leave from " + listed(sources)));
}

void check_reach(const Facts& facts, Findings& found) {
  const Addresses own = own_addresses(facts);
  std::vector<ProbeFacts> failures;
  size_t answers = 0;
  Duration slowest_connect{};
  Duration slowest_hello{};
  for (const ProbeFacts& probe : facts.probes) {
    const bool is_self =
        own.contains(probe.address) || (facts.has_sidecar() && probe.is_from(facts.sidecar->id));
    if (is_self) continue;
    if (!probe.greeting) {
      failures.push_back(probe);
      continue;
    }
    ++answers;
    slowest_connect = std::max(slowest_connect, probe.connect_time);
    slowest_hello = std::max(slowest_hello, probe.hello_time);
  }
  if (answers > 0) {
    found.ok(fmt::format("{} of others answered, TCP within {}, HELLO within {}",
                         counted(answers, "address"), time_text(slowest_connect),
                         time_text(slowest_hello)));
  }
  for (const ProbeFacts& failure : failures) judge_failure(facts, failure, found);
  if (facts.unprobed > 0) {
    found.warning(counted(facts.unprobed, "further address") + " not tried",
                  "nothing to do: the doctor tries a bounded number");
  }
  if (found.is_empty()) found.skipped("no address of another member is known");
}

void check_both_ways(const Facts& facts, Findings& found) {
  if (facts.is_tls_unusable()) return found.skipped(kNotProbed);
  std::map<Ways, std::vector<std::string>> members;
  for (const MemberFacts& member : others(facts)) {
    members[ways_to(facts, member)].push_back(member.name);
  }
  if (const auto& names = members[Ways::kFromThere]; !names.empty()) {
    found.problem(listed(names) + ": linked, but only connections from there to here come about",
                  "let TCP through from here to there, or correct node.advertise there");
  }
  if (const auto& names = members[Ways::kUnheard]; !names.empty()) {
    found.warning(listed(names) + ": still linked, but connections from here come to nothing",
                  "see reach for why, and for what to do");
  }
  if (const auto& names = members[Ways::kUnlinked]; !names.empty()) {
    found.warning(
        listed(names) + ": answers the doctor, but the sidecar here is not linked to it",
        "look into both logs (\"turned away\"); a sidecar that has just started needs a moment");
  }
  std::string seen;
  const auto add = [&](Ways ways, const std::string& what) {
    if (members[ways].empty()) return;
    seen += (seen.empty() ? "" : "; ") + listed(members[ways]) + ": " + what;
  };
  add(Ways::kBoth, "connections from here, and from its host to here");
  add(Ways::kFromHere, "connections from here; whether from there, a doctor there can tell");
  add(Ways::kUnknown, "not linked, and not reached");
  if (!seen.empty()) found.ok(seen);
  if (found.is_empty()) found.skipped("the sidecar knows no other member");
}

void check_proxies(const Facts& facts, Findings& found) {
  check_decoys(facts, found);
  judge_proofs(facts, found);
  judge_refusals(facts, found);
}

}  // namespace bellwether::doctor
