// Links between processes that keep the rules: how they come about, and how they end.
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <thread>

#include "io/loop/timer.hh"
#include "io/names/listening.hh"
#include "io/names/socket_address.hh"
#include "io/peers/link_rules.hh"
#include "sample_frames.hh"
#include "transport_harness.hh"

namespace bellwether::io::test {
namespace {

// As its sender's owner said it.
Greeting without_ends(Greeting greeting) {
  greeting.ends = {};
  greeting.is_tentative = false;
  greeting.takes_tls = false;
  return greeting;
}

struct Group : Pair {
  // Whatever is still on its way has arrived.
  void settle() {
    const auto arrived = [&](Process& from, Process& to) {
      const size_t before = to.received.size();
      return from.send(to, heartbeat()).is_delivered &&
             run_until([&] { return to.received.size() > before; });
    };
    BOOST_TEST(arrived(a, b));
    BOOST_TEST(arrived(b, a));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(transport_link, Group)

BOOST_AUTO_TEST_CASE(who_dials_is_linked_and_so_is_who_is_dialled) {
  a.look_for({b.place()});
  BOOST_REQUIRE(are_linked());
  BOOST_TEST(is_same_pair(a.ups.at(0).ends, b.ups.at(0).ends));
  BOOST_TEST(is_same_network(a.ups.at(0).ends, b.ups.at(0).ends));
  BOOST_TEST((without_ends(a.ups.at(0)) == b.greeting()));
  BOOST_TEST((without_ends(b.ups.at(0)) == a.greeting()));
}

BOOST_AUTO_TEST_CASE(it_is_known_what_the_own_hello_has_told) {
  Pair pair;
  pair.a.revision = 1;
  pair.b.revision = 3;
  pair.a.look_for({pair.b.place()});
  BOOST_TEST_REQUIRE(pair.run_until([&] { return pair.a.greetings > 0; }));
  pair.a.revision = 2;
  BOOST_TEST_REQUIRE(pair.are_linked());
  BOOST_TEST(pair.a.facts.back().told == 1u);
  BOOST_TEST(pair.b.ups.back().hello.self.revision == 1u);
  BOOST_TEST(pair.b.facts.back().told == 3u);
}

BOOST_AUTO_TEST_CASE(frames_go_both_ways_with_their_sizes) {
  a.look_for({b.place()});
  BOOST_REQUIRE(are_linked());
  std::vector<Frame> frames = sample_frames();
  std::vector<size_t> sizes;
  for (const Frame& frame : frames) {
    const Sent sent = a.send(b, frame);
    BOOST_TEST(sent.is_delivered);
    BOOST_TEST(sent.bytes == encoded(frame).size());
    sizes.push_back(sent.bytes);
    // More than waits for the peer unread would have the heartbeats among them dropped.
    BOOST_REQUIRE(run_until([&] { return b.received.size() == sizes.size(); }));
  }
  for (size_t i = 0; i < frames.size(); ++i) {
    BOOST_TEST((b.received[i].from == a.id()));
    BOOST_TEST(is_same(b.received[i].frame, frames[i]));
    BOOST_TEST(b.received[i].bytes == sizes[i]);
  }
  BOOST_TEST(b.send(a, heartbeat()).is_delivered);
  BOOST_TEST(run_until([&] { return a.received.size() == 1; }));
}

BOOST_AUTO_TEST_CASE(nothing_is_delivered_without_a_link) {
  const Sent sent = a.send(b, heartbeat());
  BOOST_TEST(!sent.is_delivered);
  BOOST_TEST(sent.bytes == 0u);
}

BOOST_AUTO_TEST_CASE(two_that_dial_each_other_keep_one_connection_and_can_talk) {
  for (int round = 0; round < 20; ++round) {
    Process c(loop, resolver, 3);
    Process d(loop, resolver, 4);
    c.look_for({d.place()});
    d.look_for({c.place()});
    const auto talked = [&] {
      c.send(d, heartbeat());
      d.send(c, heartbeat());
      return !c.received.empty() && !d.received.empty() && c.is_linked_to(d) && d.is_linked_to(c);
    };
    BOOST_REQUIRE(run_until(talked));
    const size_t ups = c.ups.size() + d.ups.size();
    c.received.clear();
    d.received.clear();
    BOOST_REQUIRE(run_until(talked));
    // It stays that way: one link each, and no dialling goes on.
    BOOST_TEST(c.ups.size() + d.ups.size() == ups);
    BOOST_TEST(c.ups.size() == c.downs.size() + 1);
    BOOST_TEST(d.ups.size() == d.downs.size() + 1);
    BOOST_TEST(c.rejected.empty());
    BOOST_TEST(d.rejected.empty());
  }
}

BOOST_AUTO_TEST_CASE(three_that_dial_each_other_by_all_their_addresses_are_all_linked) {
  Process c(loop, resolver, 3);
  const std::vector<Process*> all{&a, &b, &c};
  for (Process* process : all) {
    process->look_for({a.place(), b.place(), c.place()});
    process->transport().set_members({a.address(), b.address(), c.address()});
  }
  BOOST_TEST(run_until([&] {
    return a.is_linked_to(b) && a.is_linked_to(c) && b.is_linked_to(a) && b.is_linked_to(c) &&
           c.is_linked_to(a) && c.is_linked_to(b);
  }));
  for (Process* process : all) BOOST_TEST(process->rejected.empty());
}

BOOST_AUTO_TEST_CASE(a_member_is_dialled_where_it_says_that_it_is) {
  a.transport().set_members({a.address(), b.address()});
  BOOST_TEST(are_linked());
}

BOOST_AUTO_TEST_CASE(the_end_of_a_process_is_told_as_closed_and_then_as_refused_once) {
  a.look_for({b.place()});
  a.transport().set_members({b.address()});
  BOOST_REQUIRE(are_linked());
  b.end();
  BOOST_REQUIRE(run_until([&] { return a.downs.size() >= 2; }));
  BOOST_TEST((a.downs[0].evidence == LinkEvidence::kClosed));
  BOOST_TEST((a.downs[1].evidence == LinkEvidence::kRefused));
  BOOST_TEST((a.downs[1].peer == b.id()));
  // The tries that follow are refused too, as others show that are said to be there.
  for (uint8_t other = 10; other < 13; ++other) {
    a.transport().set_members({b.address(), {id_of(other), b.place()}});
    BOOST_REQUIRE(run_until([&] { return a.downs.back().peer == id_of(other); }));
  }
  BOOST_TEST(std::ranges::count(a.downs, b.id(), &Process::Down::peer) == 2);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_process_that_has_dialled_us_is_refused_at_its_own_address) {
  b.look_for({a.place()});
  BOOST_REQUIRE(are_linked());
  a.transport().set_members({b.address()});
  settle();
  b.end();
  BOOST_REQUIRE(run_until([&] { return a.downs.size() == 2; }));
  BOOST_TEST((a.downs[0].evidence == LinkEvidence::kClosed));
  BOOST_TEST((a.downs[1].evidence == LinkEvidence::kRefused));
}

BOOST_AUTO_TEST_CASE(a_voter_is_looked_for_where_another_member_says_that_it_is) {
  a.transport().set_security({.tls = nullptr, .voters = {{b.name, b.place()}}});
  Process liar(loop, resolver, 3);
  liar.advertised = b.place().text();
  liar.look_for({a.place()});
  BOOST_REQUIRE(run_until([&] { return a.is_linked_to(liar); }));
  a.look_for({b.place()});
  BOOST_TEST(are_linked());
  BOOST_TEST(a.is_linked_to(liar));
}

BOOST_AUTO_TEST_CASE(a_voters_address_that_leads_to_this_process_is_told_and_answers_for_nobody) {
  a.transport().set_security(
      {.tls = nullptr, .voters = {{a.name, b.place()}, {b.name, a.place()}}});
  a.look_for({a.place()});
  BOOST_TEST(run_until([&] { return a.count_rejected(Rejection::kOwnId) == 1; }));
  BOOST_TEST(a.rejected.back().second.find(b.name) != std::string::npos);
  Process c(loop, resolver, 3);  // for which it looks again who has answered
  c.look_for({a.place()});
  BOOST_TEST(run_until([&] { return a.is_linked_to(c) && c.all_answered == 1; }));
  BOOST_TEST(a.all_answered == 0);
  a.transport().set_security(
      {.tls = nullptr, .voters = {{a.name, a.place()}, {b.name, b.place()}}});
  a.look_for({a.place(), b.place()});
  BOOST_TEST(run_until([&] { return a.all_answered == 1; }));
  BOOST_TEST(a.count_rejected(Rejection::kOwnId) == 1u);
}

// An id is told to everybody.
BOOST_AUTO_TEST_CASE(who_has_a_voter_s_id_and_not_its_name_does_not_move_it) {
  a.transport().set_security({.tls = nullptr, .voters = {{b.name, b.place()}}});
  a.transport().set_members({{b.id(), b.place(), b.name}});
  b.end();
  Process liar(loop, resolver, 2, 2);
  liar.name = "liar";
  liar.look_for({a.place()});
  BOOST_REQUIRE(run_until([&] { return a.is_linked_to(liar); }));
  liar.end();
  BOOST_REQUIRE(run_until([&] { return !a.is_linked_to(b.id()); }));
  Process again(loop, resolver, 2, 1, b.place().port);
  BOOST_TEST(run_until([&] { return a.is_linked_to(again); }));
}

BOOST_AUTO_TEST_CASE(a_member_that_was_never_reached_is_refused) {
  const Uuid unknown = id_of(9);
  const HeldPort nobody;
  a.transport().set_members({{unknown, nobody.place()}});
  BOOST_REQUIRE(run_until([&] { return !a.downs.empty(); }));
  BOOST_TEST((a.downs[0].peer == unknown));
  BOOST_TEST((a.downs[0].evidence == LinkEvidence::kRefused));
}

BOOST_AUTO_TEST_CASE(a_new_life_is_found_by_itself_and_can_be_refused_again) {
  a.look_for({b.place()});
  a.transport().set_members({b.address()});
  BOOST_REQUIRE(are_linked());
  const uint16_t port = b.place().port;
  b.end();
  BOOST_REQUIRE(run_until([&] { return a.count_down(LinkEvidence::kRefused) == 1; }));
  Process again(loop, resolver, 2, 2, port);
  BOOST_REQUIRE(run_until([&] { return a.is_linked_to(again) && again.is_linked_to(a); }));
  BOOST_TEST(a.ups.back().hello.self.boot == 2u);
  again.end();
  BOOST_TEST(run_until([&] { return a.count_down(LinkEvidence::kRefused) == 2; }));
}

// Members of hearsay are dialled ever more rarely when there are many: here every 15 s.
BOOST_AUTO_TEST_CASE(
    a_peer_that_dials_is_looked_for_where_it_listens_however_long_that_was_in_vain) {
  TransportSettings settings{.boot = 7, .listen = {"127.0.0.1", 0}};
  settings.death_proof = DeathProof::kAuto;
  Process seeker(loop, resolver, 3, settings);
  std::vector<HeldPort> nobody(199);
  std::vector<PeerAddress> members{b.address()};
  for (uint8_t i = 0; i < nobody.size(); ++i) {
    members.push_back({id_of(static_cast<uint8_t>(20 + i)), nobody[i].place()});
  }
  const uint16_t port = b.place().port;
  b.end();
  seeker.transport().set_members(members);
  bool is_rare = false;
  LoopTimer timer(loop, [&] { is_rare = true; });
  timer.arm(std::chrono::seconds(3));
  BOOST_REQUIRE(run_until([&] { return is_rare; }));
  settings.listen.port = port;
  Process again(loop, resolver, 2, settings);
  again.look_for({seeker.place()});
  BOOST_REQUIRE(run_until([&] { return seeker.is_linked_to(again); }));
  // One for the link, one to ask who listens there, and one at the answer.
  BOOST_REQUIRE(run_until([&] { return seeker.greetings == 3; }));
  again.end();
  BOOST_TEST(run_until([&] {
    return std::ranges::any_of(seeker.downs, [](const auto& down) { return down.is_proof; });
  }));
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks_between_living_processes_is_not_refused) {
  RawListener listener;
  a.look_for({listener.place()});
  std::optional<RawSocket> first;
  BOOST_REQUIRE(run_until([&] { return (first = listener.accept()).has_value(); }));
  first->write(hello_of(9));
  BOOST_REQUIRE(run_until([&] { return a.is_linked_to(id_of(9)); }));
  first->abort();
  std::optional<RawSocket> second;
  BOOST_REQUIRE(run_until([&] { return (second = listener.accept()).has_value(); }));
  second->write(hello_of(9));
  BOOST_REQUIRE(run_until([&] { return a.is_linked_to(id_of(9)); }));
  BOOST_TEST(a.downs.size() == 1u);
  BOOST_TEST((a.downs[0].evidence == LinkEvidence::kClosed));
}

// Its kernel keeps no port for it, so that whoever tries again from the same one is refused at
// once.
BOOST_AUTO_TEST_CASE(a_peer_that_has_ended_its_connection_leaves_nothing_in_time_wait) {
  std::optional<RawListener> listener(std::in_place);
  const HostPort place = listener->place();
  a.look_for({place});
  std::optional<RawSocket> peer;
  BOOST_REQUIRE(run_until([&] { return (peer = listener->accept()).has_value(); }));
  peer->write(hello_of(9));
  BOOST_REQUIRE(run_until([&] { return a.is_linked_to(id_of(9)); }));
  // Who closes what was not read aborts the connection.
  BOOST_REQUIRE(run_until([&] { return !peer->has_ended() && !peer->received().empty(); }));
  listener.reset();
  peer.reset();
  BOOST_REQUIRE(run_until([&] { return !a.is_linked_to(id_of(9)); }));
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress address = *SocketAddress::from_numeric(place);
  BOOST_TEST(::bind(socket.get(), address.get(), sizeof(sockaddr_in)) == 0);
}

BOOST_AUTO_TEST_CASE(what_a_process_sends_while_it_closes_arrives_and_then_it_refuses) {
  // With a limit that nobody reaches, however slow the machine is.
  Process c(
      loop, resolver, 3,
      TransportSettings{
          .boot = 1, .listen = {"127.0.0.1", 0}, .limits = {.flush = std::chrono::seconds(10)}});
  a.look_for({c.place()});
  a.transport().set_members({c.address()});
  BOOST_REQUIRE(run_until([&] { return a.is_linked_to(c) && c.is_linked_to(a); }));
  for (int i = 0; i < 20; ++i) BOOST_TEST(c.send(a, long_frame()).is_delivered);
  const Frame leave{{.epoch = 7}, Leave{.boot = 1}};
  BOOST_TEST(c.send(a, leave).is_delivered);
  c.transport().close();
  BOOST_TEST(!c.send(a, heartbeat()).is_delivered);
  BOOST_REQUIRE(run_until([&] { return c.transport().is_closed(); }));
  BOOST_REQUIRE(run_until([&] { return a.count_down(LinkEvidence::kRefused) == 1; }));
  BOOST_REQUIRE(a.received.size() == 21u);
  BOOST_TEST(is_same(a.received.back().frame, leave));
  BOOST_TEST((a.downs[0].evidence == LinkEvidence::kClosed));
  BOOST_TEST(c.downs.empty());
}

BOOST_AUTO_TEST_CASE(closing_does_not_wait_for_a_peer_that_does_not_read) {
  RawSocket silent(a.transport().port(), 4096);
  silent.write(hello_of(9));
  BOOST_REQUIRE(run_until([&] { return a.is_linked_to(id_of(9)); }));
  for (int i = 0; i < 40; ++i) a.transport().send(id_of(9), long_frame());
  a.transport().close();
  BOOST_TEST(run_until([&] { return a.transport().is_closed(); }));
}

BOOST_AUTO_TEST_CASE(a_transport_may_be_closed_by_what_it_tells) {
  a.look_for({b.place()});
  BOOST_REQUIRE(are_linked());
  b.on_received = [&] { b.transport().close(); };
  a.on_down = [&] { a.transport().close(); };
  for (int i = 0; i < 3; ++i) a.send(b, heartbeat());
  BOOST_TEST(run_until([&] { return a.transport().is_closed() && b.transport().is_closed(); }));
  BOOST_TEST(b.received.size() == 1u);
  BOOST_TEST(a.downs.size() == 1u);
}

BOOST_AUTO_TEST_CASE(who_says_that_it_is_everywhere_is_not_looked_for_here) {
  RawSocket peer(a.place().port);
  const HeldPort nobody;
  const HostPort everywhere{"0.0.0.0", nobody.port()};
  peer.write(hello_of(9, 1, "", everywhere.text()));
  BOOST_REQUIRE(run_until([&] { return a.is_linked_to(id_of(9)); }));
  a.transport().set_members({{id_of(9), everywhere}});
  a.look_for({b.place()});
  BOOST_REQUIRE(are_linked());
  settle();
  peer.abort();
  BOOST_REQUIRE(run_until([&] { return !a.is_linked_to(id_of(9)); }));
  settle();
  BOOST_TEST(a.downs.size() == 1u);
}

BOOST_AUTO_TEST_CASE(names_of_the_hosts_file_are_dialled) {
  a.look_for({{"localhost", b.place().port}});
  BOOST_TEST(are_linked());
}

BOOST_AUTO_TEST_CASE(peers_that_dial_each_other_by_ipv6_keep_one_connection) {
  Process c(loop, resolver, 3, 1, 0, "::1");
  Process d(loop, resolver, 4, 1, 0, "::1");
  BOOST_TEST(c.advertised == "[::1]:" + std::to_string(c.place().port));
  for (Process* process : {&c, &d}) {
    process->look_for({c.place(), d.place()});
    process->transport().set_members({c.address(), d.address()});
  }
  const auto talked = [&] {
    c.send(d, heartbeat());
    d.send(c, heartbeat());
    return !c.received.empty() && !d.received.empty() && c.is_linked_to(d) && d.is_linked_to(c);
  };
  BOOST_REQUIRE(run_until(talked));
  BOOST_TEST(run_until([&] { return c.all_answered == 1 && d.all_answered == 1; }));
  BOOST_TEST(c.rejected.empty());
}

BOOST_AUTO_TEST_CASE(a_member_at_an_ipv6_address_is_found_there_and_refused_there_when_it_ends) {
  Process c(loop, resolver, 3, 1, 0, "::1");
  a.transport().set_members({c.address()});
  BOOST_REQUIRE(run_until([&] { return a.is_linked_to(c) && c.is_linked_to(a); }));
  c.end();
  BOOST_REQUIRE(run_until([&] { return a.downs.size() == 2; }));
  BOOST_TEST((a.downs[0].evidence == LinkEvidence::kClosed));
  BOOST_TEST((a.downs[1].evidence == LinkEvidence::kRefused));
  BOOST_TEST((a.downs[1].peer == c.id()));
}

BOOST_AUTO_TEST_CASE(a_socket_for_every_address_takes_both_families) {
  Process c(loop, resolver, 3, 1, 0, "::");
  const uint16_t port = c.place().port;
  c.advertised = HostPort{"localhost", port}.text();
  a.look_for({{"127.0.0.1", port}});
  b.look_for({{"::1", port}});
  BOOST_TEST(run_until([&] { return a.is_linked_to(c) && b.is_linked_to(c); }));
}

BOOST_AUTO_TEST_CASE(an_address_that_is_in_use_is_named) {
  const auto names_it = [&](const AddressError& error) {
    return std::string(error.what())
        .starts_with("node.listen: cannot listen on " + a.place().text() + ": Address already");
  };
  BOOST_CHECK_EXCEPTION(Process(loop, resolver, 3, 1, a.place().port), AddressError, names_it);
  const auto has_remedy = [](const AddressError& error) {
    return std::string(error.what()).ends_with("; give an address of this host");
  };
  BOOST_CHECK_EXCEPTION(Process(loop, resolver, 3, 1, 0, "192.0.2.1"), AddressError, has_remedy);
}

// Seen as a crash on a starved machine: when the pause is over, the end of the connection is
// noticed first, and the limit of its HELLO is over by then.
BOOST_AUTO_TEST_CASE(a_connection_that_ends_while_the_process_is_paused_ends_once) {
  std::optional<RawSocket> silent(a.place().port);  // accepted first
  const RawSocket linked(a.place().port);
  linked.write(hello_of(9));
  BOOST_REQUIRE(run_until([&] { return !a.ups.empty(); }));
  LoopTimer pause(loop, [] { std::this_thread::sleep_for(LinkLimits{}.handshake); });
  pause.arm(Duration::zero());
  silent.reset();
  BOOST_REQUIRE(run_until([&] { return !pause.is_armed(); }));
  b.look_for({a.place()});
  BOOST_TEST(are_linked());
}

BOOST_AUTO_TEST_CASE(a_hello_that_came_while_the_process_was_paused_is_in_time) {
  RawSocket peer(a.place().port);
  uv_run(loop.uv(), UV_RUN_NOWAIT);  // accepts
  peer.write(hello_of(9));
  std::this_thread::sleep_for(LinkLimits{}.handshake + std::chrono::milliseconds(10));
  BOOST_TEST(run_until([&] { return a.is_linked_to(id_of(9)) || peer.has_ended(); }));
  BOOST_TEST(a.is_linked_to(id_of(9)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
