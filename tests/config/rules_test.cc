// Combinations of keys: each impossible one is an error, each risky one a warning, at the place of
// the key that is to blame; and what is right is left in peace.
#include <boost/test/unit_test.hpp>

#include "parse_harness.hh"

namespace {

using namespace bellwether::test;
using Lines = std::vector<std::string>;

// Sound under guard "none": its one warning is that it has no voters.
const std::string kOpen = R"([group]
name = "orders"
[node]
name = "orders-0"
advertise = "10.0.0.7:7946"
[membership]
peers = ["10.0.0.8:7946"]
)";
const std::string kNoGuard =
    "b.toml:1:1: warning: voters: without [voters] the guard is \"none\": a network partition, or "
    "a leader that was only slow, gives two leaders until they hear of each other; if a second "
    "leader does harm, name the voters, or give [kubernetes] or [etcd]";

std::string voters(int count) {
  std::string text = "[group]\nname = \"g\"\n[node]\nname = \"n1\"\n[voters]\n";
  for (int i = 1; i <= count; ++i) {
    text += "n" + std::to_string(i) + " = \"10.0.0." + std::to_string(i) + ":7946\"\n";
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(config_rules)

BOOST_AUTO_TEST_CASE(what_is_sound_raises_nothing) {
  BOOST_TEST(warnings_of(kSound).empty());
  BOOST_TEST(warnings_of(kOpen) == Lines{kNoGuard}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(voters_are_one_or_at_least_three) {
  for (const int count : {1, 3, 5, 7, 9}) BOOST_TEST(warnings_of(voters(count)).empty());
  expect_error(voters(0),
               "5:1: error: voters: names nobody; name 1 voter or at least 3, or leave "
               "the table out");
  expect_error(voters(2),
               "5:1: error: voters: 2 voters are no better than 1: a majority of 2 is both, so "
               "either one's end leaves the group without a leader; name 1 voter or at least 3");
  expect_error(voters(10),
               "5:1: error: voters: 10 voters are too many, for every change waits for a majority; "
               "name at most 9; further members follow without a vote");
}

BOOST_AUTO_TEST_CASE(an_even_number_of_voters_gains_nothing) {
  expect_warning(voters(4),
                 "5:1: warning: voters: 4 voters survive no more failures than 3 do; name an odd "
                 "number");
}

BOOST_AUTO_TEST_CASE(voters_have_names_and_addresses) {
  expect_error(voters(3) + "\"a b\" = \"h:1\"\n",
               "9:1: error: voters.a b: is not the name of a node; name it as its own node.name "
               "does");
  expect_error(voters(3) + "n4 = 4\n",
               "9:6: error: voters.n4: is a whole number, not text; give \"host:port\" with a "
               "name, an IPv4 address or an [IPv6 address]");
  expect_error(voters(3) + "n4 = \"0.0.0.0:7946\"\n",
               "9:6: error: voters.n4: 0.0.0.0:7946 is every address of a host; nobody can connect "
               "to it; give the address where others reach this voter");
  expect_error(voters(3) + "n4 = \"10.0.0.2:7946\"\n",
               "9:6: error: voters.n4: 10.0.0.2:7946 is the address of n2, too; give each voter "
               "its own");
}

BOOST_AUTO_TEST_CASE(who_is_no_voter_is_told_unless_it_shall_never_lead) {
  const std::string text =
      "[group]\nname = \"g\"\n[node]\nname = \"order-0\"\nadvertise = \"b:1\"\n";
  const std::string table = "[voters]\norders-0 = \"a:1\"\n";
  expect_warning(text + table,
                 "4:8: warning: node.name: this node, \"order-0\", is not among its own [voters]: "
                 "it follows, and never leads; add it, give it a voter's name as node.name, or set "
                 "node.priority to 0; did you mean \"orders-0\"?");
  BOOST_TEST(warnings_of(text + "priority = 0\n" + table).empty());
  // By default the node is called host-1.
  expect_warning("[group]\nname = \"g\"\n[node]\nadvertise = \"b:1\"\n" + table,
                 "5:1: warning: voters: this node, \"host-1\", is not among its own [voters]: it "
                 "follows, and never leads; add it, give it a voter's name as node.name, or set "
                 "node.priority to 0");
}

BOOST_AUTO_TEST_CASE(a_voter_remembers) {
  expect_error(kSound + "state_dir = \"\"\n",
               "9:13: error: node.state_dir: a voter that forgets its vote at a restart can vote "
               "twice; give a folder that outlives the process, or leave [voters] out");
  BOOST_TEST(errors_of("group.name = \"g\"\nnode.state_dir = \"\"\n").empty());
  BOOST_TEST(errors_of("group.name = \"g\"\n[node]\nname = \"b\"\nstate_dir = \"\"\n"
                       "[voters]\na = \"a:1\"\n")
                 .empty());
}

BOOST_AUTO_TEST_CASE(an_address_that_is_told_can_be_connected_to) {
  for (const std::string address : {"0.0.0.0:1", "[::]:1", "[0:0::0]:1"}) {
    BOOST_TEST(errors_of("group.name = \"g\"\nnode.advertise = \"" + address + "\"\n").size() ==
               1u);
  }
  expect_error("group.name = \"g\"\nnode.advertise = \"0.0.0.0:7946\"\n",
               "2:18: error: node.advertise: 0.0.0.0:7946 is every address of a host; nobody can "
               "connect to it; give the address where peers reach this node");
}

BOOST_AUTO_TEST_CASE(the_hosts_name_may_be_of_no_use) {
  bellwether::Environment nameless = environment();
  nameless.host_name = "-";
  const auto lines = [&](const char* text) {
    try {
      bellwether::parse_config(text, kFile, nameless);
    } catch (const bellwether::ConfigErrors& errors) {
      return std::string(errors.what());
    }
    return std::string();
  };
  BOOST_TEST(lines("group.name = \"g\"\n") ==
             "b.toml:1:1: error: node.name: the host's name, \"-\", cannot be a node's name; give "
             "node.name, for example \"node-1\"\n"
             "b.toml:1:1: error: node.advertise: cannot be made of the host's name; give the "
             "address where peers reach this node");
  BOOST_TEST(lines("group.name = \"g\"\nnode.name = \"a\"\nnode.advertise = \"a:1\"\n") == "");
}

BOOST_AUTO_TEST_CASE(the_default_plugin_has_two_variants) {
  expect_error(kSound + "[election]\nvariant = \"clasic\"\n",
               "10:11: error: election.variant: plugin \"bully\" has no variant \"clasic\"; give "
               "\"classic\" or \"modified\"; did you mean \"classic\"?");
  BOOST_TEST(errors_of(kSound + "[election]\nplugin = \"lowest\"\nvariant = \"x\"\n").empty());
  BOOST_TEST(parse(kSound + "[election]\nplugin = \"lowest\"\n").config.election.variant == "");
}

BOOST_AUTO_TEST_CASE(a_late_beat_is_no_death) {
  const auto text = [](const char* suspect_after) {
    return kSound + "[failure_detector]\nsuspect_after = \"" + suspect_after + "\"\n";
  };
  expect_error(text("199ms"),
               "10:17: error: failure_detector.suspect_after: suspect_after 199ms is less than two "
               "heartbeat_interval, so one late beat deposes a leader; give suspect_after at least "
               "200ms, better five intervals");
  expect_warning(text("299ms"),
                 "10:17: warning: failure_detector.suspect_after: suspect_after 299ms is less than "
                 "three heartbeat_interval: one lost beat and one late one depose a leader; give "
                 "suspect_after at least 300ms, better five intervals");
  BOOST_TEST(warnings_of(text("300ms")).empty());
  // The key that was given is to blame.
  BOOST_TEST(errors_of(kSound + "[failure_detector]\nheartbeat_interval = \"251ms\"\n").front() ==
             "b.toml:10:22: error: failure_detector.heartbeat_interval: suspect_after 500ms is "
             "less than two heartbeat_interval, so one late beat deposes a leader; give "
             "suspect_after at least 502ms, better five intervals");
}

BOOST_AUTO_TEST_CASE(a_scheduler_is_no_death) {
  expect_warning(
      kSound + "[failure_detector]\nheartbeat_interval = \"10ms\"\nsuspect_after = \"49ms\"\n",
      "11:17: warning: failure_detector.suspect_after: a process that waits for a "
      "processor for 49ms is taken for dead; give at least 50ms, and a reserved "
      "processor even then");
}

BOOST_AUTO_TEST_CASE(a_lease_outlasts_suspicion) {
  expect_error(kSound + "[election]\nlease = \"624ms\"\n",
               "10:9: error: election.lease: 4/5 of lease 624ms is less than suspect_after 500ms, "
               "so leadership would run out before anybody looks for a successor; give lease at "
               "least 625ms, or shorten suspect_after");
  BOOST_TEST(errors_of(kSound + "[election]\nlease = \"625ms\"\n").empty());
}

BOOST_AUTO_TEST_CASE(an_election_fits_into_a_lease) {
  expect_warning(kSound + "[election]\nanswer_timeout = \"501ms\"\n",
                 "10:18: warning: election.answer_timeout: lease 1s is over before suspect_after "
                 "and answer_timeout are: a failover takes longer than the lease would allow; give "
                 "lease at least 1001ms, or shorten the others");
  BOOST_TEST(warnings_of(kOpen + "[election]\nanswer_timeout = \"501ms\"\n") == Lines{kNoGuard},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_winner_has_time_to_announce) {
  expect_error(kSound + "[election]\ncoordinator_timeout = \"100ms\"\n",
               "10:23: error: election.coordinator_timeout: coordinator_timeout 100ms is not "
               "longer than answer_timeout 100ms, which the winner may have to wait itself before "
               "it announces; give coordinator_timeout more than answer_timeout, or leave it out");
  expect_warning(kSound + "[election]\ncoordinator_timeout = \"149ms\"\n",
                 "10:23: warning: election.coordinator_timeout: coordinator_timeout 149ms leaves "
                 "less than 50ms after answer_timeout: elections may be repeated although somebody "
                 "wins; give coordinator_timeout at least 150ms, or leave it out");
}

BOOST_AUTO_TEST_CASE(listeners_have_a_port_each) {
  expect_error(kSound + "listen = \"10.0.0.7:9464\"\n",
               "9:10: error: node.listen: node.listen 10.0.0.7:9464 and metrics.listen "
               "[::]:9464 want the same port; give them different ports");
  expect_error(kSound + "[api]\nlisten = \"127.0.0.1:80\"\n[metrics]\nlisten = \"127.0.0.1:80\"\n",
               "12:10: error: metrics.listen: api.listen 127.0.0.1:80 and metrics.listen "
               "127.0.0.1:80 want the same port; give them different ports");
  BOOST_TEST(
      errors_of(kSound + "[api]\nlisten = \"127.0.0.1:80\"\n[metrics]\nlisten = \"10.0.0.7:80\"\n")
          .empty());
}

BOOST_AUTO_TEST_CASE(the_api_is_somewhere) {
  expect_error(kSound + "[api]\nlisten = \"\"\n",
               "10:10: error: api.listen: the API would be nowhere, and the leader could not be "
               "made to step down; give api.listen, api.socket or both");
  BOOST_TEST(warnings_of(kSound + "[api]\nlisten = \"\"\nsocket = \"/run/b.sock\"\n").empty());
}

BOOST_AUTO_TEST_CASE(only_the_sidecar_writes_the_flag) {
  for (const char* mode : {"0o620", "0o602", "0o777"}) {
    BOOST_TEST(errors_of(kSound + "[flag]\nmode = " + mode + "\n") ==
                   (Lines{"b.toml:10:8: error: flag.mode: others than the sidecar could write that "
                          "they lead; give 0o640 or 0o644"}),
               boost::test_tools::per_element());
  }
  expect_error(kSound + "[flag]\nmode = 0o444\n",
               "10:8: error: flag.mode: the sidecar itself could not open the flag again; give "
               "0o600 and more, like 0o640");
}

BOOST_AUTO_TEST_CASE(the_flag_is_not_another_file_of_the_sidecar) {
  const std::string state = "[group]\nname = \"g\"\n[node]\nname = \"n1\"\nstate_dir = \"/s/a/\"\n";
  expect_error(state + "[flag]\npath = \"/s/b/../a/state\"\n",
               "7:8: error: flag.path: the flag would lie among the files of the state, which "
               "nobody else may read; give it a folder of its own");
  expect_error(state + "[flag]\npath = \"/s/x\"\n[api]\nsocket = \"/s/x\"\n",
               "7:8: error: flag.path: are the same file; give each its own");
}

BOOST_AUTO_TEST_CASE(a_hook_has_files_that_fit_its_url_and_each_other) {
  const std::string https = kSound + "[[hook]]\nurl = \"https://a/\"\n";
  for (const char* lines :
       {"", "ca = \"/a\"", "cert = \"/c\"\nkey = \"/k\"", "secret_file = \"/s\""}) {
    BOOST_TEST(errors_of(https + lines + "\n").empty(), lines);
  }
  expect_error(https + "cert = \"/c\"\n",
               "11:8: error: hook[1].cert: cert and key belong together; give key, or neither");
  const std::string http = kSound + "[[hook]]\nurl = \"http://a/\"\n";
  BOOST_TEST(errors_of(http + "secret_file = \"/s\"\n").empty());
  expect_error(
      http + "ca = \"/a\"\n",
      "11:6: error: hook[1].ca: is about TLS, and the url is not https; remove it, or give "
      "an https:// url");
}

BOOST_AUTO_TEST_CASE(nobody_is_told_twice) {
  expect_error(kSound + "[[hook]]\nurl = \"http://a/\"\n[[hook]]\nurl = \"http://a/\"\n",
               "12:7: error: hook[2].url: hook 1 has the same url; remove one of them");
  std::string many = kSound;
  for (int i = 0; i < 17; ++i) many += "[[hook]]\nurl = \"http://h" + std::to_string(i) + "/\"\n";
  expect_error(many, "9:3: error: hook: 17 hooks are too many; give at most 16");
}

BOOST_AUTO_TEST_CASE(two_voters_do_not_take_turns) {
  const std::string warning =
      "with a guard and preempt_delay \"0s\" two nodes can take leadership from each other again "
      "and again; give election.preempt_delay, like \"5s\"";
  expect_warning(kSound + "[election]\npreempt_delay = \"0s\"\n",
                 "10:17: warning: election.preempt_delay: " + warning);
  expect_warning(kSound + "[election]\nprofile = \"textbook\"\n",
                 "10:11: warning: election.profile: " + warning);
}

BOOST_AUTO_TEST_CASE(what_has_no_effect_is_told) {
  expect_warning(kSound + "[election]\npreempt = \"never\"\npreempt_delay = \"1s\"\n",
                 "11:17: warning: election.preempt_delay: has no effect while preempt is "
                 "\"never\"; remove it");
  BOOST_TEST(
      warnings_of(kOpen + "[election]\ndeath_proof = \"none\"\n").back() ==
      "b.toml:9:15: warning: election.death_proof: has no effect without a guard; remove it, "
      "or give [voters], [kubernetes] or [etcd]");
}

BOOST_AUTO_TEST_CASE(an_end_that_may_take_long_is_to_be_allowed_by_whoever_ends_it) {
  const std::string text = kSound + "[application]\ndrain_timeout = ";
  BOOST_TEST(warnings_of(text + "\"10s\"\n").empty());
  const auto warnings = warnings_of(text + "\"30s\"\n");
  BOOST_REQUIRE(warnings.size() == 1u);
  for (const char* word : {"application.drain_timeout: ", "TimeoutStopSec", "3", "shorten",
                           "terminationGracePeriodSeconds"}) {
    BOOST_TEST(warnings[0].find(word) != std::string::npos, warnings[0]);
  }
}

BOOST_AUTO_TEST_CASE(who_believes_every_refusal_is_told_what_that_rests_on) {
  const auto warnings = warnings_of(kSound + "[election]\ndeath_proof = \"refused\"\n");
  BOOST_REQUIRE(warnings.size() == 1u);
  BOOST_TEST(warnings.front().find("10:15: warning: election.death_proof: you vouch that no "
                                   "firewall") != std::string::npos,
             warnings.front());
}

BOOST_AUTO_TEST_CASE(somebody_can_be_found) {
  BOOST_TEST(warnings_of("[group]\nname = \"g\"\n[node]\nlisten = \"10.0.0.1:1\"\n") ==
                 (Lines{kNoGuard,
                        "b.toml:1:1: warning: membership.peers: there is nobody to connect to: "
                        "unless others name it, this node will lead itself alone; give "
                        "membership.peers, membership.dns or [voters]"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(somebody_can_lead) {
  expect_warning(
      "[group]\nname = \"g\"\n[node]\nname = \"a\"\npriority = 0\n[voters]\na = \"a:1\"\n",
      "5:12: warning: node.priority: priority 0 never leads, and this is the only "
      "voter: nobody will lead; give it a priority above 0");
  BOOST_TEST(warnings_of(kSound + "priority = 0\n").empty());
}

BOOST_AUTO_TEST_CASE(peers_are_named_once) {
  expect_warning(kSound + "[membership]\npeers = [\"a:1\", \"b:1\", \"a:1\"]\n",
                 "10:9: warning: membership.peers: a:1 is named twice; remove one of them");
}

BOOST_AUTO_TEST_CASE(others_find_this_node) {
  BOOST_TEST(warnings_of("[group]\nname = \"g\"\n[membership]\npeers = [\"a:1\"]\n").back() ==
             "b.toml:1:1: warning: node.advertise: peers are told to find this node at "
             "host-1:7946, made of the host's name, and must be able to look it up; give "
             "node.advertise, for example \"${POD_IP}:7946\"");
  BOOST_TEST(
      warnings_of("[group]\nname = \"g\"\n[node]\nlisten = \"127.0.0.1:1\"\n"
                  "[membership]\ndns = \"a:1\"\n")
          .back() ==
      "b.toml:4:10: warning: node.listen: peers on other hosts are told to find this node at "
      "127.0.0.1:1, which is themselves; give node.advertise an address that they reach");
  expect_warning(kSound + "advertise = \"orders-0:7946\"\n",
                 "9:13: warning: node.advertise: orders-0:7946 is advertised, but this voter's "
                 "address is 10.0.0.7:7946; give the same, or leave node.advertise out");
}

// --- [tls] ---

BOOST_AUTO_TEST_CASE(members_that_prove_nothing_are_a_risk_unless_nobody_else_can_connect) {
  const std::string off = kSound + "[tls]\nmode = \"off\"\n";
  expect_warning(off,
                 "10:8: warning: tls.mode: members do not prove who they are: whoever reaches "
                 "[::]:7946 can move, stop or confuse the group; give [tls] certificates or a "
                 "secret_file, or close the port to all but members");
  expect_warning(off + "secret_file = \"/s\"\n",
                 "10:8: warning: tls.mode: members do not prove who they are: whoever reaches "
                 "[::]:7946 can move, stop or confuse the group; take mode = \"off\" out: what "
                 "[tls] names is not used with it");
  expect_warning(
      kSound + "[tls]\nmode = \"permissive\"\nsecret_file = \"/s\"\n",
      "10:8: warning: tls.mode: permissive takes members that prove nothing: whoever "
      "reaches [::]:7946 can still move the group; give \"strict\" once all members have "
      "[tls]");
  BOOST_TEST(warnings_of("[group]\nname = \"g\"\n[node]\nname = \"a\"\nlisten = \"127.0.0.1:1\"\n"
                         "[voters]\na = \"127.0.0.1:1\"\n[tls]\n")
                 .empty());
}

BOOST_AUTO_TEST_CASE(certificates_or_a_secret_are_strict_unless_it_says_otherwise) {
  BOOST_TEST((parse(kSound).config.tls.mode == bellwether::TlsMode::kOff));
  BOOST_TEST((parse(kSound + kKnown).config.tls.mode == bellwether::TlsMode::kStrict));
  const bellwether::Config config =
      parse(kSound +
            "[tls]\ncert = \"/c\"\nkey = \"/k\"\nca = \"/a\"\nmembers = "
            "[\"spiffe://a.b/c\", \"*.orders.shop\", \"orders-0\"]\n")
          .config;
  BOOST_TEST((config.tls.mode == bellwether::TlsMode::kStrict));
  BOOST_TEST(config.tls.members.size() == 3U);
}

BOOST_AUTO_TEST_CASE(what_belongs_together_in_tls_is_given_together) {
  expect_error(kSound + "[tls]\ncert = \"/c\"\nca = \"/a\"\n",
               "10:8: error: tls.cert: [tls] lacks key: cert, key and ca belong together; give "
               "tls.key, or none of the three");
  expect_error(kSound + "[tls]\ncert = \"/c\"\nkey = \"/k\"\nca = \"/a\"\nsecret_file = \"/s\"\n",
               "13:15: error: tls.secret_file: members know each other by certificates or by a "
               "secret, not by both; remove one of them");
  expect_error(kSound + "[tls]\nmode = \"strict\"\n",
               "10:8: error: tls.mode: there is neither a certificate nor a secret to use; give "
               "tls.cert, tls.key and tls.ca, or tls.secret_file");
  expect_error(kSound + "[tls]\nmembers = [\"a.b\"]\n",
               "10:11: error: tls.members: names whose certificates are a member's, but there are "
               "none; remove it, or give tls.cert, tls.key and tls.ca");
}

BOOST_AUTO_TEST_CASE(names_of_members_have_a_form) {
  for (const char* name :
       {"*", "a.*.b", "*.shop", "spiffe://A/b", "spiffe://a", "a b", "", "https://a/b"}) {
    const auto errors = errors_of(kSound +
                                  "[tls]\ncert = \"/c\"\nkey = \"/k\"\nca = \"/a\"\nmembers = "
                                  "[\"" +
                                  name + "\"]\n");
    BOOST_TEST_REQUIRE(errors.size() == 1U, name);
    BOOST_TEST(
        errors[0].find("has the wrong form; give a SPIFFE id, a DNS name or an IP address") !=
        std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_health_check_ends_before_the_next_one) {
  const auto errors = errors_of(kSound + "[application]\nhealth_timeout = \"501ms\"\n");
  BOOST_REQUIRE(errors.size() == 1u);
  BOOST_TEST(errors.front().find("health_timeout 501ms is longer than health_interval 500ms") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(health_that_the_sidecar_itself_would_answer_for_is_refused) {
  const std::string doors = kSound +
                            "[api]\nlisten = \"127.0.0.1:4041\"\nsocket = \"/a.sock\"\n"
                            "[metrics]\nlisten = \"0.0.0.0:9600\"\n[application]\nhealth = ";
  const auto error = [](const std::string& key) {
    return "15:10: error: application.health: this sidecar itself answers there (" + key +
           "), whatever becomes of the application; give the application's address, or leave "
           "health out and let it attach";
  };
  expect_error(doors + "\"http://localhost:4041/leader\"\n", error("api.listen"));
  expect_error(doors + "\"http://127.0.0.1:4041/readyz\"\n", error("api.listen"));
  expect_error(doors + "\"http://127.0.0.2:9600/\"\n", error("metrics.listen"));
  expect_error(doors + "\"unix:/a.sock:/leader\"\n", error("api.socket"));
  for (const char* other : {"\"http://127.0.0.1:4040/\"\n", "\"http://[::1]:4041/\"\n",
                            "\"http://127.0.0.1/\"\n", "\"unix:/b.sock:/leader\"\n"}) {
    BOOST_TEST(warnings_of(doors + other).empty(), other);
  }
}

BOOST_AUTO_TEST_CASE(what_has_no_effect_on_the_application_is_named) {
  const std::string table = kSound + "[application]\n";
  expect_warning(table + "grace = \"2s\"\n",
                 "10:9: warning: application.grace: has no effect while attach is off; give attach "
                 "= \"on\", or remove it");
  for (const std::string line :
       {"health_interval = \"1s\"", "health_timeout = \"100ms\"", "health_failures = 2"}) {
    const std::string key = line.substr(0, line.find(' '));
    expect_warning(table + line + "\n", "10:" + std::to_string(key.size() + 4) +
                                            ": warning: application." + key +
                                            ": has no effect without health; give health, or "
                                            "remove it");
    BOOST_TEST(warnings_of(table + "health = \"http://127.0.0.1:1/\"\n" + line + "\n").empty());
  }
  // As `check` prints them where nobody has asked for anything; and an application may attach, and
  // be asked to finish, where it does not have to.
  BOOST_TEST(warnings_of(table + "attach = \"off\"\ngrace = \"0s\"\nhealth_interval = \"500ms\"\n"
                                 "health_timeout = \"250ms\"\nhealth_failures = 3\n"
                                 "drain_timeout = \"1s\"\n")
                 .empty());
}

BOOST_AUTO_TEST_SUITE_END()
