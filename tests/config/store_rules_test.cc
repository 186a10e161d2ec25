// The rules of [kubernetes], [etcd] and of what hangs on the guard.
#include <boost/test/unit_test.hpp>

#include "config/effective.hh"
#include "config/failover.hh"
#include "config/keys.hh"
#include "parse_harness.hh"

namespace {

using namespace bellwether;
using namespace bellwether::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kInPod = kSoundWithStore + "[kubernetes]\n";
const std::string kEtcd =
    kSoundWithStore + "[etcd]\nendpoints = [\"https://a:2379\", \"https://b:2379\"]\n";

// As on a machine that is no node of a cluster.
std::string first_error_elsewhere(const std::string& text) {
  Environment elsewhere = environment();
  elsewhere.variable = [](const std::string&) { return std::nullopt; };
  elsewhere.pod_namespace = [] { return ""; };
  try {
    parse_config(text, kFile, elsewhere);
  } catch (const ConfigErrors& errors) {
    const std::string all = errors.what();
    return all.substr(0, all.find('\n'));
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(config_store_rules)

BOOST_AUTO_TEST_CASE(an_empty_table_is_enough_in_a_pod) {
  BOOST_TEST(warnings_of(kInPod).empty());
  const Config config = parse(kInPod).config;
  BOOST_TEST(config.guard() == "kubernetes");
  BOOST_TEST(config.has_store_guard());
  BOOST_TEST(config.kubernetes.lease_name == "orders");
  BOOST_TEST(config.kubernetes.namespace_name == "shop");
  BOOST_TEST(config.kubernetes.server == "https://10.96.0.1:443");
  BOOST_TEST(config.kubernetes.ca == "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt");
  BOOST_TEST(config.kubernetes.token_file == "/var/run/secrets/kubernetes.io/serviceaccount/token");
  BOOST_TEST((config.election.lease == seconds(10)));
  BOOST_TEST((config.election.renew_interval == seconds(2)));
  BOOST_TEST((config.election.preempt_delay == seconds(5)));
}

BOOST_AUTO_TEST_CASE(a_lease_outlasts_the_claim_of_a_slow_disk) {
  const std::string text = kInPod + "[election]\ncoordinator_timeout = \"1s\"\n";
  BOOST_TEST(warnings_of(text + "lease = \"5s\"\n").empty());
  expect_warning(
      text + "lease = \"4s\"\n",
      "11:9: warning: election.lease: lease 4s is less than five coordinator_timeout: one "
      "whose disk is as slow as that can win each election and never lead; give lease at "
      "least 5s, or shorten coordinator_timeout");
}

BOOST_AUTO_TEST_CASE(members_of_another_cluster_are_doubtful) {
  const auto with = [](const std::string& peer, const std::string& rest = "") {
    return warnings_of(
        "[group]\nname = \"orders\"\n[tls]\nsecret_file = \"/s\"\n"
        "[membership]\npeers = [\"" +
        peer + ":7946\"]\n[kubernetes]\n" + rest);
  };
  const auto is_told = [](const std::vector<std::string>& warnings) {
    return std::ranges::any_of(warnings, [](const std::string& warning) {
      return warning.find("is no Service of this cluster") != std::string::npos;
    });
  };
  for (const char* peer : {"orders-0", "orders-0.orders", "orders-0.orders.shop.svc",
                           "orders-0.orders.shop.svc.cluster.local", "10.0.0.7"}) {
    BOOST_TEST(!is_told(with(peer)), peer);
  }
  BOOST_TEST(is_told(with("orders.eu.example.com")));
  BOOST_TEST(!is_told(with("orders.eu.example.com", "server = \"https://api.example.com\"\n")));
}

BOOST_AUTO_TEST_CASE(a_pod_may_have_ipv6_alone) {
  Environment ipv6 = environment();
  ipv6.variable = [](const std::string& name) -> std::optional<std::string> {
    if (name == "KUBERNETES_SERVICE_HOST") return "fd00::1";
    return name == "KUBERNETES_SERVICE_PORT" ? std::optional<std::string>("6443") : std::nullopt;
  };
  BOOST_TEST(parse_config(kInPod, kFile, ipv6).config.kubernetes.server ==
             "https://[fd00::1]:6443");
}

BOOST_AUTO_TEST_CASE(another_server_is_not_shown_the_service_accounts_token) {
  const std::string text = kInPod + "server = \"https://10.0.0.1:6443\"\n";
  BOOST_TEST(parse(text).config.kubernetes.token_file == "");
  BOOST_TEST(parse(text).config.kubernetes.ca == "");
  expect_warning(text,
                 "9:10: warning: kubernetes.server: the API server is not told who asks, and will "
                 "refuse; give kubernetes.token_file, or kubernetes.cert and key");
}

BOOST_AUTO_TEST_CASE(outside_of_a_pod_it_has_to_be_said) {
  BOOST_TEST(first_error_elsewhere(kInPod) ==
             "b.toml:1:1: error: kubernetes.server: is not known: KUBERNETES_SERVICE_HOST is not "
             "set, as it is in a pod; give kubernetes.server, ca and token_file, or run it in a "
             "pod");
  BOOST_TEST(first_error_elsewhere(kInPod + "server = \"https://a\"\n") ==
             "b.toml:1:1: error: kubernetes.namespace: is not known: there is no "
             "/var/run/secrets/kubernetes.io/serviceaccount/namespace; give kubernetes.namespace");
  BOOST_TEST(first_error_elsewhere(kInPod + "server = \"https://a\"\nnamespace = \"shop\"\n") ==
             "");
}

BOOST_AUTO_TEST_CASE(a_group_may_have_a_name_that_a_lease_cannot_have) {
  const std::string group = "[group]\nname = \"Orders\"\n";
  expect_error(group + "[kubernetes]\n",
               "2:8: error: group.name: the group's name, \"Orders\", cannot be that of a Lease; "
               "give kubernetes.lease_name, of lower-case letters, digits, '-' and '.'");
  BOOST_TEST(errors_of(group + "[kubernetes]\nlease_name = \"orders\"\n").empty());
}

BOOST_AUTO_TEST_CASE(one_guard_is_enough) {
  expect_error(kSound + "[kubernetes]\n",
               "9:1: error: kubernetes: [voters] and [kubernetes] would both decide who leads; "
               "keep one of [voters], [kubernetes] and [etcd], the same for all members");
  expect_error(kInPod + "[etcd]\nendpoints = [\"https://a\"]\n",
               "9:1: error: etcd: [kubernetes] and [etcd] would both decide who leads; keep one of "
               "[voters], [kubernetes] and [etcd], the same for all members");
}

BOOST_AUTO_TEST_CASE(a_lease_in_a_store_is_a_longer_one) {
  expect_error(kInPod + "[election]\nlease = \"1999ms\"\n",
               "10:9: error: election.lease: 1999ms is shorter than a store and what is in between "
               "may be silent for; give at least 2s, or leave it out");
  BOOST_TEST(errors_of(kInPod + "[election]\nlease = \"2s\"\n").empty());
  BOOST_TEST(errors_of(kEtcd + "[election]\nlease = \"1m\"\n").empty());
  expect_error(kSound + "[election]\nlease = \"11s\"\n",
               "10:9: error: election.lease: 11s is longer than leadership among members can hold "
               "without renewal; give at most 10s, or let [kubernetes] or [etcd] decide");
}

BOOST_AUTO_TEST_CASE(a_renewal_leaves_time_for_another_try) {
  const std::string lease = kInPod + "[election]\nlease = \"10s\"\nrenew_interval = ";
  BOOST_TEST(errors_of(lease + "\"4s\"\n").empty());
  expect_error(lease + "\"4001ms\"\n",
               "11:18: error: election.renew_interval: renew_interval 4001ms leaves no time for a "
               "second try before lease 10s ends; give 100ms to 4s, or leave it out");
  expect_error(lease + "\"99ms\"\n",
               "11:18: error: election.renew_interval: renew_interval 99ms is a burden to the "
               "store; give 100ms to 4s, or leave it out");
  expect_error(kSound + "[election]\nrenew_interval = \"1s\"\n",
               "10:18: error: election.renew_interval: has no effect without [kubernetes] or "
               "[etcd]: there is nothing to renew; remove it");
}

BOOST_AUTO_TEST_CASE(what_decides_who_leads_is_not_said_in_plain) {
  expect_error(kInPod + "server = \"http://10.0.0.1\"\ntoken_file = \"/t\"\n",
               "9:10: error: kubernetes.server: http://10.0.0.1 is not on this host, and without "
               "TLS everybody on the way can change who leads; give an https:// URL, or "
               "kubernetes.insecure = \"on\"");
  BOOST_TEST(errors_of(kInPod + "server = \"http://[::1]:8001\"\n").empty());
  expect_warning(kSoundWithStore + "[etcd]\nendpoints = [\"http://a:2379\"]\ninsecure = true\n",
                 "10:12: warning: etcd.insecure: whoever is on the way to the store can change who "
                 "leads; give https:// URLs, and remove it");
}

BOOST_AUTO_TEST_CASE(what_belongs_together_is_given_together) {
  expect_error(kInPod + "cert = \"/c\"\n",
               "9:8: error: kubernetes.cert: kubernetes.cert and kubernetes.key belong together; "
               "give kubernetes.key, or neither");
  expect_error(kEtcd + "user = \"u\"\n",
               "10:8: error: etcd.user: user and password_file belong together; give "
               "etcd.password_file, or neither");
}

BOOST_AUTO_TEST_CASE(etcd_has_members_and_each_is_named_once) {
  expect_error(kSoundWithStore + "[etcd]\n",
               "1:1: error: etcd.endpoints: names nobody; give the URLs of etcd's members, like "
               "[\"https://etcd-0:2379\"]");
  expect_error(kSoundWithStore + "[etcd]\nendpoints = [\"https://a\", \"https://a\"]\n",
               "9:13: error: etcd.endpoints: https://a is named twice; remove one of them");
  BOOST_TEST(warnings_of(kEtcd).empty());
  BOOST_TEST(parse(kEtcd).config.guard() == "etcd");
}

BOOST_AUTO_TEST_CASE(no_state_folder_is_needed) {
  BOOST_TEST(warnings_of(kSoundWithStore + "state_dir = \"\"\n[kubernetes]\n").empty());
}

BOOST_AUTO_TEST_CASE(only_the_table_that_is_used_is_printed_and_it_can_be_read_again) {
  const std::string plain = effective_toml(parse(kSound));
  BOOST_TEST(plain.find("\n[kubernetes]") == plain.npos);
  for (const std::string& text : {kInPod, kEtcd}) {
    const ParsedConfig parsed = parse(text);
    const std::string printed = effective_toml(parsed);
    BOOST_TEST((parse(printed).config == parsed.config), printed);
    BOOST_TEST((printed.find("[kubernetes]  # guard = \"kubernetes\"") != printed.npos ||
                printed.find("[etcd]  # guard = \"etcd\"") != printed.npos));
  }
}

BOOST_AUTO_TEST_CASE(a_failover_takes_the_lease_unless_the_death_is_proven) {
  const auto at_most = [](const Config& config, const std::string& failure) {
    for (const Failover& row : worst_case_failover(config)) {
      if (row.failure == failure) return row.at_most;
    }
    return Duration(-1);
  };
  Config config = parse(kInPod).config;
  BOOST_TEST((at_most(config, "machine of the leader dies") == milliseconds(10050)));
  BOOST_TEST((at_most(config, "leader and the next in line silent") == milliseconds(20050)));
  BOOST_TEST((at_most(config, "leader and next cut off from the store") == milliseconds(22050)));
  BOOST_TEST((at_most(config, "planned hand-over") == milliseconds(100)));
  BOOST_TEST(
      (at_most(config, "sidecar killed, connection refused and proof") == milliseconds(100)));
  for (const Failover& row : worst_case_failover(config)) {
    if (row.failure == "sidecar stopped (SIGSTOP)") BOOST_TEST(row.old_flag == "off after 8s");
  }
  config.election.death_proof = DeathProof::kNone;
  BOOST_TEST((at_most(config, "sidecar killed, connection refused and proof") == Duration(-1)));
}

BOOST_AUTO_TEST_CASE(the_flag_of_a_leader_without_the_store_runs_out_with_its_lease) {
  const Config config = parse(kInPod).config;
  for (const Failover& row : worst_case_failover(config)) {
    if (row.failure != "leader cut off from the store") continue;
    BOOST_TEST(row.old_flag == "off after 8s");
    return;
  }
  BOOST_FAIL("no such row");
}

BOOST_AUTO_TEST_CASE(another_guard_waits_for_a_restart) {
  const Config before = parse(kSoundWithStore).config;
  const Config wanted = parse(kInPod).config;
  BOOST_TEST((take_over(before, wanted) == before));
  BOOST_TEST(!diff(before, wanted).empty());
}

BOOST_AUTO_TEST_SUITE_END()
