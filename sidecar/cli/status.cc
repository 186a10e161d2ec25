// Three answers, one page.
#include "cli/status.hh"

#include <iostream>

#include "cli/aligned_rows.hh"
#include "cli/sidecar_answers.hh"
#include "config/duration_text.hh"

namespace bellwether::cli {
namespace {

using api::Json;

std::string uptime_text(const Json& status) {
  using std::chrono::minutes;
  using std::chrono::seconds;
  const auto found = status.find("uptime_ms");
  if (found == status.end() || !found->is_number_integer()) return "-";
  const std::chrono::milliseconds uptime(found->get<int64_t>());
  if (uptime < minutes(2)) return duration_text(std::chrono::floor<seconds>(uptime));
  return duration_text(std::chrono::floor<minutes>(uptime));
}

std::string leader_row(const Json& leader) {
  return leader_text(leader) + ", since " + text_of(leader, "since") + " (" +
         text_of(leader, "reason") + ")";
}

std::string node_row(const Json& status) {
  const std::string ready =
      is_true(status, "is_ready") ? "ready" : "not ready: " + text_of(status, "why_not_ready");
  return text_of(object_in(status, "node"), "name") + ", " + text_of(status, "role") + ", " + ready;
}

std::string program_row(const Json& status) {
  const Json& plugin = object_in(status, "plugin");
  return "bellwether " + text_of(status, "version") + ", plugin " + text_of(plugin, "name") + " " +
         text_of(plugin, "version") + " (ABI " + text_of(plugin, "abi") + "), up " +
         uptime_text(status);
}

// A row for each text in the list.
void add_each(std::vector<Row>& rows, const char* head, const Json& config, const char* key) {
  const auto list = config.find(key);
  if (list == config.end() || !list->is_array()) return;
  for (const Json& item : *list) rows.push_back({head, value_text(item)});
}

void print_text(const Json& leader, const Json& status, const Json& members) {
  const Json& config = object_in(status, "config");
  std::vector<Row> rows{
      {"group", text_of(status, "group") + ", guard " + text_of(status, "guard") + ", variant " +
                    text_of(status, "variant")},
      {"leader", leader_row(leader)},
      {"node", node_row(status)},
      {"program", program_row(status)},
      {"config", text_of(config, "hash")},
  };
  add_each(rows, "pending", config, "pending_restart");
  add_each(rows, "mismatch", config, "mismatches");
  for (const std::string& line : aligned(rows)) std::cout << line << "\n";
  std::cout << "\n";
  for (const std::string& line : member_lines(members)) std::cout << line << "\n";
}

}  // namespace

ExitCode print_status(const ApiClient& client, bool is_json) {
  const Json leader = get_json(client, "/v1/leader");
  const Json status = get_json(client, "/v1/status");
  const Json members = get_json(client, "/v1/members");
  if (is_json) {
    const Json all{{"leader", leader}, {"status", status}, {"members", members}};
    std::cout << api::dump(all) << "\n";
  } else {
    print_text(leader, status, members);
  }
  return ExitCode::kOk;
}

}  // namespace bellwether::cli
