// The virtual network: one connection a pair, first in first out, and all that can go wrong on the
// way: latency, loss, duplicates, cuts, what is held back, connections that end.
#include "simulator/network.hh"

#include <boost/test/unit_test.hpp>

namespace bellwether::simulator {

BOOST_AUTO_TEST_SUITE(network)

namespace {

using std::chrono::milliseconds;

Instant at(int ms) { return Instant(milliseconds(ms)); }

// Three processes, of which 0 and 1 are connected; what arrives is kept.
struct Net {
  explicit Net(const NetworkOptions& options = {}, uint64_t seed = 1)
      : network(options, seed, [this](Instant when, Packet packet) {
          arrivals.push_back({when, std::move(packet)});
        }) {
    network.resize(3);
    network.connect(0, 1);
  }
  bool send(int ms, uint64_t number, uint32_t from = 0, uint32_t to = 1) {
    return network.send(
        at(ms), {.from = from, .to = to, .content = Frame{{}, Heartbeat{.sequence = number}}});
  }
  // What arrived, as "1@10 2@11": the number of the beat and the moment in ms.
  std::string arrived() const {
    std::string words;
    for (const auto& [when, packet] : arrivals) {
      const auto ms = std::chrono::duration_cast<milliseconds>(when.time_since_epoch()).count();
      const auto* frame = std::get_if<Frame>(&packet.content);
      words += (words.empty() ? "" : " ") +
               (frame == nullptr ? std::string("end")
                                 : std::to_string(std::get<Heartbeat>(frame->body).sequence)) +
               "@" + std::to_string(ms);
    }
    return words;
  }

  std::vector<std::pair<Instant, Packet>> arrivals;
  Network network;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_frame_arrives_after_the_latency) {
  Net net({.latency = milliseconds(5)});
  BOOST_TEST(net.send(10, 1));
  BOOST_TEST(net.arrived() == "1@15");
  BOOST_TEST(net.network.is_current(net.arrivals[0].second));
}

BOOST_AUTO_TEST_CASE(without_a_connection_nothing_is_sent) {
  Net net;
  BOOST_TEST(!net.send(10, 1, 0, 2));
  BOOST_TEST(net.arrived() == "");
}

BOOST_AUTO_TEST_CASE(with_jitter_frames_stay_in_order) {
  Net net({.latency = milliseconds(1), .jitter = milliseconds(50)});
  for (int i = 0; i < 200; ++i) net.send(i, static_cast<uint64_t>(i));
  for (size_t i = 0; i < net.arrivals.size(); ++i) {
    const auto& frame = std::get<Frame>(net.arrivals[i].second.content);
    BOOST_TEST(std::get<Heartbeat>(frame.body).sequence == i);
    if (i > 0) BOOST_TEST((net.arrivals[i].first >= net.arrivals[i - 1].first));
  }
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_arrivals) {
  const NetworkOptions options{.jitter = milliseconds(50), .loss = 0.2, .duplicate = 0.2};
  const auto arrived = [&](uint64_t seed) {
    Net net(options, seed);
    for (int i = 0; i < 100; ++i) net.send(i, static_cast<uint64_t>(i));
    return net.arrived();
  };
  BOOST_TEST(arrived(1) == arrived(1));
  BOOST_TEST(arrived(1) != arrived(2));
}

BOOST_AUTO_TEST_CASE(a_lost_frame_looks_sent) {
  Net net({.loss = 1});
  BOOST_TEST(net.send(10, 1));
  BOOST_TEST(net.arrived() == "");
}

BOOST_AUTO_TEST_CASE(a_duplicate_comes_later) {
  Net net({.latency = milliseconds(1), .duplicate = 1});
  net.send(10, 1);
  BOOST_REQUIRE(net.arrivals.size() == 2u);
  BOOST_TEST((net.arrivals[0].first > net.arrivals[1].first));
}

BOOST_AUTO_TEST_CASE(the_next_frame_of_a_kind_can_be_dropped) {
  Net net({.latency = milliseconds(1)});
  net.network.drop_next(FrameType::kHeartbeat, 0, 1);
  net.network.drop_next(FrameType::kElection, 0, 1);
  BOOST_TEST(net.send(10, 1));
  net.send(11, 2);
  BOOST_TEST(net.arrived() == "2@12");
}

// --- cuts ---

BOOST_AUTO_TEST_CASE(what_is_cut_stalls_and_goes_on_when_it_is_healed) {
  Net net({.latency = milliseconds(1)});
  net.network.cut(0, 1);
  BOOST_TEST(net.send(10, 1));
  BOOST_TEST(net.network.is_stalled(0, 1));
  BOOST_TEST(net.arrived() == "");
  net.network.heal(at(50), 0, 1);
  BOOST_TEST(!net.network.is_stalled(0, 1));
  BOOST_TEST(net.arrived() == "1@51");
}

BOOST_AUTO_TEST_CASE(a_cut_has_one_direction) {
  Net net({.latency = milliseconds(1)});
  net.network.cut(0, 1);
  BOOST_TEST(!net.network.is_path_open(0, 1));
  BOOST_TEST(net.network.is_path_open(1, 0));
  net.send(10, 1, 1, 0);
  BOOST_TEST(net.arrived() == "1@11");
}

BOOST_AUTO_TEST_CASE(what_stalls_is_lost_with_its_connection) {
  Net net;
  net.network.cut(0, 1);
  net.send(10, 1);
  net.network.close(0, 1);
  net.network.close(1, 0);
  net.network.connect(0, 1);
  net.network.heal(at(50), 0, 1);
  BOOST_TEST(net.arrived() == "");
}

// --- what is held back ---

BOOST_AUTO_TEST_CASE(what_is_held_arrives_when_it_is_released_whatever_became_of_its_connection) {
  Net net({.latency = milliseconds(1)});
  net.network.hold(0, 1);
  net.send(10, 1);
  net.network.close(0, 1);
  net.network.close(1, 0);
  net.network.release(at(50), 0, 1);
  BOOST_TEST(net.arrived() == "1@51");
  BOOST_TEST(net.network.is_current(net.arrivals[0].second));
}

BOOST_AUTO_TEST_CASE(after_the_release_frames_pass_again) {
  Net net({.latency = milliseconds(1)});
  net.network.hold(0, 1);
  net.network.release(at(50), 0, 1);
  net.send(60, 2);
  BOOST_TEST(net.arrived() == "2@61");
}

// --- connections that end ---

BOOST_AUTO_TEST_CASE(what_is_in_flight_is_not_current_once_its_connection_has_ended) {
  Net net;
  net.send(10, 1);
  net.network.close(1, 0);
  BOOST_TEST(!net.network.is_current(net.arrivals[0].second));
  BOOST_TEST(!net.network.is_connected(0, 1));
}

BOOST_AUTO_TEST_CASE(each_end_closes_by_itself) {
  Net net({.latency = milliseconds(1)});
  net.network.close(0, 1);
  BOOST_TEST(!net.network.is_open(0, 1));
  BOOST_TEST(net.network.is_open(1, 0));  // nobody has told it
  BOOST_TEST(net.send(10, 7, 1, 0));
  BOOST_REQUIRE(net.arrivals.size() == 1u);
  const Packet lost = net.arrivals[0].second;
  BOOST_TEST(!net.network.is_current(lost));
  net.network.answer_with_reset(at(11), lost);
  BOOST_TEST(net.arrived() == "7@11 end@12");
  BOOST_TEST(net.network.is_current(net.arrivals[1].second));
}

BOOST_AUTO_TEST_CASE(a_host_without_power_neither_receives_nor_answers) {
  Net net({.latency = milliseconds(1)});
  net.network.set_power(at(10), 1, false);
  BOOST_TEST(!net.network.is_path_open(0, 1));
  BOOST_TEST(!net.network.is_path_open(1, 0));
  BOOST_TEST(net.network.is_path_open(0, 2));
  BOOST_TEST(net.send(10, 1));
  BOOST_TEST(net.network.is_stalled(0, 1));
  net.network.heal(at(20), 0, 1);  // it was no cut
  BOOST_TEST(net.arrived() == "");
  net.network.set_power(at(50), 1, true);
  BOOST_TEST(net.arrived() == "1@51");
}

BOOST_AUTO_TEST_CASE(what_is_in_flight_is_not_read_over_the_next_connection) {
  Net net;
  net.send(10, 1);
  net.network.close(0, 1);
  net.network.close(1, 0);
  net.network.connect(0, 1);
  BOOST_TEST(!net.network.is_current(net.arrivals[0].second));
}

BOOST_AUTO_TEST_CASE(who_dies_is_read_to_the_end_and_then_its_connection_closes) {
  Net net({.latency = milliseconds(1)});
  net.send(10, 1);
  net.network.finish(at(10), 0, 1);
  BOOST_TEST(net.arrived() == "1@11 end@11");
  BOOST_TEST(net.network.is_current(net.arrivals[0].second));
  BOOST_TEST(net.network.is_open(1, 0));  // it has not read the end yet
  BOOST_TEST(!net.send(10, 2));
}

BOOST_AUTO_TEST_CASE(more_processes_leave_connections_as_they_are) {
  Net net;
  net.network.cut(1, 0);
  net.network.resize(7);
  BOOST_TEST(net.network.is_connected(0, 1));
  BOOST_TEST(!net.network.is_path_open(1, 0));
  BOOST_TEST(!net.network.is_connected(0, 6));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::simulator
