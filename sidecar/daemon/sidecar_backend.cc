// What the sidecar answers the API (api::Backend): whether it is ready, or why not, and what of it
// is not as it should be.
#include <utility>

#include "api/bodies.hh"
#include "daemon/sidecar.hh"

namespace bellwether::daemon {

using api::Unready;

std::optional<Unready> Sidecar::unready() const {
  if (auto reason = why_cannot_serve()) return reason;
  if (is_looking()) return Unready{"looking for the group"};
  if (std::string reason = participant_.turned_away(now()); !reason.empty()) {
    return Unready{std::move(reason)};
  }
  if (!node().waits_for_vote(now())) return std::nullopt;
  return Unready{api::vote_text(*this), api::Lack::kVote};
}

std::optional<Unready> Sidecar::why_cannot_serve() const {
  if (is_leaving_) return Unready{"this node is leaving the group"};
  // Of a voter unready() says so, and what comes of it.
  const bool is_vote_broken = node().vote(now()) == Vote::kBroken;
  if (const std::string flaw = storage_flaw(); !flaw.empty() && !is_vote_broken) {
    return Unready{"the state cannot be stored: " + flaw};
  }
  if (!tls_.flaw().empty()) {
    const char* const what = tls_.in_force()
                                 ? "the files of [tls] are refused, and those before stay "
                                   "in use: "
                                 : "[tls] is not in force: ";
    return Unready{what + tls_.flaw()};
  }
  const std::string& flag_flaw = flag_watch_.flaw();
  if (!flag_flaw.empty()) return Unready{"applications do not find the flag: " + flag_flaw};
  std::string store_flaw = participant_.why_store_gives_no_leader(now());
  if (store_flaw.empty()) return std::nullopt;
  return Unready{std::move(store_flaw), api::Lack::kStore};
}

std::vector<std::string> Sidecar::pending_restart() const {
  std::vector<std::string> keys;
  for (const ConfigChange& change : diff(in_force_, settings_.parsed.config)) {
    keys.push_back(change.key);
  }
  return keys;
}

std::vector<std::string> Sidecar::config_mismatches() const {
  std::vector<std::string> mismatches;
  const std::string other_voters = node().other_voters(now());
  if (!other_voters.empty())
    mismatches.push_back(other_voters + (in_force_.has_store_guard()
                                             ? " has another guard, or another record in a store"
                                             : " has another guard, or other [voters]"));
  for (const Member& member : node().members().all()) {
    if (!member.is_connected) continue;
    const api::PeerInfo info = peer(member.entry.id);
    const std::string& name = member.entry.name;
    if (info.plugin != identity_.plugin) {
      mismatches.push_back(name + " runs the plugin " + info.plugin);
    } else if (member.entry.variant != node().options().variant) {
      mismatches.push_back(name + " wants the variant " + member.entry.variant);
    } else if (member.entry.lease != node().members().self().lease) {
      mismatches.push_back(name + " has another lease");
    }
  }
  return mismatches;
}

api::TlsState Sidecar::tls(metrics::TlsUse use) const {
  if (use != metrics::TlsUse::kMembers) return front_door_.tls(use);
  const auto security = tls_.in_force();
  const bool has_any = security && security->tls != nullptr;
  return {.flaw = tls_.flaw(), .expiry = has_any ? security->tls->expiry() : std::nullopt};
}

std::string Sidecar::metrics_text() {
  participant_.measure();
  return metrics_.text(io::Loop::now(), std::chrono::system_clock::now());
}

}  // namespace bellwether::daemon
