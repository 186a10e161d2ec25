// The check of the application beside the sidecar: is it there, does it work, does its score count?
#include <fmt/ranges.h>

#include <algorithm>

#include "doctor/checks.hh"
#include "doctor/phrases.hh"

namespace bellwether::doctor {
namespace {

bool is_alive(const MemberFacts& member) { return member.state == Liveness::kAlive; }

// "worker attached, healthy, score 42", or nothing.
std::string state_text(const ApplicationFacts& application) {
  std::vector<std::string> parts;
  if (!application.attached.empty()) parts.push_back(listed(application.attached) + " attached");
  if (application.is_checked()) {
    parts.emplace_back(application.is_healthy ? "healthy" : "not healthy");
  }
  if (application.score != 0) parts.push_back(fmt::format("score {}", application.score));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Where no other living member has the same priority.
bool is_score_idle(const SidecarFacts& sidecar) {
  const auto own = std::ranges::find_if(sidecar.members, &MemberFacts::is_self);
  if (sidecar.application->score == 0 || own == sidecar.members.end()) return false;
  const auto others = std::ranges::count_if(sidecar.members, [](const MemberFacts& member) {
    return is_alive(member) && !member.is_self;
  });
  return others > 0 && std::ranges::none_of(sidecar.members, [&](const MemberFacts& member) {
           return is_alive(member) && !member.is_self && member.priority == own->priority;
         });
}

void judge_ability(const ApplicationFacts& application, const std::string& flag, Findings& found) {
  if (application.attach && application.attached.empty()) {
    found.warning("no application is attached" + flag,
                  "start it, and let it attach: POST /v1/application/attach at [api] socket or "
                  "listen; where it says that it is refused, see who may command");
  }
  if (!application.is_checked()) return;
  const std::string flaw =
      application.why_not_healthy.empty() ? "no check has passed yet" : application.why_not_healthy;
  if (!application.is_healthy) {
    found.warning("it fails its health checks" + flag + ": " + flaw,
                  "see to the application, or correct application.health; it is asked from here, "
                  "with nothing but a GET");
  } else if (!application.why_not_healthy.empty()) {
    found.warning("it is healthy, but the last check failed: " + flaw,
                  "run the doctor again; if checks fail now and then, raise "
                  "application.health_timeout: health_failures in a row cost leadership");
  }
}

}  // namespace

void check_application(const Facts& facts, Findings& found) {
  const SidecarFacts& sidecar = *facts.sidecar;
  if (!sidecar.application) {
    return found.skipped("the sidecar here is of a release that asks for none");
  }
  const ApplicationFacts& application = *sidecar.application;
  if (!sidecar.why_nobody_leads.empty()) {
    found.problem(sidecar.why_nobody_leads + ", so nobody leads",
                  "see to one of the applications: `bellwether status` says what each lacks");
  }
  judge_ability(application, application.is_able ? "" : ", so this node does not lead", found);
  if (is_score_idle(sidecar)) {
    found.warning(fmt::format("its score ({}) decides nothing: no other living member has its "
                              "priority, which counts first",
                              application.score),
                  "give members that shall be compared by score the same node.priority");
  }
  if (!found.is_empty()) return;
  const std::string state = state_text(application);
  if (!application.attach && !application.is_checked()) {
    return found.ok("nothing is asked of it: this node leads whatever becomes of it" +
                    (state.empty() ? "" : "; " + state));
  }
  const auto able = std::ranges::count_if(sidecar.members, [](const MemberFacts& member) {
    return is_alive(member) && member.is_able;
  });
  found.ok(
      fmt::format("{}; able on {} of {}", state, able, counted(sidecar.members.size(), "member")));
}

}  // namespace bellwether::doctor
