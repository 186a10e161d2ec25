// Links by TLS: who gets one, who does not, and how a running group changes over.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <ctime>
#include <memory>

#include "certificate_maker.hh"
#include "sample_frames.hh"
#include "transport_harness.hh"

namespace bellwether::io::test {
namespace transport_tls {
namespace {

using Context = TlsContextPtr;

Context secret(const std::string& digits = std::string(64, 'a')) {
  return TlsContext::of_members(parse_group_secret(digits, "orders"));
}

LinkSecurity strict(Context tls) { return {.tls = std::move(tls), .takes_plain = false}; }
LinkSecurity permissive(Context tls) { return {.tls = std::move(tls), .takes_plain = true}; }

struct Certificates {
  Authority authority{"one"};

  Context of(const std::vector<std::string>& names,
             std::chrono::seconds ends_in = std::chrono::hours(24), int rsa_bits = 0) const {
    TlsTexts texts;
    authority.issue({.names = names, .ends_in = ends_in, .rsa_bits = rsa_bits}, texts);
    return TlsContext::of_members(parse_certificate_set(texts, {}),
                                  {.members = {"*.orders.shop"}, .hosts = {}, .trust_domain = ""});
  }
};

struct Secured : Pair {
  // Links come from a, which has the lower id.
  void connect(LinkSecurity of_a, LinkSecurity of_b) {
    a.transport().set_security(std::move(of_a));
    b.transport().set_security(std::move(of_b));
    a.look_for({b.place()});
  }
  bool talk() {
    const size_t before = b.received.size();
    return a.send(b, heartbeat()).is_delivered &&
           run_until([&] { return b.received.size() > before; });
  }
  bool is_linked_by(Security security) {
    return run_until([&] {
      return a.is_linked_to(b) && b.is_linked_to(a) && a.facts.back().security == security &&
             b.facts.back().security == security;
    });
  }
};

}  // namespace
}  // namespace transport_tls

BOOST_FIXTURE_TEST_SUITE(transport_tls, transport_tls::Secured)

BOOST_AUTO_TEST_CASE(members_with_the_same_secret_are_linked) {
  connect(strict(secret()), strict(secret()));
  BOOST_TEST(is_linked_by(Security::kSecret));
  BOOST_TEST(talk());
  BOOST_TEST(a.transport().count_links(Security::kSecret) == 1U);
  BOOST_TEST(a.transport().count_links(Security::kPlain) == 0U);
}

BOOST_AUTO_TEST_CASE(members_with_certificates_are_linked_and_known_by_their_names) {
  const Certificates certificates;
  connect(strict(certificates.of({"DNS:node-1.orders.shop"})),
          strict(certificates.of({"DNS:node-2.orders.shop"})));
  BOOST_TEST(is_linked_by(Security::kCertificate));
  BOOST_TEST(a.facts.back().certificate == "node-2.orders.shop");
  BOOST_TEST(b.facts.back().certificate == "node-1.orders.shop");
  BOOST_TEST(a.facts.back().expiry.has_value());
  BOOST_TEST(talk());
}

BOOST_AUTO_TEST_CASE(both_name_the_same_pair_of_sockets_as_without) {
  connect(strict(secret()), strict(secret()));
  BOOST_REQUIRE(are_linked());
  BOOST_TEST(is_same_pair(a.ups.at(0).ends, b.ups.at(0).ends));
}

BOOST_AUTO_TEST_CASE(another_secret_is_refused_and_both_say_why) {
  connect(strict(secret(std::string(64, 'b'))), strict(secret()));
  BOOST_TEST(run_until([&] {
    return b.count_rejected(Rejection::kTlsWrongSecret) > 0 &&
           a.count_rejected(Rejection::kTlsRefused) > 0;
  }));
  BOOST_TEST((a.ups.empty() && b.ups.empty()));
  BOOST_TEST((a.downs.empty() && b.downs.empty()));  // a refusal proves nothing
}

BOOST_AUTO_TEST_CASE(a_stranger_without_tls_is_refused) {
  connect(permissive(nullptr), strict(secret()));
  BOOST_TEST(run_until([&] {
    return b.count_rejected(Rejection::kTlsPlaintext) > 0 &&
           a.count_rejected(Rejection::kBadMagic) > 0;
  }));
  BOOST_TEST(a.rejected.at(0).second ==
             "the peer speaks TLS, but there is no [tls] here; give this side "
             "the same [tls]");
  BOOST_TEST((a.ups.empty() && b.ups.empty()));
}

BOOST_AUTO_TEST_CASE(tls_to_a_plain_port_is_refused_and_both_say_why) {
  connect(strict(secret()), permissive(nullptr));
  BOOST_TEST(run_until([&] {
    return b.count_rejected(Rejection::kBadMagic) > 0 &&
           a.count_rejected(Rejection::kTlsRefused) > 0;
  }));
  BOOST_TEST(b.rejected.at(0).second ==
             "the peer speaks TLS, but there is no [tls] here; give this side "
             "the same [tls]");
}

BOOST_AUTO_TEST_CASE(permissive_is_linked_to_a_plain_peer_whoever_dials) {
  connect(permissive(secret()), permissive(nullptr));
  BOOST_TEST(is_linked_by(Security::kPlain));
  BOOST_TEST(talk());
}

BOOST_AUTO_TEST_CASE(permissive_takes_a_plain_peer_that_dials) {
  connect(permissive(nullptr), permissive(secret()));
  BOOST_TEST(is_linked_by(Security::kPlain));
  BOOST_TEST(talk());
}

BOOST_AUTO_TEST_CASE(two_permissive_ones_use_tls) {
  connect(permissive(secret()), permissive(secret()));
  BOOST_TEST(is_linked_by(Security::kSecret));
}

BOOST_AUTO_TEST_CASE(permissive_and_strict_use_tls) {
  connect(permissive(secret()), strict(secret()));
  BOOST_TEST(is_linked_by(Security::kSecret));
}

BOOST_AUTO_TEST_CASE(a_running_pair_changes_over_and_back) {
  connect(permissive(nullptr), permissive(nullptr));
  BOOST_REQUIRE(is_linked_by(Security::kPlain));
  a.transport().set_security(permissive(secret()));
  b.transport().set_security(permissive(secret()));
  BOOST_REQUIRE(is_linked_by(Security::kSecret));
  const size_t links = a.ups.size();
  a.transport().set_security(strict(secret()));
  b.transport().set_security(strict(secret()));
  BOOST_TEST(talk());
  BOOST_TEST(a.ups.size() == links);  // nothing is made anew that is as it should be
  a.transport().set_security(permissive(secret()));
  b.transport().set_security(permissive(nullptr));
  BOOST_TEST(is_linked_by(Security::kPlain));
  BOOST_TEST(a.count_down(LinkEvidence::kRefused) == 0U);
}

BOOST_AUTO_TEST_CASE(links_are_made_anew_for_another_secret) {
  const std::string both = std::string(64, 'a') + "\n" + std::string(64, 'b');
  connect(strict(secret()), strict(secret(both)));
  BOOST_REQUIRE(is_linked_by(Security::kSecret));
  const size_t links = a.ups.size();
  a.transport().set_security(strict(secret(std::string(64, 'b'))));
  BOOST_TEST(run_until([&] { return a.ups.size() > links && b.is_linked_to(a); }));
  BOOST_TEST(talk());
}

BOOST_AUTO_TEST_CASE(a_link_by_a_secret_that_was_taken_out_ends) {
  connect(strict(secret()), strict(secret()));
  BOOST_REQUIRE(are_linked());
  b.transport().set_security(strict(secret(std::string(64, 'b'))));
  BOOST_TEST(run_until(
      [&] { return !b.is_linked_to(a) && b.count_rejected(Rejection::kTlsWrongSecret) > 0; }));
}

BOOST_AUTO_TEST_CASE(all_links_by_a_secret_that_was_taken_out_end_at_once) {
  Process c{loop, resolver, 3};
  Process d{loop, resolver, 4};
  for (Process* each : {&a, &b, &c, &d}) each->transport().set_security(strict(secret()));
  a.look_for({b.place(), c.place(), d.place()});
  BOOST_REQUIRE(run_until([&] { return a.transport().count_links(Security::kSecret) == 3; }));
  a.transport().set_security(strict(secret(std::string(64, 'b'))));
  BOOST_TEST(a.transport().count_links(Security::kSecret) == 0U);
}

BOOST_AUTO_TEST_CASE(a_link_by_an_authority_that_was_taken_out_ends) {
  const Certificates old;
  const Authority other("other");
  TlsTexts texts;
  other.issue({.names = {"DNS:node-2.orders.shop"}}, texts);
  const MemberRules rules{.members = {"*.orders.shop"}, .hosts = {}, .trust_domain = ""};
  TlsTexts both;
  other.issue({.names = {"DNS:node-2.orders.shop"}}, both);
  both.ca += old.authority.pem();
  TlsTexts of_a;
  old.authority.issue({.names = {"DNS:node-1.orders.shop"}}, of_a);
  of_a.ca += other.pem();
  connect(strict(TlsContext::of_members(parse_certificate_set(of_a, {}), rules)),
          strict(TlsContext::of_members(parse_certificate_set(both, {}), rules)));
  BOOST_REQUIRE(are_linked());
  b.transport().set_security(
      strict(TlsContext::of_members(parse_certificate_set(texts, {}), rules)));
  BOOST_TEST(run_until(
      [&] { return !b.is_linked_to(a) && b.count_rejected(Rejection::kTlsUnknownCa) > 0; }));
}

BOOST_AUTO_TEST_CASE(what_was_begun_by_other_rules_never_becomes_a_link) {
  b.transport().set_security(permissive(secret()));
  RawSocket stranger(b.place().port);
  LoopTimer later(loop, [] {});
  later.arm(std::chrono::milliseconds(50));
  BOOST_TEST(run_until([&] { return !later.is_armed(); }));  // it is accepted
  BOOST_TEST(!stranger.has_ended());
  b.transport().set_security(strict(secret()));
  BOOST_TEST(run_until([&] { return stranger.has_ended(); }));
}

BOOST_AUTO_TEST_CASE(a_plain_link_does_not_outlive_strict) {
  connect(permissive(secret()), permissive(nullptr));
  BOOST_REQUIRE(is_linked_by(Security::kPlain));
  a.transport().set_security(strict(secret()));
  BOOST_TEST(run_until([&] { return !a.is_linked_to(b) && !b.is_linked_to(a); }));
  b.transport().set_security(strict(secret()));
  BOOST_TEST(is_linked_by(Security::kSecret));
}

BOOST_AUTO_TEST_CASE(without_its_first_secret_nobody_is_connected) {
  a.transport().set_security(strict(nullptr));
  b.transport().set_security(permissive(nullptr));
  b.look_for({a.place()});
  BOOST_TEST(run_until([&] { return b.greetings > 3; }));
  BOOST_TEST((a.ups.empty() && a.greetings == 0));
  a.transport().set_security(permissive(nullptr));
  BOOST_TEST(are_linked());
}

BOOST_AUTO_TEST_CASE(a_voter_s_name_belongs_to_its_certificate) {
  const Certificates certificates;
  a.name = "node-2";
  LinkSecurity of_b = strict(certificates.of({"DNS:node-2.orders.shop"}));
  of_b.voters = {{"node-2", {"node-2.orders.shop", 7946}},
                 {"node-1", {"node-1.orders.shop", 7946}}};
  connect(strict(certificates.of({"DNS:node-1.orders.shop"})), of_b);
  BOOST_TEST(run_until([&] { return b.count_rejected(Rejection::kTlsWrongName) > 0; }));
  BOOST_TEST(b.rejected.at(0).second ==
             "the peer's certificate is for node-1.orders.shop, this voter is node-2.orders.shop");
  BOOST_TEST(b.ups.empty());
  a.name = "node-1";
  BOOST_TEST(run_until([&] { return b.is_linked_to(a); }));
}

BOOST_AUTO_TEST_CASE(who_is_no_member_by_new_rules_is_sent_away) {
  const Certificates certificates;
  const Context one = certificates.of({"DNS:node-1.orders.shop"});
  connect(strict(one), strict(certificates.of({"DNS:node-2.orders.shop"})));
  BOOST_REQUIRE(are_linked());
  TlsTexts texts;
  certificates.authority.issue({.names = {"DNS:node-2.orders.shop"}}, texts);
  b.transport().set_security(strict(TlsContext::of_members(
      parse_certificate_set(texts, {}),
      {.members = {"node-2.orders.shop"}, .hosts = {}, .trust_domain = ""})));
  BOOST_TEST(run_until(
      [&] { return !b.is_linked_to(a) && b.count_rejected(Rejection::kTlsWrongName) > 0; }));
}

// It is over in seconds; its owner has a new one by then, and the link is made anew.
BOOST_AUTO_TEST_CASE(a_link_is_renewed_before_its_certificate_is_over) {
  const Certificates certificates;
  connect(strict(certificates.of({"DNS:node-1.orders.shop"}, std::chrono::seconds(4))),
          strict(certificates.of({"DNS:node-2.orders.shop"})));
  BOOST_REQUIRE(are_linked());
  const auto first = *b.facts.back().expiry;
  LinkSecurity renewed = strict(certificates.of({"DNS:node-1.orders.shop"}));
  a.transport().set_security(renewed);
  BOOST_TEST(run_until([&] {
    return b.is_linked_to(a) && b.facts.back().expiry && *b.facts.back().expiry > first;
  }));
}

BOOST_AUTO_TEST_CASE(a_link_does_not_outlive_its_certificate) {
  const Certificates certificates;
  connect(strict(certificates.of({"DNS:node-1.orders.shop"}, std::chrono::seconds(4))),
          strict(certificates.of({"DNS:node-2.orders.shop"})));
  BOOST_REQUIRE(are_linked());
  BOOST_TEST(run_until(
      [&] { return !b.is_linked_to(a) && b.count_rejected(Rejection::kTlsExpired) > 0; }));
}

BOOST_AUTO_TEST_CASE(whoever_becomes_a_link_while_others_wait_is_heard) {
  b.transport().set_limits({.handshake_work = std::chrono::nanoseconds(1)});  // all wait
  connect(strict(secret()), strict(secret()));
  BOOST_TEST(is_linked_by(Security::kSecret));
  BOOST_TEST((b.limits.front() == Limit::kHandshakes));
  BOOST_TEST(talk());
}

BOOST_AUTO_TEST_CASE(all_links_end_at_once_when_a_certificate_is_over) {
  const Certificates certificates;
  Process c(loop, resolver, 3);
  Process d(loop, resolver, 4);
  // The others believe themselves, for longer; none of them comes back.
  constexpr auto kLife = std::chrono::seconds(4);
  for (Process* each : {&a, &c, &d}) {
    each->transport().set_security(strict(certificates.of({"DNS:node-1.orders.shop"})));
  }
  connect(strict(certificates.of({"DNS:node-1.orders.shop"})),
          strict(certificates.of({"DNS:node-2.orders.shop"}, kLife)));
  for (Process* each : {&c, &d}) each->look_for({b.place()});
  BOOST_REQUIRE(run_until([&] { return b.transport().count_links(Security::kCertificate) == 3U; }));
  BOOST_TEST(run_until([&] { return b.transport().count_links(Security::kCertificate) == 0U; }));
  BOOST_TEST(std::time(nullptr) <= *b.facts.back().expiry + 2);
}

BOOST_AUTO_TEST_CASE(a_handshake_that_stalls_ends_with_the_time_for_a_hello) {
  b.transport().set_limits({.handshake = std::chrono::milliseconds(100)});
  b.transport().set_security(strict(secret()));
  RawSocket stranger(b.place().port);
  stranger.write({0x16, 0x03});
  BOOST_TEST(run_until([&] { return stranger.has_ended(); }));
  BOOST_TEST((b.limits == std::vector{Limit::kPeerSilence}));
}

// What a client says first, as bytes.
Bytes client_hello(const Context& context) {
  TlsSession client(context, TlsSide::kClient);
  client.begin();
  return {client.output().begin(), client.output().end()};
}

BOOST_AUTO_TEST_CASE(strangers_that_all_shake_hands_at_once_wait_and_are_all_answered) {
  const Certificates certificates;
  // A key that is dear to sign with.
  const Context dear = certificates.of({"DNS:node-2.orders.shop"}, std::chrono::hours(24), 4096);
  const Context one = certificates.of({"DNS:node-1.orders.shop"});
  connect(strict(one), strict(dear));
  BOOST_REQUIRE(are_linked());
  b.transport().set_limits({.handshake = std::chrono::minutes(1)});
  std::vector<RawSocket> strangers;
  for (int i = 0; i < 40; ++i) strangers.emplace_back(b.place().port);
  for (const RawSocket& stranger : strangers) stranger.write(client_hello(one));
  const auto are_all_answered = [&] {
    return std::ranges::all_of(strangers, [](RawSocket& stranger) {
      return !stranger.has_ended() && !stranger.received().empty();
    });
  };
  BOOST_TEST(run_until([&] { return !b.limits.empty(); }));
  BOOST_TEST((b.limits.front() == Limit::kHandshakes));
  BOOST_TEST(!are_all_answered());
  BOOST_TEST(talk());
  BOOST_TEST(run_until(are_all_answered));
  Process c(loop, resolver, 3);  // a member that comes later
  c.transport().set_security(strict(one));
  c.look_for({b.place()});
  BOOST_TEST(run_until([&] { return b.is_linked_to(c); }));
  BOOST_TEST(b.downs.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
