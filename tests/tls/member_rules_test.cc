// Who may be a member by its certificate: as X509-SVID.md and RFC 9525 have it.
#include "io/tls/member_rules.hh"

#include <boost/test/unit_test.hpp>

namespace bellwether::io {
namespace {

PeerCertificate with_dns(std::vector<std::string> names) {
  return {.names = {.uris = {}, .dns = std::move(names), .addresses = {}}};
}

PeerCertificate with_id(const std::string& id) {
  return {.names = {.uris = {id}, .dns = {}, .addresses = {}}};
}

MemberRules members(std::vector<std::string> names) {
  return {.members = std::move(names), .hosts = {}, .trust_domain = "cluster.local"};
}

MemberRules hosts(std::vector<std::string> names) {
  return {.members = {}, .hosts = std::move(names), .trust_domain = ""};
}

bool is_welcome(const PeerCertificate& certificate, const MemberRules& rules) {
  return !judge_member(certificate, rules);
}

Rejection reason(const PeerCertificate& certificate, const MemberRules& rules) {
  const auto flaw = judge_member(certificate, rules);
  BOOST_TEST_REQUIRE(flaw.has_value());
  BOOST_TEST(!flaw->text.empty());
  return flaw->reason;
}

BOOST_AUTO_TEST_SUITE(names)

BOOST_AUTO_TEST_CASE(are_the_same_in_large_letters_and_with_a_last_dot) {
  BOOST_TEST(is_dns_match("orders-0.Shop", "ORDERS-0.shop."));
  BOOST_TEST(!is_dns_match("orders-0.shop", "orders-00.shop"));
  BOOST_TEST(!is_dns_match("orders-0.shop", "orders-0.shop.svc"));
}

BOOST_AUTO_TEST_CASE(a_star_stands_for_one_whole_label) {
  BOOST_TEST(is_dns_match("*.orders.shop", "orders-0.orders.shop"));
  BOOST_TEST(is_dns_match("*.orders.shop", "*.orders.shop"));
  for (const char* name :
       {"orders.shop", ".orders.shop", "a.b.orders.shop", "a.payments.shop", "*.*.orders.shop"}) {
    BOOST_TEST(!is_dns_match("*.orders.shop", name), name);
  }
}

BOOST_AUTO_TEST_CASE(a_star_for_a_part_or_for_a_whole_domain_stands_for_nothing) {
  BOOST_TEST(!is_dns_match("orders-*.shop.svc", "orders-0.shop.svc"));
  BOOST_TEST(!is_dns_match("*.shop", "orders.shop"));
  BOOST_TEST(!is_dns_match("*", "orders"));
  BOOST_TEST(!is_dns_match("a.*.shop", "a.b.shop"));
}

BOOST_AUTO_TEST_CASE(an_address_is_for_the_same_address_however_it_is_written) {
  const CertificateNames names{.uris = {}, .dns = {"10.0.0.3"}, .addresses = {"fd00::1"}};
  BOOST_TEST(is_for_host(names, "fd00:0::1"));
  BOOST_TEST(!is_for_host(names, "10.0.0.3"));  // a DNS name is not an address
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(member_rules)

BOOST_AUTO_TEST_CASE(without_names_the_hosts_of_the_configuration_are_members) {
  const MemberRules rules = hosts({"orders-0.orders", "10.0.0.3"});
  BOOST_TEST(is_welcome(with_dns({"orders-0.orders"}), rules));
  BOOST_TEST(is_welcome(with_dns({"other", "orders-0.orders"}), rules));
  BOOST_TEST((reason(with_dns({"orders-1.orders"}), rules) == Rejection::kTlsWrongName));
  BOOST_TEST((reason(with_dns({}), rules) == Rejection::kTlsWrongName));
  PeerCertificate by_address;
  by_address.names.addresses = {"10.0.0.3"};
  BOOST_TEST(is_welcome(by_address, rules));
}

BOOST_AUTO_TEST_CASE(a_certificate_for_a_whole_domain_is_for_its_hosts) {
  BOOST_TEST(is_welcome(with_dns({"*.orders.shop"}), hosts({"orders-0.orders.shop"})));
}

BOOST_AUTO_TEST_CASE(names_are_instead_of_the_hosts) {
  MemberRules rules = members({"*.orders.shop"});
  rules.hosts = {"elsewhere"};
  BOOST_TEST(is_welcome(with_dns({"a.orders.shop"}), rules));
  BOOST_TEST((reason(with_dns({"elsewhere"}), rules) == Rejection::kTlsWrongName));
}

BOOST_AUTO_TEST_CASE(what_was_refused_is_named_with_what_would_not_be) {
  const auto flaw = judge_member(with_dns({"orders-3.orders"}), hosts({"a", "b"}));
  BOOST_TEST_REQUIRE(flaw.has_value());
  BOOST_TEST(flaw->text ==
             "the peer's certificate is for orders-3.orders; peers and voters are at \"a\", \"b\"; "
             "issue one for its host, or list its name in tls.members");
}

BOOST_AUTO_TEST_CASE(an_address_can_be_a_member_s_name) {
  const PeerCertificate certificate{
      .names = {.uris = {}, .dns = {}, .addresses = {"10.0.0.1", "fd00::1"}}};
  BOOST_TEST(is_welcome(certificate, members({"10.0.0.1"})));
  BOOST_TEST(is_welcome(certificate, members({"fd00:0::1"})));
  BOOST_TEST((reason(certificate, members({"10.0.0.2"})) == Rejection::kTlsWrongName));
}

BOOST_AUTO_TEST_CASE(a_member_is_server_and_client) {
  PeerCertificate certificate = with_dns({"orders-0.shop"});
  certificate.is_for_both_sides = false;
  BOOST_TEST((reason(certificate, members({"orders-0.shop"})) == Rejection::kTlsBadCertificate));
}

BOOST_AUTO_TEST_CASE(an_authority_is_no_member) {
  PeerCertificate certificate = with_dns({"a.b"});
  certificate.is_authority = true;
  BOOST_TEST((reason(certificate, hosts({"a.b"})) == Rejection::kTlsBadCertificate));
}

BOOST_AUTO_TEST_CASE(a_spiffe_id_is_compared_byte_by_byte) {
  const MemberRules rules = members({"spiffe://cluster.local/ns/shop/sa/orders"});
  BOOST_TEST(is_welcome(with_id("spiffe://cluster.local/ns/shop/sa/orders"), rules));
  for (const char* other :
       {"spiffe://cluster.local/ns/shop/sa/Orders", "spiffe://cluster.local/ns/shop/sa/orders2",
        "spiffe://cluster.local/ns/shop"}) {
    BOOST_TEST((reason(with_id(other), rules) == Rejection::kTlsWrongName), other);
  }
}

BOOST_AUTO_TEST_CASE(a_certificate_with_a_spiffe_id_has_no_other_uri) {
  PeerCertificate two = with_id("spiffe://cluster.local/a");
  two.names.uris.emplace_back("spiffe://cluster.local/b");
  BOOST_TEST((reason(two, members({"spiffe://cluster.local/a"})) == Rejection::kTlsBadCertificate));
  two.names.uris.back() = "https://cluster.local/a";
  BOOST_TEST((reason(two, members({"spiffe://cluster.local/a"})) == Rejection::kTlsBadCertificate));
}

BOOST_AUTO_TEST_CASE(a_spiffe_id_without_a_path_is_refused) {
  BOOST_TEST((reason(with_id("spiffe://cluster.local"), members({"*.a.b"})) ==
              Rejection::kTlsBadCertificate));
}

BOOST_AUTO_TEST_CASE(a_spiffe_certificate_must_be_for_signatures) {
  PeerCertificate certificate = with_id("spiffe://cluster.local/a");
  certificate.has_signature_use = false;
  BOOST_TEST((reason(certificate, members({"spiffe://cluster.local/a"})) ==
              Rejection::kTlsBadCertificate));
}

BOOST_AUTO_TEST_CASE(an_id_of_another_trust_domain_is_not_believed_whoever_has_signed) {
  MemberRules rules = members({"spiffe://other.local/a"});
  BOOST_TEST((reason(with_id("spiffe://other.local/a"), rules) == Rejection::kTlsWrongName));
  rules.trust_domain.clear();  // this side has no id: the bundle belongs to no trust domain
  BOOST_TEST((reason(with_id("spiffe://other.local/a"), rules) == Rejection::kTlsWrongName));
}

BOOST_AUTO_TEST_CASE(a_uri_that_is_no_spiffe_id_counts_for_nothing) {
  PeerCertificate certificate = with_dns({"a.b"});
  certificate.names.uris = {"https://a.b/"};
  BOOST_TEST(is_welcome(certificate, hosts({"a.b"})));
  BOOST_TEST((reason(with_id("https://a.b/"), hosts({"a.b"})) == Rejection::kTlsWrongName));
}

BOOST_AUTO_TEST_CASE(a_voter_s_name_belongs_to_the_certificate_of_its_host) {
  const CertificateNames names{.uris = {}, .dns = {"orders-3.orders.shop.svc"}, .addresses = {}};
  BOOST_TEST(!judge_voter(names, "orders-3.orders.shop.svc", names));
  BOOST_TEST(!judge_voter(names, "orders-3.orders", names));
  BOOST_TEST(!judge_voter(names, "orders-3", names));
  for (const char* host :
       {"orders-2.orders", "orders", "orders-3.orders.shop.svc.local", "3.orders"}) {
    BOOST_TEST(judge_voter(names, host, names).has_value(), host);
  }
  BOOST_TEST(judge_voter(names, "orders-2.orders", names)->text ==
             "the peer's certificate is for orders-3.orders.shop.svc, this voter is "
             "orders-2.orders");
}

// One certificate for all of them can tell nobody apart, whatever it has before the rest.
BOOST_AUTO_TEST_CASE(a_longer_name_that_is_a_wildcard_is_no_voter_s) {
  const CertificateNames names{.uris = {}, .dns = {"*.orders.shop.svc"}, .addresses = {}};
  for (const char* host : {"orders-3.orders", "a.orders", "orders-3"}) {
    BOOST_TEST(judge_voter(names, host, names).has_value(), host);
  }
  BOOST_TEST(!judge_voter(names, "orders-3.orders.shop.svc", names));
}

BOOST_AUTO_TEST_CASE(without_host_names_voters_cannot_be_told_apart) {
  const CertificateNames names = with_id("spiffe://cluster.local/voter").names;
  const CertificateNames another = with_id("spiffe://cluster.local/web").names;
  BOOST_TEST(!judge_voter(names, "orders-2.orders", another));
  // Where this side's can be, one without them is not a voter's unless it has the same id.
  CertificateNames own = names;
  own.dns = {"orders-1.orders"};
  BOOST_TEST(!judge_voter(names, "orders-2.orders", own));
  BOOST_TEST(judge_voter(another, "orders-2.orders", own).has_value());
  own.uris.clear();
  BOOST_TEST(judge_voter(names, "orders-2.orders", own)->text ==
             "the peer's certificate, for spiffe://cluster.local/voter, names no host, as that of "
             "this side does (orders-1.orders); this voter is orders-2.orders");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::io
