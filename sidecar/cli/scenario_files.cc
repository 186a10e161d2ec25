// `bellwether simulate FILES`: runs each scenario once a variant, or once when its `nodes` line
// names the variant, and counts what passed.
#include <fmt/core.h>

#include <algorithm>
#include <iostream>
#include <optional>

#include "cli/simulate.hh"
#include "cli/text_file.hh"
#include "plugin_loader.hh"
#include "simulator/scenario.hh"

namespace bellwether::cli {
namespace {

using simulator::Command;
using simulator::Paragraph;
using simulator::parse_scenario;
using simulator::Scenario;
using simulator::ScenarioResult;

struct ScenarioFile {
  std::string name;
  std::string text;
};

// All files are read before the first is run: a wrong name is a wrong command line.
std::vector<ScenarioFile> read_all(const std::vector<std::string>& names) {
  std::vector<ScenarioFile> files;
  for (const std::string& name : names) {
    try {
      files.push_back({name, read_text_file(name)});
    } catch (const std::system_error& error) {
      throw UsageError(std::string(error.what()) + "; FILES are the scenario files to run");
    }
  }
  return files;
}

struct NamedVariant {
  std::string name;
  size_t line;
};

// The variant that the scenario itself names.
std::optional<NamedVariant> named_variant(const Scenario& scenario) {
  constexpr std::string_view kKey = "variant=";
  for (const Paragraph& paragraph : scenario.paragraphs) {
    for (const Command& command : paragraph.commands) {
      if (command.words.front() != "nodes") continue;
      for (const std::string& word : command.words) {
        if (word.starts_with(kKey)) {
          return NamedVariant{word.substr(kKey.size()), command.line};
        }
      }
    }
  }
  return std::nullopt;
}

class ScenarioRuns {
 public:
  explicit ScenarioRuns(const Simulation& simulation)
      : simulation_(simulation),
        is_traced_(simulation.options.trace || simulation.options.files.size() == 1) {}

  void run(const ScenarioFile& file) {
    try {
      if (simulation_.options.rewrite) {
        run_and_rewrite(file);
      } else {
        run_variants(parse_scenario(file.name, file.text));
      }
    } catch (const std::exception& error) {  // ScenarioError, mostly: the file cannot be understood
      fail(file.name, error.what());
    }
  }

  ExitCode finish() const {
    std::cout << passed_ << " passed, " << failed_ << " failed\n";
    return failed_ == 0 ? ExitCode::kOk : ExitCode::kFailure;
  }

 private:
  using Sink = std::function<void(const std::string&)>;

  std::vector<std::string> variants_of(const Scenario& scenario) const {
    const auto named = named_variant(scenario);
    if (!named) return simulation_.variants;
    try {
      require_variant(simulation_.plugin, named->name);
    } catch (const PluginError& error) {
      throw simulator::ScenarioError(
          fmt::format("{}:{}: {}", scenario.name, named->line, error.what()));
    }
    return {named->name};
  }

  ScenarioResult run_once(const Scenario& scenario, const std::string& variant, Sink trace) const {
    return simulator::run_scenario(scenario, {.plugin = &simulation_.plugin,
                                              .variant = variant,
                                              .seed = simulation_.options.seed,
                                              .trace = std::move(trace)});
  }

  // True when the scenario passes with every variant.
  bool run_variants(const Scenario& scenario) {
    const unsigned failed_before = failed_;
    for (const std::string& variant : variants_of(scenario)) {
      const std::string title = scenario.name + " (" + variant + ")";
      if (is_traced_) std::cout << "== " << title << "\n";
      const Sink print = [](const std::string& line) { std::cout << line << "\n"; };
      const ScenarioResult result = run_once(scenario, variant, is_traced_ ? print : Sink());
      if (result.has_passed) {
        pass(title);
      } else {
        fail(title, result.failure);
      }
    }
    return failed_ == failed_before;
  }

  void run_and_rewrite(const ScenarioFile& file) {
    const Scenario before = parse_scenario(file.name, file.text);
    const std::string text = rewritten(before);
    const Scenario after = parse_scenario(file.name, text);
    if (std::ranges::equal(before.paragraphs, after.paragraphs, {}, &Paragraph::trace,
                           &Paragraph::trace)) {
      run_variants(before);
    } else if (run_variants(after)) {
      write_text_file(file.name, text);
      std::cout << "rewritten: " << file.name << "\n";
    } else {
      std::cout << file.name
                << " is left as it was: it fails with its new traces as well (which the "
                << "line numbers count)\n";
    }
  }

  // The file with the traces that it gives, which must not depend on the variant.
  std::string rewritten(const Scenario& scenario) const {
    const std::vector<std::string> variants = variants_of(scenario);
    std::string text = run_once(scenario, variants.front(), nullptr).rewritten;
    for (const std::string& variant : variants) {
      if (run_once(scenario, variant, nullptr).rewritten == text) continue;
      throw std::runtime_error(
          fmt::format("{0}: cannot be rewritten, {1} and {2} give different traces; name one of "
                      "them, by --variant or in the file as 'nodes ... variant={2}'",
                      scenario.name, variants.front(), variant));
    }
    return text;
  }

  void pass(const std::string& title) {
    ++passed_;
    std::cout << "ok      " << title << "\n";
  }

  void fail(const std::string& title, const std::string& why) {
    ++failed_;
    std::cout << "FAILED  " << title << "\n" << why << "\n";
  }

  const Simulation& simulation_;
  const bool is_traced_;
  unsigned passed_ = 0;
  unsigned failed_ = 0;
};

}  // namespace

ExitCode run_scenario_files(const Simulation& simulation) {
  ScenarioRuns runs(simulation);
  for (const ScenarioFile& file : read_all(simulation.options.files)) runs.run(file);
  return runs.finish();
}

}  // namespace bellwether::cli
