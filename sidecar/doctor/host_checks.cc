// Checks of this machine: what the kernel, the clock and the processor give.
#include <fmt/core.h>

#include "doctor/checks.hh"
#include "doctor/phrases.hh"
#include "io/loop/files.hh"

namespace bellwether::doctor {
namespace {

constexpr int kPlausibleYear = 2020;  // before it the clock was never set
// Rates that differ by more break the promise of guard "majority".
constexpr double kMaxRatePpm = 110'000;
// Of the wall clock, in the few seconds of a run: more than scheduling explains, so it was set.
constexpr Duration kMaxStep = std::chrono::milliseconds(250);
constexpr uint64_t kFewFiles = 128;
constexpr uint64_t kThrottledOneIn = 100;  // periods

std::string step_text(const ClockFacts& clock) {
  const Duration step = clock.wall_elapsed - clock.boot_elapsed;
  return fmt::format(
      "the wall clock went {} {} CLOCK_BOOTTIME in {}", time_text(std::chrono::abs(step)),
      step > Duration::zero() ? "ahead of" : "behind", time_text(clock.boot_elapsed));
}

}  // namespace

void check_futex(const Facts& facts, Findings& found) {
  if (facts.futex_flaw.empty()) {
    return found.ok("the kernel turns the flag off when the sidecar is killed");
  }
  found.warning("after a kill the flag stays on until its validity ends: " + facts.futex_flaw,
                "allow set_robust_list(2) and fork(2) in the seccomp profile or sandbox, or rely "
                "on the epoch as fencing token");
}

void check_confinement(const Facts& facts, Findings& found) {
  const std::string& lack = facts.sidecar->why_not_confined;
  if (lack.empty()) return found.ok("the sidecar has taken away from itself what it does not need");
  const std::string seen = "the sidecar is not confined, or in part: " + lack;
  if (!facts.config.config->node.is_confined) return found.ok(seen);
  found.warning(seen,
                "allow seccomp(2) and landlock_restrict_self(2) in the container's profile, take a "
                "kernel with Landlock (5.13 or later, \"landlock\" in lsm=), or set confine = "
                "\"off\" in [node] if that is what you want");
}

void check_clock(const Facts& facts, Findings& found) {
  const ClockFacts& clock = facts.clock;
  if (clock.year < kPlausibleYear) {
    found.problem(
        fmt::format("the wall clock says it is the year {}", clock.year),
        "set it: times in logs, and the first epoch of a group with [voters], are made of it");
  }
  if (std::chrono::abs(clock.wall_elapsed - clock.boot_elapsed) > kMaxStep) {
    found.warning(step_text(clock), "elections do not use the wall clock; find out who sets it");
  }
  if (clock.rate_ppm > kMaxRatePpm || clock.rate_ppm < -kMaxRatePpm) {
    found.problem(fmt::format("the kernel makes the clock run {:f} ppm faster", clock.rate_ppm),
                  "reset it (adjtimex): leases allow for clocks that are 11 % off");
  }
  if (clock.has_boot_offset) {
    found.warning(
        "this process lives in a time namespace with its own CLOCK_BOOTTIME",
        "run application and sidecar in the same one: the flag's validity is a time on this clock");
  }
  if (clock.is_synchronisation_known && !clock.is_synchronised) {
    found.warning("no time service keeps the wall clock right (adjtimex)",
                  "run chrony or systemd-timesyncd, so that logs of several hosts can be compared; "
                  "elections do not need it");
  }
  if (!found.is_empty()) return;
  std::string seen = "CLOCK_BOOTTIME and the wall clock agree";
  if (clock.is_synchronisation_known) {
    seen += "; synchronised, off by at most " + time_text(clock.max_error);
  }
  found.ok(seen + "; how far the clocks of other members are off cannot be seen from here");
}

void check_open_files(const Facts& facts, Findings& found) {
  const LimitFacts& limits = facts.limits;
  const std::string whose = limits.process != 0 ? fmt::format("process {}", limits.process)
                                                : "a process started from here";
  const std::string seen = fmt::format("{} may open {} files", whose, limits.open_files);
  const std::string remedy =
      fmt::format("raise it to {} (LimitNOFILE=, ulimit -n)", io::kEnoughOpenFiles);
  if (limits.open_files < kFewFiles) return found.problem(seen, remedy);
  if (limits.open_files < io::kEnoughOpenFiles) return found.warning(seen, remedy);
  found.ok(seen);
}

// A process that has used up its quota stands still until the next period begins.
void check_processor(const Facts& facts, Findings& found) {
  const LimitFacts& limits = facts.limits;
  if (!limits.cpu_quota)
    return found.ok("no quota of processor time limits this group of processes");
  const std::string quota = fmt::format("{} of processor time in each {}",
                                        time_text(*limits.cpu_quota), time_text(limits.cpu_period));
  const std::string throttled =
      fmt::format("{} of {}", limits.throttled_periods, counted(limits.cpu_periods, "period"));
  const Duration stall = limits.cpu_period - *limits.cpu_quota;
  if (facts.config.config && stall > Duration::zero()) {
    const Duration suspect_after = facts.config.config->failure_detector.suspect_after;
    const std::string seen =
        fmt::format("the quota is {}, so it can stand still for {}; peers suspect a silence of {}",
                    quota, time_text(stall), time_text(suspect_after));
    const char* const remedy =
        "leave limits.cpu out, raise it, or choose profile \"wan\" for longer timers";
    if (stall >= suspect_after)
      found.problem(seen, remedy);
    else if (stall * 2 >= suspect_after)
      found.warning(seen, remedy);
  }
  if (limits.throttled_periods * kThrottledOneIn > limits.cpu_periods) {
    found.warning("throttled in " + throttled,
                  "leave limits.cpu out, or raise it: a sidecar that stands still looks dead");
  }
  if (found.is_empty()) found.ok(quota + ", used up in " + throttled);
}

}  // namespace bellwether::doctor
