// From facts to findings: what is well, what is doubtful, what is broken, and the remedy.  Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
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
  std::string check;  // which one
  Verdict verdict{};
  std::string seen;
  std::string remedy;  // never empty with a warning or a problem
};
using Diagnoses = std::vector<Diagnosis>;

// What one check finds, line after line.
class Findings {
 public:
  Findings(std::string check, Diagnoses& report) : check_(std::move(check)), report_(report) {}

  void ok(const std::string& seen) { add(Verdict::kOk, seen, ""); }
  void warning(const std::string& seen, const std::string& remedy) {
    add(Verdict::kWarning, seen, remedy);
  }
  void problem(const std::string& seen, const std::string& remedy) {
    add(Verdict::kProblem, seen, remedy);
  }
  void skipped(const std::string& reason) { add(Verdict::kSkipped, reason, ""); }
  bool is_empty() const { return is_empty_; }

 private:
  void add(Verdict verdict, const std::string& seen, const std::string& remedy) {
    report_.push_back({check_, verdict, seen, remedy});
    is_empty_ = false;
  }

  std::string check_;
  Diagnoses& report_;
  bool is_empty_ = true;
};

// All checks in the order of the table in diagnosis.cc, each with one line or more.
Diagnoses diagnose(const Facts& facts);

// The worst of all.
Verdict verdict_of(const Diagnoses& diagnoses);

// The names of all checks, in order.
std::vector<std::string_view> check_names();

}  // namespace bellwether::doctor
