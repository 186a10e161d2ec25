// The table of checks.
#include "doctor/diagnosis.hh"

#include <algorithm>
#include <array>

#include "doctor/checks.hh"

namespace bellwether::doctor {
namespace {

// What must be there for a check to say anything.
enum class Needs : uint8_t { kNothing, kConfig, kSidecar, kProbes };

struct Check {
  const char* name;
  Needs needs;
  void (*run)(const Facts&, Findings&);
};

constexpr std::array kChecks{
    Check{"configuration", Needs::kNothing, check_configuration},
    Check{"plugin", Needs::kConfig, check_plugin},
    Check{"sidecar", Needs::kConfig, check_sidecar},
    Check{"ports", Needs::kConfig, check_ports},
    Check{"metrics", Needs::kSidecar, check_metrics},
    Check{"tls", Needs::kConfig, check_tls},
    Check{"state", Needs::kConfig, check_state},
    Check{"flag", Needs::kConfig, check_flag},
    Check{"store", Needs::kConfig, check_store},
    Check{"application", Needs::kSidecar, check_application},
    Check{"futex", Needs::kNothing, check_futex},
    Check{"confinement", Needs::kSidecar, check_confinement},
    Check{"clock", Needs::kNothing, check_clock},
    Check{"open files", Needs::kNothing, check_open_files},
    Check{"processor", Needs::kNothing, check_processor},
    Check{"names", Needs::kConfig, check_names},
    Check{"own address", Needs::kSidecar, check_own_address},
    Check{"reach", Needs::kProbes, check_reach},
    Check{"both ways", Needs::kSidecar, check_both_ways},
    Check{"proxies", Needs::kConfig, check_proxies},
    Check{"identities", Needs::kProbes, check_identities},
    Check{"versions", Needs::kConfig, check_versions},
    Check{"plugins", Needs::kProbes, check_plugins},
    Check{"variants", Needs::kProbes, check_variants},
    Check{"voters", Needs::kProbes, check_voters},
    Check{"leader", Needs::kProbes, check_leader},
};

// Why a check cannot be made; empty: it can.
std::string obstacle(const Check& check, const Facts& facts) {
  if (check.needs == Needs::kNothing) return "";
  if (!facts.config.config) return "there is no valid configuration";
  if (check.needs == Needs::kSidecar && !facts.has_sidecar()) return "no sidecar answers here";
  if (check.needs == Needs::kProbes && facts.is_tls_unusable()) return kNotProbed;
  return "";
}

}  // namespace

Diagnoses diagnose(const Facts& facts) {
  Diagnoses all;
  for (const Check& check : kChecks) {
    Findings found(check.name, all);
    const std::string reason = obstacle(check, facts);
    reason.empty() ? check.run(facts, found) : found.skipped(reason);
  }
  return all;
}

Verdict verdict_of(const Diagnoses& diagnoses) {
  Verdict worst = Verdict::kOk;
  for (const Diagnosis& diagnosis : diagnoses) worst = std::max(worst, diagnosis.verdict);
  return worst;
}

std::vector<std::string_view> check_names() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kChecks));
  for (const Check& check : kChecks) names.emplace_back(check.name);
  return names;
}

}  // namespace bellwether::doctor
