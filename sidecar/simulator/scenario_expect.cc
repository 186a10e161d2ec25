// `expect`: what a scenario can demand of the cluster.
#include <algorithm>
#include <set>
#include <string>

#include "simulator/election_cost.hh"
#include "simulator/scenario_runner.hh"

namespace bellwether::simulator {
namespace {

// So often is it looked whether what is waited for is there.
constexpr Duration kStep = std::chrono::milliseconds(10);

std::vector<uint32_t> running(ScenarioRunner& runner) {
  std::vector<uint32_t> running;
  for (uint32_t process = 0; process < runner.cluster().size(); ++process) {
    if (runner.cluster().is_running(process)) running.push_back(process);
  }
  return running;
}

// From "at 1..3", or all running processes.
std::vector<uint32_t> witnesses(ScenarioRunner& runner, Words& words) {
  return words.skip("at") ? runner.processes(words) : running(runner);
}

// Like witnesses(), for what only a running process can tell; nobody when the expectation has
// failed because there is none.
std::vector<uint32_t> running_witnesses(ScenarioRunner& runner, Words& words,
                                        const std::string& expected) {
  std::vector<uint32_t> asked = witnesses(runner, words);
  if (asked.empty()) runner.fail(expected, "nobody runs");
  for (const uint32_t process : asked) {
    if (runner.cluster().is_running(process)) continue;
    runner.fail(expected, "node " + runner.name_of(process) + " does not run");
    return {};
  }
  return asked;
}

std::string leader_of(ScenarioRunner& runner, uint32_t process) {
  Cluster& cluster = runner.cluster();
  if (!cluster.is_running(process)) return "node " + runner.name_of(process) + " does not run";
  const auto leader = cluster.node(process).leader();
  const std::string who = "node " + runner.name_of(process);
  if (!leader) return who + " knows no leader";
  if (cluster.node(process).is_leading()) return who + " leads";
  return who + " follows " + runner.name_of(cluster.index_of(leader->id));
}

void expect_leader(ScenarioRunner& runner, Words& words) {
  Cluster& cluster = runner.cluster();
  const uint32_t wanted = runner.process(words.take("the leader"));
  const bool is_group_asked = words.is_empty();
  for (const uint32_t process : witnesses(runner, words)) {
    const auto leader = cluster.is_running(process) ? cluster.node(process).leader() : std::nullopt;
    const bool is_right = leader && leader->id == cluster.id_of(wanted) &&
                          (process != wanted || cluster.node(process).is_leading());
    if (!is_right) {
      return runner.fail("leader " + runner.name_of(wanted), leader_of(runner, process));
    }
  }
  // Without "at" the leader must be among them.
  if (is_group_asked && !cluster.is_running(wanted)) {
    runner.fail("leader " + runner.name_of(wanted), leader_of(runner, wanted));
  }
}

void expect_no_leader(ScenarioRunner& runner, Words& words) {
  words.require("leader");
  for (const uint32_t process : witnesses(runner, words)) {
    const Cluster& cluster = runner.cluster();
    if (cluster.is_running(process) && cluster.node(process).leader()) {
      return runner.fail("no leader", leader_of(runner, process));
    }
  }
}

void expect_leaders(ScenarioRunner& runner, Words& words) {
  const std::vector<uint32_t> wanted = runner.processes(words);
  const Cluster& cluster = runner.cluster();
  for (uint32_t process = 0; process < cluster.size(); ++process) {
    const bool leads = cluster.is_running(process) && cluster.node(process).is_leading();
    const bool shall_lead = std::find(wanted.begin(), wanted.end(), process) != wanted.end();
    if (leads != shall_lead) {
      return runner.fail(
          shall_lead ? "node " + runner.name_of(process) + " to lead" : "nobody else to lead",
          leader_of(runner, process));
    }
  }
}

// Nothing when all running processes follow one leader and its flag alone is on, else why not.
std::string dissent(Cluster& cluster) {
  const Cluster::Agreement agreement = cluster.agreement();
  if (!agreement.leader) return agreement.dissent;
  for (uint32_t process = 0; process < cluster.size(); ++process) {
    const bool is_on = cluster.is_flag_on(process);
    if (is_on == (process == *agreement.leader)) continue;
    return "the flag of " + cluster.name_of(process) + " is " + (is_on ? "on" : "off");
  }
  return "";
}

// One fails, and is held again.
constexpr int kElections = 2;
// Until a leader claims anew for a voter that has granted a newer epoch (core/node_candidate.cc),
// and does not follow it until then.
constexpr Duration kStuckVoter = std::chrono::seconds(5);

// How long a group may take to agree on a leader when all faults have ended and everybody is
// started: what `bellwether check` prints as the worst case (config/failover.cc), for the settings
// of a virtual cluster, term by term.  Where settings differ, those of the slowest count.
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

void expect_agreement(ScenarioRunner& runner, Words& words) {
  Cluster& cluster = runner.cluster();
  Instant limit = cluster.now();
  if (words.skip("within")) {
    const bool is_budget = words.skip("budget");
    limit += is_budget ? recovery_budget(cluster) : parse_duration(words.take("the time"));
  }
  while (!dissent(cluster).empty() && cluster.now() < limit && !cluster.referee().violation()) {
    cluster.run_for(kStep);
  }
  const std::string found = dissent(cluster);
  if (!found.empty()) runner.fail("one leader on whom all agree, and its flag alone on", found);
}

// Why the list of `observer` does not say of `observed` what is so; nothing when it does.
std::string misperception(const Cluster& cluster, uint32_t observer, uint32_t observed) {
  const Member* member = cluster.node(observer).members().find(cluster.id_of(observed));
  const bool is_seen = member != nullptr && member->entry.liveness == Liveness::kAlive;
  if (!cluster.is_running(observed)) return is_seen ? "takes for alive" : "";
  if (!is_seen) return "does not see alive";
  const MemberEntry& said = member->entry;
  const MemberEntry& own = cluster.node(observed).members().self();
  if (said.boot != own.boot) return "knows another life of";
  if (said.rank() != own.rank()) return "knows another rank of";
  if (said.is_electable != own.is_electable) return "is wrong about the eligibility of";
  if (said.ability != own.ability) return "is wrong about the application of";
  if (said.variant != own.variant) return "knows another wish of";
  return "";
}

void expect_one_list(ScenarioRunner& runner, Words& words) {
  words.require("list");
  const Cluster& cluster = runner.cluster();
  for (const uint32_t observer : running(runner)) {
    for (uint32_t observed = 0; observed < cluster.size(); ++observed) {
      const std::string wrong = misperception(cluster, observer, observed);
      if (wrong.empty()) continue;
      return runner.fail("all to list who runs, as it is",
                         cluster.name_of(observer) + " " + wrong + " " + cluster.name_of(observed));
    }
  }
}

std::string state_of(const Node& node) {
  const uint32_t state = node.election_state();
  const bool is_asking = state == ELECTION_STATE_COLLECTING || state == ELECTION_STATE_WAITING ||
                         state == ELECTION_STATE_HALTED;
  if (is_asking) return election_state_name(state);
  if (std::holds_alternative<Joining>(node.role())) return "joining";
  if (std::holds_alternative<Following>(node.role())) return "following";
  return node.is_leading() ? "leading" : "leaderless";
}

void expect_state(ScenarioRunner& runner, Words& words) {
  const uint32_t process = runner.process(words.take("the node"));
  const std::string& wanted = words.take("the state");
  const bool is_running = runner.cluster().is_running(process);
  const std::string state = is_running ? state_of(runner.cluster().node(process)) : "not running";
  if (state != wanted) {
    runner.fail("node " + runner.name_of(process) + " to be " + wanted, state);
  }
}

void expect_epoch(ScenarioRunner& runner, Words& words) {
  const std::string& wanted = words.take("the epoch");
  const bool is_least = wanted.starts_with(">=");
  const uint64_t number = parse_number(is_least ? wanted.substr(2) : wanted);
  const std::string expected = "epoch " + wanted;
  for (const uint32_t process : running_witnesses(runner, words, expected)) {
    const auto leader = runner.cluster().node(process).leader();
    const uint64_t epoch = leader ? leader->epoch : 0;
    if (is_least ? epoch < number : epoch != number) {
      return runner.fail(
          expected, "node " + runner.name_of(process) + " is in epoch " + std::to_string(epoch));
    }
  }
}

void expect_flag(ScenarioRunner& runner, Words& words) {
  const std::string& wanted = words.take("on, off or draining");
  using Look = bool (*)(const Cluster& cluster, uint32_t process);
  const Look is_so = parse_choice<Look>(
      "a flag", wanted,
      {{"on", [](const Cluster& c, uint32_t p) { return c.is_flag_on(p) && !c.is_draining(p); }},
       {"off", [](const Cluster& c, uint32_t p) { return !c.is_flag_on(p); }},
       {"draining", [](const Cluster& c, uint32_t p) { return c.is_draining(p); }}});
  for (const uint32_t process : runner.processes(words)) {
    if (!is_so(runner.cluster(), process)) {
      return runner.fail("the flag of " + runner.name_of(process) + " to be " + wanted,
                         leader_of(runner, process));
    }
  }
}

// N, <=N, or a number for each variant.
void expect_count(ScenarioRunner& runner, Words& words, uint64_t found, const std::string& what) {
  bool is_stated = false;
  while (!words.is_empty()) {
    std::string word = words.take("how many");
    const bool is_limit = word.starts_with("<=");
    const size_t equals = is_limit ? std::string::npos : word.find('=');
    const std::string variant = word.substr(0, equals);
    if (equals != std::string::npos) {
      if (!runner.is_variant(variant)) {
        throw std::invalid_argument("there is no variant '" + variant + "'");
      }
      word = word.substr(equals + 1);
    }
    const uint64_t wanted = parse_number(is_limit ? word.substr(2) : word);
    if (equals != std::string::npos && variant != runner.variant()) continue;
    is_stated = true;
    if (is_limit ? found > wanted : found != wanted) {
      runner.fail(word + " " + what, std::to_string(found));
    }
  }
  if (!is_stated) throw std::invalid_argument("how many with variant " + runner.variant() + "?");
}

void expect_messages(ScenarioRunner& runner, Words& words) {
  const MessageCounts sent = runner.counts().messages;
  uint64_t of_elections = 0;
  for (const FrameType type : all_values<FrameType>()) {
    const uint64_t count = sent[static_cast<size_t>(type)];
    if (words.skip(name(type))) return expect_count(runner, words, count, name(type));
    if (is_election_type(type)) of_elections += count;
  }
  expect_count(runner, words, of_elections, "messages");
}

// Nothing is known of what several elections may cost, or one in which two variants meet.
void expect_bounded_cost(ScenarioRunner& runner, Words& words) {
  words.require("cost");
  size_t voters = 0;
  bool has_store = false;
  std::set<std::string> variants;
  for (const uint32_t process : running(runner)) {
    const Node& node = runner.cluster().node(process);
    variants.insert(node.active_variant());
    if (node.majority() != nullptr) voters = node.majority()->electorate.size();
    has_store |= node.store() != nullptr;
  }
  if (variants.size() != 1) return;
  const ScenarioRunner::Counts counts = runner.counts();
  const auto bounds = ElectionBounds::of(*runner.settings().plugin, *variants.begin(),
                                         static_cast<uint32_t>(counts.longest_list),
                                         static_cast<uint32_t>(voters), has_store);
  if (!bounds || counts.claims > bounds->claims()) return;
  const auto broken = bounds->broken_by(counts.messages);
  if (broken) runner.fail("an election to cost no more than it must", *broken);
}

void expect_members(ScenarioRunner& runner, Words& words) {
  std::vector<uint32_t> wanted = runner.processes(words);
  std::sort(wanted.begin(), wanted.end());
  for (const uint32_t process : running_witnesses(runner, words, "these members")) {
    std::vector<uint32_t> known;
    for (const Member& member : runner.cluster().node(process).members().all()) {
      if (member.entry.liveness == Liveness::kLeft) continue;
      known.push_back(runner.cluster().index_of(member.entry.id));
    }
    std::sort(known.begin(), known.end());
    if (known == wanted) continue;
    std::string names;
    for (const uint32_t member : known) names += " " + runner.name_of(member);
    return runner.fail("node " + runner.name_of(process) + " to know these members", names);
  }
}

void expect_variant(ScenarioRunner& runner, Words& words) {
  const std::string& wanted = words.take("the variant");
  for (const uint32_t process : running_witnesses(runner, words, "variant " + wanted)) {
    const std::string& found = runner.cluster().node(process).active_variant();
    if (found == wanted) continue;
    return runner.fail("variant " + wanted,
                       "node " + runner.name_of(process) + " elects by " + found);
  }
}

void expect_sees(ScenarioRunner& runner, uint32_t observer, Words& words) {
  words.require("sees");
  const uint32_t observed = runner.process(words.take("the node it sees"));
  const std::string& wanted = words.take("how it sees it");
  const Cluster& cluster = runner.cluster();
  std::string found = runner.name_of(observer) + " does not run";
  if (cluster.is_running(observer)) {
    const Member* member = cluster.node(observer).members().find(cluster.id_of(observed));
    found = member == nullptr ? "unknown" : name(member->entry.liveness);
  }
  if (found != wanted) {
    runner.fail(runner.name_of(observer) + " to see " + runner.name_of(observed) + " " + wanted,
                found);
  }
}

// As a rolling replacement waits: each is up, and no voter among them is yet to get its vote back.
void expect_ready(ScenarioRunner& runner, Words& words) {
  Cluster& cluster = runner.cluster();
  const std::vector<uint32_t> awaited = runner.processes(words);
  Instant limit = cluster.now();
  if (words.skip("within")) limit += parse_duration(words.take("the time"));
  for (const uint32_t process : awaited) {
    while (!cluster.is_ready(process) && cluster.now() < limit && !cluster.referee().violation()) {
      cluster.run_for(kStep);
    }
    if (!cluster.is_ready(process)) {
      return runner.fail("node " + runner.name_of(process) + " to be ready", "it waits");
    }
  }
}

struct Expectation {
  const char* name;
  void (*check)(ScenarioRunner& runner, Words& words);
};

constexpr Expectation kExpectations[] = {
    {"leader", expect_leader},
    {"no", expect_no_leader},
    {"leaders", expect_leaders},
    {"agreement", expect_agreement},
    {"ready", expect_ready},
    {"state", expect_state},
    {"epoch", expect_epoch},
    {"flag", expect_flag},
    {"messages", expect_messages},
    {"claims", [](auto& r, auto& w) { expect_count(r, w, r.counts().claims, "claims"); }},
    {"members", expect_members},
    {"variant", expect_variant},
    {"one", expect_one_list},
    {"bounded", expect_bounded_cost},
    {"requests", [](auto& r, auto& w) { expect_count(r, w, r.counts().requests, "requests"); }},
};

}  // namespace

void run_expect(ScenarioRunner& runner, Words& words) {
  const std::string& what = words.take("what");
  for (const Expectation& expectation : kExpectations) {
    if (what == expectation.name) return expectation.check(runner, words);
  }
  if (words.peek() == "sees") return expect_sees(runner, runner.process(what), words);
  throw std::invalid_argument("'" + what + "' is nothing to expect");
}

}  // namespace bellwether::simulator
