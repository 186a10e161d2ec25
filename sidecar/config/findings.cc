// Findings as text.
#include "config/findings.hh"

#include <fmt/core.h>

#include <utility>

namespace bellwether {
namespace {

std::string lines(const std::string& file, const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += (text.empty() ? "" : "\n") + describe(file, "error", finding);
  }
  return text;
}

}  // namespace

std::string place_and_flaw(const std::string& file, const Finding& finding,
                           const std::string& severity) {
  return fmt::format("{}:{}:{}: {}{}{}{}", file, finding.position.line, finding.position.column,
                     severity, finding.key, finding.key.empty() ? "" : ": ", finding.what);
}

std::string describe(const std::string& file, const std::string& severity, const Finding& finding) {
  return place_and_flaw(file, finding, severity + ": ") + "; " + finding.remedy;
}

ConfigErrors::ConfigErrors(const std::string& file, std::vector<Finding> findings)
    : std::runtime_error(lines(file, findings)), findings_(std::move(findings)) {}

}  // namespace bellwether
