// The answers as a whole, for a small group: names, order and types of all keys.
#include "api/bodies.hh"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>

#include "api_fixture.hh"

namespace bellwether::tests {
namespace {

using namespace std::chrono_literals;

// Without its blanks and line breaks; strings in it have neither.
std::string compact(const std::string& text) { return dump(parse_json(text).value()) + "\n"; }

struct BodiesFixture : ApiFixture {
  // Valid for 800 ms.
  void lead_with(DeathProof proof, bool has_voters) {
    if (has_voters) backend.settings.voters = {{"node-3", {.host = "10.0.0.3", .port = 7946}}};
    backend.settings.election.death_proof = proof;
    lead();
  }
  Json leader() { return get("/v1/leader")->json(); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(bodies, BodiesFixture)

BOOST_AUTO_TEST_CASE(leader_of_a_leader) {
  backend.wall_seconds = 1;
  lead();
  BOOST_TEST(get("/v1/leader")->response->body ==
             compact(R"({"group":"orders","leader":{"name":"node-3",
      "id":"00000000-0000-0000-0000-000000000003","address":"10.0.0.3:7946"},"is_leader":true,
      "epoch":1,"fencing_token":1,"valid_for_ms":0,"since":"2026-01-31T09:00:01.000Z",
      "variant":"modified","guard":"none","index":2,"reason":"claimed"})"));
}

BOOST_AUTO_TEST_CASE(leader_of_a_follower) {
  follow(5, 7);
  BOOST_TEST(get("/v1/leader")->response->body ==
             compact(R"({"group":"orders","leader":{"name":"node-5",
      "id":"00000000-0000-0000-0000-000000000005","address":"10.0.0.5:7946"},"is_leader":false,
      "epoch":7,"fencing_token":7,"valid_for_ms":0,"since":"2026-01-31T09:00:00.000Z",
      "variant":"modified","guard":"none","index":2,"reason":"a leader was announced"})"));
}

BOOST_AUTO_TEST_CASE(leader_of_nobody) {
  BOOST_TEST(get("/v1/leader")->response->body ==
             compact(R"({"group":"orders","leader":null,"is_leader":false,"epoch":0,
      "fencing_token":null,"valid_for_ms":0,"since":"2026-01-31T09:00:00.000Z",
      "variant":"modified","guard":"none","index":1,"reason":"started"})"));
}

BOOST_AUTO_TEST_CASE(an_answer_is_to_be_relied_on_only_if_nothing_but_time_ends_leadership) {
  lead_with(DeathProof::kNone, true);
  node.pass(100ms + 1us);
  BOOST_TEST(leader()["valid_for_ms"] == 699);
  BOOST_TEST(leader()["guard"] == "majority");
  backend.settings.election.death_proof = DeathProof::kAuto;
  BOOST_TEST(leader()["valid_for_ms"] == 0);
  backend.settings.election.death_proof = DeathProof::kRefused;
  BOOST_TEST(leader()["valid_for_ms"] == 0);
}

BOOST_AUTO_TEST_CASE(without_a_majority_an_answer_is_never_to_be_relied_on) {
  lead_with(DeathProof::kNone, false);
  BOOST_TEST(leader()["is_leader"] == true);
  BOOST_TEST(leader()["valid_for_ms"] == 0);
}

BOOST_AUTO_TEST_CASE(leadership_that_ran_out_is_valid_for_no_time_at_all) {
  lead_with(DeathProof::kNone, true);
  node.pass(5s);
  BOOST_TEST(leader()["valid_for_ms"] == 0);
  BOOST_TEST(leader()["is_leader"] == false);
}

BOOST_AUTO_TEST_CASE(a_leadership_of_the_past_is_no_leadership) {
  lead_with(DeathProof::kNone, true);
  const api::Leadership past = feed.current();
  step(node.step(StepDown{}));
  const Json body = api::leader_body(backend, feed, past);
  BOOST_TEST(body["leader"]["name"] == "node-3");
  BOOST_TEST(body["is_leader"] == false);
  BOOST_TEST(body["valid_for_ms"] == 0);
}

BOOST_AUTO_TEST_CASE(a_leadership_of_the_past_is_none_though_this_node_leads_again) {
  lead_with(DeathProof::kNone, true);
  const api::Leadership past = feed.current();
  feed.on_publish({.is_leader = true,
                   .epoch = 2,
                   .leader = uuid(3),
                   .valid_until = node.now() + 1s,
                   .why = Why::kClaimed},
                  node.node().members(), wall_time(1));
  BOOST_TEST(leader()["is_leader"] == true);
  const Json body = api::leader_body(backend, feed, past);
  BOOST_TEST(body["is_leader"] == false);
  BOOST_TEST(body["valid_for_ms"] == 0);
}

BOOST_AUTO_TEST_CASE(a_name_that_is_no_utf_8_still_gives_json) {
  backend.settings.group.name = "caf\xE9";
  BOOST_TEST(leader()["group"] == "caf\xEF\xBF\xBD");
}

// Member 4 has left, 1 is down, 2 has never been heard; 5 leads and 3 is this node.
BOOST_AUTO_TEST_CASE(members_come_by_rank_and_those_that_have_left_at_the_end) {
  follow();
  // The leader's list says what it wants now; its HELLO is older.
  MemberView list{.version = {.epoch = 1, .counter = 9}, .entries = {}};
  for (const Member& member : node.node().members().all()) list.entries.push_back(member.entry);
  std::ranges::find(list.entries, uuid(5), &MemberEntry::id)->variant = "classic";
  step(node.receive(5, 1, MembersFrame{std::make_shared<const MemberView>(list)}));
  step(node.receive(4, 1, Leave{.boot = 1}));
  step(node.disconnect(1, LinkEvidence::kRefused));
  backend.settings.voters = {{"node-5", {}}, {"node-3", {}}, {"node-1", {}}};
  backend.peers[uuid(5)] = {.software = "0.2.0",
                            .plugin = "bully",
                            .security = Security::kCertificate,
                            .certificate = "node-5.orders",
                            .heard = node.now() - 40ms,
                            .rtt = 312400ns};
  backend.peers[uuid(1)] = {.heard = node.now() - 3s};
  BOOST_TEST(get("/v1/members")->response->body == compact(R"({"group":"orders","members":[
      {"name":"node-5","id":"00000000-0000-0000-0000-000000000005","address":"10.0.0.5:7946",
       "priority":100,"voter":true,"state":"alive","is_self":false,"is_leader":true,"is_draining":false,
       "may_lead":true,"is_able":true,"why_not_able":null,"score":0,"last_heard_ms":40,"rtt_ms":0.312,"variant":"classic","version":"0.2.0",
       "security":"tls","certificate":"node-5.orders"},
      {"name":"node-3","id":"00000000-0000-0000-0000-000000000003","address":"10.0.0.3:7946",
       "priority":100,"voter":true,"state":"alive","is_self":true,"is_leader":false,"is_draining":false,
       "may_lead":true,"is_able":true,"why_not_able":null,"score":0,"last_heard_ms":null,"rtt_ms":null,"variant":"modified",
       "version":"0.1.0","security":null,"certificate":null},
      {"name":"node-2","id":"00000000-0000-0000-0000-000000000002","address":"10.0.0.2:7946",
       "priority":100,"voter":false,"state":"alive","is_self":false,"is_leader":false,"is_draining":false,
       "may_lead":true,"is_able":true,"why_not_able":null,"score":0,"last_heard_ms":null,"rtt_ms":null,"variant":null,"version":null,
       "security":null,"certificate":null},
      {"name":"node-1","id":"00000000-0000-0000-0000-000000000001","address":"10.0.0.1:7946",
       "priority":100,"voter":true,"state":"down","is_self":false,"is_leader":false,"is_draining":false,
       "may_lead":true,"is_able":true,"why_not_able":null,"score":0,"last_heard_ms":3000,"rtt_ms":null,"variant":null,"version":null,
       "security":null,"certificate":null},
      {"name":"node-4","id":"00000000-0000-0000-0000-000000000004","address":"10.0.0.4:7946",
       "priority":100,"voter":false,"state":"left","is_self":false,"is_leader":false,"is_draining":false,
       "may_lead":true,"is_able":true,"why_not_able":null,"score":0,"last_heard_ms":null,"rtt_ms":null,"variant":null,"version":null,
       "security":null,"certificate":null}]})"));
}

BOOST_AUTO_TEST_CASE(status_is_all_of_this_node) {
  lead();
  backend.mismatches = {"node-1 has lease 2s"};
  backend.settings.tls.mode = TlsMode::kStrict;
  backend.tls_states[metrics::TlsUse::kMembers] = {"tls.key is missing", 1769850000};
  backend.settings.api.cert = backend.settings.api.key = "/some/file";
  backend.tls_states[metrics::TlsUse::kApi] = {"", 1769850001};
  const std::string hash = get("/v1/status")->json()["config"]["hash"];
  BOOST_TEST(hash.size() == 8u);
  BOOST_TEST(
      get("/v1/status")->response->body == compact(R"({"group":"orders","node":{"name":"node-3",
      "id":"00000000-0000-0000-0000-000000000003","priority":100,"address":"10.0.0.3:7946"},
      "role":"leading","leader":{"name":"node-3","id":"00000000-0000-0000-0000-000000000003",
      "address":"10.0.0.3:7946"},"epoch":1,"highest_epoch":1,"is_ready":true,
      "why_not_ready":null,"lacks":null,"may_lead":true,"why_nobody_leads":null,"variant":"modified","active_variant":"modified",
      "guard":"none",
      "election_state":"idle","timers_due_in_ms":{"heartbeat":100},
      "lease":{"length_ms":null,"is_valid":true,"valid_for_ms":0},"promise":null,"vote":null,"store":null,
      "config":{"hash":")" + hash +
                                                   R"(","pending_restart":["node.listen"],
      "mismatches":["node-1 has lease 2s"]},
      "tls":{"mode":"strict","why_not_in_force":"tls.key is missing",
      "certificate_expires":"2026-01-31T09:00:00.000Z",
      "api":{"why_not_in_force":null,"certificate_expires":"2026-01-31T09:00:01.000Z"},
      "metrics":null,"hooks":null},
      "commands":{"from":"all","needs_token":false,"why_no_token_counts":null},
      "application":{"is_able":true,"why_not":null,"attach":false,"attached":[],"health":null,
                     "is_healthy":null,"why_not_healthy":null,"score":0,"draining":null},
      "plugin":{"name":"bully","version":"0.1.0","abi":"1.0"},
      "confinement":{"no_new_privs":true,"seccomp":true,"landlock":null,
      "why_not_whole":"no Landlock"},"version":"0.1.0",
      "uptime_ms":60000,"loop_age_ms":700})"));
}

BOOST_AUTO_TEST_CASE(status_names_the_role_and_the_armed_timers) {
  const auto status = [this] { return get("/v1/status")->json(); };
  step(node.step(Start{}));
  BOOST_TEST(status()["role"] == "joining");
  BOOST_TEST(status()["timers_due_in_ms"].dump() == R"({"join":500})");
  follow();
  BOOST_TEST(status()["role"] == "following");
  BOOST_TEST(status()["timers_due_in_ms"].contains("suspicion"));
  step(node.disconnect(5, LinkEvidence::kRefused));
  BOOST_TEST(status()["role"] == "leaderless");
  BOOST_TEST(status()["leader"].is_null());
  BOOST_TEST(status()["timers_due_in_ms"].contains("elect"));
}

BOOST_AUTO_TEST_CASE(status_has_the_election_that_is_running) {
  follow();
  step(node.step(Elect{}));
  BOOST_TEST(get("/v1/status")->json()["election_state"] == "collecting");
}

BOOST_AUTO_TEST_CASE(status_says_what_is_missing) {
  backend.not_ready = "the state folder is full";
  const Json status = get("/v1/status")->json();
  BOOST_TEST(status["is_ready"] == false);
  BOOST_TEST(status["why_not_ready"] == "the state folder is full");
  BOOST_TEST(status["lacks"] == "other");
  backend.lack = api::Lack::kVote;
  BOOST_TEST(get("/v1/status")->json()["lacks"] == "vote");
}

BOOST_AUTO_TEST_CASE(the_hash_is_that_of_the_configuration_without_the_nodes_own_part) {
  const auto hash = [this] { return get("/v1/status")->json()["config"]["hash"]; };
  const Json before = hash();
  backend.settings.node.priority = 7;
  BOOST_TEST(hash() == before);
  backend.settings.election.lease = 3s;
  BOOST_TEST(hash() != before);
  backend.settings.election.lease = {};
  BOOST_TEST(hash() == before);
  backend.settings.voters = {{"node-3", {.host = "10.0.0.3", .port = 7946}}};
  BOOST_TEST(hash() != before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
