// Checks of what all members must have in common, from what each says in its HELLO.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/duration_text.hh"
#include "config/core_options.hh"
#include "doctor/checks.hh"
#include "doctor/phrases.hh"

namespace bellwether::doctor {
namespace {

// Those that said HELLO; and this node, where its own HELLO was not heard, as its API or its
// configuration has it; by name.  They would elect together; each process stands here once.
std::vector<GreetingFacts> participants(const Facts& facts) {
  std::vector<GreetingFacts> found;
  std::set<std::string> ids;
  for (const ProbeFacts& probe : facts.probes) {
    if (probe.greeting && ids.insert(probe.greeting->id).second) found.push_back(*probe.greeting);
  }
  const Config& config = *facts.config.config;
  GreetingFacts own{.name = config.node.name,
                    .version = facts.version,
                    .plugin = config.election.plugin,
                    .variant = config.election.variant,
                    .voters = guard_hash(config)};
  if (!facts.has_sidecar()) {
    // A path, which other members may not have, says nothing of the plugin's name.
    if (own.plugin.find('/') != std::string::npos) own.plugin.clear();
    if (config.has_store_guard()) own.lease = config.election.lease;
    own.name = "this configuration";
    found.push_back(own);
  } else if (!ids.contains(facts.sidecar->id)) {
    own.version = facts.sidecar->version;
    own.plugin = facts.sidecar->plugin;
    own.variant = facts.sidecar->variant;
    own.name = facts.sidecar->name;
    found.push_back(own);
  }
  std::ranges::sort(found, {}, &GreetingFacts::name);
  return found;
}

using Opinions = std::map<std::string, std::vector<std::string>>;

// What is not known is no opinion.
template <typename Opinion>
Opinions opinions(const Facts& facts, const Opinion& opinion) {
  Opinions found;
  for (const GreetingFacts& each : participants(facts)) {
    const std::string text = std::invoke(opinion, each);
    if (!text.empty()) found[text].push_back(each.name);
  }
  return found;
}

// "0.1.0: orders-0 and orders-1; 0.2.0: orders-2"
std::string contrast(const Opinions& found) {
  std::string text;
  for (const auto& [opinion, names] : found) {
    text += (text.empty() ? "" : "; ") + opinion + ": " + listed(names);
  }
  return text;
}

// "orders-0, orders-1 and orders-2"; the only opinion there is.
std::string agreement(const Opinions& found) {
  if (found.empty()) return "nobody says";
  const auto& [opinion, names] = *found.begin();
  return opinion + ": " + listed(names);
}

// Whom this one follows, under that name.
std::string leader_text(const std::string& name, const GreetingFacts& greeting) {
  if (greeting.leader_id.empty()) return "";
  return fmt::format("{}, epoch {}", name, greeting.leader_epoch);
}

}  // namespace

void check_identities(const Facts& facts, Findings& found) {
  std::map<std::string, std::map<uint64_t, std::string>> lives;  // by id, then by life
  std::map<std::string, std::set<std::string>> ids;              // by name
  for (const ProbeFacts& probe : facts.probes) {
    if (!probe.greeting) continue;
    const GreetingFacts& greeting = *probe.greeting;
    lives[greeting.id].emplace(greeting.boot, fmt::format("{} ({})", greeting.name, probe.address));
    ids[greeting.name].insert(greeting.id);
  }
  for (const auto& [id, processes] : lives) {
    if (processes.size() < 2) continue;
    std::vector<std::string> names;
    for (const auto& [boot, process] : processes) names.push_back(process);
    found.problem(listed(names) + " have the same id " + id,
                  "give each a state folder of its own: one was copied");
  }
  for (const auto& [name, holders] : ids) {
    if (holders.size() < 2) continue;
    found.problem(counted(holders.size(), "process") + " have the name " + name,
                  "give each a node.name of its own");
  }
  const bool is_ours = facts.state && facts.state->is_record_good && !facts.has_sidecar() &&
                       !facts.state->lock.is_held;
  if (is_ours && lives.contains(to_string(facts.state->id))) {
    found.problem("the id in " + facts.state->folder + " is that of a living process, " +
                      lives[to_string(facts.state->id)].begin()->second,
                  "give each a state folder of its own: one was copied");
  }
  if (!found.is_empty()) return;
  if (lives.empty()) return found.skipped("no sidecar has said HELLO");
  found.ok(counted(lives.size(), "process") + ", each with its own id and name");
}

void check_versions(const Facts& facts, Findings& found) {
  if (facts.has_sidecar() && facts.sidecar->version != facts.version) {
    found.warning(
        "the sidecar here is " + facts.sidecar->version + ", this program is " + facts.version,
        "restart the sidecar when the group can spare it");
  }
  const Opinions versions = opinions(facts, &GreetingFacts::version);
  if (versions.size() > 1) {
    found.warning(contrast(versions), "fine during an upgrade; then finish it");
  }
  if (!found.is_empty()) return;
  if (facts.is_tls_unusable()) return found.skipped(kNotProbed);
  found.ok(agreement(versions));
}

void check_plugins(const Facts& facts, Findings& found) {
  const Opinions plugins = opinions(facts, &GreetingFacts::plugin);
  if (plugins.size() > 1) {
    return found.problem(contrast(plugins), "set election.plugin alike everywhere, and restart");
  }
  const bool is_abi_known = facts.has_sidecar() && !facts.sidecar->plugin_abi.empty();
  const std::string abi =
      is_abi_known ? "; ABI " + facts.sidecar->plugin_abi + " here, others do not say theirs" : "";
  found.ok(agreement(plugins) + abi);
}

void check_variants(const Facts& facts, Findings& found) {
  const Opinions variants = opinions(facts, &GreetingFacts::variant);
  if (variants.size() > 1) {
    return found.warning(contrast(variants),
                         "set election.variant alike everywhere; the old one stays in force until "
                         "all want the same");
  }
  found.ok(agreement(variants));
}

void check_voters(const Facts& facts, Findings& found) {
  const uint64_t own = guard_hash(*facts.config.config);
  std::vector<std::string> others;
  size_t alike = 0;
  for (const GreetingFacts& each : participants(facts)) {
    if (each.voters == own) {
      ++alike;
    } else {
      others.push_back(each.name + (each.voters == 0 ? " (guard none)" : ""));
    }
  }
  const Config& config = *facts.config.config;
  if (!others.empty() && config.has_store_guard()) {
    return found.problem(listed(others) +
                             ": another guard or another record than the configuration here (" +
                             store_name(config) + ")",
                         "give all the same; see From another guard to a store in the operations "
                         "guide before changing it");
  }
  if (!others.empty()) {
    return found.problem(listed(others) + ": other [voters] than the configuration here (guard " +
                             config.guard() + ")",
                         "name the same [voters] everywhere; see More or fewer voters in the "
                         "operations guide before changing them");
  }
  const Opinions leases = opinions(facts, [](const GreetingFacts& greeting) {
    return greeting.lease == Duration{} ? "" : "lease " + duration_text(greeting.lease);
  });
  if (leases.size() > 1) {
    return found.warning(contrast(leases),
                         "set election.lease alike everywhere, and restart; until then whoever "
                         "waits for the record waits for the longest that it knows");
  }
  if (!config.has_majority_guard()) {
    return found.ok(std::string("guard ") + config.guard() + ", alike on " +
                    counted(alike, "process"));
  }
  const bool has_vote = config.voters.contains(config.node.name);
  found.ok(counted(config.voters.size(), "voter") + ", alike on " + counted(alike, "process") +
           (has_vote ? "" : "; " + config.node.name + " has no vote and never leads"));
}

void check_leader(const Facts& facts, Findings& found) {
  std::map<std::string, std::string> names;  // by id
  for (const GreetingFacts& each : participants(facts)) names[each.id] = each.name;
  const Opinions leaders = opinions(facts, [](const GreetingFacts& greeting) {
    return leader_text(greeting.leader_id, greeting);
  });
  const Opinions named = opinions(facts, [&](const GreetingFacts& greeting) {
    const auto known = names.find(greeting.leader_id);
    return leader_text(known != names.end() ? known->second : greeting.leader_id, greeting);
  });
  if (leaders.size() > 1) {
    return found.problem("several leaders are followed: " + contrast(named),
                         "run the doctor again in a few seconds; if it stays so, the group is cut "
                         "in two: see reach and both ways");
  }
  bool has_heard = false;
  for (const ProbeFacts& probe : facts.probes) has_heard |= probe.greeting.has_value();
  if (!has_heard) return found.skipped("no sidecar has said HELLO");
  if (leaders.empty()) {
    return found.warning("nobody follows a leader",
                         "run the doctor again in a few seconds; if it stays so, see `bellwether "
                         "status` and, with [voters], whether each node has its vote");
  }
  found.ok(agreement(named));
}

}  // namespace bellwether::doctor
