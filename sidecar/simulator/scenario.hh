// Scenario files: short scripts that drive the virtual cluster and say what must come of it.
//
// A file is paragraphs of commands, one a line; '#' begins a comment.  A paragraph may end with a
// line "----" and the trace that its commands give; it is compared, and can be rewritten.
// What commands there are stands in one table, verbs() in scenario_verbs.hh.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "simulator/cluster.hh"

namespace bellwether::simulator {

struct Command {
  size_t line = 0;  // from 1
  std::vector<std::string> words;
};

struct Paragraph {
  std::vector<std::string> text;  // as written, up to "----" or the end
  std::vector<Command> commands;
  bool has_trace = false;
  std::vector<std::string> trace;  // expected
  size_t trace_line = 0;           // where it begins
};

struct Scenario {
  std::string name;  // of the file, for messages
  std::vector<Paragraph> paragraphs;
};

// A scenario that cannot be read; what() is "file:line: what is wrong and what would be right".
class ScenarioError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Scenario parse_scenario(const std::string& name, const std::string& text);

struct ScenarioSettings {
  const election_plugin* plugin = nullptr;
  std::string variant;                            // unless the file names one; empty: the last
  uint64_t seed = 1;                              // unless the file names one
  std::optional<Assumption> broken_assumption{};  // tests only
  std::function<void(const std::string&)> trace;  // every line of the trace, when set
};

struct ScenarioResult {
  bool has_passed = false;
  std::string failure;    // "file:line: what was expected and what was found"; empty when passed
  std::string rewritten;  // the file with the traces that it really gave
  uint64_t steps = 0;
  uint64_t claims = 0;
  Duration virtual_time{};
};

// Runs the whole file; throws ScenarioError for a command that makes no sense.
ScenarioResult run_scenario(const Scenario& scenario, const ScenarioSettings& settings);

}  // namespace bellwether::simulator
