// The report for people is itself a configuration: whatever is not TOML is a comment.  Findings go
// to stderr, one a line, in the form in which compilers give theirs.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/duration_text.hh"
#include "base/json.hh"
#include "cli/commands.hh"
#include "cli/hang_watch.hh"
#include "cli/plugin_dir.hh"
#include "cli/sidecars_user.hh"
#include "cli/styled_text.hh"
#include "cli/text_file.hh"
#include "config/effective.hh"
#include "config/failover.hh"
#include "config/keys.hh"
#include "core/store_guard.hh"
#include "daemon/hook_files.hh"
#include "daemon/member_tls.hh"
#include "daemon/server_tls.hh"
#include "daemon/token_file.hh"

namespace bellwether::cli {
namespace {

struct CheckOptions {
  std::string file = kUsualConfig;
  std::string user{};
  bool is_json = false;
  bool lists_keys = false;
};

constexpr const char* kCheckDescription = R"(Check a configuration file

Prints all values that the file gives, defaults included, as TOML; how long the group can be without
a leader; and on stderr what is wrong (FILE:LINE:COLUMN: error: ...) or doubtful (warning).
Environment variables in the file (${NAME}) are those of this call.  Asked by root, it judges the
files that the configuration names with the rights of the sidecar's user.
)";

constexpr const char* kCheckExamples = R"(Examples:
  bellwether check /etc/bellwether/bellwether.toml
      all values that this file gives, and what they mean
  bellwether check --json bellwether.toml
      the same for a program
  bellwether check --keys
      every key, with its values, its default and what it is for

Exit status: 0 the configuration is right; 1 the file cannot be read; 2 wrong usage; 3 it is invalid
and would be refused; 4 it is valid, but there are warnings.)";

// "50ms + 2 RTT"
std::string time_text(const Failover& failover) {
  std::string network = fmt::format("{} RTT", failover.round_trips);
  if (failover.at_most == Duration::zero()) return network;
  return duration_text(failover.at_most) + " + " + network;
}

std::string legend(const Config& config) {
  if (!config.has_store_guard()) {
    constexpr const char* kOfAll =
        R"(# RTT: a round trip between members.  4/5 lease: the longest silence that is tolerated;
# twice that by a node that was paused itself in the last 10s.
# Of 2 answer_timeout one lets the next in line go first, the other asks it in vain.
)";
    constexpr const char* kOfVoters =
        R"(# votes: two writes to disk.  A voter that started less than a lease ago makes others wait for
# the rest of it.
)";
    return std::string(kOfAll) + (config.has_majority_guard() ? kOfVoters : "");
  }
  return fmt::format(
      R"(# RTT: a round trip between members.  write: to the store, which may well be faster.
# lease: from the last renewal that was seen in the store; the third in line has seen none.
# With a store that takes longer than {} (2/5 lease) for an answer there is no leader.
)",
      duration_text(longest_patience(config.election.lease)));
}

void print_failover(const Config& config) {
  std::cout << fmt::format(R"(
# The worst case, from a failure to the new leader's flag, guard "{}".
{}#
)",
                           config.guard(), legend(config));
  std::vector<Row> rows{{"failure", "new flag on", "old flag", "without RTT: the sum of"}};
  for (const Failover& failover : worst_case_failover(config)) {
    rows.push_back({failover.failure, time_text(failover), failover.old_flag, failover.formula});
  }
  for (const Line& line : aligned(rows)) std::cout << "#   " << to_text(line, false) << "\n";
}

// "its application is attached, and http://127.0.0.1:8080/ answers with 200 to 299"
void print_application(const ApplicationSettings& application) {
  std::string condition;
  if (application.is_attachment_needed) condition = "its application is attached";
  if (!application.health.empty()) {
    condition +=
        (condition.empty() ? "" : ", and ") + application.health + " answers with 200 to 299";
  }
  if (condition.empty()) return;
  std::cout << fmt::format(
      "#\n# This node leads only while {}.\n# Where nobody's application is able, nobody leads; "
      "the "
      "first one that is makes a leader.\n",
      condition);
}

template <typename Owner>
void print_key(const ConfigKey<Owner>& key) {
  std::cout << fmt::format("{}\n    {}\n    takes {}\n    {}\n", key.path(), key.help, key.expects,
                           key.default_and_effect());
}

void print_keys() {
  for (const auto& key : config_keys()) print_key(key);
  std::cout << fmt::format("[{}] NAME = \"host:port\"\n    {}\n[[{}]]\n    {}\n", kVotersTable,
                           kVotersHelp, kHookTable, kHookHelp);
  for (const auto& key : hook_keys()) print_key(key);
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
  for (const auto& key : config_keys()) {
    if (is_used(key.table, config)) tables[key.table][key.name] = to_json(key.write(config));
  }
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

void print_text(const ParsedConfig& parsed) {
  std::cout << fmt::format("# All values that {} gives, defaults included.\n\n{}", parsed.file,
                           effective_toml(parsed));
  print_failover(parsed.config);
  print_application(parsed.config.application);
  std::cout.flush();
  for (const Finding& warning : parsed.warnings) {
    std::cerr << describe(parsed.file, "warning", warning) << "\n";
  }
}

Json json_report(const ParsedConfig& parsed) {
  Json given = Json::array();
  for (const auto& [key, position] : parsed.given) given.push_back(key);
  return {{"file", parsed.file},
          {"valid", true},
          {"errors", Json::array()},
          {"warnings", to_json(parsed.warnings)},
          {"guard", parsed.config.guard()},
          {"config", to_json(parsed.config)},
          {"given", std::move(given)},
          {"failover", to_json(worst_case_failover(parsed.config))}};
}

Json json_report(const std::string& file, const ConfigErrors& errors) {
  return {{"file", file},
          {"valid", false},
          {"errors", to_json(errors.findings())},
          {"warnings", Json::array()}};
}

void warn(ParsedConfig& parsed, const std::string& key, const std::string& what,
          const std::string& remedy) {
  const auto given = parsed.given.find(key);
  parsed.warnings.push_back(
      {.position = given == parsed.given.end() ? SourcePosition{} : given->second,
       .key = key,
       .what = what,
       .remedy = remedy});
}

// The file may be for another machine, so what is not on this one is no error.
ParsedConfig parse(const CheckOptions& options) {
  const HangWatch watch;
  const std::string& file = options.file;
  const std::string text = read_configuration(file, [&] { return read_text_file(file); });
  ParsedConfig parsed = parse_config(text, file, environment_with_plugins());
  const std::string user = become_sidecars_user(options.user, parsed.config.node.state_dir);
  const std::string rights = "a sidecar with the rights of " + (user.empty() ? "this user" : user);
  const Config& config = parsed.config;
  const auto judge = [&parsed](const std::string& key, const std::string& what,
                               const std::string& flaw) {
    if (!flaw.empty()) warn(parsed, key, what, flaw);
  };
  judge("election.plugin", "a sidecar on this machine would not start",
        plugin_flaw(config.election.plugin));
  if (!config.api.token_file.empty()) {
    const io::Secrecy secrecy = io::secret_in(config.api.is_folder_shared);
    judge("api.token_file", rights + " would take no command",
          daemon::read_tokens(config.api.token_file, secrecy).error);
  }
  const std::string unserved = rights + " would serve nobody over TCP";
  if (config.api.has_tls()) judge("api.cert", unserved, daemon::read_api_tls(config.api).error);
  if (config.metrics.has_tls()) {
    judge("metrics.cert", unserved, daemon::read_metrics_tls(config.metrics).error);
  }
  for (size_t i = 0; i < config.hooks.size(); ++i) {
    if (!config.hooks[i].has_files()) continue;
    const std::string path = hook_path(i);
    judge(path + ".url", rights + " would send nothing",
          daemon::read_hook_files(config.hooks[i], path).files.error);
  }
  const daemon::TlsReading tls = daemon::read_member_tls(config);
  if (!tls.error.empty()) {
    warn(parsed, config.tls.secret_file.empty() ? "tls.cert" : "tls.secret_file",
         rights + " would join no group with these files", tls.error);
  } else if (!tls.refusal_by_members.empty()) {
    warn(parsed, "tls.cert",
         "members with the same configuration would refuse this one: " + tls.refusal_by_members,
         "give it a certificate for the host under which peers or [voters] name it, or name its "
         "own in tls.members");
  } else if (!tls.names_of_any_voter.empty()) {
    warn(parsed, "tls.cert",
         "a certificate like this one, for " + tls.names_of_any_voter +
             ", cannot tell voters apart: each member can use the name of each voter",
         "give each voter one with the DNS name of its host, if members must not trust each other");
  }
  return parsed;
}

ExitCode check(const CheckOptions& options) {
  constexpr int kIndent = 2;
  try {
    const ParsedConfig parsed = parse(options);
    if (options.is_json) {
      std::cout << dump(json_report(parsed), kIndent) << "\n";
    } else {
      print_text(parsed);
    }
    return parsed.warnings.empty() ? ExitCode::kOk : ExitCode::kDoubtful;
  } catch (const ConfigErrors& errors) {
    if (options.is_json) {
      std::cout << dump(json_report(options.file, errors), kIndent) << "\n";
    } else {
      std::cerr << errors.what() << "\n";
    }
    return ExitCode::kConfigInvalid;
  }
}

}  // namespace

void add_check(CLI::App& program, Subcommand& chosen) {
  CLI::App& added = *program.add_subcommand("check", kCheckDescription);
  added.footer(kCheckExamples);
  const auto options = std::make_shared<CheckOptions>();
  CLI::Option* file = added.add_option("FILE", options->file, "default: " + options->file);
  file->option_text(" ");
  added.add_option("--config", options->file, "the same as FILE")
      ->option_text("FILE")
      ->excludes(file);
  added.add_flag("--json", options->is_json, "one JSON object instead of the lines");
  added.add_option("--user", options->user, kUserHelp)->option_text("USER");
  added.add_flag("--keys", options->lists_keys)->description("list all keys, and end");
  added.callback([&added, &chosen, options] {
    if (!options->lists_keys) {
      chosen = [options] { return check(*options); };
      return;
    }
    for (const char* option : {"FILE", "--config", "--json", "--user"}) {
      if (added.count(option) != 0) {
        throw UsageError(std::string("--keys stands alone; leave ") + option + " out");
      }
    }
    chosen = [] {
      print_keys();
      return ExitCode::kOk;
    };
  });
}

}  // namespace bellwether::cli
