// The check of the application beside the sidecar.
#include "expectations.hh"

namespace bellwether::doctor {
namespace {

struct GroupWithApplication : HealthyGroup {
  GroupWithApplication() {
    application() = {.attach = true,
                     .attached = {"worker"},
                     .health = "http://127.0.0.1:8080/healthz",
                     .is_healthy = true,
                     .score = 42};
  }

  ApplicationFacts& application() { return *facts.sidecar->application; }
  void expect(const std::string& start) { expect_one(facts, "application", start); }
};

BOOST_AUTO_TEST_SUITE(diagnosis_of_the_application)

BOOST_FIXTURE_TEST_CASE(of_which_nothing_is_asked, HealthyGroup) {
  expect_one(facts, "application", "ok: nothing is asked of it: this node leads whatever becomes");
  facts.sidecar->application->attached = {"worker"};
  expect_one(facts, "application",
             "ok: nothing is asked of it: this node leads whatever becomes of it; worker attached");
}

BOOST_FIXTURE_TEST_CASE(names_who_is_attached_and_where_others_are_able, GroupWithApplication) {
  facts.sidecar->members[1].is_able = false;
  expect("ok: worker attached, healthy, score 42; able on 2 of 3 members");
}

BOOST_FIXTURE_TEST_CASE(that_is_not_attached_is_a_warning, GroupWithApplication) {
  application().attached.clear();
  application().is_able = false;
  expect("warning: no application is attached, so this node does not lead -> start it");
}

BOOST_FIXTURE_TEST_CASE(within_its_grace_it_leads_on, GroupWithApplication) {
  application().attached.clear();
  expect("warning: no application is attached -> start it");
}

BOOST_FIXTURE_TEST_CASE(that_fails_its_checks_is_a_warning, GroupWithApplication) {
  application().is_healthy = application().is_able = false;
  expect(
      "warning: it fails its health checks, so this node does not lead: no check has passed yet");
  application().why_not_healthy = "http://127.0.0.1:8080/healthz answers 503";
  expect(
      "warning: it fails its health checks, so this node does not lead: "
      "http://127.0.0.1:8080/healthz answers 503 -> see to the application");
}

BOOST_FIXTURE_TEST_CASE(that_failed_its_last_check_is_a_warning, GroupWithApplication) {
  application().why_not_healthy = "no answer in time";
  expect("warning: it is healthy, but the last check failed: no answer in time -> run the doctor");
}

BOOST_FIXTURE_TEST_CASE(that_nobody_has_is_a_problem, GroupWithApplication) {
  facts.sidecar->why_nobody_leads = "nobody's application is able";
  expect("problem: nobody's application is able, so nobody leads -> see to one of");
}

BOOST_FIXTURE_TEST_CASE(whose_score_decides_nothing_is_a_warning, GroupWithApplication) {
  facts.sidecar->members[0].priority = 200;
  expect("warning: its score (42) decides nothing: no other living member has its priority");
  application().score = 0;
  expect("ok: ");
  application().score = 42;
  for (const size_t other : {1u, 2u}) facts.sidecar->members[other].state = Liveness::kDown;
  expect("ok: ");
}

BOOST_FIXTURE_TEST_CASE(of_an_older_sidecar_is_skipped, HealthyGroup) {
  facts.sidecar->application.reset();
  expect_one(facts, "application", "skipped: the sidecar here is of a release that asks for none");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::doctor
