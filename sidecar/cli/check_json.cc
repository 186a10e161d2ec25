// The report of `bellwether check` as JSON; apart because the library takes seconds to compile.
#include <chrono>

#include "base/json.hh"
#include "cli/check.hh"
#include "config/keys.hh"

namespace bellwether::cli {
namespace {

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
