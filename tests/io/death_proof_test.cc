// When the end of a process is proven, and, as important, when it is not.
#include "io/peers/death_proof.hh"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "relay.hh"
#include "sample_frames.hh"
#include "transport_harness.hh"

namespace bellwether::io::test {
namespace {

using std::chrono::milliseconds;
using Verdict = DeathWatch::Verdict;

const Life kLife{.boot = 7, .name = "n0"};
const Life kLater{.boot = 8, .name = "n0"};
const Life kNamesake{.boot = 7, .name = "n1"};
constexpr Instant kStart{std::chrono::seconds(100)};

SocketAddress address(const std::string& host, uint16_t port = 7946) {
  return *SocketAddress::from_numeric({host, port});
}

const SocketAddress kHere = address("127.0.0.1");
const SocketAddress kElsewhere = address("127.0.0.1", 7947);

// A peer that was dialled, answered, and has ended its connection.
DeathWatch ended_watch() {
  DeathWatch watch;
  watch.on_answer(kHere, kLife);
  watch.on_link(kLife, true);
  watch.on_ended_by_peer();
  return watch;
}

// What two refusals, far enough apart, say.
Verdict after_two(DeathWatch& watch, const SocketAddress& where = kHere) {
  watch.on_refused(where, kStart);
  return watch.on_refused(where, kStart + DeathWatch::kRefusedFor);
}

bool has_told_of(const Process& process, const Uuid& peer) {
  return std::ranges::find(process.downs, peer, &Process::Down::peer) != process.downs.end();
}

using Down = Process::Down;
constexpr auto kDoubt = &std::pair<Uuid, ProofDoubt>::second;

// Processes of which the first believes in proofs; the other can be ended.
struct Witness {
  Loop loop;
  Resolver resolver{loop};
  Process witness;
  Process peer{loop, resolver, 2};

  explicit Witness(DeathProof accepted = DeathProof::kAuto)
      : witness(loop, resolver, 1,
                TransportSettings{.boot = 1, .listen = {"127.0.0.1", 0}, .death_proof = accepted}) {
  }
  bool run_until(const std::function<bool()>& condition) {
    return test::run_until(loop, condition);
  }
  void link(Process& from, Process& to) {
    from.look_for({to.place()});
    BOOST_REQUIRE(
        run_until([&] { return witness.is_linked_to(peer) && peer.is_linked_to(witness); }));
    witness.transport().set_members({peer.address()});
  }
  // Both are linked to the witness before.
  void end_together_with(Process& third) {
    witness.look_for({peer.place(), third.place()});
    BOOST_REQUIRE(
        run_until([&] { return witness.is_linked_to(peer) && witness.is_linked_to(third); }));
    witness.transport().set_members({peer.address(), third.address()});
    peer.end();
    third.end();
  }
  // Everything that is on its way has arrived, over all connections.
  void settle() {
    for (int i = 0; i < 3; ++i) {
      const size_t before = witness.received.size();
      peer.send(witness, heartbeat());
      BOOST_REQUIRE(run_until([&] { return witness.received.size() > before; }));
    }
  }
  bool is_proven() const { return std::ranges::any_of(witness.downs, &Process::Down::is_proof); }
  // Until its port has refused for long enough for any proof: each of further processes that are
  // said to be there is told as gone by another refusal.
  void await_refusals() { await_refusals(peer.place()); }
  void await_refusals(const HostPort& place) {
    for (uint8_t other = 10; other < 16; ++other) {
      witness.transport().set_members({{peer.id(), place}, {id_of(other), place}});
      BOOST_REQUIRE(run_until([&] { return has_told_of(witness, id_of(other)); }));
    }
  }
};

// One that does not ask the kernel.
struct FarWitness : Witness {
  FarWitness() : Witness(DeathProof::kRefused) {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(death_proof)

BOOST_AUTO_TEST_CASE(its_fin_and_two_refusals_apart_are_a_proof_once) {
  DeathWatch watch = ended_watch();
  BOOST_TEST((watch.on_refused(kHere, kStart) == Verdict::kAskAgain));
  const Instant too_soon = kStart + DeathWatch::kRefusedFor - Duration(1);
  BOOST_TEST((watch.on_refused(kHere, too_soon) == Verdict::kAskAgain));
  const Instant later = kStart + DeathWatch::kRefusedFor;
  BOOST_TEST((watch.on_refused(kHere, later) == Verdict::kProof));
  BOOST_TEST((watch.on_refused(kHere, later + milliseconds(5)) == Verdict::kNone));
}

BOOST_AUTO_TEST_CASE(its_fin_and_a_place_where_nobody_listens_are_a_proof_once) {
  DeathWatch watch = ended_watch();
  BOOST_TEST(!watch.is_awaited(kElsewhere));
  BOOST_TEST(watch.is_awaited(kHere));
  watch.on_proven();
  BOOST_TEST(!watch.is_awaited(kHere));
}

BOOST_AUTO_TEST_CASE(a_link_that_was_not_ended_by_the_peer_proves_nothing) {
  DeathWatch watch;
  watch.on_answer(kHere, kLife);
  watch.on_link(kLife, true);
  BOOST_TEST((after_two(watch) == Verdict::kNone));
}

BOOST_AUTO_TEST_CASE(a_link_that_may_prove_nothing_makes_every_proof_void) {
  DeathWatch watch;
  watch.on_answer(kHere, kLife);
  watch.on_link(kLife, false);
  watch.on_ended_by_peer();
  BOOST_TEST((after_two(watch) == Verdict::kNone));
  BOOST_TEST(!watch.is_sought());
}

BOOST_AUTO_TEST_CASE(both_ends_of_a_connection_name_the_same_two_sockets) {
  const ConnectionEnds ours{
      .here = "127.0.0.1:1", .there = "127.0.0.1:2", .machine = 3, .network = 4};
  const ConnectionEnds theirs{
      .here = "127.0.0.1:2", .there = "127.0.0.1:1", .machine = 3, .network = 4};
  BOOST_TEST(is_direct(ours, theirs, DeathProof::kAuto));
  BOOST_TEST(is_direct(ours, theirs, DeathProof::kRefused));
  const auto is_doubted = [&](const auto& change) {
    ConnectionEnds others = theirs;
    change(others);
    return !is_direct(ours, others, DeathProof::kAuto);
  };
  BOOST_TEST(is_doubted([](ConnectionEnds& ends) { ends = {}; }));
  BOOST_TEST(is_doubted([](ConnectionEnds& ends) { ends.here = "127.0.0.1:5"; }));
  BOOST_TEST(is_doubted([](ConnectionEnds& ends) { ends.there = "127.0.0.1:5"; }));
  BOOST_TEST(is_doubted([](ConnectionEnds& ends) { ends.machine = 5; }));
  BOOST_TEST(is_doubted([](ConnectionEnds& ends) { ends.network = 5; }));
  BOOST_TEST(!is_direct({}, {}, DeathProof::kRefused));
}

BOOST_AUTO_TEST_CASE(what_is_not_known_is_nobodys_network) {
  ConnectionEnds ours{.here = "127.0.0.1:1", .there = "127.0.0.1:2"};
  ConnectionEnds theirs{.here = "127.0.0.1:2", .there = "127.0.0.1:1"};
  BOOST_TEST(!is_direct(ours, theirs, DeathProof::kAuto));
  ours.machine = theirs.machine = 1;
  BOOST_TEST(!is_direct(ours, theirs, DeathProof::kAuto));
  // On another host the operator vouches for the network.
  BOOST_TEST(is_direct(ours, theirs, DeathProof::kRefused));
}

BOOST_AUTO_TEST_CASE(a_port_where_this_life_never_answered_proves_nothing) {
  DeathWatch never;
  never.on_link(kLife, true);
  never.on_ended_by_peer();
  BOOST_TEST(never.is_sought());
  BOOST_TEST((after_two(never) == Verdict::kNone));

  DeathWatch life_before;
  life_before.on_answer(kHere, kLife);
  life_before.on_link(kLater, true);
  life_before.on_ended_by_peer();
  BOOST_TEST(life_before.is_sought());
  BOOST_TEST((after_two(life_before) == Verdict::kNone));

  DeathWatch other_name;
  other_name.on_answer(kHere, kNamesake);
  other_name.on_link(kLife, true);
  other_name.on_ended_by_peer();
  BOOST_TEST(other_name.is_sought());
  BOOST_TEST((after_two(other_name) == Verdict::kNone));

  DeathWatch other_port = ended_watch();
  BOOST_TEST((after_two(other_port, kElsewhere) == Verdict::kNone));

  DeathWatch somebody_else = ended_watch();
  somebody_else.forget(kElsewhere);
  BOOST_TEST(!somebody_else.is_sought());
  somebody_else.forget(kHere);
  BOOST_TEST((after_two(somebody_else) == Verdict::kNone));
}

BOOST_AUTO_TEST_CASE(who_listens_in_between_starts_it_over) {
  DeathWatch watch = ended_watch();
  watch.on_refused(kHere, kStart);
  watch.on_accepted(kHere);
  const Instant later = kStart + DeathWatch::kRefusedFor;
  BOOST_TEST((watch.on_refused(kHere, later) == Verdict::kAskAgain));
  BOOST_TEST((watch.on_refused(kHere, later + DeathWatch::kRefusedFor) == Verdict::kProof));
}

BOOST_AUTO_TEST_CASE(a_new_link_has_a_proof_of_its_own) {
  DeathWatch watch = ended_watch();
  BOOST_REQUIRE((after_two(watch) == Verdict::kProof));
  watch.on_link(kLater, true);
  watch.on_ended_by_peer();
  BOOST_TEST((after_two(watch) == Verdict::kNone));
  watch.on_answer(kHere, kLater);
  BOOST_TEST((after_two(watch) == Verdict::kProof));
}

BOOST_AUTO_TEST_CASE(only_loopback_is_believed_unless_the_operator_says_more) {
  for (const std::string host : {"127.0.0.1", "127.9.9.9", "::1"}) {
    BOOST_TEST(is_telling(address(host), DeathProof::kAuto));
    BOOST_TEST(!is_telling(address(host), DeathProof::kNone));
  }
  for (const std::string host : {"10.0.0.1", "fe80::1"}) {
    BOOST_TEST(!is_telling(address(host), DeathProof::kAuto));
    BOOST_TEST(is_telling(address(host), DeathProof::kRefused));
  }
}

BOOST_FIXTURE_TEST_CASE(the_end_of_a_peer_that_was_dialled_is_proven, Witness) {
  link(witness, peer);
  peer.end();
  BOOST_REQUIRE(run_until([&] { return is_proven(); }));
  BOOST_REQUIRE(witness.downs.size() == 3u);
  BOOST_TEST((witness.downs[0].evidence == LinkEvidence::kClosed));
  BOOST_TEST((witness.downs[1].evidence == LinkEvidence::kRefused));
  BOOST_TEST(!witness.downs[1].is_proof);
  BOOST_TEST((witness.downs[2].evidence == LinkEvidence::kRefused));
  BOOST_TEST((witness.downs[2].peer == peer.id()));
}

BOOST_FIXTURE_TEST_CASE(a_peer_that_has_dialled_is_asked_where_it_listens, Witness) {
  link(peer, witness);
  // To dial, to be linked, and to answer.
  BOOST_REQUIRE(run_until([&] { return peer.greetings == 3; }));
  settle();
  // Neither side has taken it for a link.
  BOOST_TEST(witness.ups.size() == 1u);
  BOOST_TEST(peer.ups.size() == 1u);
  BOOST_TEST(witness.downs.empty());
  BOOST_TEST(peer.downs.empty());
  peer.end();
  BOOST_TEST(run_until([&] { return is_proven(); }));
  BOOST_TEST(peer.greetings == 3);  // once is enough
}

BOOST_FIXTURE_TEST_CASE(a_peer_that_says_it_is_where_another_one_is_is_not_proven_dead, Witness) {
  Process other(loop, resolver, 3);
  peer.advertised = other.place().text();
  peer.look_for({witness.place()});
  BOOST_REQUIRE(run_until([&] { return witness.is_linked_to(peer); }));
  witness.transport().set_members({{peer.id(), other.place()}});
  BOOST_REQUIRE(run_until([&] { return other.greetings > 0; }));
  settle();
  peer.end();
  other.end();
  await_refusals();
  BOOST_TEST(!is_proven());
}

// Ids and lives are told to everybody; only a name can be bound to a certificate.
struct Fraud : Witness {
  Process fraud{loop, resolver, 2};  // the id of the peer

  Fraud() { fraud.name = "fraud"; }
  void meet_fraud(const std::string& known_as) {
    witness.transport().set_members({{peer.id(), fraud.place(), known_as}});
    BOOST_REQUIRE(run_until([&] { return witness.is_linked_to(fraud); }));
    fraud.end();
    BOOST_REQUIRE(run_until([&] { return !witness.is_linked_to(fraud); }));
  }
};

BOOST_FIXTURE_TEST_CASE(where_another_name_answered_with_its_id_no_end_is_proven, Fraud) {
  meet_fraud(fraud.name);
  peer.look_for({witness.place()});
  BOOST_REQUIRE(
      run_until([&] { return witness.is_linked_to(peer) && peer.is_linked_to(witness); }));
  witness.downs.clear();
  peer.look_for({});
  peer.transport().end_link(witness.id());  // as for one by a newer certificate
  BOOST_REQUIRE(run_until([&] { return !witness.downs.empty(); }));
  await_refusals(fraud.place());
  BOOST_TEST(!is_proven());
}

BOOST_FIXTURE_TEST_CASE(the_end_of_another_name_with_its_id_does_not_prove_its_own, Fraud) {
  meet_fraud(peer.name);
  await_refusals(fraud.place());
  BOOST_TEST(!is_proven());
}

BOOST_FIXTURE_TEST_CASE(no_end_is_proven_of_a_peer_behind_a_proxy_and_that_is_told_once, Witness) {
  Relay relay(peer.place().port);
  witness.look_for({relay.place()});
  BOOST_REQUIRE(
      run_until([&] { return witness.is_linked_to(peer) && peer.is_linked_to(witness); }));
  BOOST_REQUIRE(run_until([&] { return !witness.doubts.empty(); }));
  relay.end();
  peer.end();  // or it would dial by itself, with nobody between
  await_refusals(relay.place());
  BOOST_TEST(!is_proven());
  BOOST_TEST(witness.doubts.size() == 1u);
  BOOST_TEST((witness.doubts.front() == std::pair(peer.id(), ProofDoubt::kBetween)));
}

// Nor that it is gone at all: under guard "none" that alone would cost a leader.
BOOST_FIXTURE_TEST_CASE(what_a_proxy_refuses_says_nothing_of_the_peer_behind_it, Witness) {
  Relay relay(peer.place().port);
  witness.look_for({relay.place()});
  BOOST_REQUIRE(
      run_until([&] { return witness.is_linked_to(peer) && peer.is_linked_to(witness); }));
  relay.end();
  peer.end();
  await_refusals(relay.place());
  const auto is_refusal = [&](const Process::Down& down) {
    return down.peer == peer.id() && down.evidence == LinkEvidence::kRefused;
  };
  BOOST_TEST(std::ranges::none_of(witness.downs, is_refusal));
}

BOOST_FIXTURE_TEST_CASE(a_place_that_was_found_through_a_proxy_proves_nothing, Witness) {
  Relay relay(peer.place().port);
  peer.advertised = relay.place().text();
  peer.look_for({witness.place()});
  BOOST_REQUIRE(run_until([&] { return witness.is_linked_to(peer); }));
  witness.transport().set_members({{peer.id(), relay.place()}});
  BOOST_REQUIRE(run_until([&] { return !witness.doubts.empty(); }));
  relay.end();
  peer.end();
  await_refusals(relay.place());
  BOOST_TEST(!is_proven());
}

BOOST_FIXTURE_TEST_CASE(two_refusals_are_a_proof_where_the_operator_says_so, FarWitness) {
  link(witness, peer);
  peer.end();
  BOOST_TEST(run_until([&] { return is_proven(); }));
}

// It is not guessed from what happens to connections.
BOOST_FIXTURE_TEST_CASE(all_that_end_at_once_are_proven_by_the_kernel, Witness) {
  Process third(loop, resolver, 3);
  end_together_with(third);
  BOOST_TEST(
      run_until([&] { return std::ranges::count(witness.downs, true, &Down::is_proof) == 2; }));
  BOOST_TEST(witness.doubts.empty());
}

BOOST_FIXTURE_TEST_CASE(when_all_end_at_once_no_end_is_proven, FarWitness) {
  Process third(loop, resolver, 3);
  end_together_with(third);
  BOOST_TEST(run_until([&] {
    return is_proven() || std::ranges::count(witness.doubts, ProofDoubt::kTogether, kDoubt) == 2;
  }));
  BOOST_TEST(!is_proven());
}

BOOST_FIXTURE_TEST_CASE(one_end_is_proven_while_another_peer_stays, Witness) {
  Process third(loop, resolver, 3);
  witness.look_for({peer.place(), third.place()});
  BOOST_REQUIRE(
      run_until([&] { return witness.is_linked_to(peer) && witness.is_linked_to(third); }));
  witness.transport().set_members({peer.address(), third.address()});
  peer.end();
  BOOST_TEST(run_until([&] { return is_proven(); }));
  BOOST_TEST(witness.doubts.empty());
}

BOOST_FIXTURE_TEST_CASE(no_end_is_proven_of_a_peer_whose_flag_may_outlive_it, Witness) {
  peer.is_flag_robust = false;
  link(witness, peer);
  peer.end();
  await_refusals();
  BOOST_TEST(!is_proven());
}

BOOST_FIXTURE_TEST_CASE(without_the_guard_nothing_is_proven_and_nobody_is_asked, Pair) {
  b.look_for({a.place()});
  BOOST_REQUIRE(are_linked());
  a.transport().set_members({b.address()});
  b.end();
  for (uint8_t other = 10; other < 16; ++other) {
    a.transport().set_members({b.address(), {id_of(other), b.place()}});
    BOOST_REQUIRE(run_until([&] { return has_told_of(a, id_of(other)); }));
  }
  BOOST_TEST(std::ranges::none_of(a.downs, &Process::Down::is_proof));
  BOOST_TEST(b.greetings == 2);  // to dial, and to be linked
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
