// Of whom it waits, whose word counts, and for how long a leader has none that is attached.
#include "daemon/application_watch.hh"

#include <boost/test/unit_test.hpp>

#include "loop_run.hh"
#include "scrape.hh"

namespace bellwether::tests {
namespace {

using api::Attached;
using api::DrainWord;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Attached kFirst{.id = 1, .name = "worker"};
const Attached kSecond{.id = 2, .name = "worker"};
const Attached kOther{.id = 3, .name = "other"};
constexpr uint64_t kEpoch = 7;
constexpr uint64_t kDrain = 1;

struct WatchFixture {
  WatchFixture() { watch.configure(settings); }

  // This node leads, and these were attached when it was to hand over.
  void drain(const std::vector<Attached>& asked, uint64_t number = kDrain) {
    watch.set_attached(asked);
    watch.set_leading(true);
    watch.on_drain_begun({.number = number,
                          .epoch = kEpoch,
                          .reason = DrainReason::kStepDown,
                          .since = io::Loop::now(),
                          .until = io::Loop::now() + seconds(10)});
  }
  DrainWord say(const Attached& application, uint64_t epoch = kEpoch) {
    return watch.on_drained(
        {.epoch = epoch, .attachment = application.id, .name = application.name});
  }
  DrainWord say_of_drain(uint64_t number, const Attached& application) {
    return watch.on_drained(
        {.epoch = kEpoch, .drain = number, .attachment = application.id, .name = ""});
  }
  DrainWord say_by_name(const char* name) {
    return watch.on_drained({.epoch = kEpoch, .attachment = {}, .name = name});
  }
  std::vector<Attached> waiting_for() const { return watch.state().waiting_for; }

  ApplicationSettings settings{.is_attachment_needed = true};
  io::Loop loop;
  io::Resolver resolver{loop};
  metrics::Metrics metrics{sample_identity()};
  daemon::Log log{{.level = LogLevel::kError}};
  std::vector<Application> told;
  std::vector<uint64_t> finished;
  daemon::ApplicationWatch watch{loop,
                                 resolver,
                                 metrics,
                                 log,
                                 [this](const Application& worth) { told.push_back(worth); },
                                 [this](uint64_t drain) { finished.push_back(drain); }};
};

struct GraceFixture : WatchFixture {
  GraceFixture() {
    settings.grace = seconds(60);
    watch.configure(settings);
  }
  void lose_the_application() {
    watch.set_leading(true);
    watch.set_attached({kFirst});
    watch.set_attached({});
    told.clear();
  }
  bool is_given_up() {
    return run_until(loop, [this] { return !told.empty(); }) &&
           told.back().ability == Ability::kAbsent;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(application_watch, WatchFixture)

BOOST_AUTO_TEST_CASE(all_that_were_asked_are_waited_for) {
  drain({kFirst, kSecond, kOther});
  BOOST_TEST((say(kSecond) == DrainWord::kTaken));
  BOOST_TEST((say(kOther) == DrainWord::kTaken));
  BOOST_TEST((waiting_for() == std::vector{kFirst}));
  BOOST_TEST(finished.empty());
  BOOST_TEST((say(kFirst) == DrainWord::kTaken));
  BOOST_TEST((finished == std::vector{kDrain}));
}

BOOST_AUTO_TEST_CASE(to_say_it_twice_is_to_say_it_for_oneself) {
  drain({kFirst, kSecond});
  for (int i = 0; i < 2; ++i) BOOST_TEST((say(kFirst) == DrainWord::kTaken));
  BOOST_TEST((waiting_for() == std::vector{kSecond}));
  BOOST_TEST(finished.empty());
}

BOOST_AUTO_TEST_CASE(who_was_not_asked_ends_nobodys_work) {
  drain({kFirst});
  watch.set_attached({kFirst, kSecond});
  BOOST_TEST((say(kSecond) == DrainWord::kUnknown));
  BOOST_TEST((say(kOther) == DrainWord::kUnknown));
  BOOST_TEST((say_by_name("worker") == DrainWord::kAmbiguous));
  BOOST_TEST((waiting_for() == std::vector{kFirst}));
  BOOST_TEST(finished.empty());
}

BOOST_AUTO_TEST_CASE(who_was_not_asked_is_not_waited_for) {
  drain({kFirst});
  watch.set_attached({kFirst, kSecond});
  watch.set_attached({kSecond});
  BOOST_TEST(waiting_for().empty());
  BOOST_TEST((finished == std::vector{kDrain}));
}

BOOST_AUTO_TEST_CASE(a_name_is_enough_where_nobody_else_has_it) {
  drain({kFirst, kOther});
  BOOST_TEST((say_by_name("nobody") == DrainWord::kUnknown));
  for (int i = 0; i < 2; ++i) BOOST_TEST((say_by_name("other") == DrainWord::kTaken));
  BOOST_TEST((waiting_for() == std::vector{kFirst}));
  BOOST_TEST((say_by_name("worker") == DrainWord::kTaken));
  BOOST_TEST((finished == std::vector{kDrain}));
}

BOOST_AUTO_TEST_CASE(a_name_that_two_have_is_not_enough) {
  drain({kFirst, kSecond});
  BOOST_TEST((say_by_name("worker") == DrainWord::kAmbiguous));
  BOOST_TEST((say(kFirst) == DrainWord::kTaken));
  BOOST_TEST((say_by_name("worker") == DrainWord::kAmbiguous));
  BOOST_TEST((waiting_for() == std::vector{kSecond}));
}

BOOST_AUTO_TEST_CASE(a_word_of_another_time_does_not_count) {
  BOOST_TEST((say(kFirst) == DrainWord::kNotAsked));
  drain({kFirst});
  BOOST_TEST((say(kFirst, kEpoch - 1) == DrainWord::kOtherEpoch));
  watch.on_drain_ended({.end = DrainEnd::kTimeout, .took = seconds(10)});
  BOOST_TEST((say(kFirst) == DrainWord::kNotAsked));
  BOOST_TEST(finished.empty());
}

// The leader has stayed, and is to hand over again: what has begun in between is to be finished.
BOOST_AUTO_TEST_CASE(a_word_of_a_drain_that_was_called_off_does_not_end_the_next_one) {
  drain({kFirst}, 1);
  watch.on_drain_ended({.end = DrainEnd::kCalledOff, .took = seconds(1)});
  drain({kFirst}, 2);
  BOOST_TEST((say_of_drain(1, kFirst) == DrainWord::kOtherDrain));
  BOOST_TEST((waiting_for() == std::vector{kFirst}));
  BOOST_TEST(finished.empty());
  BOOST_TEST((say_of_drain(2, kFirst) == DrainWord::kTaken));
  BOOST_TEST((finished == std::vector<uint64_t>{2}));
}

// --- the grace of a leader that has none ---

BOOST_FIXTURE_TEST_CASE(a_grace_that_is_shorter_is_in_force_at_once, GraceFixture) {
  lose_the_application();
  settings.grace = milliseconds(1);
  watch.configure(settings);
  BOOST_TEST(is_given_up());
}

BOOST_FIXTURE_TEST_CASE(a_grace_that_is_taken_away_is_over_at_once, GraceFixture) {
  lose_the_application();
  settings.grace = Duration::zero();
  watch.configure(settings);
  BOOST_TEST(is_given_up());
}

BOOST_FIXTURE_TEST_CASE(a_grace_that_is_longer_counts_from_when_the_application_went,
                        GraceFixture) {
  settings.grace = milliseconds(50);
  watch.configure(settings);
  const Instant gone = io::Loop::now();
  lose_the_application();
  settings.grace = milliseconds(200);
  watch.configure(settings);
  BOOST_TEST(is_given_up());
  BOOST_TEST((io::Loop::now() - gone >= milliseconds(200)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
