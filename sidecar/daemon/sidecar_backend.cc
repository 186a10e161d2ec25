// What the API asks of the sidecar.
#include "api/bodies.hh"
#include "daemon/sidecar.hh"

namespace bellwether {

bool Sidecar::is_ready(std::string* why) const {
  if (!is_serving(why)) return false;
  const std::string refusal = participant_.turned_away(now());
  if (refusal.empty() && !node().waits_for_vote(now())) return true;
  if (why != nullptr) *why = refusal.empty() ? api::vote_text(*this) : refusal;
  return false;
}

bool Sidecar::is_serving(std::string* why) const {
  const auto refuse = [why](std::string reason) {
    if (why != nullptr) *why = std::move(reason);
    return false;
  };
  if (is_leaving_) return refuse("this node is leaving the group");
  // Of a voter is_ready() says so, and what comes of it.
  const bool is_vote_broken = node().vote(now()) == Vote::kBroken;
  if (participant_.is_storage_broken() && !is_vote_broken) {
    return refuse("the state cannot be stored");
  }
  const std::string& flag_flaw = flag_watch_.flaw();
  if (!flag_flaw.empty()) return refuse("applications do not find the flag: " + flag_flaw);
  if (std::holds_alternative<Joining>(node().role())) return refuse("looking for the group");
  return true;
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
  if (!other_voters.empty()) mismatches.push_back(other_voters + " has other [voters]");
  for (const Member& member : node().members().all()) {
    if (!member.is_connected) continue;
    const api::PeerInfo info = peer(member.entry.id);
    const std::string& name = member.entry.name;
    if (info.plugin != identity_.plugin) {
      mismatches.push_back(name + " runs the plugin " + info.plugin);
    } else if (member.entry.variant != node().options().variant) {
      mismatches.push_back(name + " wants the variant " + member.entry.variant);
    }
  }
  return mismatches;
}

std::string Sidecar::metrics_text() {
  metrics_.set_vote(node().vote(now()));
  return metrics_.text(Loop::now(), std::chrono::system_clock::now());
}

void Sidecar::command(const Input& input, std::function<void(Outcome::Kind)> done) {
  participant_.command(input, done);
}

// On SIGUSR1: all that there is to know, for whoever can reach the process but not its API.
void Sidecar::dump() const {
  log_.write(LogLevel::kInfo, "state", {{"status", front_door_.status_text()}});
}

}  // namespace bellwether
