// `expect`: what a scenario can demand of the cluster.
#include <algorithm>
#include <string>

#include "simulator/scenario_runner.hh"

namespace bellwether::simulator {
namespace {

// From "... at 1..3", or all running processes.
std::vector<uint32_t> witnesses(ScenarioRunner& runner, const Command& command, size_t at_word) {
  if (at_word < command.words.size()) {
    if (command.words[at_word] != "at") throw std::invalid_argument("'at IDS' was expected");
    return runner.processes(command, at_word + 1);
  }
  std::vector<uint32_t> running;
  for (uint32_t process = 0; process < runner.cluster().size(); ++process) {
    if (runner.cluster().is_running(process)) running.push_back(process);
  }
  return running;
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

void expect_leader(ScenarioRunner& runner, const Command& command) {
  Cluster& cluster = runner.cluster();
  const uint32_t wanted = runner.process(runner.word(command, 2, "the leader"));
  for (const uint32_t process : witnesses(runner, command, 3)) {
    const auto leader = cluster.is_running(process) ? cluster.node(process).leader() : std::nullopt;
    const bool is_right = leader && leader->id == cluster.id_of(wanted) &&
                          (process != wanted || cluster.node(process).is_leading());
    if (!is_right) {
      return runner.fail("leader " + runner.name_of(wanted), leader_of(runner, process));
    }
  }
  // Without "at" the leader must be among them.
  if (command.words.size() == 3 && !cluster.is_running(wanted)) {
    runner.fail("leader " + runner.name_of(wanted), leader_of(runner, wanted));
  }
}

void expect_no_leader(ScenarioRunner& runner, const Command& command) {
  if (runner.word(command, 2, "'leader'") != "leader") throw std::invalid_argument("no what?");
  for (const uint32_t process : witnesses(runner, command, 3)) {
    const Cluster& cluster = runner.cluster();
    if (cluster.is_running(process) && cluster.node(process).leader()) {
      return runner.fail("no leader", leader_of(runner, process));
    }
  }
}

void expect_leaders(ScenarioRunner& runner, const Command& command) {
  const std::vector<uint32_t> wanted = runner.processes(command, 2);
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

void expect_agreement(ScenarioRunner& runner, const Command& command) {
  Cluster& cluster = runner.cluster();
  Instant limit = cluster.now();
  if (command.words.size() > 2) {
    if (command.words[2] != "within") throw std::invalid_argument("'within TIME' was expected");
    limit += parse_duration(runner.word(command, 3, "the time"));
  }
  constexpr Duration kStep = std::chrono::milliseconds(10);
  while (!dissent(cluster).empty() && cluster.now() < limit && !cluster.referee().violation()) {
    cluster.run_for(kStep);
  }
  const std::string found = dissent(cluster);
  if (!found.empty()) runner.fail("one leader on whom all agree, and its flag alone on", found);
}

std::string state_of(const Node& node) {
  switch (node.election_state()) {
    case ELECTION_STATE_COLLECTING:
      return "collecting";
    case ELECTION_STATE_WAITING:
      return "waiting";
    case ELECTION_STATE_HALTED:
      return "halted";
    default:
      break;
  }
  if (std::holds_alternative<Joining>(node.role())) return "joining";
  if (std::holds_alternative<Following>(node.role())) return "following";
  return node.is_leading() ? "leading" : "leaderless";
}

void expect_state(ScenarioRunner& runner, const Command& command) {
  const uint32_t process = runner.process(runner.word(command, 2, "the node"));
  const std::string& wanted = runner.word(command, 3, "the state");
  const bool is_running = runner.cluster().is_running(process);
  const std::string state = is_running ? state_of(runner.cluster().node(process)) : "not running";
  if (state != wanted) {
    runner.fail("node " + runner.name_of(process) + " to be " + wanted, state);
  }
}

void expect_epoch(ScenarioRunner& runner, const Command& command) {
  const uint64_t wanted = parse_number(runner.word(command, 2, "the epoch"));
  for (const uint32_t process : witnesses(runner, command, 3)) {
    const auto leader = runner.cluster().node(process).leader();
    const uint64_t epoch = leader ? leader->epoch : 0;
    if (epoch != wanted) {
      return runner.fail(
          "epoch " + std::to_string(wanted),
          "node " + runner.name_of(process) + " is in epoch " + std::to_string(epoch));
    }
  }
}

void expect_flag(ScenarioRunner& runner, const Command& command) {
  const std::string& wanted = runner.word(command, 2, "on or off");
  if (wanted != "on" && wanted != "off") throw std::invalid_argument("a flag is on or off");
  for (const uint32_t process : runner.processes(command, 3)) {
    if (runner.cluster().is_flag_on(process) != (wanted == "on")) {
      return runner.fail("the flag of " + runner.name_of(process) + " to be " + wanted,
                         leader_of(runner, process));
    }
  }
}

// N, <=N, or a number for each variant.
void expect_count(ScenarioRunner& runner, const Command& command, size_t first, uint64_t found,
                  const std::string& what) {
  bool is_stated = false;
  for (size_t i = first; i < command.words.size(); ++i) {
    std::string word = command.words[i];
    const size_t equals = word.find('=');
    const bool is_limit = word.rfind("<=", 0) == 0;
    if (!is_limit && equals != std::string::npos) {
      if (word.substr(0, equals) != runner.variant()) continue;
      word = word.substr(equals + 1);
    }
    is_stated = true;
    const uint64_t wanted = parse_number(is_limit ? word.substr(2) : word);
    if (is_limit ? found > wanted : found != wanted) {
      return runner.fail(word + " " + what, std::to_string(found));
    }
  }
  if (!is_stated) throw std::invalid_argument("how many with variant " + runner.variant() + "?");
}

void expect_messages(ScenarioRunner& runner, const Command& command) {
  for (size_t i = 0; i < kFrameTypes; ++i) {
    const auto type = static_cast<FrameType>(i);
    if (runner.word(command, 2, "how many") == name(type)) {
      return expect_count(runner, command, 3, runner.messages_in_window(type), name(type));
    }
  }
  expect_count(runner, command, 2, runner.messages_in_window(std::nullopt), "messages");
}

void expect_claims(ScenarioRunner& runner, const Command& command) {
  expect_count(runner, command, 2, runner.claims_in_window(), "claims");
}

void expect_members(ScenarioRunner& runner, const Command& command) {
  const auto at = std::find(command.words.begin(), command.words.end(), "at");
  const auto at_word = static_cast<size_t>(at - command.words.begin());
  const std::vector<uint32_t> wanted = runner.processes(command, 2, at_word);
  for (const uint32_t process : witnesses(runner, command, at_word)) {
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

void expect_sees(ScenarioRunner& runner, const Command& command) {
  const uint32_t observer = runner.process(command.words[1]);
  const uint32_t observed = runner.process(runner.word(command, 3, "the node it sees"));
  const std::string& wanted = runner.word(command, 4, "how it sees it");
  const Member* member =
      runner.cluster().node(observer).members().find(runner.cluster().id_of(observed));
  const std::string found = member == nullptr ? "unknown" : name(member->entry.liveness);
  if (found != wanted) {
    runner.fail(runner.name_of(observer) + " to see " + runner.name_of(observed) + " " + wanted,
                found);
  }
}

}  // namespace

void run_expect(ScenarioRunner& runner, const Command& command) {
  const std::string& what = runner.word(command, 1, "what");
  if (what == "leader") return expect_leader(runner, command);
  if (what == "no") return expect_no_leader(runner, command);
  if (what == "leaders") return expect_leaders(runner, command);
  if (what == "agreement") return expect_agreement(runner, command);
  if (what == "state") return expect_state(runner, command);
  if (what == "epoch") return expect_epoch(runner, command);
  if (what == "flag") return expect_flag(runner, command);
  if (what == "messages") return expect_messages(runner, command);
  if (what == "claims") return expect_claims(runner, command);
  if (what == "members") return expect_members(runner, command);
  if (command.words.size() > 2 && command.words[2] == "sees") return expect_sees(runner, command);
  throw std::invalid_argument("'" + what + "' is nothing to expect");
}

}  // namespace bellwether::simulator
