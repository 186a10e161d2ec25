// Three answers, one page.
#include "cli/status.hh"

#include <iostream>
#include <utility>

#include "cli/age_text.hh"
#include "cli/aligned_rows.hh"
#include "cli/sidecar_answers.hh"

namespace bellwether::cli {
namespace {

std::string uptime_text(const Json& status) {
  const auto found = status.find("uptime_ms");
  if (found == status.end() || !found->is_number_integer()) return "-";
  return age_text(std::chrono::milliseconds(found->get<int64_t>()));
}

bool has_leader(const Json& leader) { return !object_in(leader, "leader").empty(); }

std::string since_text(const Json& leader) {
  const std::string since = text_of(leader, "since");
  const auto age = age_of(since);
  return since + (age ? ", " + age_text(*age) + " ago" : "") + ": " + text_of(leader, "reason");
}

// What it waits for is said once, where that makes the node not ready.
Row vote_row(const Json& status, const Json& vote) {
  const bool is_in_force = text_of(vote, "why") == "-";
  const bool is_said = text_of(vote, "why") == text_of(status, "why_not_ready");
  return {Span("vote", Style::kFaint),
          {is_said ? text_of(vote, "state") : vote_text(vote),
           is_in_force ? Style::kPlain : Style::kDoubtful}};
}

Span node_cell(const Json& status) {
  const std::string who =
      text_of(object_in(status, "node"), "name") + ", " + text_of(status, "role") + ", ";
  if (is_true(status, "is_ready")) return who + "ready";
  return {who + "not ready: " + text_of(status, "why_not_ready"), Style::kDoubtful};
}

// The one in force, and the one that the configuration names.
std::string variant_text(const Json& status) {
  const std::string wanted = text_of(status, "variant");
  const std::string active = text_of(status, "active_variant");
  return active == wanted ? active : active + " (" + wanted + " is wanted)";
}

std::string program_text(const Json& status) {
  const Json& plugin = object_in(status, "plugin");
  return "bellwether " + text_of(status, "version") + ", plugin " + text_of(plugin, "name") + " " +
         text_of(plugin, "version") + " (ABI " + text_of(plugin, "abi") + "), up " +
         uptime_text(status);
}

// A row for each text in the list.
void add_each(std::vector<Row>& rows, const char* head, const Json& config, const char* key) {
  const auto list = config.find(key);
  if (list == config.end() || !list->is_array()) return;
  for (const Json& item : *list) {
    rows.push_back({Span(head, Style::kDoubtful), Span(value_text(item), Style::kDoubtful)});
  }
}

void print_text(const Json& leader, const Json& status, const Json& members, bool is_coloured) {
  const Json& config = object_in(status, "config");
  const auto row = [](const char* head, Span what) {
    return Row{Span(head, Style::kFaint), std::move(what)};
  };
  std::vector<Row> rows{
      row("group", text_of(status, "group") + ", guard " + text_of(status, "guard") + ", variant " +
                       variant_text(status)),
      row("leader", {leader_text(leader), has_leader(leader) ? Style::kStrong : Style::kBad}),
      row("since", since_text(leader)),
      row("node", node_cell(status)),
      row("program", program_text(status)),
      row("config", text_of(config, "hash")),
  };
  if (const Json& vote = object_in(status, "vote"); !vote.empty()) {
    rows.push_back(vote_row(status, vote));
  }
  add_each(rows, "pending", config, "pending_restart");
  add_each(rows, "mismatch", config, "mismatches");
  for (const Line& line : aligned(rows)) std::cout << to_text(line, is_coloured) << "\n";
  std::cout << "\n";
  for (const Line& line : member_lines(members, line_width())) {
    std::cout << to_text(line, is_coloured) << "\n";
  }
}

}  // namespace

ExitCode print_status(ApiClient& client, bool is_json, bool is_coloured) {
  const Json leader = get_leader(client);
  const Json status = get_status(client);
  const Json members = get_members(client);
  if (is_json) {
    const Json all{{"leader", leader}, {"status", status}, {"members", members}};
    std::cout << dump(all) << "\n";
  } else {
    print_text(leader, status, members, is_coloured);
  }
  return ExitCode::kOk;
}

}  // namespace bellwether::cli
