// An option that takes one of a few words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/exit_code.hh"

namespace bellwether::cli {

// Parsing sets `value`, which must outlive `app`, or throws UsageError with the words that there
// are.
template <typename Value>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Value& value,
                        const std::vector<std::pair<std::string, Value>>& choices,
                        const std::string& help) {
  const auto choose = [&value, name, choices](const std::string& word) {
    std::string known;
    for (const auto& [choice, chosen] : choices) {
      if (word == choice) {
        value = chosen;
        return;
      }
      known += (known.empty() ? "" : ", ") + choice;
    }
    throw UsageError(name + " is one of " + known + ", not \"" + word + "\"");
  };
  return app.add_option_function<std::string>(name, choose, help);
}

}  // namespace bellwether::cli
