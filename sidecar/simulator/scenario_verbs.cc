// The verbs, and the one table they stand in.
#include "simulator/scenario_verbs.hh"

#include <cmath>
#include <cstdlib>
#include <iomanip>

namespace bellwether::simulator {
namespace {

// --- the group ---

void run_nodes(ScenarioRunner& runner, const Command& command) {
  if (runner.has_cluster()) runner.refuse("there is a group already; 'join' adds to it");
  const std::string& range = runner.word(command, 1, "the nodes");
  const size_t dots = range.find("..");
  const uint64_t first = parse_number(range.substr(0, dots));
  const uint64_t last = dots == std::string::npos ? first : parse_number(range.substr(dots + 2));
  if (last < first || last - first >= kMaxMembers) {
    throw std::invalid_argument("'" + range + "' is no group of 1 to 1000 nodes");
  }
  GroupSettings group;
  group.cluster.seed = runner.settings().seed;
  group.first_number = static_cast<uint32_t>(first);
  apply_group_settings(group, command, 2);
  runner.create(group, static_cast<uint32_t>(last - first + 1));
}

void run_link(ScenarioRunner& runner, const Command& command) {
  GroupSettings group;
  group.cluster.network = runner.cluster().network().options();
  apply_link_settings(group, command, 1);
  runner.cluster().network().set_options(group.cluster.network);
}

void run_priority(ScenarioRunner& runner, const Command& command) {
  const uint64_t priority = parse_number(runner.word(command, command.words.size() - 1, "number"));
  if (priority > UINT16_MAX) throw std::invalid_argument("a priority is at most 65535");
  for (const uint32_t process : runner.processes(command, 1, command.words.size() - 1)) {
    if (runner.cluster().is_running(process)) runner.refuse("set priorities before 'start'");
    runner.cluster().set_priority(process, static_cast<uint32_t>(priority));
  }
}

void run_join(ScenarioRunner& runner, const Command& command) {
  const uint64_t number = parse_number(runner.word(command, 1, "the node"));
  if (runner.word(command, 2, "'via'") != "via") throw std::invalid_argument("missing 'via'");
  const uint32_t contact = runner.process(runner.word(command, 3, "the node it knows"));
  const uint32_t process = runner.cluster().add_stranger(contact);
  if (runner.name_of(process) != std::to_string(number)) {
    runner.refuse("the next node is " + runner.name_of(process));
  }
  runner.cluster().start(process);
}

// --- processes ---

void run_start(ScenarioRunner& runner, const Command& command) {
  for (const uint32_t process : runner.processes(command, 1)) runner.cluster().start(process);
}

void run_kill(ScenarioRunner& runner, const Command& command) {
  const bool is_silent = command.words.back() == "silently";
  const size_t last = command.words.size() - (is_silent ? 1 : 0);
  for (const uint32_t process : runner.processes(command, 1, last)) {
    runner.cluster().kill(process, is_silent);
  }
}

void run_restart(ScenarioRunner& runner, const Command& command) {
  for (const uint32_t process : runner.processes(command, 1)) {
    runner.cluster().kill(process);
    runner.cluster().start(process);
  }
}

void run_pause(ScenarioRunner& runner, const Command& command) {
  for (const uint32_t process : runner.processes(command, 1)) runner.cluster().pause(process);
}

void run_resume(ScenarioRunner& runner, const Command& command) {
  for (const uint32_t process : runner.processes(command, 1)) runner.cluster().resume(process);
}

void run_detect(ScenarioRunner& runner, const Command& command) {
  if (command.words.size() != 5 || command.words[2] != "sees") {
    throw std::invalid_argument("not understood");
  }
  const std::string& what = command.words[4];
  if (what != "down" && what != "up")
    throw std::invalid_argument("'" + what + "' is not up or down");
  runner.cluster().detect(runner.process(command.words[1]), runner.process(command.words[3]),
                          what == "down");
}

// --- the network ---

void run_partition(ScenarioRunner& runner, const Command& command) {
  std::vector<std::vector<uint32_t>> sides(1);
  for (size_t i = 1; i < command.words.size(); ++i) {
    if (command.words[i] == "|") {
      sides.emplace_back();
      continue;
    }
    const std::vector<uint32_t> more = runner.processes(command, i, i + 1);
    sides.back().insert(sides.back().end(), more.begin(), more.end());
  }
  if (sides.size() < 2) throw std::invalid_argument("a partition has two sides");
  for (size_t left = 0; left < sides.size(); ++left) {
    for (size_t right = 0; right < sides.size(); ++right) {
      if (left == right) continue;
      for (const uint32_t from : sides[left]) {
        for (const uint32_t to : sides[right]) runner.cluster().cut(from, to);
      }
    }
  }
}

void run_cut(ScenarioRunner& runner, const Command& command) {
  for (const auto& [from, to] : runner.directions(runner.word(command, 1, "the direction"))) {
    runner.cluster().cut(from, to);
  }
}

void run_heal(ScenarioRunner& runner, const Command& command) {
  Cluster& cluster = runner.cluster();
  if (command.words.size() > 1) {
    for (const auto& [from, to] : runner.directions(command.words[1])) cluster.heal(from, to);
    return;
  }
  for (uint32_t from = 0; from < cluster.size(); ++from) {
    for (uint32_t to = 0; to < cluster.size(); ++to) {
      if (from != to) cluster.heal(from, to);
    }
  }
}

void run_reset(ScenarioRunner& runner, const Command& command) {
  runner.cluster().reset(runner.process(runner.word(command, 1, "a node")),
                         runner.process(runner.word(command, 2, "the other node")));
}

void run_hold(ScenarioRunner& runner, const Command& command) {
  for (const auto& [from, to] : runner.directions(runner.word(command, 1, "the direction"))) {
    runner.cluster().network().hold(from, to);
  }
}

void run_release(ScenarioRunner& runner, const Command& command) {
  for (const auto& [from, to] : runner.directions(runner.word(command, 1, "the direction"))) {
    runner.cluster().network().release(runner.cluster().now(), from, to);
  }
}

void run_drop(ScenarioRunner& runner, const Command& command) {
  const std::string& kind = runner.word(command, 1, "the kind of message");
  for (size_t i = 0; i < kFrameTypes; ++i) {
    const auto type = static_cast<FrameType>(i);
    if (kind != name(type)) continue;
    for (const auto& [from, to] : runner.directions(runner.word(command, 2, "the direction"))) {
      runner.cluster().network().drop_next(type, from, to);
    }
    return;
  }
  throw std::invalid_argument("'" + kind + "' is no kind of message such as ELECTION");
}

// --- machines ---

void run_disk(ScenarioRunner& runner, const Command& command) {
  Disk& disk = runner.cluster().disk(runner.process(runner.word(command, 1, "the node")));
  const std::string& how = runner.word(command, 2, "what the disk does");
  if (how.rfind("slow=", 0) == 0) {
    disk.latency = parse_duration(how.substr(5));
  } else if (how == "fail") {
    disk.is_failing = true;
  } else if (how == "lost") {
    disk.lose();
  } else if (how == "ok") {
    disk.is_failing = false;
    disk.latency = Duration::zero();
  } else {
    throw std::invalid_argument("'" + how + "' is nothing a disk does");
  }
}

void run_clock(ScenarioRunner& runner, const Command& command) {
  const uint32_t process = runner.process(runner.word(command, 1, "the node"));
  const std::string& rate = runner.word(command, 2, "rate=");
  char* end = nullptr;
  const double number = rate.rfind("rate=", 0) == 0 ? std::strtod(rate.c_str() + 5, &end) : 0;
  if (end == nullptr || *end != '\0' || number < 0.5 || number > 2) {
    throw std::invalid_argument("a clock's rate is from 0.5 to 2");
  }
  runner.cluster().set_clock_rate(process, static_cast<uint32_t>(std::lround(number * 1000)));
}

// --- the operator ---

void run_leave(ScenarioRunner& runner, const Command& command) {
  for (const uint32_t process : runner.processes(command, 1)) {
    runner.cluster().command(process, LeaveGroup{});
  }
}

void run_step_down(ScenarioRunner& runner, const Command& command) {
  Duration hold = std::chrono::seconds(30);
  if (command.words.size() > 2 && command.words[2].rfind("hold=", 0) == 0) {
    hold = parse_duration(command.words[2].substr(5));
  }
  runner.cluster().command(runner.process(runner.word(command, 1, "the node")), StepDown{hold});
}

void run_transfer(ScenarioRunner& runner, const Command& command) {
  const uint32_t from = runner.process(runner.word(command, 1, "the leader"));
  const uint32_t to = runner.process(runner.word(command, 2, "its successor"));
  runner.cluster().command(from, Transfer{runner.cluster().id_of(to)});
}

void run_elect(ScenarioRunner& runner, const Command& command) {
  runner.cluster().command(runner.process(runner.word(command, 1, "the node")), Elect{});
}

// --- time ---

void run_wait(ScenarioRunner& runner, const Command& command) {
  runner.cluster().run_for(parse_duration(runner.word(command, 1, "the time")));
}

void run_settle(ScenarioRunner& runner, const Command&) { runner.settle(); }

void run_mark(ScenarioRunner& runner, const Command&) { runner.mark(); }

constexpr Verb kVerbs[] = {
    {"nodes", "FIRST..LAST [key=value ...]",
     "the group; keys: profile variant guard detector preempt preempt_delay scope sticky\n"
     "query_first stagger heartbeat_interval suspect_after answer_timeout coordinator_timeout\n"
     "join_timeout reap_after epoch_seed seed; with detector=script nobody suspects anybody\n"
     "unless 'detect' says so",
     run_nodes},
    {"priority", "IDS NUMBER", "ranks compare by priority, then number (100 unless set)",
     run_priority},
    {"link", "[latency=] [jitter=] [loss=] [duplicate=]",
     "how all connections behave from now on; loss and duplicate are probabilities", run_link},
    {"start", "IDS", "their processes start, with what their disks hold", run_start},
    {"join", "ID via CONTACT", "a new node starts and knows no more than one address", run_join},
    {"kill", "IDS [silently]", "as by SIGKILL; silently: as by loss of power, no connection ends",
     run_kill},
    {"restart", "IDS", "kill, then start", run_restart},
    {"pause", "IDS", "as by SIGSTOP: connections stay, what arrives waits", run_pause},
    {"resume", "IDS", "as by SIGCONT", run_resume},
    {"detect", "A sees B down|up", "A is told that B is gone or back", run_detect},
    {"partition", "IDS | IDS [| IDS ...]", "nothing passes between the sides", run_partition},
    {"cut", "A->B | A<->B", "nothing passes in this direction", run_cut},
    {"heal", "[A->B | A<->B]", "undoes cuts; without a direction all of them", run_heal},
    {"reset", "A B", "the connection between two living nodes breaks", run_reset},
    {"hold", "A->B | A<->B", "messages are kept back, whatever becomes of the connection",
     run_hold},
    {"release", "A->B | A<->B", "what was held arrives, late", run_release},
    {"drop", "KIND A->B", "the next message of this kind is lost", run_drop},
    {"disk", "ID slow=TIME | fail | ok | lost", "how the disk of a node behaves, or what it holds",
     run_disk},
    {"clock", "ID rate=0.5..2", "how fast the clock of a node runs", run_clock},
    {"leave", "IDS", "they leave in good order, as on SIGTERM", run_leave},
    {"step_down", "ID [hold=TIME]", "the leader hands over and stays out for a while (30s)",
     run_step_down},
    {"transfer", "LEADER ID", "the leader hands over to this node", run_transfer},
    {"elect", "ID", "the node holds an election", run_elect},
    {"wait", "TIME", "time passes; 250 is 250ms", run_wait},
    {"settle", "", "time passes until nothing but heartbeats has happened for a while", run_settle},
    {"mark", "", "counts of 'expect' begin here instead of at the settle before the last",
     run_mark},
    {"expect",
     "leader ID [at IDS] | no leader [at IDS] | leaders IDS | agreement [within TIME] |\n"
     "state ID STATE | epoch N [at IDS] | flag on|off IDS | messages [KIND] COUNT | claims COUNT "
     "|\n"
     "members IDS [at IDS] | A sees B alive|suspect|down|left|unknown",
     "fails the scenario when it is not so; COUNT is N, <=N, or classic=N modified=N", run_expect},
};

void print_lines(std::ostream& out, const std::string& indent, const std::string& text) {
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    out << indent << text.substr(begin, end - begin) << "\n";
    begin = end + 1;
  }
}

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

void print_verbs(std::ostream& out) {
  for (const Verb& verb : kVerbs) {
    std::string syntax = std::string(verb.name) + " " + verb.syntax;
    for (size_t at = 0; (at = syntax.find('\n', at)) != std::string::npos; ++at) {
      syntax.insert(at + 1, std::string(std::string(verb.name).size() + 1, ' '));
    }
    print_lines(out, "", syntax);
    print_lines(out, "    ", verb.help);
  }
}

}  // namespace bellwether::simulator
