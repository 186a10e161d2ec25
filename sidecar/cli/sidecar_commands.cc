// The subcommands, their help, and those that are one request each.
#include "cli/sidecar_commands.hh"

#include <CLI/CLI.hpp>
#include <iostream>
#include <utility>

#include "base/duration_text.hh"
#include "base/json.hh"
#include "cli/api_client.hh"
#include "cli/sidecar_answers.hh"
#include "cli/styled_text.hh"
#include "cli/watch.hh"
#include "io/http/http_target.hh"

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

constexpr const char* kExitStatus = R"(

Exit status: 0 done; 1 no sidecar answers, or it refuses; 2 wrong usage; 3 the sidecar was looked
up in a configuration that is invalid.)";

constexpr const char* kStatus = R"(Show who leads, and how the members are

Asks the sidecar that runs on this machine, and shows what that one sees.  On a narrow terminal the
table of members leaves out columns; in a pipe it is complete.
)";
constexpr const char* kStatusExamples = R"(Examples:
  bellwether status
      a page for people
  bellwether status --json
      one object with the answers to /v1/leader, /v1/status and /v1/members
  bellwether status --api http://10.0.0.7:4040
      another sidecar)";

constexpr const char* kWatch = R"(Watch the group until Ctrl-C

On a terminal, a page that is redrawn every second; elsewhere, a line for each change.  Shows who
leads, how the members are, and each election as it ends, with the messages that this sidecar sent
or received in it.
)";
constexpr const char* kWatchExamples = R"(Examples:
  bellwether watch
  bellwether watch --once
      the page as it is now
  bellwether watch > changes.log
      a line for each change
  bellwether watch --json
      a JSON object on a line for each change; "event" is leader, members, vote, election or
      trouble)";

constexpr const char* kStepDown = R"(Make the leader on this machine step down

The next-highest member takes over.  This one stays out of elections for the time of --hold;
otherwise the highest member would win again at once.
)";
constexpr const char* kStepDownExamples = R"(Examples:
  bellwether step-down
      stays out for 30s
  bellwether step-down --hold 10m
      long enough for an upgrade)";

constexpr const char* kTransfer = R"(Hand leadership over from this machine to a member

Nobody takes over from the member until it is gone, whatever its rank.
)";
constexpr const char* kTransferExamples = R"(Example:
  bellwether transfer orders-1)";

constexpr const char* kElect = R"(Hold an election now

The member that leads may well win it.
)";
constexpr const char* kElectExamples = R"(Example:
  bellwether elect)";

constexpr const char* kReload = R"(Make the sidecar read its configuration again

Prints what has changed and what waits for a restart.  A wrong configuration is refused as a whole,
and the old one stays in force.
)";
constexpr const char* kReloadExamples = R"(Example:
  bellwether reload)";

constexpr const char* kForget = R"(Strike a member that is gone off the list

Only the leader can do this, so the sidecar on this machine has to lead.  The group forgets a dead
member by itself, but only after reap_after.  A member that is alive or connected is refused; one
that comes back is a member again.
)";
constexpr const char* kForgetExamples = R"(Example:
  bellwether forget orders-4)";

CLI::App& add(CLI::App& program, SidecarOptions& options, SidecarCommand command, const char* name,
              const char* description, const char* examples) {
  CLI::App& added = *program.add_subcommand(name, description);
  added.footer(std::string(examples) + kExitStatus);
  added
      .add_option("--api", options.api.api,
                  "the sidecar: http://HOST:PORT, or the path of its\nunix socket (default: what "
                  "the configuration says,\nelse http://127.0.0.1:4040)")
      ->option_text("WHERE");
  added
      .add_option("--config", options.api.config,
                  "its configuration (default:\n/etc/bellwether/bellwether.toml, if it exists)")
      ->option_text("FILE");
  added.callback([&options, command] { options.command = command; });
  return added;
}

Json post(ApiClient& client, const std::string& path, const Json& body,
          const char* key = "result") {
  return require_json(client, client.post(path, dump(body)), key);
}

ExitCode step_down(ApiClient& client, const std::string& hold) {
  Json body = Json::object();
  if (!hold.empty()) body["hold"] = hold;
  const Json answer = post(client, "/v1/step-down", body);
  std::cout << "stepped down; stays out for " << text_of(answer, "hold") << "\n";
  return ExitCode::kOk;
}

ExitCode transfer(ApiClient& client, const std::string& member) {
  Json body = Json::object();
  body["to"] = member;
  const Json answer = post(client, "/v1/transfer", body);  // a refusal comes before any output
  std::cout << "handing over to " << text_of(answer, "to") << "\n";
  return ExitCode::kOk;
}

ExitCode elect(ApiClient& client) {
  std::cout << text_of(post(client, "/v1/elect", Json::object()), "result") << "\n";
  return ExitCode::kOk;
}

ExitCode forget(ApiClient& client, const std::string& member) {
  const std::string path = "/v1/members/" + percent_encode(member) + "/forget";
  const Json answer = post(client, path, Json::object());
  std::cout << "forgotten: " << text_of(answer, "name") << "\n";
  return ExitCode::kOk;
}

void print_changes(const Json& answer, const char* key, const char* suffix) {
  const auto list = answer.find(key);
  if (list == answer.end() || !list->is_array()) return;
  for (const Json& change : *list) {
    if (!change.is_object()) continue;
    std::cout << text_of(change, "key") << ": " << text_of(change, "before") << " -> "
              << text_of(change, "after") << suffix << "\n";
  }
}

ExitCode reload(ApiClient& client) {
  const Json answer = post(client, "/v1/reload", Json::object(), "changed");
  print_changes(answer, "changed", "");
  print_changes(answer, "pending_restart", " (waits for a restart)");
  const auto warnings = answer.find("warnings");
  if (warnings != answer.end() && warnings->is_array()) {
    for (const Json& warning : *warnings) std::cerr << value_text(warning) << "\n";
  }
  std::cout << "reloaded\n";
  return ExitCode::kOk;
}

}  // namespace

void add_sidecar_commands(CLI::App& program, SidecarOptions& options) {
  CLI::App& status =
      add(program, options, SidecarCommand::kStatus, "status", kStatus, kStatusExamples);
  const auto choose = [&options](const std::string& word) {
    if (word != "text" && word != "json") {
      throw UsageError("--format is one of text, json, not \"" + word + "\"");
    }
    options.is_json = word == "json";
  };
  status.add_option_function<std::string>("--format", choose, "text (the default) or json")
      ->option_text("FORMAT");
  status.add_flag("--json", options.is_json, "the same as --format json");
  add_colour_option(status, options.colour);

  CLI::App& watch = add(program, options, SidecarCommand::kWatch, "watch", kWatch, kWatchExamples);
  watch.add_flag("--once", options.is_once, "print what is there now, and end");
  watch.add_flag("--json", options.is_json, "an object on a line for each change");
  add_colour_option(watch, options.colour);

  const auto take_hold = [&options](const std::string& text) {
    if (!parse_duration(text)) {
      throw UsageError("--hold is a duration such as 30s or 10m, not \"" + text + "\"");
    }
    options.hold = text;
  };
  add(program, options, SidecarCommand::kStepDown, "step-down", kStepDown, kStepDownExamples)
      .add_option_function<std::string>("--hold", take_hold, "how long to stay out (default: 30s)")
      ->option_text("DURATION");

  add(program, options, SidecarCommand::kTransfer, "transfer", kTransfer, kTransferExamples)
      .add_option("NAME", options.member, "the member that is to lead")
      ->option_text(" ")
      ->required();

  add(program, options, SidecarCommand::kElect, "elect", kElect, kElectExamples);
  add(program, options, SidecarCommand::kReload, "reload", kReload, kReloadExamples);

  add(program, options, SidecarCommand::kForget, "forget", kForget, kForgetExamples)
      .add_option("NAME", options.member, "the member that is gone")
      ->option_text(" ")
      ->required();
}

ExitCode run_sidecar_command(const SidecarOptions& options) {
  const ApiAddress address = find_api(options.api);
  const bool is_coloured = has_colour(options.colour);
  if (options.command == SidecarCommand::kWatch) {
    return watch(
        address,
        {.is_once = options.is_once, .is_json = options.is_json, .is_coloured = is_coloured});
  }
  ApiClient client(address);
  switch (options.command) {
    case SidecarCommand::kStepDown:
      return step_down(client, options.hold);
    case SidecarCommand::kTransfer:
      return transfer(client, options.member);
    case SidecarCommand::kElect:
      return elect(client);
    case SidecarCommand::kReload:
      return reload(client);
    case SidecarCommand::kForget:
      return forget(client, options.member);
    default:
      return print_status(client, options.is_json, is_coloured);
  }
}

}  // namespace bellwether::cli
