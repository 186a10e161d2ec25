// The whole of a diagnosis, and the checks of what this process was given.
#include <fstream>

#include "expectations.hh"

namespace bellwether::doctor {
namespace {

BOOST_AUTO_TEST_SUITE(diagnosis)

BOOST_AUTO_TEST_CASE(of_a_healthy_group_finds_nothing) {
  const Diagnoses found = diagnose(healthy_facts());
  BOOST_TEST(found.size() == check_names().size());
  for (const Diagnosis& each : found) {
    BOOST_TEST((each.verdict == Verdict::kOk), each.check << ": " << each.seen);
  }
  BOOST_TEST((verdict_of(found) == Verdict::kOk));
}

BOOST_AUTO_TEST_CASE(without_a_sidecar_skips_what_needs_one_and_finds_nothing) {
  const Diagnoses found = diagnose(facts_without_sidecar());
  std::string skipped_checks;
  for (const Diagnosis& each : found) {
    BOOST_TEST((each.verdict <= Verdict::kOk), each.check << ": " << each.seen);
    if (each.verdict == Verdict::kSkipped) skipped_checks += each.check + ";";
  }
  BOOST_TEST(skipped_checks == "sidecar;metrics;application;confinement;own address;both ways;");
}

BOOST_AUTO_TEST_CASE(without_usable_tls_skips_what_needs_probes) {
  Facts facts = healthy_facts();
  facts.tls->flaw = "tls.cert /c is missing";
  facts.probes.clear();
  facts.names[1].addresses.emplace_back("10.0.0.9:7946");  // of whom only a probe could tell
  std::string skipped_checks;
  for (const Diagnosis& each : diagnose(facts)) {
    if (each.verdict == Verdict::kSkipped) {
      skipped_checks += each.check + ";";
      BOOST_TEST(each.seen == "[tls] cannot be used here; see the check tls");
    } else {
      const Verdict expected = each.check == "tls" ? Verdict::kProblem : Verdict::kOk;
      BOOST_TEST((each.verdict == expected), each.check << ": " << each.seen);
    }
  }
  BOOST_TEST(skipped_checks ==
             "own address;reach;both ways;identities;versions;plugins;variants;voters;leader;");
}

BOOST_AUTO_TEST_CASE(without_a_configuration_looks_at_the_host_only) {
  Facts facts{.version = "0.1.0", .config = {.file = "b.toml", .read_error = "cannot read b.toml"}};
  facts.clock = healthy_facts().clock;
  facts.limits = healthy_facts().limits;
  for (const Diagnosis& each : diagnose(facts)) {
    const bool is_of_host = each.check == "futex" || each.check == "clock" ||
                            each.check == "open files" || each.check == "processor";
    const Verdict expected = each.check == "configuration" ? Verdict::kProblem
                             : is_of_host                  ? Verdict::kOk
                                                           : Verdict::kSkipped;
    BOOST_TEST((each.verdict == expected), each.check << ": " << each.seen);
  }
}

BOOST_AUTO_TEST_CASE(has_every_check_in_its_documentation) {
  std::ifstream file(BELLWETHER_TEST_DOCTOR_README);
  std::string documented;
  bool is_in_table = false;
  for (std::string line; std::getline(file, line);) {
    is_in_table = is_in_table ? !line.empty() : line.starts_with("| check |");
    if (is_in_table && line.starts_with("| `"))
      documented += line.substr(3, line.find('`', 3) - 3) + ";";
  }
  std::string checks;
  for (const std::string_view check : check_names()) checks += std::string(check) + ";";
  BOOST_TEST(documented == checks);
}

BOOST_AUTO_TEST_CASE(is_as_bad_as_its_worst_finding) {
  const auto worst_of = [](const std::vector<Verdict>& verdicts) {
    Diagnoses diagnoses;
    for (const Verdict verdict : verdicts) diagnoses.push_back({.verdict = verdict});
    return verdict_of(diagnoses);
  };
  using enum Verdict;
  BOOST_TEST((worst_of({kSkipped}) == kOk));
  BOOST_TEST((worst_of({kOk, kWarning, kSkipped}) == kWarning));
  BOOST_TEST((worst_of({kProblem, kWarning}) == kProblem));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(setup, HealthyGroup)

BOOST_AUTO_TEST_CASE(every_error_of_the_configuration_is_a_problem_with_its_remedy) {
  facts.config.config.reset();
  facts.config.errors = {{{3, 1}, "node.name", "is empty", "give a name"},
                         {{4, 2}, "", "is no TOML", "correct it"}};
  BOOST_TEST(findings(facts, "configuration") ==
             "problem: b.toml:3:1: node.name: is empty -> give a name\n"
             "problem: b.toml:4:2: is no TOML -> correct it\n");
}

BOOST_AUTO_TEST_CASE(a_doubtful_configuration_is_a_warning) {
  facts.config.warnings = {{{1, 1}, "voters", "there are none", "name them"}};
  expect_one(facts, "configuration", "warning: b.toml:1:1: voters: there are none -> name them");
}

BOOST_AUTO_TEST_CASE(a_plugin_that_cannot_be_loaded_is_a_problem) {
  facts.config.plugin_flaw = "bellwether-bully.so is not there";
  expect_one(facts, "plugin", "problem: bellwether-bully.so is not there ->");
}

BOOST_AUTO_TEST_CASE(another_sidecar_at_the_api_is_a_problem) {
  facts.sidecar->group = "payments";
  expect_one(facts, "sidecar",
             "problem: what answers at 127.0.0.1:4040 is orders-0 of group payments");
}

BOOST_AUTO_TEST_CASE(a_sidecar_that_is_not_ready_is_a_warning) {
  facts.sidecar->why_not_ready = "it looks for a leader";
  expect_one(facts, "sidecar", "warning: orders-0 is not ready: it looks for a leader ->");
}

BOOST_AUTO_TEST_CASE(a_voter_without_a_vote_is_one_warning_ready_or_not) {
  facts.sidecar->vote = Vote::kForgotten;
  facts.sidecar->why_no_vote = "this voter has no vote: orders-2 has not answered";
  const std::string warning =
      "warning: orders-0: this voter has no vote: orders-2 has not answered";
  expect_one(facts, "sidecar", warning);
  facts.sidecar->why_not_ready = facts.sidecar->why_no_vote;
  facts.sidecar->lacks_vote_alone = true;
  expect_one(facts, "sidecar", warning);
}

BOOST_AUTO_TEST_CASE(each_way_to_be_without_a_vote_has_its_remedy) {
  facts.sidecar->why_no_vote = "why";
  const auto expect = [&](Vote vote, const std::string& remedy) {
    facts.sidecar->vote = vote;
    expect_one(facts, "sidecar", "warning: orders-0: why -> " + remedy);
  };
  expect(Vote::kBroken, "make room on the disk");
  expect(Vote::kShutOut, "look whether those peers belong to this group");
  expect(Vote::kForgotten, "it needs ten seconds after its start; then start the voters");
}

BOOST_AUTO_TEST_CASE(values_that_wait_for_a_restart_are_a_warning) {
  facts.sidecar->pending_restart = {"node.name", "node.listen"};
  expect_one(facts, "sidecar",
             "warning: new values wait for a restart: node.name and node.listen ->");
}

BOOST_AUTO_TEST_CASE(without_an_api_there_is_nobody_to_ask) {
  facts.sidecar.reset();
  expect_one(facts, "sidecar", "skipped: [api] has no listen and no socket");
}

// --- ports ---

struct BeforeTheStart : HealthyGroup {
  BeforeTheStart() {
    facts.sidecar->silence = "no sidecar answers";
    facts.state->lock = {};
    facts.flag->lock = {};
  }
};

BOOST_AUTO_TEST_CASE(the_sidecar_that_answers_has_its_ports) {
  facts.listeners = {{"::", 7946}};
  expect_one(facts, "ports", "ok: the sidecar has them");
}

BOOST_FIXTURE_TEST_CASE(ports_are_free_before_the_start, BeforeTheStart) {
  facts.listeners = {{"127.0.0.2", 4040}, {"::", 80}};
  expect_one(facts, "ports", "ok: nobody listens where the sidecar will");
}

BOOST_FIXTURE_TEST_CASE(a_port_that_another_process_has_is_a_problem, BeforeTheStart) {
  const char* const expected =
      "problem: another process listens at 127.0.0.1:4040, which [api] listen names ->";
  facts.listeners = {{"127.0.0.1", 4040}};
  expect_one(facts, "ports", expected);
  facts.listeners = {{"0.0.0.0", 4040}};
  expect_one(facts, "ports", expected);
  facts.listeners = {{"10.0.0.1", 7946}};  // where ours is to listen everywhere
  expect_one(facts, "ports", "problem: another process listens at [::]:7946, which [node] listen");
}

BOOST_FIXTURE_TEST_CASE(a_sidecar_that_hangs_may_have_them, BeforeTheStart) {
  facts.state->lock.is_held = true;
  facts.listeners = {{"::", 7946}};
  expect_one(facts, "ports", "skipped: a sidecar that does not answer may have them");
}

// --- metrics ---

BOOST_AUTO_TEST_CASE(metrics_that_nobody_serves_are_a_problem) {
  facts.metrics->error = "no sidecar answers at 127.0.0.1:9464";
  expect_one(facts, "metrics", "problem: metrics: no sidecar answers at 127.0.0.1:9464 ->");
}

BOOST_AUTO_TEST_CASE(a_stranger_on_the_port_of_the_metrics_is_a_problem) {
  facts.metrics->status = 404;
  expect_one(facts, "metrics",
             "problem: what answers at 127.0.0.1:9464 is not a sidecar (status 404) ->");
}

BOOST_AUTO_TEST_CASE(metrics_of_a_sidecar_that_is_not_ready_are_well) {
  facts.metrics->status = 503;
  expect_one(facts, "metrics", "ok: served at 127.0.0.1:9464");
}

BOOST_AUTO_TEST_CASE(metrics_that_only_this_host_gets_are_a_warning) {
  facts.config.config->metrics.listen = {"127.0.0.1", 9464};
  expect_one(facts, "metrics",
             "warning: served at 127.0.0.1:9464, where only this host gets them ->");
}

BOOST_AUTO_TEST_CASE(tls_is_in_force_and_lasts) {
  constexpr std::time_t kDay = 86400;
  facts.tls = TlsFacts{.begins = 0, .ends = 90 * kDay, .now = 80 * kDay};
  expect_one(facts, "tls", "ok: the files of [tls] fit together");
  facts.tls->now = 84 * kDay;
  expect_one(
      facts, "tls",
      "warning: the certificate of [tls] expires in 144 hours -> find out why it was not renewed");
  facts.tls = TlsFacts{.begins = 0, .ends = kDay, .now = kDay / 2};
  expect_one(facts, "tls", "ok: the files of [tls] fit together");
  facts.tls->now = kDay - 3600 * 4;
  expect_one(facts, "tls", "warning: the certificate of [tls] expires in 4 hours");
  facts.tls->now = kDay - 3600;
  expect_one(facts, "tls", "warning: the certificate of [tls] expires in 1 hour ->");
  facts.tls->now = kDay - 3599;
  expect_one(facts, "tls",
             "warning: the certificate of [tls] expires within the hour -> find out why it was not "
             "renewed");
}

BOOST_AUTO_TEST_CASE(tls_that_is_off_is_doubtful_where_others_reach_this_node) {
  facts.tls.reset();
  facts.config.config->tls.mode = TlsMode::kOff;
  expect_one(facts, "tls",
             "warning: [tls] is off: members do not prove who they are -> see TLS between members "
             "in the operations guide");
  facts.config.config->node.listen = {"127.0.0.1", 7946};
  expect_one(facts, "tls", "ok: [tls] is off: members do not prove who they are");
}

BOOST_AUTO_TEST_CASE(tls_of_all_members_can_be_strict) {
  constexpr const char* kBoth =
      "ok: the files of [tls] fit together\n"
      "ok: all members use TLS: tls.mode can be \"strict\" now\n";
  constexpr const char* kOne = "ok: the files of [tls] fit together";
  expect_one(facts, "tls", kOne);  // it is
  facts.config.config->tls.mode = TlsMode::kPermissive;
  BOOST_TEST(findings(facts, "tls") == kBoth);
  facts.sidecar->members[1].state = Liveness::kLeft;
  BOOST_TEST(findings(facts, "tls") == kBoth);
  facts.sidecar->members[2].state = Liveness::kDown;  // nobody knows how it comes back
  expect_one(facts, "tls", kOne);
  facts.sidecar->members[2].state = Liveness::kAlive;
  facts.sidecar->members[2].security = Security::kPlain;
  expect_one(facts, "tls", "warning: connected without TLS: orders-2");
  facts.sidecar->members.resize(1);
  expect_one(facts, "tls", kOne);
}

BOOST_AUTO_TEST_CASE(the_certificates_of_listeners_are_looked_at_like_those_of_members) {
  constexpr std::time_t kDay = 86400;
  facts.certificates["api"] = TlsFacts{.begins = 0, .ends = 90 * kDay, .now = 89 * kDay};
  expect_one(facts, "tls", "warning: the certificate of [api] expires in 24 hours");
  facts.certificates["api"].flaw = "api.key /k may be read by everybody; chmod go=";
  facts.certificates["api"].ends.reset();
  expect_one(facts, "tls", "problem: api.key /k may be read by everybody; chmod go=");
  facts.certificates["api"] = TlsFacts{};
  facts.sidecar->why_certificate_not_in_force["api"] = "api.key does not belong to api.cert";
  expect_one(facts, "tls",
             "problem: the sidecar cannot use them: api.key does not belong to api.cert");
  facts.sidecar->why_certificate_not_in_force.clear();
  facts.tls = TlsFacts{};
  expect_one(facts, "tls", "ok: the files of [tls], [api] fit together");
}

BOOST_AUTO_TEST_CASE(tokens_that_do_not_count_are_a_problem) {
  facts.sidecar->why_no_token_counts = "api.token_file /t is missing";
  expect_one(
      facts, "sidecar",
      "problem: commands with a token are refused: api.token_file /t is missing -> fix the file;");
}

BOOST_AUTO_TEST_CASE(tls_files_that_are_of_no_use_are_a_problem) {
  facts.tls = TlsFacts{.flaw = "tls.key /k may be read by everybody; chmod go="};
  expect_one(
      facts, "tls",
      "problem: tls.key /k may be read by everybody; chmod go= -> fix the file; the sidecar");
  facts.tls = TlsFacts{};
  facts.sidecar->why_tls_not_in_force = "tls.key does not belong to tls.cert";
  expect_one(facts, "tls",
             "problem: the sidecar cannot use them: tls.key does not belong to tls.cert");
}

BOOST_AUTO_TEST_CASE(tls_with_plain_members_or_a_certificate_for_all_is_doubtful) {
  facts.tls = TlsFacts{.names_of_any_voter = "spiffe://a/b"};
  expect_one(facts, "tls",
             "warning: a certificate for spiffe://a/b cannot tell voters apart: each can use the "
             "name of each");
  facts.tls = TlsFacts{};
  for (MemberFacts& member : facts.sidecar->members)
    member.security = member.is_self ? std::nullopt : std::optional(Security::kPlain);
  std::string names;
  for (const MemberFacts& member : facts.sidecar->members) {
    if (!member.is_self) names += (names.empty() ? "" : ", ") + member.name;
  }
  expect_one(facts, "tls", "warning: connected without TLS: " + names);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::doctor
