// How long a failover takes at worst, for each kind of failure.
#include "config/failover.hh"

#include <boost/test/unit_test.hpp>

#include "base/duration_text.hh"
#include "parse_harness.hh"

namespace {

using namespace bellwether;
using namespace bellwether::test;

std::string row(const Config& config, const std::string& failure) {
  for (const Failover& failover : worst_case_failover(config)) {
    if (failover.failure != failure) continue;
    return duration_text(failover.at_most) + " + " + std::to_string(failover.round_trips) + ": " +
           failover.formula + ": " + failover.old_flag;
  }
  return "no such row";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(config_failover)

BOOST_AUTO_TEST_CASE(failover_without_a_guard) {
  const Config config = config_of(kGroup);
  BOOST_TEST(row(config, "sidecar killed, connection refused") ==
             "50ms + 2: reconnect 50ms: off at once");
  BOOST_TEST(row(config, "machine of the leader dies") == "800ms + 1: 4/5 lease: gone with it");
  BOOST_TEST(row(config, "leader cut off from the others") ==
             "800ms + 1: 4/5 lease: stays on: two leaders");
  BOOST_TEST(row(config, "sidecar stopped (SIGSTOP)") == "800ms + 1: 4/5 lease: off after 500ms");
  BOOST_TEST(row(config, "leader and the next in line silent") ==
             "1s + 2: 4/5 lease + 2 answer_timeout: off after 500ms");
  BOOST_TEST(row(config, "planned hand-over") == "0s + 1: one message: off before");
  BOOST_TEST(row(config, "planned hand-over, successor silent") ==
             "300ms + 2: 3 answer_timeout for each: off before");
  BOOST_TEST(row(config, "cold start") == "500ms + 2: join: off");
  BOOST_TEST(row(with_profile("textbook"), "leader and the next in line silent") ==
             "900ms + 2: 4/5 lease + answer_timeout: off after 500ms");
  BOOST_TEST(row(with_profile("wan"), "cold start") == "7500ms + 2: join: off");
}

BOOST_AUTO_TEST_CASE(failover_with_voters) {
  const Config config = config_of(kSound);
  BOOST_TEST(row(config, "sidecar killed, connection refused") ==
             "1s + 4: max(lease, reconnect 50ms + votes 40ms): off at once");
  BOOST_TEST(row(config, "leader cut off from the others") ==
             "1s + 3: max(lease, 4/5 lease + votes 40ms): off after 800ms");
  BOOST_TEST(row(config, "leader hears nobody, all hear it") ==
             "1800ms + 3: 4/5 lease + max(lease, 4/5 lease + votes 40ms): off after 800ms");
  BOOST_TEST(row(config, "leader and the next in line silent") ==
             "1040ms + 4: max(lease, 4/5 lease + 2 answer_timeout + votes 40ms): off after 800ms");
  BOOST_TEST(row(config, "cold start") ==
             "1040ms + 3: max(lease of before, join) + votes 40ms: off");
  const Config proven = config_of(kSound + "[election]\ndeath_proof = \"refused\"\n");
  BOOST_TEST(row(config, "sidecar killed, something in between") == "no such row");
  BOOST_TEST(row(proven, "sidecar killed, connection refused") ==
             "90ms + 4: reconnect 50ms + votes 40ms: off at once");
  BOOST_TEST(row(proven, "sidecar killed, something in between") ==
             "1s + 4: max(lease, reconnect 50ms + votes 40ms): off at once");
  const Config local = config_of(
      "[group]\nname = \"g\"\n[node]\nname = \"a\"\n[voters]\na = \"127.0.0.1:1\"\n"
      "b = \"127.0.0.1:2\"\nc = \"[::1]:3\"\n");
  BOOST_TEST(row(local, "sidecar killed, connection refused") ==
             "90ms + 4: reconnect 50ms + votes 40ms: off at once");
  BOOST_TEST(row(local, "sidecar killed, something in between") ==
             "1s + 4: max(lease, reconnect 50ms + votes 40ms): off at once");
}

BOOST_AUTO_TEST_CASE(failover_of_the_application) {
  const std::string attach = "[application]\nattach = true\n";
  const std::string health = "health = \"http://127.0.0.1:8080/\"\n";
  BOOST_TEST(row(config_of(kSound), "application ends") == "no such row");
  BOOST_TEST(row(config_of(kGroup + attach), "application ends") ==
             "0s + 1: one message: off before");
  const Config both = config_of(kSound + attach + "grace = \"2s\"\n" + health);
  BOOST_TEST(row(both, "application ends") == "2040ms + 2: grace + votes 40ms: off before");
  BOOST_TEST(row(both, "application hangs") ==
             "1790ms + 2: 3 health_interval + health_timeout + votes 40ms: off before");
  BOOST_TEST(row(both, "application ends or hangs") == "no such row");
  const Config patient = config_of(kSound + attach + "drain_timeout = \"3s\"\n");
  BOOST_TEST(row(patient, "planned hand-over") ==
             "3040ms + 2: drain_timeout + votes 40ms: off before");
  BOOST_TEST(row(patient, "planned hand-over, successor silent").find("drain_timeout + 3 answer") !=
             std::string::npos);
  BOOST_TEST(row(patient, "application ends") == "40ms + 2: votes 40ms: off before");
  const Config alone = config_of(kGroup + "[application]\n" + health + "health_failures = 1\n");
  BOOST_TEST(row(alone, "application ends or hangs") ==
             "750ms + 1: 1 health_interval + health_timeout + one message: off before");
}

BOOST_AUTO_TEST_CASE(after_a_pause_of_its_own_a_node_waits_twice_as_long_for_silent_ones) {
  const auto after_pause = [](const std::string& toml, const std::string& failure) {
    const std::vector<Failover> rows = worst_case_failover(config_of(toml));
    const auto found = std::ranges::find(rows, failure, &Failover::failure);
    return found != rows.end() ? duration_text(found->at_most_after_pause) : "no such row";
  };
  BOOST_TEST(after_pause(kGroup, "machine of the leader dies") == "1600ms");
  BOOST_TEST(after_pause(kSound, "machine of the leader dies") == "1640ms");
  BOOST_TEST(after_pause(kSound, "leader hears nobody, all hear it") == "2440ms");
  BOOST_TEST(after_pause(kSound, "leader and the next in line silent") == "1840ms");
  // Nobody has to be silent for these.
  BOOST_TEST(after_pause(kSound, "planned hand-over") == "40ms");
  BOOST_TEST(after_pause(kSound, "sidecar killed, connection refused") == "1s");
}

BOOST_AUTO_TEST_SUITE_END()
