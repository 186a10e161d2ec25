// The scenario language: what makes no sense is refused with file, line and remedy, an expectation
// can fail, traces are compared, and a file that passes is rewritten as it is.
#include "simulator/scenario.hh"

#include <boost/test/unit_test.hpp>
#include <map>
#include <sstream>

#include "simulator/scenario_verbs.hh"

namespace bellwether::simulator {
namespace {

ScenarioResult run(const std::string& text, const std::string& variant = "modified",
                   uint64_t seed = 1) {
  return run_scenario(
      parse_scenario("story.txt", text),
      {.plugin = &bellwether_election_plugin, .variant = variant, .seed = seed, .trace = nullptr});
}

// Why the text is refused; "" when it is not.
std::string refusal(const std::string& text) {
  try {
    run(text);
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "";
}

// Why this line is refused after a group of three was made; without the place.
std::string refusal_of(const std::string& line) {
  const std::string message = refusal("nodes 1..3\n" + line + "\nexpect no leader\n");
  const std::string place = "story.txt:2: ";
  return message.starts_with(place) ? message.substr(place.size()) : message;
}

// How this expectation fails in a group that 3 of 1..3 leads; "" when it does not.
std::string failure_of(const std::string& expectation) {
  const std::string failure =
      run("nodes 1..3\nstart 1..3\nsettle\n" + expectation + "\n", "classic").failure;
  const std::string place = "story.txt:4: ";
  return failure.starts_with(place) ? failure.substr(place.size()) : failure;
}

constexpr const char* kStory =
    "# Three start.\n"
    "nodes 1..3\n"
    "start 1..3   # all at once\n"
    "settle\n"
    "expect leader 3\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(scenario)

// --- reading ---

BOOST_AUTO_TEST_CASE(a_file_is_paragraphs_of_commands) {
  const Scenario read = parse_scenario("story.txt", "# a\nnodes 1..3\n\n\nstart 1 # b\nexpect x\n");
  BOOST_REQUIRE(read.paragraphs.size() == 2u);
  BOOST_TEST(read.paragraphs[0].commands.size() == 1u);
  BOOST_TEST(read.paragraphs[1].commands.size() == 2u);
  BOOST_TEST(read.paragraphs[1].commands[0].line == 5u);
  BOOST_TEST(read.paragraphs[1].commands[0].words.size() == 2u);
}

BOOST_AUTO_TEST_CASE(the_trace_of_a_paragraph_follows_its_mark) {
  const Scenario read = parse_scenario("story.txt", "nodes 1..3\n----\nthis\nthat\n\nsettle\n");
  BOOST_TEST(read.paragraphs[0].has_trace);
  BOOST_TEST(read.paragraphs[0].trace.size() == 2u);
  BOOST_TEST(read.paragraphs[0].trace_line == 3u);
  BOOST_TEST(!read.paragraphs[1].has_trace);
}

BOOST_AUTO_TEST_CASE(line_ends_of_other_systems_are_understood) {
  BOOST_TEST(run("nodes 1..3\r\nstart 1..3\r\n\r\nsettle\r\nexpect leader 3\r\n").has_passed);
}

BOOST_AUTO_TEST_CASE(a_scenario_that_expects_nothing_is_refused) {
  BOOST_TEST(refusal("nodes 1..3\n") ==
             "story.txt:1: the scenario expects nothing; add an 'expect' command");
  BOOST_TEST(refusal("") != "");
}

BOOST_AUTO_TEST_CASE(an_unknown_command_is_refused_with_a_remedy) {
  BOOST_TEST(refusal("nodes 1..3\n\nfly 1\nexpect leader 3\n") ==
             "story.txt:3: unknown command 'fly'; 'bellwether simulate --verbs' lists them");
}

BOOST_AUTO_TEST_CASE(commands_before_the_group_are_refused) {
  BOOST_TEST(refusal("start 1\nexpect leader 1\n") ==
             "story.txt:1: there is no group yet; begin with 'nodes 1..5'");
}

BOOST_AUTO_TEST_CASE(a_second_group_is_refused) {
  BOOST_TEST(refusal_of("nodes 1..3") == "there is a group already; 'join' adds to it");
}

BOOST_AUTO_TEST_CASE(a_node_that_is_not_there_is_refused) {
  BOOST_TEST(refusal_of("start 4") == "there is no node 4");
  BOOST_TEST(refusal_of("start 0") == "there is no node 0");
}

BOOST_AUTO_TEST_CASE(every_verb_refuses_nonsense_and_says_how_it_is_used) {
  const std::map<std::string, std::string> nonsense{
      {"nodes", "nodes 3..1"},
      {"priority", "priority 1 high"},
      {"link", "link latency=soon"},
      {"start", "start"},
      {"join", "join 4 by 1"},
      {"kill", "kill silently"},
      {"restart", "restart all"},
      {"pause", "pause one"},
      {"resume", "resume"},
      {"detect", "detect 1 sees 2 gone"},
      {"partition", "partition 1 2 3"},
      {"cut", "cut 1 2"},
      {"heal", "heal everything"},
      {"reset", "reset 1"},
      {"proxy", "proxy 1 sideways"},
      {"hold", "hold 1"},
      {"release", "release 1"},
      {"drop", "drop VOTE 1->2"},
      {"disk", "disk 1 burns"},
      {"clock", "clock 1 rate=3"},
      {"store", "store burns"},
      {"leave", "leave"},
      {"step_down", "step_down 1 hold=long"},
      {"transfer", "transfer 3"},
      {"elect", "elect"},
      {"application", "application 1 asleep"},
      {"score", "score 1 high"},
      {"wait", "wait long"},
      {"expect", "expect miracles"},
      {"reconfigure", "reconfigure 1 variant=quorum"},
      {"settle", "settle now"},
      {"mark", "mark here"},
      {"calm", "calm down"},
  };
  for (const Verb& verb : verbs()) {
    const std::string name = verb.name;
    BOOST_TEST_CONTEXT(name) {
      BOOST_REQUIRE(nonsense.contains(name));
      const std::string line = nonsense.at(name);
      const std::string text =
          (name == "nodes" ? "" : "nodes 1..3\n") + line + "\nexpect leader 1\n";
      const std::string message = refusal(text);
      BOOST_TEST(message.starts_with(name == "nodes" ? "story.txt:1: " : "story.txt:2: "));
      BOOST_TEST(message.ends_with("; usage: " + name + " " + verb.syntax));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_word_that_nobody_understands_is_refused_wherever_it_stands) {
  const std::map<std::string, std::string> lines{
      {"start 1..3 now", "'now' was not expected; usage: start IDS"},
      {"settle now", "'now' was not expected; usage: settle "},
      {"kill 1 silentyl",
       "'silentyl' was not expected; usage: kill IDS [silently | at store | at stored]"},
      {"kill silently 1", "which nodes?; usage: kill IDS [silently | at store | at stored]"},
      {"step_down 3 hodl=1s", "'hodl=1s' was not expected; usage: step_down IDS [hold=TIME] [now]"},
      {"wait 1 year", "'year' was not expected; usage: wait TIME"},
      {"elect 1 2", "'2' was not expected; usage: elect ID"},
      {"transfer 1 2 3", "'3' was not expected; usage: transfer LEADER ID"},
      {"reset 1 2 3", "'3' was not expected; usage: reset A B"},
      {"clock 1 rate=1 2", "'2' was not expected; usage: clock ID rate=0.5..2 | days_ahead=N"},
      {"join 4 via 1 2", "'2' was not expected; usage: join ID via CONTACT"},
      {"partition 1 | 2 3 please",
       "'please' was not expected; usage: partition IDS | IDS [| IDS ...]"},
      {"priority 1 high 50", "'high' was not expected; usage: priority IDS NUMBER"},
      {"cut 1->2 3", "'3' is not a direction such as 1->2 or 1<->2; usage: cut DIRECTIONS"},
  };
  for (const auto& [line, message] : lines) BOOST_TEST(refusal_of(line) == message);
  for (const char* line :
       {"expect no leader please", "expect leader 1 2", "expect leaders 3 only",
        "expect agreement within 1s please", "expect agreement soon", "expect state 1 joining now",
        "expect epoch 1 of 2", "expect flag off 1 2 really", "expect messages 0 COORDINATOR",
        "expect members 1..3 of 2", "expect 1 sees 3 unknown today", "expect claims 0 clasic=1"}) {
    BOOST_TEST_CONTEXT(line) { BOOST_TEST(refusal_of(line).find("usage: expect ") != SIZE_MAX); }
  }
}

BOOST_AUTO_TEST_CASE(a_setting_needs_a_value_and_has_one_only) {
  const std::string expects = "\nexpect no leader\n";
  BOOST_TEST(refusal("nodes 1..3 sticky" + expects)
                 .starts_with("story.txt:1: 'sticky=' needs a value; usage: nodes "));
  BOOST_TEST(refusal("nodes 1..3 seed=1 seed=2" + expects)
                 .starts_with("story.txt:1: 'seed' is set twice; usage: nodes "));
  BOOST_TEST(refusal_of("link latency").starts_with("'latency=' needs a value; usage: link "));
}

BOOST_AUTO_TEST_CASE(several_directions_are_taken_all) {
  const std::string cut = "nodes 1..3\nstart 1..3\nsettle\ncut 3->1 3->2\nwait 5s\n";
  BOOST_TEST(run(cut + "expect 1 sees 3 suspect\nexpect 2 sees 3 suspect\n").failure == "");
  BOOST_TEST(run(cut + "heal 3->1 3->2\nwait 5s\nexpect 1 sees 3 alive\nexpect 2 sees 3 alive\n")
                 .failure == "");
  const std::string held = "nodes 1..3\nstart 1..3\nsettle\nhold 3->1 3->2\nwait 700\n";
  BOOST_TEST(run(held + "expect 1 sees 3 suspect\nexpect 2 sees 3 suspect\n").failure == "");
  const std::string drop =
      "nodes 1..3\nstart 1..3\nsettle\ndrop COORDINATOR 3->1 3->2\nelect 3\nwait 20\n";
  BOOST_TEST(run(drop + "expect epoch 2 at 3\nexpect epoch 1 at 1 2\n").failure == "");
}

BOOST_AUTO_TEST_CASE(parts_are_played_by_whoever_plays_them_now) {
  for (const char* story :
       {"kill leader\nsettle\nexpect leader 3\n", "kill leader,next\nsettle\nexpect leader 2\n",
        "kill others\nsettle\nexpect leaders 4\nexpect 4 sees 1 down\n",
        "cut leader->others\nwait 2s\nexpect 2 sees 4 suspect\n",
        "cut next<->leader\nwait 5s\nexpect 4 sees 3 suspect\n",
        "cut leader->4\nwait 5s\nexpect leader 4\n"}) {
    const std::string start = "nodes 1..4\npriority 1 0\nstart 1..4\nsettle\n";
    BOOST_TEST(run(start + story).failure == "", story);
  }
}

BOOST_AUTO_TEST_CASE(nobody_plays_a_part_while_nobody_leads) {
  const std::string end = "start 1..3\nsettle\nexpect leader 3\n";
  BOOST_TEST(run("nodes 1..3\nkill leader others\ncut leader->others\n" + end).failure == "");
}

BOOST_AUTO_TEST_CASE(without_directions_all_that_is_held_is_released) {
  const std::string held = "nodes 1..3\nstart 1..3\nsettle\nhold 3->1 3->2\nwait 700\nrelease\n";
  BOOST_TEST(run(held + "settle\nexpect agreement\nexpect one list\n").failure == "");
}

BOOST_AUTO_TEST_CASE(the_budget_of_a_recovery_follows_from_the_settings) {
  // Nobody is there to agree, so the expectation fails when its time is over.
  const auto time_of = [](const std::string& settings) {
    return run("nodes 1..3 " + settings + "\nexpect agreement within budget\n").virtual_time;
  };
  for (const char* slow : {"suspect_after=2s", "coordinator_timeout=2s", "join_timeout=20s"}) {
    BOOST_TEST((time_of(slow) > time_of("")), slow);
  }
  const Duration longer = time_of("guard=majority lease=5s") - time_of("guard=majority");
  BOOST_TEST((longer == std::chrono::seconds(4)));
}

BOOST_AUTO_TEST_CASE(directions_and_ranges_are_checked) {
  BOOST_TEST(refusal_of("start 3..1").starts_with("'3..1' names nobody"));
  BOOST_TEST(refusal_of("start 1,").starts_with("'' is not a number"));
  BOOST_TEST(refusal_of("reset 1 1").starts_with("a connection has two ends"));
  BOOST_TEST(refusal_of("cut 1->1").starts_with("'1->1' leads nowhere"));
  BOOST_TEST(refusal_of("cut ->1").starts_with("'->1' is not a direction"));
  BOOST_TEST(refusal_of("cut 1->9") == "there is no node 9");
  BOOST_TEST(refusal_of("start 1..9") == "there is no node 9");
}

BOOST_AUTO_TEST_CASE(unknown_settings_are_refused_and_the_known_are_named) {
  const std::string of_nodes = refusal("nodes 1..3 speed=9\nexpect leader 3\n");
  BOOST_TEST(of_nodes.starts_with("story.txt:1: unknown setting 'speed'; there are profile, "));
  const std::string of_link = refusal_of("link speed=9");
  BOOST_TEST(of_link.starts_with("unknown setting 'speed'; there are latency, jitter, loss, dup"));
}

BOOST_AUTO_TEST_CASE(values_of_settings_are_checked) {
  for (const char* setting : {"profile=fast", "guard=perhaps", "voters=3", "lease=11s",
                              "detector=crystal", "preempt=sometimes", "scope=some", "sticky=yes",
                              "stagger=1", "query_first=", "suspect_after=soon", "preempt_delay=5m",
                              "epoch_seed=-1", "seed=x", "answer_timeout=1h"}) {
    BOOST_TEST_CONTEXT(setting) {
      const std::string message = refusal(std::string("nodes 1..3 ") + setting + "\nexpect x\n");
      BOOST_TEST(message.starts_with("story.txt:1: "));
      BOOST_TEST(message.find("usage: nodes") != std::string::npos);
    }
  }
  for (const char* setting : {"loss=2", "loss=-1", "duplicate=often", "latency=x", "jitter=1h"}) {
    BOOST_TEST(refusal_of(std::string("link ") + setting) != "");
  }
}

BOOST_AUTO_TEST_CASE(a_profile_is_the_base_of_the_other_settings_wherever_it_stands) {
  BOOST_TEST(run("nodes 1..3 stagger=on profile=textbook variant=modified\nstart 1..3\nsettle\n"
                 "expect leader 3\n")
                 .has_passed);
}

BOOST_AUTO_TEST_CASE(numbers_and_durations_are_read_whole) {
  BOOST_TEST(parse_number("250") == 250u);
  BOOST_TEST((parse_duration("250") == std::chrono::milliseconds(250)));
  BOOST_TEST((parse_duration("250us") == std::chrono::microseconds(250)));
  BOOST_TEST((parse_duration("2s") == std::chrono::seconds(2)));
  for (const char* word : {"", "x", "1x", "-1", "1.5", " 1", "99999999999999999999"}) {
    BOOST_CHECK_THROW(parse_number(word), std::invalid_argument);
  }
  for (const char* word : {"", "ms", "1h", "-1s", "1.5s"}) {
    BOOST_CHECK_THROW(parse_duration(word), std::invalid_argument);
  }
}

BOOST_AUTO_TEST_CASE(a_duration_that_would_never_end_is_refused) {
  BOOST_TEST((parse_duration("604800s") == kLongestDuration));
  BOOST_TEST((parse_duration("604800000") == kLongestDuration));
  for (const char* word :
       {"604801s", "604800001", "604800000001us", "9999999999999s", "18446744073709551615s"}) {
    BOOST_CHECK_THROW(parse_duration(word), std::invalid_argument);
  }
  BOOST_TEST(refusal_of("wait 9999999999999s") ==
             "'9999999999999s' is longer than 7 days; usage: wait TIME");
}

BOOST_AUTO_TEST_CASE(the_help_names_every_verb) {
  std::ostringstream help;
  print_verbs(help);
  for (const Verb& verb : verbs()) {
    BOOST_TEST(("\n" + help.str()).find(std::string("\n") + verb.name + " ") != std::string::npos);
  }
}

// --- running ---

BOOST_AUTO_TEST_CASE(a_story_that_comes_true_passes) {
  const ScenarioResult result = run(kStory);
  BOOST_TEST(result.has_passed);
  BOOST_TEST(result.failure == "");
  BOOST_TEST(result.claims == 1u);
  BOOST_TEST(result.steps > 0u);
  BOOST_TEST((result.virtual_time > std::chrono::seconds(1)));
}

BOOST_AUTO_TEST_CASE(the_variant_of_the_file_comes_first) {
  const std::string story =
      "nodes 1..3 variant=classic\nstart 1..3\nsettle\nmark\nkill 3\nsettle\n";
  BOOST_TEST(run(story + "expect claims modified=9 classic=1\n").has_passed);
}

BOOST_AUTO_TEST_CASE(each_expectation_passes_when_it_is_so) {
  for (const char* expectation : {"expect leader 3",
                                  "expect leader 3 at 1..2",
                                  "expect leaders 3",
                                  "expect agreement",
                                  "expect agreement within 1s",
                                  "expect state 3 leading",
                                  "expect state 1 following",
                                  "expect epoch 1",
                                  "expect epoch 1 at 2,3",
                                  "expect epoch >=1",
                                  "expect flag on 3",
                                  "expect flag off 1 2",
                                  "expect messages 2",
                                  "expect messages COORDINATOR 2",
                                  "expect messages <=2",
                                  "expect messages classic=2 modified=9",
                                  "expect claims 1",
                                  "expect members 1..3",
                                  "expect members 1..3 at 2",
                                  "expect 1 sees 3 alive"}) {
    BOOST_TEST_CONTEXT(expectation) { BOOST_TEST(failure_of(expectation) == ""); }
  }
}

BOOST_AUTO_TEST_CASE(each_expectation_fails_when_it_is_not_so) {
  const std::map<std::string, std::string> wrong{
      {"expect leader 2", "expected leader 2; found: node 1 follows 3"},
      {"expect no leader", "expected no leader; found: node 1 follows 3"},
      {"expect leaders 2", "expected node 2 to lead; found: node 2 follows 3"},
      {"expect state 1 leading", "expected node 1 to be leading; found: following"},
      {"expect epoch 2", "expected epoch 2; found: node 1 is in epoch 1"},
      {"expect epoch >=2", "expected epoch >=2; found: node 1 is in epoch 1"},
      {"expect flag on 1", "expected the flag of 1 to be on; found: node 1 follows 3"},
      {"expect flag off 3", "expected the flag of 3 to be off; found: node 3 leads"},
      {"expect messages 3", "expected 3 messages; found: 2"},
      {"expect messages <=1", "expected <=1 messages; found: 2"},
      {"expect messages ELECTION 1", "expected 1 ELECTION; found: 0"},
      {"expect claims 2", "expected 2 claims; found: 1"},
      {"expect members 1 2", "expected node 1 to know these members; found:  1 2 3"},
      {"expect 1 sees 3 down", "expected 1 to see 3 down; found: alive"},
  };
  for (const auto& [expectation, failure] : wrong) BOOST_TEST(failure_of(expectation) == failure);
}

BOOST_AUTO_TEST_CASE(who_does_not_run_can_tell_nothing) {
  const std::string story = "nodes 1..3\nstart 1..3\nsettle\nkill 1\nsettle\n";
  const std::map<std::string, std::string> expectations{
      {"expect epoch 1 at 1", "expected epoch 1; found: node 1 does not run"},
      {"expect members 1..3 at 1", "expected these members; found: node 1 does not run"},
      {"expect 1 sees 3 alive", "expected 1 to see 3 alive; found: 1 does not run"},
      {"expect leader 3 at 1", "expected leader 3; found: node 1 does not run"},
      {"expect state 1 leading", "expected node 1 to be leading; found: not running"},
  };
  for (const auto& [expectation, failure] : expectations) {
    BOOST_TEST(run(story + expectation + "\n").failure == "story.txt:6: " + failure);
  }
  BOOST_TEST(run("nodes 1..3\nexpect epoch 0\n").failure ==
             "story.txt:2: expected epoch 0; found: nobody runs");
}

BOOST_AUTO_TEST_CASE(agreement_fails_after_its_time) {
  const std::string story = "nodes 1..3\nstart 1..3\nsettle\npartition 1 | 2 3\nwait 5s\n";
  BOOST_TEST(run(story + "expect agreement within 1s\n")
                 .failure.starts_with("story.txt:6: expected one leader on whom all agree"));
}

BOOST_AUTO_TEST_CASE(after_the_first_failure_nothing_more_is_run) {
  BOOST_TEST(run("nodes 1..3\nexpect leader 2\nfly away\n").failure.starts_with("story.txt:2: "));
}

BOOST_AUTO_TEST_CASE(a_plugin_that_fails_says_why) {
  BOOST_TEST(run("nodes 1..3\nstart 1\nexpect no leader\n", "quorum").failure ==
             "story.txt:2: expected every invariant to hold; "
             "found: node 1 plugin made no instance of variant quorum");
}

// --- traces ---

BOOST_AUTO_TEST_CASE(a_passing_file_is_rewritten_as_it_is) {
  const std::string with_trace = run(std::string(kStory) + "----\n").rewritten;
  BOOST_TEST(with_trace.starts_with(std::string(kStory) + "----\n     0.000  1 starts\n"));
  const ScenarioResult again = run(with_trace);
  BOOST_TEST(again.has_passed);
  BOOST_TEST(again.rewritten == with_trace);
  BOOST_TEST(run(kStory).rewritten == kStory);
}

BOOST_AUTO_TEST_CASE(several_paragraphs_are_rewritten_with_one_blank_line_between_them) {
  const std::string story = std::string(kStory) + "\n# It dies.\nkill 3\nsettle\nexpect leader 2\n";
  BOOST_TEST(run(story).rewritten == story);
}

BOOST_AUTO_TEST_CASE(a_trace_that_departs_is_reported_with_its_line) {
  std::string text = run(std::string(kStory) + "----\n").rewritten;
  const size_t second = text.find("2 starts");
  text.replace(second, 8, "2 sleeps");
  // Five lines, the mark, three lines of the trace before it.
  BOOST_TEST(run(text).failure ==
             "story.txt:9: expected '     0.000  2 sleeps'; found: '     0.000  2 starts'");
}

BOOST_AUTO_TEST_CASE(a_trace_that_is_too_short_or_too_long_is_reported) {
  const std::string text = run("nodes 1..1\nstart 1\n----\n").rewritten;
  BOOST_TEST(run(text + "more\n").failure.ends_with("expected 'more'; found: the trace ends here"));
  BOOST_TEST(run("nodes 1..1\nstart 1\n----\n")
                 .failure.starts_with("story.txt:4: expected the end of the trace; found: '"));
}

BOOST_AUTO_TEST_CASE(the_times_of_a_trace_count_from_its_paragraph) {
  const std::string text = run(std::string(kStory) + "\nkill 3\n----\n").rewritten;
  BOOST_TEST(text.find("----\n     0.000  3 is killed\n") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::simulator
