// From facts to findings: what is well, what is doubtful, what is broken, and the remedy.  Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.hh"
#include "doctor/facts.hh"

namespace bellwether::doctor {

// From the best to the worst, but for kSkipped, which is none of them.
enum class Verdict : uint8_t { kSkipped, kOk, kWarning, kProblem, kLast = kProblem };
inline const char* name(Verdict verdict) {
  static constexpr Names<Verdict> kNames({"skipped", "ok", "warning", "problem"});
  return kNames[verdict];
}

// One line of the report.
struct Diagnosis {
  std::string check{};  // which one; filled in by diagnose()
  Verdict verdict = Verdict::kOk;
  std::string seen;
  std::string remedy{};  // never empty with a warning or a problem
};
using Diagnoses = std::vector<Diagnosis>;

inline Diagnosis ok(std::string seen) { return {.seen = std::move(seen)}; }
inline Diagnosis warning(std::string seen, std::string remedy) {
  return {.verdict = Verdict::kWarning, .seen = std::move(seen), .remedy = std::move(remedy)};
}
inline Diagnosis problem(std::string seen, std::string remedy) {
  return {.verdict = Verdict::kProblem, .seen = std::move(seen), .remedy = std::move(remedy)};
}
inline Diagnosis skipped(std::string reason) {
  return {.verdict = Verdict::kSkipped, .seen = std::move(reason)};
}

// All checks in the order of the table in diagnosis.cc, each with one line or more.
Diagnoses diagnose(const Facts& facts);

// The worst of all.
Verdict verdict_of(const Diagnoses& diagnoses);

// The names of all checks, in order.
std::vector<std::string_view> check_names();

}  // namespace bellwether::doctor
