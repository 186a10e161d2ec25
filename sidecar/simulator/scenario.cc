// Scenario files: parsed into commands, run paragraph by paragraph, traces compared.
#include "simulator/scenario.hh"

#include <algorithm>
#include <sstream>

#include "simulator/scenario_runner.hh"

namespace bellwether::simulator {
namespace {

constexpr const char* kTraceMark = "----";

std::vector<std::string> split_words(const std::string& line) {
  std::istringstream in(line.substr(0, line.find('#')));
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Where the trace that was given departs from the one expected, in words.
std::string difference(const std::vector<std::string>& expected,
                       const std::vector<std::string>& given, size_t& at) {
  const auto [left, right] =
      std::mismatch(expected.begin(), expected.end(), given.begin(), given.end());
  at = static_cast<size_t>(left - expected.begin());
  return right == given.end() ? "the trace ends here" : "'" + *right + "'";
}

void append(std::string& text, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) text += line + "\n";
}

}  // namespace

Scenario parse_scenario(const std::string& name, const std::string& text) {
  Scenario scenario{.name = name, .paragraphs = {}};
  std::istringstream in(text);
  bool is_open = false;
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) {
      is_open = false;
      continue;
    }
    if (!is_open) scenario.paragraphs.emplace_back();
    is_open = true;
    Paragraph& paragraph = scenario.paragraphs.back();
    if (paragraph.has_trace) {
      paragraph.trace.push_back(line);
    } else if (line == kTraceMark) {
      paragraph.has_trace = true;
      paragraph.trace_line = number + 1;
    } else {
      paragraph.text.push_back(line);
      std::vector<std::string> words = split_words(line);
      if (!words.empty()) paragraph.commands.push_back({number, std::move(words)});
    }
  }
  const bool expects_something =
      std::any_of(scenario.paragraphs.begin(), scenario.paragraphs.end(), [](const auto& p) {
        return p.has_trace || std::any_of(p.commands.begin(), p.commands.end(), [](const auto& c) {
                 return c.words.front() == "expect";
               });
      });
  if (!expects_something) {
    throw ScenarioError(name + ":1: the scenario expects nothing; add an 'expect' command");
  }
  return scenario;
}

ScenarioResult run_scenario(const Scenario& scenario, const ScenarioSettings& settings) {
  ScenarioResult result;
  const bool has_traces = std::any_of(scenario.paragraphs.begin(), scenario.paragraphs.end(),
                                      [](const Paragraph& p) { return p.has_trace; });
  ScenarioRunner runner(scenario.name, settings, has_traces);
  for (const Paragraph& paragraph : scenario.paragraphs) {
    runner.begin_trace();
    for (const Command& command : paragraph.commands) {
      if (!runner.has_failed()) runner.run(command);
    }
    const std::vector<std::string> trace = runner.take_trace();
    if (!result.rewritten.empty()) result.rewritten += "\n";
    append(result.rewritten, paragraph.text);
    if (!paragraph.has_trace) continue;
    result.rewritten += std::string(kTraceMark) + "\n";
    append(result.rewritten, trace);
    if (trace == paragraph.trace || runner.has_failed() || !result.failure.empty()) continue;
    size_t at = 0;
    const std::string found = difference(paragraph.trace, trace, at);
    result.failure = scenario.name + ":" + std::to_string(paragraph.trace_line + at) +
                     ": expected " +
                     (at < paragraph.trace.size() ? "'" + paragraph.trace[at] + "'"
                                                  : std::string("the end of the trace")) +
                     "; found: " + found;
  }
  if (runner.has_failed()) result.failure = runner.failure();
  result.has_passed = result.failure.empty();
  if (runner.has_cluster()) {
    result.steps = runner.cluster().steps();
    result.claims = runner.cluster().referee().claims();
    result.virtual_time = runner.cluster().now().time_since_epoch();
  }
  return result;
}

}  // namespace bellwether::simulator
