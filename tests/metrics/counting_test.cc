// Each series counts what it is about, and no other does; and each method moves those of its duty.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>

#include "metrics/election_meter.hh"
#include "scrape.hh"

namespace bellwether::tests {
namespace {

using namespace std::chrono_literals;
using metrics::ElectionType;
using metrics::HealthCheck;
using metrics::Metrics;
using metrics::Reload;
using metrics::Result;
using metrics::ShadowResult;
using metrics::Trigger;

const std::string kIsConfigured = "bellwether_config_last_reload_successful";
const std::string kHasNoVote = R"(bellwether_vote{state="none"})";

size_t route_of(const std::string& name) {
  const auto routes = sample_identity().routes;
  const auto found = std::ranges::find(routes, name, &metrics::HttpRoute::name);
  return static_cast<size_t>(found - routes.begin());
}

struct CountingFixture {
  Metrics metrics{sample_identity()};
  Scrape before = scrape(metrics);

  Scrape changed(Instant now = {}) { return changes(before, scrape(metrics, now)); }
};

const std::string kLeaderSince = "bellwether_leader_since_timestamp_seconds";

// A map that Boost.Test can print.
std::string to_text(const Scrape& scrape) {
  std::string text;
  for (const auto& [name, value] : scrape) text += name + " " + std::to_string(value) + "\n";
  return text;
}

void check_changed(CountingFixture& fixture, const Scrape& expected, Instant now = {}) {
  BOOST_TEST(to_text(fixture.changed(now)) == to_text(expected));
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(counting, CountingFixture)

BOOST_AUTO_TEST_CASE(all_counters_start_at_0) {
  for (const auto& [name, value] : before) {
    if (name.starts_with("process_") || name.starts_with("bellwether_build_info") ||
        name.starts_with("bellwether_tls_last_reload_successful") || name == kIsConfigured ||
        name == kHasNoVote) {
      continue;
    }
    BOOST_TEST(value == 0, name);
  }
}

BOOST_AUTO_TEST_CASE(the_configuration_that_it_starts_with_is_sound) {
  BOOST_TEST(before.at(kIsConfigured) == 1);
}

BOOST_AUTO_TEST_CASE(build_info_is_1_from_the_start) {
  BOOST_TEST(before.at(R"(bellwether_build_info{abi="1.0",plugin="bully",version="1.2.3"})") == 1);
}

BOOST_AUTO_TEST_CASE(the_text_is_in_alphabetical_order) {
  std::string previous;
  std::istringstream text(text_of(metrics));
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("# HELP ")) continue;
    const std::string name = line.substr(7, line.find(' ', 7) - 7);
    BOOST_TEST((previous < name), name);
    previous = name;
  }
}

BOOST_AUTO_TEST_CASE(every_series_says_whose_it_is) {
  metrics::Identity who = sample_identity();
  who.group = "a \"quoted\" group";
  Metrics named(who);
  named.set_leader("orders-1", at(1s));
  std::istringstream text(text_of(named));
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with('#')) continue;
    const size_t signature = line.find(R"(group="a \"quoted\" group",member="orders-0")");
    BOOST_TEST(signature != std::string::npos, line);
  }
}

BOOST_AUTO_TEST_CASE(one_variant_is_active) {
  metrics::Identity who = sample_identity();
  who.variants = {"modified", "classic"};
  Metrics both(who);
  const std::string modified = R"(bellwether_active_variant{variant="modified"})";
  const std::string classic = R"(bellwether_active_variant{variant="classic"})";
  both.active_variant.set_only("modified");
  both.active_variant.set_only("modified");
  Scrape seen = scrape(both);
  BOOST_TEST(seen.at(modified) == 1);
  BOOST_TEST(seen.at(classic) == 0);
  both.active_variant.set_only("classic");
  seen = scrape(both);
  BOOST_TEST(seen.at(modified) == 0);
  BOOST_TEST(seen.at(classic) == 1);
}

BOOST_AUTO_TEST_CASE(two_processes_with_the_same_history_have_the_same_text) {
  Metrics other(sample_identity());
  const auto without_process = [](const std::string& text) {
    return text.substr(0, text.find("# HELP process_"));
  };
  metrics.timeouts.count(Awaited::kAnswer);
  other.timeouts.count(Awaited::kAnswer);
  BOOST_TEST(without_process(text_of(metrics)) == without_process(text_of(other)));
}

BOOST_AUTO_TEST_CASE(an_election_is_counted_with_its_time_and_messages) {
  metrics.on_election({.trigger = Trigger::kLeaderLost,
                       .result = Result::kWon,
                       .messages = {.election = 1, .answer = 2, .handover = 1, .coordinator = 3},
                       .duration = 300ms},
                      "modified");
  const Scrape after = changed();
  BOOST_TEST(
      after.at(
          R"(bellwether_elections_total{result="won",trigger="leader_lost",variant="modified"})") ==
      1);
  BOOST_TEST(after.at(R"(bellwether_election_messages_sum{variant="modified"})") == 7);
  BOOST_TEST(after.at(R"(bellwether_election_duration_seconds_sum{variant="modified"})") == 0.3);
  const std::string bucket = "bellwether_election_duration_seconds_bucket{variant=\"modified\",le=";
  BOOST_TEST(!after.contains(bucket + "\"0.25\"}"));
  BOOST_TEST(after.at(bucket + "\"0.5\"}") == 1);
}

BOOST_AUTO_TEST_CASE(an_election_without_a_new_leader_has_no_duration) {
  metrics.on_election({.trigger = Trigger::kRetry, .result = Result::kAbandoned}, "modified");
  const Scrape after = changed();
  BOOST_TEST(!after.contains(R"(bellwether_election_duration_seconds_count{variant="modified"})"));
  BOOST_TEST(after.at(R"(bellwether_election_messages_count{variant="modified"})") == 1);
}

BOOST_AUTO_TEST_CASE(an_election_that_was_held_again_is_counted_by_variant_and_type) {
  metrics.shadow_elections->count(ShadowResult::kCounted);
  metrics.shadow_messages.of("modified").add(3, ElectionType::kElection);
  metrics.shadow_messages.of("modified").add(1, ElectionType::kHandover);
  metrics.shadow_messages.of("modified").add(2, ElectionType::kElection);
  check_changed(*this,
                {{R"(bellwether_shadow_elections_total{result="counted"})", 1},
                 {R"(bellwether_shadow_messages_total{type="ELECTION",variant="modified"})", 5},
                 {R"(bellwether_shadow_messages_total{type="HANDOVER",variant="modified"})", 1}});
}

BOOST_AUTO_TEST_CASE(leadership_is_shown_until_it_is_no_longer_valid) {
  metrics.set_leading(at(2s));
  check_changed(*this,
                {{"bellwether_is_leader", 1},
                 {R"(leader_election_master_status{name="orders"})", 1},
                 {"bellwether_lease_expiry_timestamp_seconds", kWallClockAtZero + 2}},
                at(1s));
  check_changed(*this, {{"bellwether_lease_expiry_timestamp_seconds", kWallClockAtZero + 2}},
                at(2s));
  metrics.set_leading(std::nullopt);
  check_changed(*this, {}, at(3s));
}

BOOST_AUTO_TEST_CASE(the_leader_is_one_series_at_a_time) {
  metrics.set_leader("orders-0", at(1s));
  check_changed(*this, {{R"(bellwether_leader_info{leader="orders-0"})", 1},
                        {"bellwether_leader_known", 1},
                        {kLeaderSince, kWallClockAtZero + 1}});
  metrics.set_leader("orders-1", at(2s));
  metrics.set_leader("orders-1", at(2s));
  check_changed(*this,
                {{R"(bellwether_leader_info{leader="orders-1"})", 1},
                 {"bellwether_leader_known", 1},
                 {kLeaderSince, kWallClockAtZero + 2}},
                at(9s));
  metrics.set_no_leader();
  metrics.set_no_leader();
  check_changed(*this, {});
}

BOOST_AUTO_TEST_CASE(a_leader_change_is_counted_by_reason) {
  metrics.leader_changes.count(Why::kYielded);
  check_changed(*this, {{R"(bellwether_leader_changes_total{reason="yielded"})", 1}});
}

BOOST_AUTO_TEST_CASE(members_are_counted_by_state) {
  metrics.members.of(Liveness::kAlive).Set(3);
  metrics.members.of(Liveness::kSuspect).Set(2);
  metrics.members.of(Liveness::kDown).Set(1);
  check_changed(*this, {{R"(bellwether_members{state="alive"})", 3},
                        {R"(bellwether_members{state="down"})", 1},
                        {R"(bellwether_members{state="suspect"})", 2}});
}

BOOST_AUTO_TEST_CASE(a_received_message_counts_with_its_bytes) {
  metrics.on_received(FrameType::kHeartbeatAck, 60);
  check_changed(*this,
                {{R"(bellwether_message_bytes_total{direction="received"})", 60},
                 {R"(bellwether_messages_total{direction="received",type="HEARTBEAT_ACK"})", 1}});
}

BOOST_AUTO_TEST_CASE(a_sent_message_counts_with_its_bytes) {
  metrics.on_sent(FrameType::kCoordinator, 40, true);
  check_changed(*this, {{R"(bellwether_message_bytes_total{direction="sent"})", 40},
                        {R"(bellwether_messages_total{direction="sent",type="COORDINATOR"})", 1}});
}

BOOST_AUTO_TEST_CASE(an_undeliverable_message_counts_without_its_bytes) {
  metrics.on_sent(FrameType::kElection, 40, false);
  check_changed(*this,
                {{R"(bellwether_messages_total{direction="undeliverable",type="ELECTION"})", 1}});
}

BOOST_AUTO_TEST_CASE(what_else_happens_is_counted_one_by_one) {
  metrics.stale_messages.count(FrameType::kLeave);
  metrics.timeouts.count(Awaited::kHook);
  metrics.rejected_frames.count(Rejection::kBadChecksum);
  metrics.flag_updates.count();
  metrics.hook_deliveries.count(HookResult::kSuperseded);
  metrics.application_able.set(true);
  metrics.application_attachments.set(2);
  metrics.application_score.set(-7);
  metrics.application_draining.set(true);
  metrics.application_health_checks.count(HealthCheck::kFailed);
  metrics.drains.count(DrainEnd::kTimeout);
  metrics.limit_hits.count(Limit::kHttpBody);
  metrics.config_mismatch.set(true);
  metrics.flag_robust.set(true);
  metrics.flag_in_place.set(true);
  metrics.flag_losses.count();
  metrics.on_config_reload(Reload::kApplied);
  check_changed(*this, {{"bellwether_application_able", 1},
                        {"bellwether_application_attachments", 2},
                        {"bellwether_application_draining", 1},
                        {R"(bellwether_application_health_checks_total{result="failed"})", 1},
                        {"bellwether_application_score", -7},
                        {"bellwether_config_mismatch", 1},
                        {R"(bellwether_config_reloads_total{result="applied"})", 1},
                        {R"(bellwether_drains_total{result="timeout"})", 1},
                        {"bellwether_flag_in_place", 1},
                        {"bellwether_flag_losses_total", 1},
                        {"bellwether_flag_robust", 1},
                        {"bellwether_flag_updates_total", 1},
                        {R"(bellwether_hook_deliveries_total{result="superseded"})", 1},
                        {R"(bellwether_limit_hits_total{limit="http_body"})", 1},
                        {R"(bellwether_rejected_frames_total{reason="bad_checksum"})", 1},
                        {R"(bellwether_stale_messages_total{type="LEAVE"})", 1},
                        {R"(bellwether_timeouts_total{phase="hook"})", 1}});
}

BOOST_AUTO_TEST_CASE(what_comes_from_outside_is_counted_one_by_one) {
  metrics.death_proofs_doubted.count(ProofDoubt::kBetween);
  metrics.peer_connections.of(Security::kCertificate).Set(2);
  metrics.http_tls_refusals.count(metrics::Listener::kApi,
                                  to_tls_rejection(Rejection::kTlsExpired));
  metrics.api_writes.count(metrics::Command::kElect, metrics::Admission::kRefused);
  metrics.on_tls(metrics::TlsUse::kApi, true, 100, 200);
  check_changed(*this,
                {{R"(bellwether_api_writes_total{result="refused",verb="elect"})", 1},
                 {R"(bellwether_death_proofs_doubted_total{reason="between"})", 1},
                 {R"(bellwether_http_tls_refusals_total{listener="api",reason="tls_expired"})", 1},
                 {R"(bellwether_peer_connections{security="tls"})", 2},
                 {R"(bellwether_tls_certificate_expiry_timestamp_seconds{use="api"})", 200},
                 {R"(bellwether_tls_certificate_not_before_timestamp_seconds{use="api"})", 100}});
}

BOOST_AUTO_TEST_CASE(what_a_store_does_is_counted_one_by_one) {
  metrics.store->requests.count(StoreVerb::kWrite, metrics::StoreResult::kConflict);
  metrics.store->failures.count(StoreFailure::kTimeout);
  metrics.store->up.set(true);
  metrics.store->record_age.set(7);
  metrics.store->is_strange.set(true);
  check_changed(*this, {{"bellwether_store_record_age_seconds", 7},
                        {"bellwether_store_record_is_strange", 1},
                        {R"(bellwether_store_failures_total{reason="timeout"})", 1},
                        {R"(bellwether_store_requests_total{result="conflict",verb="write"})", 1},
                        {"bellwether_store_up", 1}});
}

BOOST_AUTO_TEST_CASE(a_failed_reload_and_the_end_of_a_mismatch_show) {
  metrics.config_mismatch.set(true);
  metrics.on_config_reload(Reload::kRefused);
  metrics.config_mismatch.set(false);
  check_changed(*this,
                {{kIsConfigured, -1}, {R"(bellwether_config_reloads_total{result="refused"})", 1}});
  metrics.on_config_reload(Reload::kApplied);
  BOOST_TEST(!changed().contains(kIsConfigured));
}

BOOST_AUTO_TEST_CASE(one_state_of_the_vote_is_1_and_the_others_are_0) {
  metrics.vote.set_only(Vote::kShutOut);
  check_changed(*this, {{kHasNoVote, -1}, {R"(bellwether_vote{state="shut_out"})", 1}});
  metrics.vote.set_only(Vote::kInForce);
  check_changed(*this, {{kHasNoVote, -1}, {R"(bellwether_vote{state="in_force"})", 1}});
  metrics.vote.set_only(Vote::kNone);
  check_changed(*this, {});
}

BOOST_AUTO_TEST_CASE(times_are_observed_in_seconds) {
  metrics.heartbeat_rtt.observe(2ms);
  metrics.event_loop_lag.observe(30ms);
  metrics.drain_duration.observe(4s);
  metrics.store->request_duration.observe(5ms);
  const Scrape after = changed();
  BOOST_TEST(after.at("bellwether_heartbeat_rtt_seconds_sum") == 0.002);
  BOOST_TEST(after.at(R"(bellwether_heartbeat_rtt_seconds_bucket{le="0.0025"})") == 1);
  BOOST_TEST(!after.contains(R"(bellwether_heartbeat_rtt_seconds_bucket{le="0.001"})"));
  BOOST_TEST(after.at("bellwether_event_loop_lag_seconds_sum") == 0.03);
  BOOST_TEST(after.at("bellwether_drain_duration_seconds_sum") == 4);
  BOOST_TEST(after.at("bellwether_store_request_duration_seconds_sum") == 0.005);
}

BOOST_AUTO_TEST_CASE(of_a_plugin_that_does_not_say_what_elections_cost_there_are_no_such_series) {
  metrics::Identity identity = sample_identity();
  identity.has_prices = false;
  Metrics silent(identity);
  for (const auto& [name, value] : scrape(silent)) {
    BOOST_TEST(!name.starts_with("bellwether_shadow"), name);
  }
}

BOOST_AUTO_TEST_CASE(a_request_is_counted_by_route_and_code) {
  metrics.http_requests.count(route_of("/leader"), 503);
  check_changed(*this, {{R"(bellwether_http_requests_total{code="503",route="/leader"})", 1}});
}

BOOST_AUTO_TEST_CASE(a_code_that_a_route_should_not_have_makes_no_series) {
  metrics.http_requests.count(route_of("/livez"), 418);
  check_changed(*this, {{R"(bellwether_http_requests_total{code="other",route="/livez"})", 1}});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
