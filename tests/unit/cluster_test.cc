// The virtual cluster: that a seed decides everything, and that its machines behave like machines:
// pauses, crashes, disks, clocks, connections.  What elections do in it is for the scenarios.
#include "simulator/cluster.hh"

#include <boost/test/unit_test.hpp>

namespace bellwether::simulator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A group whose trace is kept.
struct Group : Cluster {
  explicit Group(uint32_t count, uint64_t seed = 1, NetworkOptions network = {})
      : Cluster(
            {.plugin = &bellwether_election_plugin, .node = {}, .network = network, .seed = seed}) {
    add(count);
    trace_to([this](const std::string& line) { lines += line + "\n"; });
  }
  Group& start_all() {
    for (uint32_t process = 0; process < size(); ++process) start(process);
    settle();
    return *this;
  }
  uint64_t epoch_on_disk(uint32_t process) { return disk(process).record.max_epoch; }

  std::string lines;
};

std::string trace_of(uint64_t seed) {
  Group group(5, seed, {.jitter = milliseconds(20), .loss = 0.05});
  group.start_all();
  group.kill(4);
  group.run_for(seconds(5));
  group.start(4);
  group.run_for(seconds(5));
  return group.lines;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cluster)

// --- determinism ---

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_run_byte_for_byte) {
  const std::string first = trace_of(42);
  BOOST_TEST(first.size() > 1000u);
  BOOST_TEST(first == trace_of(42));
}

BOOST_AUTO_TEST_CASE(another_seed_gives_another_run) { BOOST_TEST(trace_of(42) != trace_of(43)); }

BOOST_AUTO_TEST_CASE(looking_at_the_trace_does_not_change_the_run) {
  const auto steps = [](bool is_traced) {
    Group group(5, 7, {.jitter = milliseconds(20)});
    if (!is_traced) group.trace_to(nullptr);
    group.start_all();
    return group.steps();
  };
  BOOST_TEST(steps(true) == steps(false));
}

// --- the group ---

BOOST_AUTO_TEST_CASE(ids_rise_with_the_number_and_are_uuids_of_version_4) {
  const Group group(300);
  for (uint32_t process = 0; process < 300; ++process) {
    const Uuid& id = group.id_of(process);
    BOOST_TEST(group.index_of(id) == process);
    BOOST_TEST((id.version() == Uuid::version_random_number_based));
    BOOST_TEST((id.variant() == Uuid::variant_rfc_4122));
    if (process > 0) BOOST_TEST((group.id_of(process - 1) < id));
  }
  BOOST_TEST(group.index_of(Uuid{}) == group.size());
}

BOOST_AUTO_TEST_CASE(a_group_that_starts_agrees_on_its_highest) {
  Group group(5);
  group.start_all();
  BOOST_TEST((group.agreement().leader == 4u));
  for (uint32_t process = 0; process < 5; ++process) {
    BOOST_TEST(group.is_flag_on(process) == (process == 4));
  }
  BOOST_TEST(group.referee().claims() == 1u);
  BOOST_TEST(!group.referee().violation().has_value());
}

BOOST_AUTO_TEST_CASE(priority_comes_before_the_number) {
  Group group(3);
  group.set_priority(0, 200);
  group.start_all();
  BOOST_TEST((group.agreement().leader == 0u));
}

BOOST_AUTO_TEST_CASE(a_stranger_that_knows_one_address_becomes_a_member) {
  Group group(3);
  group.start_all();
  const uint32_t stranger = group.add_stranger(0);
  group.start(stranger);
  group.settle();
  for (uint32_t process = 0; process < 4; ++process) {
    BOOST_TEST(group.node(process).members().ranked().size() == 4u);
  }
}

BOOST_AUTO_TEST_CASE(disagreement_says_who_disagrees) {
  Group group(2);
  BOOST_TEST(group.agreement().dissent == "nobody runs");
  group.start(0);
  BOOST_TEST(group.agreement().dissent == "0 knows no leader");
}

// --- processes ---

BOOST_AUTO_TEST_CASE(who_is_killed_has_no_flag) {
  Group group(3);
  group.start_all().kill(2);
  BOOST_TEST(!group.is_running(2));
  BOOST_TEST(!group.is_flag_on(2));
  group.settle();
  BOOST_TEST((group.agreement().leader == 1u));
}

BOOST_AUTO_TEST_CASE(who_is_paused_handles_nothing_until_it_is_resumed) {
  Group group(3);
  group.start_all().pause(0);
  group.kill(2);
  group.run_for(seconds(2));
  BOOST_TEST((group.node(0).leader()->id == group.id_of(2)));
  group.resume(0);
  group.settle();
  BOOST_TEST((group.agreement().leader == 1u));
}

BOOST_AUTO_TEST_CASE(who_is_resumed_reads_what_arrived_before_it_looks_at_its_timers) {
  Group group(3);
  group.start_all().pause(0);
  group.run_for(milliseconds(700));  // its timer of suspicion is long over, but beats wait
  group.lines.clear();
  group.resume(0);
  group.run_for(milliseconds(300));
  BOOST_TEST(group.lines.find("timeout: heartbeat") == std::string::npos);
  BOOST_TEST((group.agreement().leader == 2u));
}

BOOST_AUTO_TEST_CASE(the_flag_of_a_paused_leader_runs_out_by_the_clock) {
  Group group(3);
  group.start_all().pause(2);
  BOOST_TEST(group.is_flag_on(2));
  group.run_for(milliseconds(510));
  BOOST_TEST(!group.is_flag_on(2));
}

BOOST_AUTO_TEST_CASE(the_flag_of_a_paused_leader_is_off_before_anybody_gives_it_up) {
  for (const uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    Group group(3, seed, {.jitter = milliseconds(20)});
    group.start_all().pause(2);
    const auto has_leader = [&](uint32_t process) {
      return group.node(process).leader() && group.node(process).leader()->id == group.id_of(2);
    };
    while (has_leader(0) && has_leader(1)) group.run_for(milliseconds(1));
    BOOST_TEST(!group.is_flag_on(2));
  }
}

BOOST_AUTO_TEST_CASE(the_flag_of_a_healthy_leader_never_flaps) {
  Group group(5, 1, {.jitter = milliseconds(50), .loss = 0.1});
  group.start_all();
  for (int tenth = 0; tenth < 600; ++tenth) {
    group.run_for(milliseconds(100));
    BOOST_REQUIRE(group.is_flag_on(4));
  }
}

BOOST_AUTO_TEST_CASE(a_silent_death_is_noticed_later_than_one_that_closes_connections) {
  const auto time_to_notice = [](bool silently) {
    Group group(3);
    group.start_all().kill(2, silently);
    const Instant killed = group.now();
    while (group.agreement().leader != 1u) group.run_for(milliseconds(1));
    return group.now() - killed;
  };
  BOOST_TEST((time_to_notice(false) < milliseconds(100)));
  BOOST_TEST((time_to_notice(true) > milliseconds(400)));
}

BOOST_AUTO_TEST_CASE(a_new_life_has_another_boot_number) {
  Group group(2);
  group.start_all();
  const uint64_t before = group.node(0).members().self().boot;
  group.kill(0);
  group.start(0);
  BOOST_TEST(group.node(0).members().self().boot != before);
}

// --- disks ---

BOOST_AUTO_TEST_CASE(what_is_stored_is_there_after_a_restart) {
  Group group(3);
  group.start_all();
  BOOST_TEST(group.epoch_on_disk(0) == 1u);
  group.kill(0);
  group.start(0);
  BOOST_TEST(group.node(0).record().max_epoch == 1u);
}

BOOST_AUTO_TEST_CASE(a_crash_before_the_disk_is_done_loses_the_record) {
  Group group(3);
  group.disk(0).latency = seconds(30);
  for (uint32_t process = 0; process < 3; ++process) group.start(process);
  group.run_for(seconds(5));
  BOOST_TEST(group.node(0).record().max_epoch == 1u);
  group.kill(0);
  group.run_for(seconds(60));
  BOOST_TEST(group.epoch_on_disk(0) == 0u);
}

BOOST_AUTO_TEST_CASE(a_slow_disk_has_the_record_in_the_end) {
  Group group(3);
  group.disk(0).latency = seconds(3);
  for (uint32_t process = 0; process < 3; ++process) group.start(process);
  group.run_for(seconds(2));
  BOOST_TEST(group.epoch_on_disk(0) == 0u);
  group.run_for(seconds(3));
  BOOST_TEST(group.epoch_on_disk(0) == 1u);
}

BOOST_AUTO_TEST_CASE(a_disk_that_gets_faster_still_writes_in_order) {
  Group group(3);
  group.start_all();
  group.disk(0).latency = seconds(3);
  group.command(2, Elect{});
  group.run_for(seconds(1));
  group.disk(0).latency = Duration::zero();
  group.command(2, Elect{});
  group.run_for(seconds(1));
  BOOST_TEST(group.epoch_on_disk(0) == 1u);  // behind the slow one
  group.run_for(seconds(5));
  BOOST_TEST(group.epoch_on_disk(0) == 3u);
}

BOOST_AUTO_TEST_CASE(a_new_life_does_not_wait_for_the_writes_of_the_last) {
  Group group(3);
  group.disk(0).latency = seconds(30);
  group.start_all();
  group.kill(0);
  group.disk(0).latency = Duration::zero();
  group.start(0);
  group.run_for(seconds(2));
  BOOST_TEST(group.epoch_on_disk(0) == 1u);
}

BOOST_AUTO_TEST_CASE(a_failing_disk_keeps_nothing_and_the_node_is_told) {
  Group group(3);
  group.disk(0).is_failing = true;
  group.start_all();
  BOOST_TEST(group.epoch_on_disk(0) == 0u);
  BOOST_TEST((group.disk(0).members == nullptr));
  BOOST_TEST(group.lines.find("0 the state could not be stored") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_lost_disk_is_empty) {
  Group group(3);
  group.start_all();
  group.kill(0);
  group.disk(0).lose();
  BOOST_TEST(group.epoch_on_disk(0) == 0u);
  BOOST_TEST((group.disk(0).members == nullptr));
}

// --- time and network ---

BOOST_AUTO_TEST_CASE(every_start_begins_on_a_clock_of_its_own) {
  Group group(3);
  group.start_all();
  const auto wakes_at = [&group](uint32_t process) { return group.node(process).deadline(); };
  const auto distance = [](Instant a, Instant b) { return a < b ? b - a : a - b; };
  BOOST_TEST((distance(wakes_at(0), wakes_at(1)) > seconds(10)));
  BOOST_TEST((distance(wakes_at(1), wakes_at(2)) > seconds(10)));
  const Instant before = wakes_at(0);
  group.kill(0);
  group.start(0);
  group.settle();
  BOOST_TEST((distance(before, wakes_at(0)) > seconds(100)));
}

BOOST_AUTO_TEST_CASE(a_fast_clock_makes_its_process_notice_sooner) {
  const auto time_to_notice = [](uint32_t permille) {
    Group group(2);
    group.start_all();
    group.set_clock_rate(0, permille);
    group.run_for(seconds(20));
    group.pause(1);
    const Instant paused = group.now();
    while (group.node(0).leader()->id == group.id_of(1)) group.run_for(milliseconds(1));
    return group.now() - paused;
  };
  BOOST_TEST((time_to_notice(2000) < time_to_notice(1000)));
}

BOOST_AUTO_TEST_CASE(a_cut_connection_breaks_and_is_made_again_when_it_is_healed) {
  Group group(2);
  group.start_all();
  group.cut(0, 1);
  group.cut(1, 0);
  group.run_for(seconds(5));
  BOOST_TEST(group.node(0).is_leading());
  BOOST_TEST(group.node(1).is_leading());  // guard "none"
  group.heal(0, 1);
  group.heal(1, 0);
  group.settle();
  BOOST_TEST((group.agreement().leader == 1u));
}

BOOST_AUTO_TEST_CASE(a_host_without_power_refuses_nothing) {
  Group group(3);
  group.start_all().kill(2, true);
  group.kill(0);
  group.start(0);
  group.run_for(seconds(10));
  for (const uint32_t process : {0u, 1u}) {
    const Member* gone = group.node(process).members().find(group.id_of(2));
    BOOST_TEST((gone->entry.liveness == Liveness::kSuspect));
    BOOST_TEST(!gone->is_connected);
  }
  group.start(2);
  group.settle();
  BOOST_TEST((group.agreement().leader == 2u));
}

BOOST_AUTO_TEST_CASE(the_ends_of_a_broken_connection_learn_of_it_one_after_the_other) {
  Group group(2);
  group.start_all();
  group.cut(0, 1);
  group.cut(1, 0);
  const auto ends = [&] {
    return int{group.network().is_open(0, 1)} + int{group.network().is_open(1, 0)};
  };
  while (ends() == 2) group.run_for(milliseconds(1));
  BOOST_TEST(ends() == 1);
  group.run_for(seconds(5));
  BOOST_TEST(ends() <= 1);
}

BOOST_AUTO_TEST_CASE(an_end_that_nobody_told_makes_way_for_the_next_connection) {
  Group group(3);
  group.start_all();
  group.cut(2, 0);  // 2 beats and finds out; 0 has nothing to send to 2 but answers
  while (group.network().is_open(2, 0)) group.run_for(milliseconds(1));
  BOOST_TEST(group.network().is_open(0, 2));
  group.heal(2, 0);
  group.settle();
  BOOST_TEST(group.network().is_connected(0, 2));
  BOOST_TEST((group.agreement().leader == 2u));
}

BOOST_AUTO_TEST_CASE(a_paused_process_accepts_connections_and_greets_when_it_runs_again) {
  Group group(3);
  group.start_all().pause(1);
  group.kill(0);
  group.start(0);
  group.run_for(milliseconds(300));
  BOOST_TEST(group.network().is_connected(0, 1));
  BOOST_TEST(!group.node(0).members().find(group.id_of(1))->is_connected);
  group.resume(1);
  group.run_for(milliseconds(10));
  BOOST_TEST(group.node(0).members().find(group.id_of(1))->is_connected);
}

BOOST_AUTO_TEST_CASE(the_connection_with_who_is_no_member_any_more_ends) {
  Group group(3);
  Options options;
  options.reap_after = seconds(5);
  for (uint32_t process = 0; process < 3; ++process) group.reconfigure(process, options);
  group.start_all().pause(0);
  const uint32_t connection = group.network().generation(1, 0);
  group.run_for(seconds(8));
  BOOST_TEST((group.node(1).members().find(group.id_of(0)) == nullptr));
  BOOST_TEST(group.network().generation(1, 0) != connection);
  group.resume(0);
  group.settle();
  BOOST_TEST((group.node(1).members().find(group.id_of(0)) != nullptr));
  BOOST_TEST((group.agreement().leader == 2u));
}

BOOST_AUTO_TEST_CASE(who_comes_back_under_new_ids_by_the_hundred_takes_the_room_of_one) {
  Group group(3);
  group.start_all();
  for (int life = 0; life < 300; ++life) {
    group.kill(0);
    group.disk(0).lose();
    group.start(0);
    group.run_for(milliseconds(100));
  }
  group.settle();
  BOOST_TEST(group.agreement().dissent == "");
  for (uint32_t process = 0; process < 3; ++process) {
    BOOST_TEST(group.node(process).members().all().size() == 3u);
  }
}

BOOST_AUTO_TEST_CASE(a_reset_connection_is_made_again_at_once) {
  Group group(2);
  group.start_all();
  group.reset(0, 1);
  group.run_for(milliseconds(100));
  BOOST_TEST(group.network().is_connected(0, 1));
  BOOST_TEST((group.agreement().leader == 1u));
  BOOST_TEST(group.referee().claims() == 1u);
}

BOOST_AUTO_TEST_CASE(scripted_detection_suspects_nobody_by_itself) {
  Cluster group(
      {.plugin = &bellwether_election_plugin, .node = {}, .detection = Detection::kScripted});
  group.add(3);
  for (uint32_t process = 0; process < 3; ++process) group.start(process);
  group.settle();
  group.kill(2);
  group.run_for(seconds(60));
  BOOST_TEST((group.node(0).leader()->id == group.id_of(2)));
  group.detect(0, 2, true);
  group.run_for(seconds(1));
  BOOST_TEST(!(group.node(0).leader() && group.node(0).leader()->id == group.id_of(2)));
}

BOOST_AUTO_TEST_CASE(messages_are_counted_by_type) {
  Group group(4);
  group.start_all();
  BOOST_TEST(group.messages()[static_cast<size_t>(FrameType::kCoordinator)] == 3u);
  BOOST_TEST(group.messages()[static_cast<size_t>(FrameType::kHeartbeat)] > 0u);
  BOOST_TEST(group.messages()[static_cast<size_t>(FrameType::kResign)] == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::simulator
