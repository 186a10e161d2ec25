// The subcommands, their help, and those that are one request each.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/duration_text.hh"
#include "base/json.hh"
#include "cli/api_client.hh"
#include "cli/commands.hh"
#include "cli/progress.hh"
#include "cli/sidecar_answers.hh"
#include "cli/status_view.hh"
#include "cli/styled_text.hh"
#include "cli/watch.hh"
#include "io/http/http_url.hh"

namespace bellwether::cli {
namespace {

struct SidecarOptions {
  ApiOptions api;
  bool is_json = false;                       // status, explain, watch
  ColourChoice colour = ColourChoice::kAuto;  // status, explain, watch
  bool is_once = false;                       // watch
  std::string hold;                           // step-down; empty: the sidecar's default
  bool is_now = false;                        // step-down: no application is waited for
  std::string wait = "30s";                   // step-down, transfer: until it is done
  std::string member;                         // transfer, forget: its name
};

constexpr const char* kExitStatus = R"(

Exit status: 0 done; 1 no sidecar answers, it refuses, or what it began came to nothing or takes
longer; 2 wrong usage; 3 the sidecar was looked up in a configuration that is invalid.)";

constexpr const char* kJsonHelp = "the answer of the API instead of the lines";

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

constexpr const char* kExplain = R"(Say of each member why it leads or does not

Asks the sidecar that runs on this machine, and has a sentence for each member, as that one sees it.
The member with the highest rank comes first.
)";
constexpr const char* kExplainExamples = R"(Examples:
  bellwether explain
      a line for each member
  bellwether explain --json
      the answer to /v1/explain)";

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
      a JSON object on a line for each change; "event" is leader, members, vote, store,
      application, nobody_leads, election or trouble)";

constexpr const char* kStepDown = R"(Make the leader on this machine step down

The next-highest member takes over, after the application has finished what it had begun
([application] drain_timeout).  The command waits until another one leads, and fails when nobody has
taken over.  This one then stays out of elections for the time of --hold; otherwise the highest
member would win again at once.
)";
constexpr const char* kStepDownExamples = R"(Examples:
  bellwether step-down
      stays out for 30s
  bellwether step-down --hold 10m
      long enough for an upgrade
  bellwether step-down --now
      the application is not waited for, or not any longer
  bellwether step-down --wait 0s
      the command ends when the hand-over has begun)";

constexpr const char* kTransfer = R"(Hand leadership over from this machine to a member

Nobody takes over from the member until it is gone, whatever its rank.  The command waits until it
leads, and fails when it has not taken over.
)";
constexpr const char* kTransferExamples = R"(Examples:
  bellwether transfer orders-1
  bellwether transfer orders-1 --wait 5m
      an application that takes long to finish)";

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

Json post(ApiClient& client, const std::string& path, const Json& body,
          const char* key = "result") {
  return require_json(client, client.post(path, dump(body)), key);
}

void print(const std::vector<Line>& lines, const SidecarOptions& options) {
  const bool is_coloured = has_colour(options.colour);
  for (const Line& line : lines) std::cout << to_text(line, is_coloured) << "\n";
}

ExitCode status(ApiClient& client, const SidecarOptions& options) {
  const Json leader = get_leader(client);
  const Json status = get_status(client);
  const Json members = get_members(client);
  if (options.is_json) {
    const Json all{{"leader", leader}, {"status", status}, {"members", members}};
    std::cout << dump(all) << "\n";
  } else {
    print(status_lines(leader, status, members, line_width()), options);
  }
  return ExitCode::kOk;
}

// The names in a column, and beside it the sentences, in as many lines as they take.
std::vector<Line> explanation_lines(const Json& explanation, size_t width) {
  const std::string leader = text_in(explanation, "leader");
  const std::string why_nobody = text_in(explanation, "why_nobody_leads");
  std::vector<Line> lines = aligned({
      headed("group", text_of(explanation, "group") + ", guard " + text_of(explanation, "guard")),
      headed("seen by", text_of(explanation, "seen_by")),
      headed("leader", !leader.empty() ? Span(leader, Style::kStrong)
                                       : Span("there is no leader" +
                                                  (why_nobody.empty() ? "" : ". " + why_nobody),
                                              Style::kBad)),
  });
  const Json& vote = object_in(explanation, "vote");
  if (!text_in(vote, "why").empty()) add_wrapped({{"its vote  "}}, vote_text(vote), width, lines);
  lines.emplace_back();
  const std::vector<Json> members = objects_in(explanation, "members");
  size_t widest = 0;
  for (const Json& member : members) widest = std::max(widest, text_of(member, "name").size());
  for (const Json& member : members) {
    std::string name = text_of(member, "name");
    name.resize(widest + 2, ' ');
    const Style style = is_true(member, "leads") ? Style::kStrong : Style::kPlain;
    add_wrapped({{std::move(name), style}}, text_of(member, "why"), width, lines);
  }
  return lines;
}

ExitCode explain(ApiClient& client, const SidecarOptions& options) {
  const Json explanation = get_json(client, "/v1/explain", "members");
  if (options.is_json) {
    std::cout << dump(explanation) << "\n";
  } else {
    print(explanation_lines(explanation, line_width()), options);
  }
  return ExitCode::kOk;
}

ExitCode watch(ApiClient& client, const SidecarOptions& options) {
  return watch(client, {.is_once = options.is_once,
                        .is_json = options.is_json,
                        .is_coloured = has_colour(options.colour)});
}

// Prints what came of it.  A refusal comes before any output.
ExitCode hand_over(ApiClient& client, const SidecarOptions& options, const std::string& path,
                   const Json& body, const std::function<std::string(const Json&)>& details) {
  // The sidecar waits no longer, either.
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(
      std::min<Duration>(*parse_duration(options.wait), std::chrono::minutes(10)));
  Progress progress;
  const io::HttpAnswer answer =
      client.post(path + "?wait=" + options.wait, dump(body), wait, [&progress] {
        progress.tell("waits for the next leader; Ctrl-C ends the waiting, not the hand-over");
      });
  progress.clear();
  const Json json = require_json(client, answer, "result");
  const std::string text = text_of(json, "result") + details(json);
  constexpr unsigned kUnderWay = 202;
  if (answer.status == kUnderWay && wait.count() > 0) {
    throw ApiError(text + ": not over yet, and goes on; see `bellwether status`");
  }
  std::cout << text << "\n";
  return ExitCode::kOk;
}

ExitCode step_down(ApiClient& client, const SidecarOptions& options) {
  Json body = Json::object();
  if (!options.hold.empty()) body["hold"] = options.hold;
  if (options.is_now) body["now"] = true;
  return hand_over(client, options, "/v1/step-down", body,
                   [](const Json& answer) { return ", stays out for " + text_of(answer, "hold"); });
}

ExitCode transfer(ApiClient& client, const SidecarOptions& options) {
  Json body = Json::object();
  body["to"] = options.member;
  return hand_over(client, options, "/v1/transfer", body,
                   [](const Json& answer) { return " to " + text_of(answer, "to"); });
}

ExitCode elect(ApiClient& client, const SidecarOptions& /*options*/) {
  std::cout << text_of(post(client, "/v1/elect", Json::object()), "result") << "\n";
  return ExitCode::kOk;
}

ExitCode forget(ApiClient& client, const SidecarOptions& options) {
  const std::string path = "/v1/members/" + io::percent_encode(options.member) + "/forget";
  const Json answer = post(client, path, Json::object());
  std::cout << "forgotten: " << text_of(answer, "name") << "\n";
  return ExitCode::kOk;
}

void print_changes(const Json& answer, const char* key, const char* suffix) {
  for (const Json& change : objects_in(answer, key)) {
    std::cout << fmt::format("{}: {} -> {}{}\n", text_of(change, "key"), text_of(change, "before"),
                             text_of(change, "after"), suffix);
  }
}

ExitCode reload(ApiClient& client, const SidecarOptions& /*options*/) {
  const Json answer = post(client, "/v1/reload", Json::object(), "changed");
  print_changes(answer, "changed", "");
  print_changes(answer, "pending_restart", " (waits for a restart)");
  for (const std::string& warning : texts_in(answer, "warnings")) std::cerr << warning << "\n";
  std::cout << "reloaded\n";
  return ExitCode::kOk;
}

// `value` must outlive it.
void add_duration(CLI::App& command, const std::string& name, std::string& value,
                  const char* help) {
  const auto take = [name, &value](const std::string& text) {
    if (!parse_duration(text)) {
      throw UsageError(name + " is a duration such as 30s or 10m, not \"" + text + "\"");
    }
    value = text;
  };
  command.add_option_function<std::string>(name, take, help)->option_text("DURATION");
}

}  // namespace

void add_sidecar_commands(CLI::App& program, Subcommand& chosen) {
  // Shared by the options of all of them, and the command that reads it.
  const auto options = std::make_shared<SidecarOptions>();
  const auto add = [&](const char* name, const char* description, const char* examples,
                       ExitCode (*run)(ApiClient&, const SidecarOptions&)) -> CLI::App& {
    CLI::App& added = *program.add_subcommand(name, description);
    added.footer(std::string(examples) + kExitStatus);
    const auto take = [&added](const char* option, std::string& value, const char* word,
                               const char* help) {
      added.add_option(option, value, help)->option_text(word);
    };
    ApiOptions& api = options->api;
    take("--api", api.api, "WHERE",
         "the sidecar: http[s]://HOST:PORT, or the path of\nits unix socket (default: "
         "what the configuration says,\nelse http://127.0.0.1:4040)");
    take("--config", api.config, "FILE",
         "its configuration (default:\n/etc/bellwether/bellwether.toml, if it exists)");
    take("--token-file", api.token_file, "FILE",
         "with a token for commands (default:\n$BELLWETHER_TOKEN_FILE, else what the "
         "configuration says)");
    take("--ca", api.ca, "FILE",
         "the authorities of an https API, in PEM (default:\nthe certificate that the "
         "configuration names,\nor with --api the system's authorities)");
    take("--cert", api.cert, "FILE", "a certificate to show to an https API, in PEM");
    take("--key", api.key, "FILE", "its private key");
    added.callback([&chosen, options, run] {
      chosen = [options, run] {
        ApiClient client(find_api(options->api));
        return run(client, *options);
      };
    });
    return added;
  };

  CLI::App& status_command = add("status", kStatus, kStatusExamples, status);
  status_command.add_flag("--json", options->is_json, kJsonHelp);
  add_colour_option(status_command, options->colour);

  CLI::App& explain_command = add("explain", kExplain, kExplainExamples, explain);
  explain_command.add_flag("--json", options->is_json, kJsonHelp);
  add_colour_option(explain_command, options->colour);

  CLI::App& watch_command = add("watch", kWatch, kWatchExamples, watch);
  watch_command.add_flag("--once", options->is_once, "print what is there now, and end");
  watch_command.add_flag("--json", options->is_json, "an object on a line for each change");
  add_colour_option(watch_command, options->colour);

  const auto add_wait = [&](CLI::App& added) {
    add_duration(added, "--wait", options->wait,
                 "how long to wait until it is done (default: 30s;\nmore than 10m counts as 10m)");
  };
  CLI::App& down = add("step-down", kStepDown, kStepDownExamples, step_down);
  add_duration(down, "--hold", options->hold, "how long to stay out (default: 30s)");
  add_wait(down);
  down.add_flag("--now", options->is_now, "do not wait for the application to finish");

  const auto add_name = [&](CLI::App& added, const char* help) {
    added.add_option("NAME", options->member, help)->option_text(" ")->required();
  };
  CLI::App& over = add("transfer", kTransfer, kTransferExamples, transfer);
  add_name(over, "the member that is to lead");
  add_wait(over);
  add("elect", kElect, kElectExamples, elect);
  add("reload", kReload, kReloadExamples, reload);
  add_name(add("forget", kForget, kForgetExamples, forget), "the member that is gone");
}

}  // namespace bellwether::cli
