// The report for people is itself a configuration: whatever is not TOML is a comment.  Findings go
// to stderr, one a line, in the form in which compilers give theirs.
#include "cli/check.hh"

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>

#include "base/duration_text.hh"
#include "base/json.hh"
#include "cli/plugin_dir.hh"
#include "cli/styled_text.hh"
#include "cli/text_file.hh"
#include "config/effective.hh"
#include "config/keys.hh"

namespace bellwether::cli {
namespace {

constexpr const char* kCheckDescription = R"(Check a configuration file

Prints the configuration in force, defaults included, as TOML; how long the group can be without a
leader; and on stderr what is wrong (FILE:LINE:COLUMN: error: ...) or doubtful (warning).
Environment variables in the file (${NAME}) are those of this call.
)";

constexpr const char* kCheckExamples = R"(Examples:
  bellwether check /etc/bellwether/bellwether.toml
      what is in force, and what it means
  bellwether check --format json bellwether.toml
      the same for a program
  bellwether check --keys
      every key, with its values, its default and what it is for

Exit status: 0 the configuration is right; 1 the file cannot be read; 2 wrong usage; 3 it is invalid
and would be refused; 4 it is valid, but there are warnings.)";

void print_failover(std::ostream& out, const ParsedConfig& parsed) {
  out << "\n# The worst case, from a failure to the new leader's flag, guard \""
      << parsed.config.guard()
      << "\".\n"
         "# RTT: a round trip between members.  4/5 lease: the longest silence that is tolerated;\n"
         "# twice that by a node that was paused itself in the last 10s.  votes: two writes to "
         "disk.\n"
         "# Of 2 answer_timeout one lets the next in line go first, the other asks it in "
         "vain.\n"
         "# A voter that started less than a lease ago makes others wait for the rest of it.\n#\n";
  std::vector<Row> rows{{"failure", "new flag on", "old flag", "without RTT: the sum of"}};
  for (const Failover& failover : worst_case_failover(parsed.config)) {
    rows.push_back({failover.failure, time_text(failover), failover.old_flag, failover.formula});
  }
  for (const Line& line : aligned(rows)) out << "#   " << to_text(line, false) << "\n";
}

template <typename Owner>
void print_key(std::ostream& out, const ConfigKey<Owner>& key, const std::string& path) {
  out << path << "\n    " << key.help << "\n    takes " << key.expects << "\n    "
      << (key.is_required() ? "is required" : "default: " + key.default_words) << "; a change "
      << (key.takes_effect == TakesEffect::kAtOnce ? "is applied while running"
                                                   : "waits for a restart")
      << "\n";
}

void print_keys(std::ostream& out) {
  for (const auto& key : config_keys()) print_key(out, key, key.path());
  out << "[" << kVotersTable << "] NAME = \"host:port\"\n    " << kVotersHelp << "\n";
  out << "[[" << kHookTable << "]]\n    " << kHookHelp << "\n";
  for (const auto& key : hook_keys()) print_key(out, key, key.path());
}

ExitCode report(const CheckOptions& options, const ParsedConfig& parsed) {
  if (options.format == CheckFormat::kJson) {
    print_check_json(std::cout, parsed);
  } else {
    print_check_text(std::cout, parsed);
    std::cout.flush();
    for (const Finding& warning : parsed.warnings) {
      std::cerr << describe(parsed.file, "warning", warning) << "\n";
    }
  }
  return parsed.warnings.empty() ? ExitCode::kOk : ExitCode::kDoubtful;
}

ExitCode report(const CheckOptions& options, const ConfigErrors& errors) {
  if (options.format == CheckFormat::kJson) {
    print_check_json(std::cout, options.file, errors);
  } else {
    std::cerr << errors.what() << "\n";
  }
  return ExitCode::kConfigInvalid;
}

void print(std::ostream& out, const Json& json) {
  constexpr int kIndent = 2;
  out << json.dump(kIndent, ' ', false, Json::error_handler_t::replace) << "\n";
}

Json to_json(const std::vector<Finding>& findings) {
  Json array = Json::array();
  for (const Finding& finding : findings) {
    array.push_back({{"line", finding.position.line},
                     {"column", finding.position.column},
                     {"key", finding.key},
                     {"what", finding.what},
                     {"remedy", finding.remedy}});
  }
  return array;
}

Json to_json(const PlainValue& value) {
  if (std::holds_alternative<Octal>(value)) return toml_text(value);  // JSON has no octal numbers
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return std::get<std::vector<std::string>>(value);
}

Json to_json(const Config& config) {
  Json tables = Json::object();
  for (const auto& key : config_keys()) tables[key.table][key.name] = to_json(key.write(config));
  Json voters = Json::object();
  for (const auto& [name, address] : config.voters) voters[name] = address.text();
  Json hooks = Json::array();
  for (const HookSettings& hook : config.hooks) {
    Json object = Json::object();
    for (const auto& key : hook_keys()) object[key.name] = to_json(key.write(hook));
    hooks.push_back(std::move(object));
  }
  tables[kVotersTable] = std::move(voters);
  tables[kHookTable] = std::move(hooks);
  return tables;
}

Json to_json(const std::vector<Failover>& rows) {
  const auto ms = [](Duration duration) {
    return std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  };
  Json array = Json::array();
  for (const Failover& row : rows) {
    array.push_back({{"failure", row.failure},
                     {"at_most_ms", ms(row.at_most)},
                     {"at_most_after_pause_ms", ms(row.at_most_after_pause)},
                     {"round_trips", row.round_trips},
                     {"formula", row.formula},
                     {"old_flag", row.old_flag}});
  }
  return array;
}

}  // namespace

CLI::App* add_check(CLI::App& program, CheckOptions& options) {
  CLI::App* const check = program.add_subcommand("check", kCheckDescription);
  check->footer(kCheckExamples);
  check->add_option("FILE", options.file, "default: " + options.file)->option_text(" ");
  const auto choose = [&options](const std::string& word) {
    if (word != "text" && word != "json") {
      throw UsageError("--format is one of text, json, not \"" + word + "\"");
    }
    options.format = word == "json" ? CheckFormat::kJson : CheckFormat::kText;
  };
  check->add_option_function<std::string>("--format", choose, "text (the default) or json")
      ->option_text("FORMAT");
  CLI::Option* const keys = check->add_flag("--keys", options.lists_keys);
  keys->description("list all keys, and end");
  check->callback([check, &options] {
    if (options.lists_keys && (check->count("FILE") != 0 || check->count("--format") != 0)) {
      throw UsageError("--keys stands alone; leave FILE and --format out");
    }
  });
  return check;
}

ExitCode check_config(const CheckOptions& options) {
  if (options.lists_keys) {
    print_keys(std::cout);
    return ExitCode::kOk;
  }
  const std::string text = read_text_file(options.file);
  try {
    return report(options, parse_config(text, options.file, environment_with_plugins()));
  } catch (const ConfigErrors& errors) {
    return report(options, errors);
  }
}

void print_check_text(std::ostream& out, const ParsedConfig& parsed) {
  out << "# What is in force with " << parsed.file << ".\n\n" << effective_toml(parsed);
  print_failover(out, parsed);
}

std::string time_text(const Failover& failover) {
  std::string network = std::to_string(failover.round_trips) + " RTT";
  if (failover.at_most == Duration::zero()) return network;
  return duration_text(failover.at_most) + " + " + network;
}

void print_check_json(std::ostream& out, const ParsedConfig& parsed) {
  Json given = Json::array();
  for (const auto& [key, position] : parsed.given) given.push_back(key);
  print(out, {{"file", parsed.file},
              {"valid", true},
              {"errors", Json::array()},
              {"warnings", to_json(parsed.warnings)},
              {"guard", parsed.config.guard()},
              {"config", to_json(parsed.config)},
              {"given", std::move(given)},
              {"failover", to_json(worst_case_failover(parsed.config))}});
}

void print_check_json(std::ostream& out, const std::string& file, const ConfigErrors& errors) {
  print(out, {{"file", file},
              {"valid", false},
              {"errors", to_json(errors.findings())},
              {"warnings", Json::array()}});
}

}  // namespace bellwether::cli
