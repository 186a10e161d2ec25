// What follows from a configuration: defaults and profiles, the text that gives it back, what a
// reload changes, and the core's options.
#include "config/effective.hh"

#include <boost/test/unit_test.hpp>
#include <optional>
#include <random>

#include "base/duration_text.hh"
#include "config/core_options.hh"
#include "config/keys.hh"
#include "parse_harness.hh"

namespace {

using namespace bellwether;
using namespace bellwether::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::optional<ParsedConfig> parsed_if_valid(const std::string& text) {
  try {
    return parse(text);
  } catch (const ConfigErrors&) {
    return std::nullopt;
  }
}

std::vector<std::string> change_lines(const std::vector<ConfigChange>& changes) {
  std::vector<std::string> texts;
  for (const ConfigChange& change : changes) {
    texts.push_back(change.key + ": " + change.before + " -> " + change.after);
  }
  return texts;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(config_effective)

BOOST_AUTO_TEST_CASE(defaults_are_as_documented) {
  const Config config = config_of(kGroup);
  BOOST_TEST(config.node.name == "host-1");
  BOOST_TEST(config.node.priority == 100u);
  BOOST_TEST(config.node.listen.text() == "[::]:7946");
  BOOST_TEST(config.node.advertise.text() == "host-1:7946");
  BOOST_TEST(config.node.state_dir == "/var/lib/bellwether");
  BOOST_TEST(config.node.keeps_memory);
  BOOST_TEST(!config.node.dumps_core);
  BOOST_TEST(config.election.plugin == "bully");
  BOOST_TEST(config.election.variant == "modified");
  BOOST_TEST((config.election.profile == Profile::kDefault));
  BOOST_TEST((config.election.preempt == Preempt::kAlways));
  BOOST_TEST((config.election.death_proof == DeathProof::kAuto));
  BOOST_TEST(config.api.listen.text() == "127.0.0.1:4040");
  BOOST_TEST(config.api.socket == "");
  BOOST_TEST(config.metrics.listen.text() == "[::]:9464");
  BOOST_TEST(config.flag.path == "/dev/shm/bellwether/g");
  BOOST_TEST(!config.flag.is_folder_shared);
  BOOST_TEST(config.flag.mode == 0640u);
  BOOST_TEST((config.log == LogSettings{LogLevel::kInfo, LogFormat::kText}));
  BOOST_TEST(config.guard() == "none");
}

BOOST_AUTO_TEST_CASE(a_default_may_follow_from_other_keys) {
  BOOST_TEST(config_of(kGroup + "node.listen = \"10.0.0.1:5\"\n").node.advertise.text() ==
             "10.0.0.1:5");
  BOOST_TEST(config_of(kSound).node.advertise.text() == "10.0.0.7:7946");
  BOOST_TEST(config_of(kSound).guard() == "majority");
  BOOST_TEST((config_of(kGroup).election.preempt_delay == Duration::zero()));
  BOOST_TEST((config_of(kSound).election.preempt_delay == seconds(5)));
  BOOST_TEST((config_of(kSound + "[election]\nprofile = \"textbook\"\n").election.preempt_delay ==
              Duration::zero()));
}

BOOST_AUTO_TEST_CASE(profiles_set_all_timers) {
  const auto expect = [](const char* profile, int heartbeat, int suspect, int lease, int answer) {
    BOOST_TEST_CONTEXT(profile) {
      const Config config = with_profile(profile);
      BOOST_TEST((config.failure_detector.heartbeat_interval == milliseconds(heartbeat)));
      BOOST_TEST((config.failure_detector.suspect_after == milliseconds(suspect)));
      BOOST_TEST((config.election.lease == milliseconds(lease)));
      BOOST_TEST((config.election.answer_timeout == milliseconds(answer)));
      BOOST_TEST((config.election.coordinator_timeout == milliseconds(answer + 250)));
    }
  };
  expect("default", 100, 500, 1000, 100);
  expect("lan", 50, 200, 400, 50);
  expect("wan", 500, 2500, 6000, 1500);
  expect("fast", 10, 50, 150, 25);
  expect("textbook", 100, 500, 1000, 100);
  BOOST_TEST(with_profile("textbook").election.variant == "classic");
}

BOOST_AUTO_TEST_CASE(profiles_are_sound_with_and_without_voters) {
  for (const std::string profile : {"default", "lan", "wan", "fast"}) {
    BOOST_TEST(warnings_of(kSound + "[election]\nprofile = \"" + profile + "\"\n").empty());
  }
}

BOOST_AUTO_TEST_CASE(a_single_key_overrides_the_profile) {
  const Config config =
      config_of(kGroup + "election.profile = \"wan\"\nelection.answer_timeout = \"300ms\"\n");
  BOOST_TEST((config.election.answer_timeout == milliseconds(300)));
  BOOST_TEST((config.election.coordinator_timeout == milliseconds(550)));
  BOOST_TEST((config.election.lease == seconds(6)));
}

BOOST_AUTO_TEST_CASE(the_core_gets_its_own_defaults_from_the_default_profile) {
  const Options options = to_options(config_of(kGroup));
  const Options core;
  BOOST_TEST(options.variant == "modified");
  BOOST_TEST((options.answer_timeout == core.answer_timeout));
  BOOST_TEST((options.coordinator_timeout == core.coordinator_timeout));
  BOOST_TEST((options.heartbeat_interval == core.heartbeat_interval));
  BOOST_TEST((options.suspect_after_min == core.suspect_after_min));
  BOOST_TEST((options.suspect_after_max == core.suspect_after_max));
  BOOST_TEST((options.join_timeout == core.join_timeout));
  BOOST_TEST((options.handover_timeout == core.handover_timeout));
  BOOST_TEST((options.preempt == core.preempt));
  BOOST_TEST((options.preempt_delay == core.preempt_delay));
  BOOST_TEST(options.voters.empty());
  BOOST_TEST((options.query_first && options.sticky && options.skip_suspected && options.stagger));
}

BOOST_AUTO_TEST_CASE(the_core_is_told_who_votes_and_how_long_a_promise_lasts) {
  const Options options =
      to_options(config_of("group.name = \"g\"\nnode.name = \"b\"\nelection.lease = \"2s\"\n"
                           "[voters]\nb = \"h:2\"\na = \"h:1\"\nc = \"h:3\"\n"));
  BOOST_TEST(options.voters == (std::vector<std::string>{"a", "b", "c"}),
             boost::test_tools::per_element());
  BOOST_TEST((options.lease == std::chrono::seconds(2)));
}

BOOST_AUTO_TEST_CASE(the_core_gets_the_papers_rules_from_profile_textbook) {
  const Options options = to_options(with_profile("textbook"));
  const Options papers = textbook_options();
  BOOST_TEST(options.variant == "classic");
  BOOST_TEST((options.answer_timeout == papers.answer_timeout));
  BOOST_TEST((options.suspect_after_max == papers.suspect_after_max));
  BOOST_TEST(!options.query_first);
  BOOST_TEST(!options.sticky);
  BOOST_TEST(!options.skip_suspected);
  BOOST_TEST(!options.stagger);
}

BOOST_AUTO_TEST_CASE(the_core_gets_what_is_configured) {
  const Options options = to_options(config_of(
      kGroup +
      "[election]\nprofile = \"wan\"\nvariant = \"classic\"\npreempt = \"never\"\n"
      "preempt_delay = \"3s\"\nanswer_timeout = \"400ms\"\ncoordinator_timeout = \"1s\"\n"
      "lease = \"5s\"\n[failure_detector]\nheartbeat_interval = \"200ms\"\nsuspect_after = "
      "\"3s\"\n"));
  BOOST_TEST(options.variant == "classic");
  BOOST_TEST((options.preempt == Preempt::kOff));
  BOOST_TEST((options.preempt_delay == seconds(3)));
  BOOST_TEST((options.answer_timeout == milliseconds(400)));
  BOOST_TEST((options.coordinator_timeout == seconds(1)));
  BOOST_TEST((options.heartbeat_interval == milliseconds(200)));
  BOOST_TEST((options.suspect_after_min == seconds(3)));
  BOOST_TEST((options.suspect_after_max == seconds(4)));
  BOOST_TEST((options.join_timeout == seconds(2)));
  BOOST_TEST((options.handover_timeout == milliseconds(1200)));
}

BOOST_AUTO_TEST_CASE(defaults_are_marked_and_what_is_given_is_not) {
  const std::string text = effective_toml(parse(kSound));
  for (const char* line : {
           "name = \"orders\"\n",
           "priority = 100                              # default\n",
           "advertise = \"10.0.0.7:7946\"                 # default: the voter's address, else "
           "listen, else the host's name\n",
           "lease = \"1s\"                                # default: of the profile; 10s with "
           "[kubernetes] or [etcd]\n",
           "\n[voters]  # guard = \"majority\"\norders-0 = \"10.0.0.7:7946\"\n",
           "\n# no [[hook]]: nobody is told\n",
       }) {
    BOOST_TEST((text.find(line) != text.npos), line << " is not in\n" << text);
  }
}

// Random values for random keys; whatever is valid must come back as it was.
BOOST_AUTO_TEST_CASE(what_is_printed_gives_the_same_configuration_when_it_is_read) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> choices{
      {"node.name", {"\"a\"", "\"A.b_c-9\""}},
      {"node.priority", {"0", "65535"}},
      {"node.listen", {"\"[::]:7946\"", "\"127.0.0.1:1\""}},
      {"node.advertise", {"\"[2001:db8::7]:1\"", "\"x.y.:65535\""}},
      {"node.state_dir", {"\"\"", "'/a \"b\" \\ $${c} é'", "\"/${NESTED}\""}},
      {"node.memory_keeper", {"\"off\""}},
      {"node.core_dumps", {"\"on\""}},
      {"node.confine", {"\"off\""}},
      {"election.plugin", {"\"lowest\"", "\"/x/${POD_NAME}.so\""}},
      {"election.profile", {"\"lan\"", "\"wan\"", "\"fast\"", "\"textbook\""}},
      {"election.preempt", {"\"priority\"", "\"never\""}},
      {"election.preempt_delay", {"\"1h\"", "\"1500ms\""}},
      {"election.death_proof", {"\"none\"", "\"refused\""}},
      {"election.answer_timeout", {"\"1ms\"", "\"77ms\""}},
      {"election.coordinator_timeout", {"\"1m\""}},
      {"election.lease", {"\"10s\""}},
      {"failure_detector.heartbeat_interval", {"\"5ms\""}},
      {"failure_detector.suspect_after", {"\"8s\""}},
      {"membership.peers", {"[]", "[\"a:1\", \"[::1]:2\"]"}},
      {"membership.dns", {"\"\"", "\"d:1\""}},
      {"api.listen", {"\"\"", "\"[::1]:4040\""}},
      {"api.socket", {"\"/run/a b\""}},
      {"api.insecure", {"true", "\"off\""}},
      {"metrics.listen", {"\"\"", "\"h:1\""}},
      {"flag.path", {"\"/f\""}},
      {"flag.mode", {"0o600", "0o644"}},
      {"flag.shared_folder", {"\"on\""}},
      {"tls.shared_folder", {"\"on\""}},
      {"api.shared_folder", {"\"on\""}},
      {"metrics.shared_folder", {"\"on\""}},
      {"application.attach", {"\"on\""}},
      {"application.grace", {"\"1m\""}},
      {"application.health", {"\"unix:/a b:/c\"", "\"http://[::1]:1/\""}},
      {"application.health_interval", {"\"1m\""}},
      {"application.health_timeout", {"\"1ms\""}},
      {"application.health_failures", {"100"}},
      {"application.drain_timeout", {"\"30s\""}},
      {"application.score_margin", {"7"}},
      {"log.level", {"\"trace\"", "\"error\""}},
      {"log.format", {"\"json\""}},
      {"voters.a", {"\"a:1\""}},
      {"voters.\"A.b_c-9\"", {"\"b:2\""}},
      {"voters.c", {"\"c:3\""}},
      {"hook", {"[{url = 'http://a/?q=${POD_IP}'}, {url = 'http://b/', timeout = '1m'}]"}},
  };
  std::mt19937 random(20240229);
  int valid = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    std::string text = kGroup;
    const unsigned dice = 2 + i % 12;
    for (const auto& [key, values] : choices) {
      if (random() % dice == 0) text += key + " = " + values[random() % values.size()] + "\n";
    }
    const std::optional<ParsedConfig> parsed = parsed_if_valid(text);
    if (!parsed) continue;
    ++valid;
    const std::string printed = effective_toml(*parsed);
    const Config again = read_back(printed);
    BOOST_TEST((again == parsed->config), text << "became\n" << printed);
    BOOST_TEST(diff(parsed->config, again).empty());
  }
  BOOST_TEST(valid > 500);
}

BOOST_AUTO_TEST_CASE(a_reload_takes_over_what_it_can_and_the_rest_waits) {
  const Config before = config_of(kSound);
  const Config wanted =
      config_of(kSound +
                "priority = 7\n[election]\nlease = \"2s\"\n[membership]\npeers = [\"a:1\"]\n"
                "[log]\nlevel = \"debug\"\n[[hook]]\nurl = \"http://a/\"\n");
  const Config in_force = take_over(before, wanted);
  const std::vector<std::string> changed{
      "membership.peers: [] -> [\"a:1\"]",
      "log.level: \"info\" -> \"debug\"",
      "hook: [] -> [{ url = \"http://a/\", timeout = \"2s\", shared_folder = \"off\" }]",
  };
  BOOST_TEST(change_lines(diff(before, in_force)) == changed, boost::test_tools::per_element());
  const std::vector<std::string> waiting{"node.priority: 100 -> 7",
                                         "election.lease: \"1s\" -> \"2s\""};
  BOOST_TEST(change_lines(diff(in_force, wanted)) == waiting, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_variant_is_taken_over_but_not_that_of_another_plugin) {
  const Config before = config_of(kSound);
  const Config classic = config_of(kSound + "[election]\nvariant = \"classic\"\n");
  BOOST_TEST(take_over(before, classic).election.variant == "classic");
  const Config other =
      config_of(kSound + "[election]\nplugin = \"other\"\nvariant = \"classic\"\n");
  BOOST_TEST((take_over(before, other) == before));
}

BOOST_AUTO_TEST_CASE(timers_are_taken_over_but_not_those_that_only_fit_another_lease) {
  const Config before = config_of(kSound);
  const std::string detector = "[failure_detector]\nheartbeat_interval = \"50ms\"\n";
  const Config in_force =
      take_over(before, config_of(kSound + detector + "suspect_after = \"700ms\"\n"));
  BOOST_TEST((in_force.failure_detector.heartbeat_interval == milliseconds(50)));
  BOOST_TEST((in_force.failure_detector.suspect_after == milliseconds(700)));
  const Config patient =
      config_of(kSound + "[election]\nlease = \"4s\"\n" + detector + "suspect_after = \"2s\"\n");
  BOOST_TEST((take_over(before, patient) == before));
}

BOOST_AUTO_TEST_CASE(with_a_profile_all_its_timers_wait) {
  const Config before = config_of(kSound);
  for (const char* profile : {"lan", "wan", "fast", "textbook"}) {
    const std::string table = std::string("[election]\nprofile = \"") + profile + "\"\n";
    BOOST_TEST((take_over(before, config_of(kSound + table)) == before), profile);
    const Config more = take_over(before, config_of(kSound + table + "[log]\nlevel = \"debug\"\n"));
    BOOST_TEST((more.log.level == LogLevel::kDebug), "whatever else is changed does not wait");
  }
}

BOOST_AUTO_TEST_CASE(other_voters_and_with_them_the_guard_wait) {
  const Config before = config_of(kGroup);
  BOOST_TEST((take_over(before, config_of(kSound)) == before));
}

BOOST_AUTO_TEST_CASE(a_default_that_is_written_out_is_no_change) {
  BOOST_TEST(diff(config_of(kSound), config_of(kSound + "priority = 100\n")).empty());
}

BOOST_AUTO_TEST_CASE(the_query_of_a_hook_may_be_a_secret_and_its_change_is_told_without_it) {
  Config open = config_of(kSound);
  open.hooks = {{.url = "https://a/b?key=one"}};
  Config closed = open;
  closed.hooks[0].url = "https://a/b?key=two";
  const auto told = diff(open, closed);
  BOOST_REQUIRE(told.size() == 1u);
  BOOST_TEST(told[0].after.find("https://a/b?...") != std::string::npos);
  BOOST_TEST((told[0].before + told[0].after).find("key=") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(voters_change_as_a_whole) {
  Config other = config_of(kSound);
  other.voters.erase("orders-1");
  const auto erased = diff(config_of(kSound), other);
  BOOST_TEST(erased.size() == 1u);
  BOOST_TEST(erased.front().key == "voters");
  BOOST_TEST(erased.front().after ==
             "{ orders-0 = \"10.0.0.7:7946\", orders-2 = \"10.0.0.9:7946\" }");
}

BOOST_AUTO_TEST_CASE(durations_are_one_number_and_one_unit) {
  for (const auto& [text, duration] :
       std::vector<std::pair<std::string, Duration>>{{"0ms", {}},
                                                     {"1ms", milliseconds(1)},
                                                     {"90s", seconds(90)},
                                                     {"5m", std::chrono::minutes(5)},
                                                     {"1h", std::chrono::hours(1)},
                                                     {"2562047h", std::chrono::hours(2562047)}}) {
    BOOST_TEST((parse_duration(text) == duration), text);
  }
  for (const char* text :
       {"", "s", "1", "1 s", " 1s", "1s ", "+1s", "-1s", "1.5s", "1e3s", "0x1s", "1S", "1m30s",
        "1us", "1d", "9223372036854775807h", "2562048h", "99999999999999999999s"}) {
    BOOST_TEST(!parse_duration(text).has_value(), text);
  }
  BOOST_TEST(duration_text(milliseconds(1500)) == "1500ms");
  BOOST_TEST(duration_text(seconds(7200)) == "2h");
}

BOOST_AUTO_TEST_SUITE_END()
