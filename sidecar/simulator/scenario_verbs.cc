// The verbs, and the one table they stand in; what those of the network do is in
// scenario_network.cc, what `expect` does in scenario_expect.cc.
#include "simulator/scenario_verbs.hh"

#include <cmath>

namespace bellwether::simulator {
namespace {

// Numbers of nodes are shown, and counted in 32 bits.
constexpr uint64_t kMaxNumber = 1'000'000;

// --- the group ---

void run_nodes(ScenarioRunner& runner, Words& words) {
  if (runner.has_cluster()) runner.refuse("there is a group already; 'join' adds to it");
  const std::string& range = words.take("the nodes");
  const size_t dots = range.find("..");
  const uint64_t first = parse_number(range.substr(0, dots));
  const uint64_t last = dots == std::string::npos ? first : parse_number(range.substr(dots + 2));
  if (last < first || last - first >= kMaxMembers || last > kMaxNumber) {
    throw std::invalid_argument("'" + range + "' is not a group of 1 to 1000 nodes");
  }
  GroupSettings group;
  group.cluster.seed = runner.settings().seed;
  group.cluster.first_number = static_cast<uint32_t>(first);
  apply_group_settings(group, words);
  runner.create(group, static_cast<uint32_t>(last - first + 1));
}

void run_priority(ScenarioRunner& runner, Words& words) {
  const uint64_t priority = parse_number(words.take_last("number"));
  if (priority > UINT16_MAX) throw std::invalid_argument("a priority is at most 65535");
  for (const uint32_t process : runner.processes(words)) {
    if (runner.cluster().is_running(process)) runner.refuse("set priorities before 'start'");
    runner.cluster().set_priority(process, static_cast<uint32_t>(priority));
  }
}

void run_join(ScenarioRunner& runner, Words& words) {
  const uint64_t number = parse_number(words.take("the node"));
  words.require("via");
  const uint32_t contact = runner.process(words.take("the node it knows"));
  const uint32_t process = runner.cluster().add_stranger(contact);
  if (runner.name_of(process) != std::to_string(number)) {
    runner.refuse("the next node is " + runner.name_of(process));
  }
  runner.cluster().start(process);
}

// --- processes ---

template <void (Cluster::*kDo)(uint32_t)>
void run_each(ScenarioRunner& runner, Words& words) {
  for (const uint32_t process : runner.processes(words)) (runner.cluster().*kDo)(process);
}

void run_kill(ScenarioRunner& runner, Words& words) {
  const std::vector<uint32_t> killed = runner.processes(words);
  if (words.skip("at")) {
    using AtStore = Cluster::AtStore;
    const auto moment =
        parse_choice<AtStore>("a moment", words.take("store or stored"),
                              {{"store", AtStore::kBefore}, {"stored", AtStore::kAfter}});
    for (const uint32_t process : killed) runner.cluster().kill_at_store(process, moment);
    return;
  }
  const bool is_silent = words.skip("silently");
  for (const uint32_t process : killed) runner.cluster().kill(process, is_silent);
}

void run_restart(ScenarioRunner& runner, Words& words) {
  for (const uint32_t process : runner.processes(words)) {
    runner.cluster().kill(process);
    runner.cluster().start(process);
  }
}

void run_detect(ScenarioRunner& runner, Words& words) {
  const uint32_t observer = runner.process(words.take("the node that sees"));
  words.require("sees");
  const uint32_t observed = runner.process(words.take("the node it sees"));
  const std::string& what = words.take("down or up");
  runner.cluster().detect(
      observer, observed,
      parse_choice<bool>("what it sees", what, {{"down", true}, {"up", false}}));
}

// --- machines ---

void run_disk(ScenarioRunner& runner, Words& words) {
  Disk& disk = runner.cluster().disk(runner.process(words.take("the node")));
  if (const auto latency = words.take_value("slow")) {
    disk.latency = parse_duration(*latency);
  } else if (words.skip("fail")) {
    disk.is_failing = true;
  } else if (words.skip("lost")) {
    disk.lose();
  } else if (words.skip("copied")) {
    disk.copy = disk.record;
  } else if (words.skip("put-back")) {
    if (!disk.copy) throw std::invalid_argument("the disk was never copied");
    disk.put_back();
  } else if (words.skip("ok")) {
    disk.is_failing = false;
    disk.latency = Duration::zero();
  } else {
    throw std::invalid_argument("'" + words.take("what the disk does") +
                                "' is nothing a disk does");
  }
}

void run_store(ScenarioRunner& runner, Words& words) {
  Cluster& cluster = runner.cluster();
  const auto change = [&](const auto& what) { cluster.change_store(what); };
  if (words.skip("cut")) {
    const std::vector<uint32_t> nodes = runner.processes(words);
    return change([&](VirtualStore& store) {
      for (const uint32_t process : nodes) store.cut(process);
    });
  }
  if (words.skip("twin")) {
    for (const uint32_t process : runner.processes(words)) cluster.start_twin(process);
    return;
  }
  if (words.skip("stranger")) {
    const std::string& state = words.take("on or off");
    return cluster.set_foreigner(
        parse_choice<bool>("a stranger", state, {{"on", true}, {"off", false}}));
  }
  if (words.peek().find('=') != std::string_view::npos) {
    GroupSettings group;
    group.cluster.store = cluster.store().options;
    apply_store_settings(group, words);
    return change([&](VirtualStore& store) { store.options = group.cluster.store; });
  }
  using Do = void (*)(VirtualStore&);
  change(parse_choice<Do>("what becomes of the store", words.take("what becomes of it"),
                          {{"up", [](VirtualStore& store) { store.set_down(false); }},
                           {"down", [](VirtualStore& store) { store.set_down(true); }},
                           {"heal", [](VirtualStore& store) { store.heal(); }},
                           {"deleted", [](VirtualStore& store) { store.remove(); }},
                           {"emptied", [](VirtualStore& store) { store.empty_holder(); }},
                           {"shortened", [](VirtualStore& store) { store.shorten_lease(); }}}));
}

void run_clock(ScenarioRunner& runner, Words& words) {
  const uint32_t process = runner.process(words.take("the node"));
  if (const auto days = words.take_value("days_ahead")) {
    const uint64_t number = parse_number(*days);
    if (number > kMostDaysAhead)
      throw std::invalid_argument("a wall clock is at most 36500 days ahead");
    return runner.cluster().set_wall_clock(process, std::chrono::days(number));
  }
  const auto rate = parse_fraction(words.take_value("rate").value_or(""), 0.5, 2);
  if (!rate) throw std::invalid_argument("a clock's rate is from 0.5 to 2");
  runner.cluster().set_clock_rate(process, static_cast<uint32_t>(std::lround(*rate * 1000)));
}

// --- the operator ---

void run_leave(ScenarioRunner& runner, Words& words) {
  for (const uint32_t process : runner.processes(words)) {
    runner.cluster().command(process, LeaveGroup{});
  }
}

void run_step_down(ScenarioRunner& runner, Words& words) {
  const std::vector<uint32_t> asked = runner.processes(words);
  const Duration hold = parse_duration(words.take_value("hold").value_or("30s"));
  const bool is_now = words.skip("now");
  for (const uint32_t process : asked) runner.cluster().command(process, StepDown{hold, is_now});
}

void run_transfer(ScenarioRunner& runner, Words& words) {
  const uint32_t from = runner.process(words.take("the leader"));
  const uint32_t to = runner.process(words.take("its successor"));
  runner.cluster().command(from, Transfer{runner.cluster().id_of(to)});
}

void run_elect(ScenarioRunner& runner, Words& words) {
  runner.cluster().command(runner.process(words.take("the node")), Elect{});
}

void run_reconfigure(ScenarioRunner& runner, Words& words) {
  const std::vector<uint32_t> nodes = runner.processes(words);
  const Words settings = words;
  for (const uint32_t process : nodes) {
    GroupSettings group;
    group.cluster.node = runner.cluster().options_of(process);
    words = settings;
    apply_node_settings(group, words);
    Options& options = group.cluster.node;
    options.variant = group.variant.value_or(options.variant);
    if (!runner.is_variant(options.variant)) {
      throw std::invalid_argument("there is no variant '" + options.variant + "'");
    }
    runner.cluster().reconfigure(process, options);
  }
}

// --- the application ---

void run_application(ScenarioRunner& runner, Words& words) {
  const std::vector<uint32_t> nodes = runner.processes(words);
  const auto ability = parse_choice<Ability>(
      "what an application is", words.take("here, gone or hung"),
      {{"here", Ability::kAble}, {"gone", Ability::kAbsent}, {"hung", Ability::kUnhealthy}});
  const auto drains = words.take_value("drains");
  const auto takes =
      drains && *drains != "never" ? std::optional(parse_duration(*drains)) : std::nullopt;
  for (const uint32_t process : nodes) {
    if (drains) runner.cluster().set_drain(process, takes);
    Application application = runner.cluster().application_of(process);
    application.ability = ability;
    application.is_attached = ability != Ability::kAbsent;
    runner.cluster().set_application(process, application);
  }
}

void run_score(ScenarioRunner& runner, Words& words) {
  const std::string number = words.take_last("number");
  const bool is_negative = number.starts_with('-');
  const uint64_t size = parse_number(is_negative ? number.substr(1) : number);
  if (size > kMaxScore) throw std::invalid_argument("a score is below 2^53");
  for (const uint32_t process : runner.processes(words)) {
    Application application = runner.cluster().application_of(process);
    application.score = is_negative ? -static_cast<int64_t>(size) : static_cast<int64_t>(size);
    runner.cluster().set_application(process, application);
  }
}

// --- time ---

void run_wait(ScenarioRunner& runner, Words& words) {
  runner.cluster().run_for(parse_duration(words.take("the time")));
}

constexpr Verb kVerbs[] = {
    {"nodes", "FIRST..LAST [key=value ...]",
     "the group; keys: profile variant guard voters lease death_proof detector preempt\n"
     "preempt_delay score_margin scope sticky query_first stagger heartbeat_interval\n"
     "suspect_after answer_timeout coordinator_timeout join_timeout drain_timeout reap_after\n"
     "epoch_seed seed; with guard=majority the first 'voters' nodes vote, or all; with\n"
     "guard=store a record in a store decides; with detector=script nobody suspects anybody\n"
     "unless 'detect' says so",
     run_nodes},
    {"priority", "IDS NUMBER", "ranks compare by priority, then number (100 unless set)",
     run_priority},
    {"link", "[latency=] [jitter=] [loss=] [duplicate=]",
     "how all connections behave from now on; loss and duplicate are probabilities", run_link},
    {"start", "IDS",
     "their processes start, with what their disks hold; IDS are 1 3..5 7,8 and parts:\n"
     "leader, next (who would lead without it), others (all but the leader); nobody while\n"
     "nobody leads",
     run_each<&Cluster::start>},
    {"join", "ID via CONTACT", "a new node starts and knows no more than one address", run_join},
    {"kill", "IDS [silently | at store | at stored]",
     "as by SIGKILL; silently: as by loss of power, no connection ends; at store: when it writes\n"
     "next, before the disk has it; at stored: when the disk has it, and nobody was told",
     run_kill},
    {"restart", "IDS", "kill, then start", run_restart},
    {"pause", "IDS", "as by SIGSTOP: connections stay, what arrives waits",
     run_each<&Cluster::pause>},
    {"resume", "IDS", "as by SIGCONT", run_each<&Cluster::resume>},
    {"detect", "A sees B down|up", "A is told that B is gone or back", run_detect},
    {"partition", "IDS | IDS [| IDS ...]", "nothing passes between the sides", run_partition},
    {"cut", "DIRECTIONS", "nothing passes this way; a direction is A->B, or A<->B for both",
     run_cut},
    {"heal", "[DIRECTIONS]", "undoes cuts; without directions all of them, and every 'drop'",
     run_heal},
    {"reset", "A B", "the connection between two living nodes breaks", run_reset},
    {"proxy", "IDS up|down [unseen]",
     "all connections of these go through a proxy of their own, which while it is down ends and\n"
     "refuses them, though everybody lives; unseen: no HELLO shows that it is there",
     run_proxy},
    {"hold", "DIRECTIONS", "messages are kept back, whatever becomes of the connection", run_hold},
    {"release", "[DIRECTIONS]", "what was held arrives, late; without directions all of it",
     run_release},
    {"drop", "KIND DIRECTIONS", "the next message of this kind is lost", run_drop},
    {"disk", "ID slow=TIME | fail | ok | lost | copied | put-back",
     "how the disk of a node behaves, or what it holds", run_disk},
    {"clock", "ID rate=0.5..2 | days_ahead=N",
     "how fast the clock of a node runs; how far its wall clock is ahead when it starts next, "
     "which\n"
     "is where the epochs of a new guarded group begin",
     run_clock},
    {"store",
     "cut IDS | heal | up | down | deleted | emptied | shortened | stranger on|off | twin ID | "
     "key=value ...",
     "the store of guard=store: who reaches it, what somebody does to the record (by hand: "
     "deletes\n"
     "it, empties the holder, shortens the lease; a stranger is another client of it; a twin, "
     "which "
     "ends\n"
     "as a stranger does, runs elsewhere with a copy of the node's state), and how the way to it\n"
     "behaves; keys: latency jitter lost_requests lost_answers repeated old_reads",
     run_store},
    {"leave", "IDS", "they leave in good order, as on SIGTERM", run_leave},
    {"step_down", "IDS [hold=TIME] [now]",
     "the leader hands over and stays out for a while (30s); now: and waits for no application",
     run_step_down},
    {"transfer", "LEADER ID", "the leader hands over to this node", run_transfer},
    {"elect", "ID", "the node holds an election", run_elect},
    {"reconfigure", "IDS key=value ...",
     "they read another configuration, now or when they start; keys: variant preempt\n"
     "preempt_delay score_margin heartbeat_interval suspect_after answer_timeout\n"
     "coordinator_timeout join_timeout drain_timeout reap_after, and lease, from the next start on",
     run_reconfigure},
    {"application", "IDS here|gone|hung [drains=TIME|never]",
     "their applications work, have ended, or hang (here); drains: what finishing takes them (0)",
     run_application},
    {"score", "IDS NUMBER", "their applications are as good as that (0 unless set)", run_score},
    {"wait", "TIME", "time passes; 250 is 250ms", run_wait},
    {"settle", "", "time passes until nothing but heartbeats has happened for a while",
     [](auto& runner, auto&) { runner.settle(); }},
    {"calm", "", "until the next fault messages get through, and no two flags may be on",
     [](auto& runner, auto&) { runner.cluster().calm_down(); }},
    {"mark", "",
     "counts of 'expect' begin here; else at the settle before the last, and where there was but\n"
     "one settle, at the start",
     [](auto& runner, auto&) { runner.mark(); }},
    {"expect",
     "leader ID [at IDS] | no leader [at IDS] | leaders IDS | agreement [within TIME|budget] |\n"
     "one list | ready IDS [within TIME] | state ID STATE | epoch N|>=N [at IDS] |\n"
     "flag on|off|draining IDS | messages [KIND] COUNT | claims COUNT | requests COUNT |\n"
     "bounded cost | members IDS [at IDS] | variant NAME [at IDS] |\n"
     "A sees B alive|suspect|down|left|unknown",
     "fails the scenario when it is not so; COUNT is N, <=N, or VARIANT=N of each; budget:\n"
     "what a group with these settings may take when all faults have ended; one list:\n"
     "what each running node says of every other is so; bounded cost: no more messages than one\n"
     "election needs, unless more claims were made than come of one",
     run_expect},
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
