// The tables [election] and [failure_detector], and what a profile sets in them.
#include "base/names.hh"
#include "config/key_table.hh"

namespace bellwether {
namespace {

using enum TakesEffect;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kStoreLease = seconds(10);

template <typename Select>
Computed<Duration> of_profile(Select select) {
  return {"of the profile", [select](const Config& config, const Environment&) {
            return timers_of(config.election.profile).*select;
          }};
}

void add_election_rules(Table<ElectionSettings>& election) {
  using Settings = ElectionSettings;
  election.key("plugin", &Settings::plugin,
               TextType{"a plugin's name, like \"bully\", or a path with a slash", is_plugin},
               std::string("bully"), kAtRestart, "what decides when this process proposes itself");
  election.key(
      "profile", &Settings::profile,
      WordType<Profile>{{{"default", Profile::kDefault},
                         {"lan", Profile::kLan},
                         {"wan", Profile::kWan},
                         {"fast", Profile::kFast},
                         {"textbook", Profile::kTextbook}}},
      Profile::kDefault, kAtRestart,
      "sets all timers at once, single keys override it; fast: for sidecars with a "
      "reserved processor; textbook: default's timers and the papers' rules to the letter");
  election.key(
      "variant", &Settings::variant, TextType{"the name of a variant", is_variant},
      Computed<std::string>{
          "the plugin's last, of bully modified; in profile textbook its first, classic",
          [](const Config& config, const Environment& environment) -> std::string {
            const auto variants = environment.variants(config.election.plugin);
            if (variants.empty()) return "";
            const bool is_textbook = config.election.profile == Profile::kTextbook;
            return is_textbook ? variants.front() : variants.back();
          }},
      kAtOnce,
      "classic (Garcia-Molina 1982) or modified (Soundarabai 2014); a change takes effect with the "
      "first election after all living members want the same");
  election.key("preempt", &Settings::preempt, each_name_of<Preempt>(), Preempt::kAlways, kAtOnce,
               "may a higher node take over from a working leader? always: the textbook; priority: "
               "only with a higher priority; never");
  election.key("preempt_delay", &Settings::preempt_delay, DurationType{{}, hours(1)},
               Computed<Duration>{"5s with a guard, 0s without and in profile textbook",
                                  [](const Config& config, const Environment&) -> Duration {
                                    const bool is_textbook =
                                        config.election.profile == Profile::kTextbook;
                                    return seconds(!config.has_guard() || is_textbook ? 0 : 5);
                                  }},
               kAtOnce, "how long a lower leader is followed before it is taken over from");
  election.key("death_proof", &Settings::death_proof,
               WordType<DeathProof>{{{"auto", DeathProof::kAuto},
                                     {"none", DeathProof::kNone},
                                     {"refused", DeathProof::kRefused}}},
               DeathProof::kAuto, kAtRestart,
               "with a guard: does a refused connection end a dead leader's lease? auto: for "
               "peers on this host, if the kernel says that nobody listens; none: only time does; "
               "refused: for any peer, sound only without firewalls that reject and addresses that "
               "move; never through a proxy");
}

void add_election_timers(Table<ElectionSettings>& election) {
  using Settings = ElectionSettings;
  election.key(
      "answer_timeout", &Settings::answer_timeout, DurationType{milliseconds(1), minutes(1)},
      of_profile(&ProfileTimers::answer_timeout), kAtOnce,
      "T of the papers: how long an ANSWER may take; a process starting up looks for a "
      "leader for 5 times as long, at least 500ms, and a successor may take 3 times as long to "
      "claim");
  election.key("coordinator_timeout", &Settings::coordinator_timeout,
               DurationType{milliseconds(2), minutes(2)},
               Computed<Duration>{"answer_timeout + 250ms",
                                  [](const Config& config, const Environment&) -> Duration {
                                    return config.election.answer_timeout + milliseconds(250);
                                  }},
               kAtOnce, "how long a COORDINATOR may take after an ANSWER");
  election.key(
      "lease", &Settings::lease, DurationType{milliseconds(20), minutes(1)},
      Computed<Duration>{"of the profile; 10s with [kubernetes] or [etcd]",
                         [](const Config& config, const Environment&) -> Duration {
                           if (config.has_store_guard()) return kStoreLease;
                           return timers_of(config.election.profile).lease;
                         }},
      kAtRestart,
      "how long leadership holds without renewal, at most 10s, or from 2s with [kubernetes] "
      "or [etcd]; a leader itself counts on 4/5 of it, which without these is also the "
      "longest silence before it is suspected");
  election.key(
      "renew_interval", &Settings::renew_interval, DurationType{{}, seconds(20)},
      Computed<Duration>{"lease / 5 with [kubernetes] or [etcd]; 0s without",
                         [](const Config& config, const Environment&) -> Duration {
                           if (!config.has_store_guard()) return {};
                           return std::chrono::floor<milliseconds>(config.election.lease / 5);
                         }},
      kAtRestart,
      "how often a leader renews its lease in Kubernetes or etcd; from 100ms to 2/5 of the lease");
}

}  // namespace

void add_election_keys(std::vector<ConfigKey<Config>>& keys) {
  Table election("election", &Config::election, keys);
  add_election_rules(election);
  add_election_timers(election);
}

void add_failure_detector_keys(std::vector<ConfigKey<Config>>& keys) {
  Table detector("failure_detector", &Config::failure_detector, keys);
  detector.key("heartbeat_interval", &FailureDetectorSettings::heartbeat_interval,
               DurationType{milliseconds(5), minutes(1)},
               of_profile(&ProfileTimers::heartbeat_interval), kAtOnce,
               "how often the leader says that it is there");
  detector.key("suspect_after", &FailureDetectorSettings::suspect_after,
               DurationType{milliseconds(10), seconds(10)},
               of_profile(&ProfileTimers::suspect_after), kAtOnce,
               "the shortest silence that is suspicious; it adapts to the beats' rhythm between "
               "this and 4/5 of the lease, or 8/5 of this with [kubernetes] or [etcd]");
}

ProfileTimers timers_of(Profile profile) {
  static constexpr ProfileTimers kUsual{milliseconds(100), milliseconds(500), milliseconds(1000),
                                        milliseconds(100)};
  static constexpr PerValue<Profile, ProfileTimers> kTimers(
      {kUsual,
       {milliseconds(50), milliseconds(200), milliseconds(400), milliseconds(50)},
       {milliseconds(500), milliseconds(2500), milliseconds(6000), milliseconds(1500)},
       {milliseconds(10), milliseconds(50), milliseconds(150), milliseconds(25)},
       kUsual});
  return kTimers[profile];
}

}  // namespace bellwether
