// Checks of what this process was given and of the sidecar beside it: configuration, plugin, API,
// metrics.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "doctor/checks.hh"
#include "doctor/phrases.hh"

namespace bellwether::doctor {
namespace {

constexpr unsigned kReady = 200;
constexpr unsigned kNotReady = 503;
// When a certificate should have been renewed: the alert BellwetherCertificateExpiring goes by it.
constexpr std::time_t kPartOfLife = 5;
constexpr std::time_t kHour = 3600;
constexpr std::time_t kSoon = 7 * std::time_t{24} * kHour;

// The three need opposite things: a disk, other voters, a look at who they are.
const char* remedy_of_vote(std::optional<Vote> vote) {
  if (vote == Vote::kBroken) {
    return "make room on the disk of node.state_dir, or repair it; the write is repeated, and "
           "gives the vote back without a restart.  Of a folder that is gone do what is said of it";
  }
  if (vote == Vote::kShutOut) {
    return "look whether those peers belong to this group, and start its other voters; it comes "
           "nearer by itself, and a restart gains nothing";
  }
  return "it needs ten seconds after its start; then start the voters that have not answered, or "
         "give the name of one that is gone to another machine (see It is lost in the operations "
         "guide).  --forget-promises is for a group of which all sidecars are stopped, and for "
         "nothing else";
}

// The files of one table, and what the sidecar says of them.
void check_files(const std::string& table, const TlsFacts& files, const std::string& not_in_force,
                 Findings& found) {
  if (!files.flaw.empty()) {
    found.problem(files.flaw, "fix the file; the sidecar reads it again by itself");
  } else if (!not_in_force.empty()) {
    found.problem("the sidecar cannot use them: " + not_in_force,
                  "look at the rights of its user, and at what it has mounted");
  }
  if (!files.ends || !files.begins) return;
  const std::time_t left = *files.ends - files.now;
  if (left >= std::min<std::time_t>((*files.ends - *files.begins) / kPartOfLife, kSoon)) return;
  const std::string when =
      left < kHour ? "within the hour" : "in " + counted(static_cast<size_t>(left / kHour), "hour");
  found.warning(fmt::format("the certificate of [{}] expires {}", table, when),
                "find out why it was not renewed");
}

void check_members_tls(const Facts& facts, Findings& found) {
  const TlsFacts& tls = *facts.tls;
  check_files("tls", tls, facts.has_sidecar() ? facts.sidecar->why_tls_not_in_force : "", found);
  if (!tls.refusal_by_members.empty()) {
    found.problem("members with this configuration refuse this one: " + tls.refusal_by_members,
                  "give it a certificate for the host under which peers or [voters] name it, or "
                  "name its own in tls.members");
  }
  if (!tls.names_of_any_voter.empty()) {
    found.warning("a certificate for " + tls.names_of_any_voter +
                      " cannot tell voters apart: each can use the name of each",
                  "give each voter one with the DNS name of its host, if they must not trust each "
                  "other");
  }
  std::string plain;
  for (const MemberFacts& member :
       facts.has_sidecar() ? facts.sidecar->members : std::vector<MemberFacts>{}) {
    if (member.security != Security::kPlain || member.state != Liveness::kAlive) continue;
    plain += (plain.empty() ? "" : ", ") + member.name;
  }
  if (!plain.empty()) {
    found.warning("connected without TLS: " + plain, "give them [tls], then tls.mode \"strict\"");
  }
}

// Nobody needs what tls.mode "permissive" allows: all others are here, and none is plain.
bool can_be_strict(const Facts& facts) {
  if (facts.config.config->tls.mode != TlsMode::kPermissive || !facts.has_sidecar()) return false;
  if (facts.is_tls_unusable() || !facts.sidecar->why_tls_not_in_force.empty()) return false;
  size_t others = 0;
  for (const MemberFacts& member : facts.sidecar->members) {
    if (member.is_self || member.state == Liveness::kLeft) continue;
    const bool is_linked = member.state == Liveness::kAlive && member.security.has_value();
    if (!is_linked || member.security == Security::kPlain) return false;
    ++others;
  }
  return others > 0;
}

void judge_absence(const Facts& facts, Findings& found) {
  const std::string seen = "[tls] is off: members do not prove who they are";
  if (!facts.config.config->node.listen.is_loopback()) {
    found.warning(seen, "see TLS between members in the operations guide");
  } else {
    found.ok(seen);
  }
}

std::string reason_for(const Facts& facts, const std::string& table) {
  if (!facts.has_sidecar()) return "";
  const auto& reasons = facts.sidecar->why_certificate_not_in_force;
  const auto found = reasons.find(table);
  return found == reasons.end() ? "" : found->second;
}

}  // namespace

void check_configuration(const Facts& facts, Findings& found) {
  const ConfigFacts& config = facts.config;
  if (!config.read_error.empty()) {
    found.problem(config.read_error, "name the sidecar's configuration with --config");
  }
  for (const Finding& error : config.errors) {
    found.problem(place_and_flaw(config.file, error), error.remedy);
  }
  for (const Finding& each : config.warnings) {
    found.warning(place_and_flaw(config.file, each), each.remedy);
  }
  if (found.is_empty()) found.ok(config.file + " is valid");
}

void check_plugin(const Facts& facts, Findings& found) {
  const ElectionSettings& election = facts.config.config->election;
  if (!facts.config.plugin_flaw.empty()) {
    return found.problem(facts.config.plugin_flaw, "set election.plugin to one that can be loaded");
  }
  found.ok(election.plugin + " can be loaded" +
           (election.variant.empty() ? "" : " and has the variant " + election.variant));
}

void check_sidecar(const Facts& facts, Findings& found) {
  if (!facts.sidecar) {
    return found.skipped("[api] has no listen and no socket, so there is nobody to ask");
  }
  const SidecarFacts& sidecar = *facts.sidecar;
  if (!sidecar.silence.empty()) return found.skipped(sidecar.silence);
  const Config& config = *facts.config.config;
  if (sidecar.group != config.group.name || sidecar.name != config.node.name) {
    found.problem(
        fmt::format(
            "what answers at {} is {} of group {}, the configuration is that of {} of group {}",
            sidecar.where, sidecar.name, sidecar.group, config.node.name, config.group.name),
        "give the doctor the configuration of that sidecar, or each its own [api] listen");
  }
  if (!sidecar.why_no_vote.empty()) {
    found.warning(sidecar.name + ": " + sidecar.why_no_vote, remedy_of_vote(sidecar.vote));
  }
  if (!sidecar.why_not_ready.empty() && !sidecar.lacks_vote_alone) {
    found.warning(sidecar.name + " is not ready: " + sidecar.why_not_ready,
                  "do what it says; a sidecar that looks for the group needs a moment");
  }
  if (!sidecar.why_no_token_counts.empty()) {
    found.problem("commands with a token are refused: " + sidecar.why_no_token_counts,
                  "fix the file; the sidecar reads it again by itself");
  }
  if (!sidecar.pending_restart.empty()) {
    const bool has_voters =
        std::ranges::find(sidecar.pending_restart, "voters") != sidecar.pending_restart.end();
    found.warning("new values wait for a restart: " + listed(sidecar.pending_restart),
                  has_voters ? "see Change the group in the operations guide: with other names in "
                               "[voters] a sidecar does not start alone"
                             : "restart this sidecar when the group can spare it");
  }
  if (found.is_empty()) found.ok(sidecar.name + " answers at " + sidecar.where);
}

// Whether a sidecar that is started here would get what it listens at.
void check_ports(const Facts& facts, Findings& found) {
  if (facts.has_sidecar()) return found.ok("the sidecar has them");
  const bool is_in_use =
      (facts.state && facts.state->lock.is_held) || (facts.flag && facts.flag->lock.is_held);
  if (is_in_use) return found.skipped("a sidecar that does not answer may have them");
  const Config& config = *facts.config.config;
  const std::array<std::pair<const char*, HostPort>, 3> wanted{
      {{"[node] listen", config.node.listen},
       {"[api] listen", config.api.listen},
       {"[metrics] listen", config.metrics.listen}}};
  for (const auto& [key, place] : wanted) {
    const auto is_in_its_way = [&own = place](const HostPort& other) {
      return other.port == own.port &&
             (other.host == own.host || other.is_wildcard() || own.is_wildcard());
    };
    if (place.port == 0 || !std::ranges::any_of(facts.listeners, is_in_its_way)) continue;
    found.problem(fmt::format("another process listens at {}, which {} names", place.text(), key),
                  fmt::format("end that process (`ss -ltnp sport = {}` shows it), or give {} "
                              "another port",
                              place.port, key));
  }
  if (found.is_empty()) found.ok("nobody listens where the sidecar will");
}

void check_metrics(const Facts& facts, Findings& found) {
  if (!facts.metrics) {
    return found.ok("[metrics] listen is empty: they are served where the API is, " +
                    facts.sidecar->where);
  }
  const MetricsFacts& metrics = *facts.metrics;
  const HostPort& listen = facts.config.config->metrics.listen;
  // It has a certificate of the sidecar's side alone.
  if (!facts.config.config->metrics.client_ca.empty()) {
    return found.ok("served at " + metrics.where + " to clients that show a certificate");
  }
  if (!metrics.error.empty()) {
    return found.problem("metrics: " + metrics.error,
                         "look for another process on this port, or restart the sidecar if "
                         "[metrics] listen has changed");
  }
  if (metrics.status != kReady && metrics.status != kNotReady) {
    return found.problem(fmt::format("what answers at {} is not a sidecar (status {})",
                                     metrics.where, metrics.status),
                         "give [metrics] listen a port of its own");
  }
  if (listen.is_loopback() && !facts.config.config->node.advertise.is_loopback()) {
    return found.warning("served at " + metrics.where + ", where only this host gets them",
                         "let [metrics] listen at an address that Prometheus reaches");
  }
  found.ok("served at " + metrics.where);
}

void check_tls(const Facts& facts, Findings& found) {
  if (facts.tls) check_members_tls(facts, found);
  std::string tables = facts.tls ? "[tls]" : "";
  for (const auto& [table, files] : facts.certificates) {
    check_files(table, files, reason_for(facts, table), found);
    tables += (tables.empty() ? "[" : ", [") + table + "]";
  }
  if (found.is_empty() && !tables.empty()) {
    found.ok("the files of " + tables + " fit together");
  }
  if (!facts.tls) judge_absence(facts, found);
  if (can_be_strict(facts)) found.ok("all members use TLS: tls.mode can be \"strict\" now");
}

}  // namespace bellwether::doctor
