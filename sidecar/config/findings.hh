// What is wrong, or only doubtful, in a configuration: where, which key, what, and the remedy.
#pragma once

#include <compare>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace bellwether {

// In the text; both count from 1.
struct SourcePosition {
  uint32_t line = 1;
  uint32_t column = 1;
  friend auto operator<=>(const SourcePosition&, const SourcePosition&) = default;
};

struct Finding {
  SourcePosition position;
  std::string key;  // table.name; empty when it is about the text as such
  std::string what;
  std::string remedy;
};

// One line, as compilers print it: FILE:LINE:COLUMN: severity: key: what; remedy
std::string describe(const std::string& file, const std::string& severity, const Finding& finding);
// The same without the remedy, and with `severity` as it is.
std::string place_and_flaw(const std::string& file, const Finding& finding,
                           const std::string& severity = "");

// A configuration that cannot be used.  what() has one line a finding, in the order of the text.
class ConfigErrors : public std::runtime_error {
 public:
  // At least one finding.
  ConfigErrors(const std::string& file, std::vector<Finding> findings);

  const std::vector<Finding>& findings() const { return findings_; }

 private:
  std::vector<Finding> findings_;
};

}  // namespace bellwether
