// The subcommands, their help, and those that are one request each.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "base/duration_text.hh"
#include "base/json.hh"
#include "cli/api_client.hh"
#include "cli/commands.hh"
#include "cli/sidecar_answers.hh"
#include "cli/styled_text.hh"
#include "cli/watch.hh"
#include "io/http/http_url.hh"

namespace bellwether::cli {
namespace {

struct SidecarOptions {
  ApiOptions api;
  bool is_json = false;                       // status, watch
  ColourChoice colour = ColourChoice::kAuto;  // status, watch
  bool is_once = false;                       // watch
  std::string hold;                           // step-down; empty: the sidecar's default
  bool is_now = false;                        // step-down: no application is waited for
  std::string member;                         // transfer, forget: its name
};

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

// Who holds the record, and below it what is wrong, unless that makes the node not ready and is
// said there.
void add_store(std::vector<Row>& rows, const Json& status) {
  const Json& store = object_in(status, "store");
  if (store.empty()) return;
  const std::string trouble = text_of(store, "trouble");
  const bool is_stranger = trouble == "-" && !store_trouble(store).empty();
  rows.push_back({Span("store", Style::kFaint),
                  {text_of(store, "name") + ", " + record_text(store),
                   is_stranger ? Style::kDoubtful : Style::kPlain}});
  const bool is_said = text_of(status, "why_not_ready").find(trouble) != std::string::npos;
  if (trouble != "-" && !is_said) {
    rows.push_back({Span("", Style::kFaint), {trouble, Style::kDoubtful}});
  }
}

// The reason that all share stands beside it.
Span leader_cell(const Json& leader, const Json& status) {
  if (has_leader(leader)) return {leader_text(leader), Style::kStrong};
  const std::string why = why_nobody_leads(status);
  return {leader_text(leader) + (why.empty() ? "" : ": " + why), Style::kBad};
}

// Nothing where no application is asked for, and none has said anything.
std::optional<Row> application_row(const Json& status) {
  const Json& application = object_in(status, "application");
  std::string text = application_text(application);
  if (text.empty()) return std::nullopt;
  const bool is_able = is_true(application, "is_able");
  if (!is_able) text += ", so this node does not lead";
  return Row{Span("application", Style::kFaint),
             {std::move(text), is_able ? Style::kPlain : Style::kDoubtful}};
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
  return fmt::format("bellwether {}, plugin {} {} (ABI {}), up {}", text_of(status, "version"),
                     text_of(plugin, "name"), text_of(plugin, "version"), text_of(plugin, "abi"),
                     age_in(status, "uptime_ms"));
}

// Nothing where there is no [tls].
std::optional<Row> tls_row(const Json& status, const Json& members) {
  const Json& tls = object_in(status, "tls");
  const std::string mode = text_of(tls, "mode");
  if (mode == "off" || tls.empty()) return std::nullopt;
  const Span head("tls", Style::kFaint);
  const std::string flaw = text_of(tls, "why_not_in_force");
  if (flaw != "-") return Row{head, {mode + ", not in force: " + flaw, Style::kDoubtful}};
  std::string plain;
  for (const Json& member : objects_in(members, "members")) {
    if (text_of(member, "security") != "plain" || text_of(member, "state") != "alive") continue;
    plain += (plain.empty() ? "" : ", ") + text_of(member, "name");
  }
  const std::string expiry = text_of(tls, "certificate_expires");
  const std::string text = mode + (expiry == "-" ? "" : ", certificate until " + expiry);
  if (plain.empty()) return Row{head, text};
  return Row{head, {text + "; plain: " + plain, Style::kDoubtful}};
}

// Of [api] and [metrics], if they have a certificate, and of hooks with files.
void add_certificates(std::vector<Row>& rows, const Json& status) {
  for (const char* table : {"api", "metrics", "hooks"}) {
    const Json& files = object_in(object_in(status, "tls"), table);
    if (files.empty()) continue;
    const Span head(std::string(table) + " tls", Style::kFaint);
    const std::string flaw = text_of(files, "why_not_in_force");
    const std::string expiry = text_of(files, "certificate_expires");
    if (flaw == "-" && expiry == "-") {
      rows.push_back({head, "in force"});
    } else if (flaw == "-") {
      rows.push_back({head, "certificate until " + expiry});
    } else {
      rows.push_back({head, {"not in force: " + flaw, Style::kDoubtful}});
    }
  }
}

// Nothing where an older sidecar does not say it.
std::optional<Row> confinement_row(const Json& status) {
  const Json& confinement = object_in(status, "confinement");
  if (confinement.empty()) return std::nullopt;
  std::string parts;
  if (is_true(confinement, "seccomp")) parts = "seccomp";
  const std::string landlock = text_of(confinement, "landlock");
  if (landlock != "-") parts += (parts.empty() ? "" : ", ") + ("Landlock " + landlock);
  if (parts.empty()) parts = "no";
  const Span head("confined", Style::kFaint);
  const std::string lack = text_of(confinement, "why_not_whole");
  if (lack == "-") return Row{head, parts};
  return Row{head, {parts + "; " + lack, Style::kDoubtful}};
}

// A row for each text in the list.
void add_each(std::vector<Row>& rows, const char* head, const Json& config, const char* key) {
  for (const std::string& text : texts_in(config, key)) {
    rows.push_back({Span(head, Style::kDoubtful), Span(text, Style::kDoubtful)});
  }
}

void print_text(const Json& leader, const Json& status, const Json& members, bool is_coloured) {
  const Json& config = object_in(status, "config");
  const auto row = [](const char* head, Span what) {
    return Row{Span(head, Style::kFaint), std::move(what)};
  };
  std::vector<Row> rows{
      row("group", fmt::format("{}, guard {}, variant {}", text_of(status, "group"),
                               text_of(status, "guard"), variant_text(status))),
      row("leader", leader_cell(leader, status)),
      row("since", since_text(leader)),
      row("node", node_cell(status)),
      row("program", program_text(status)),
      row("config", text_of(config, "hash")),
  };
  if (const Json& vote = object_in(status, "vote"); !vote.empty()) {
    rows.push_back(vote_row(status, vote));
  }
  add_store(rows, status);
  if (auto application = application_row(status)) rows.push_back(std::move(*application));
  if (auto tls = tls_row(status, members)) rows.push_back(std::move(*tls));
  const std::string flaw = text_of(object_in(status, "commands"), "why_no_token_counts");
  if (flaw != "-") {
    rows.push_back(
        {Span("commands", Style::kDoubtful), Span("refused over TCP: " + flaw, Style::kDoubtful)});
  }
  add_certificates(rows, status);
  if (auto confinement = confinement_row(status)) rows.push_back(std::move(*confinement));
  add_each(rows, "pending", config, "pending_restart");
  add_each(rows, "mismatch", config, "mismatches");
  for (const Line& line : aligned(rows)) std::cout << to_text(line, is_coloured) << "\n";
  std::cout << "\n";
  for (const Line& line : member_lines(members, line_width())) {
    std::cout << to_text(line, is_coloured) << "\n";
  }
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
      a JSON object on a line for each change; "event" is leader, members, vote, store,
      application, nobody_leads, election or trouble)";

constexpr const char* kStepDown = R"(Make the leader on this machine step down

The next-highest member takes over, after the application has finished what it had begun
([application] drain_timeout).  This one stays out of elections for the time of --hold; otherwise
the highest member would win again at once.
)";
constexpr const char* kStepDownExamples = R"(Examples:
  bellwether step-down
      stays out for 30s
  bellwether step-down --hold 10m
      long enough for an upgrade
  bellwether step-down --now
      the application is not waited for, or not any longer)";

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

Json post(ApiClient& client, const std::string& path, const Json& body,
          const char* key = "result") {
  return require_json(client, client.post(path, dump(body)), key);
}

ExitCode status(ApiClient& client, const SidecarOptions& options) {
  const Json leader = get_leader(client);
  const Json status = get_status(client);
  const Json members = get_members(client);
  if (options.is_json) {
    const Json all{{"leader", leader}, {"status", status}, {"members", members}};
    std::cout << dump(all) << "\n";
  } else {
    print_text(leader, status, members, has_colour(options.colour));
  }
  return ExitCode::kOk;
}

ExitCode watch(ApiClient& client, const SidecarOptions& options) {
  return watch(client, {.is_once = options.is_once,
                        .is_json = options.is_json,
                        .is_coloured = has_colour(options.colour)});
}

ExitCode step_down(ApiClient& client, const SidecarOptions& options) {
  Json body = Json::object();
  if (!options.hold.empty()) body["hold"] = options.hold;
  if (options.is_now) body["now"] = true;
  const Json answer = post(client, "/v1/step-down", body);
  std::cout << "stepped down; stays out for " << text_of(answer, "hold") << "\n";
  return ExitCode::kOk;
}

ExitCode transfer(ApiClient& client, const SidecarOptions& options) {
  Json body = Json::object();
  body["to"] = options.member;
  const Json answer = post(client, "/v1/transfer", body);  // a refusal comes before any output
  std::cout << "handing over to " << text_of(answer, "to") << "\n";
  return ExitCode::kOk;
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

}  // namespace

void add_sidecar_commands(CLI::App& program, Subcommand& chosen) {
  // Shared by the options of all of them, and the command that reads it.
  const auto options = std::make_shared<SidecarOptions>();
  const auto add = [&](const char* name, const char* description, const char* examples,
                       ExitCode (*run)(ApiClient&, const SidecarOptions&)) -> CLI::App& {
    CLI::App& added = *program.add_subcommand(name, description);
    added.footer(std::string(examples) + kExitStatus);
    added
        .add_option("--api", options->api.api,
                    "the sidecar: http[s]://HOST:PORT, or the path of\nits unix socket (default: "
                    "what the configuration says,\nelse http://127.0.0.1:4040)")
        ->option_text("WHERE");
    added
        .add_option("--config", options->api.config,
                    "its configuration (default:\n/etc/bellwether/bellwether.toml, if it exists)")
        ->option_text("FILE");
    added
        .add_option("--token-file", options->api.token_file,
                    "with a token for commands (default:\n$BELLWETHER_TOKEN_FILE, else what the "
                    "configuration says)")
        ->option_text("FILE");
    added
        .add_option("--ca", options->api.ca,
                    "the authorities of an https API, in PEM (default:\nthe certificate that the "
                    "configuration names,\nelse the system's authorities)")
        ->option_text("FILE");
    added.add_option("--cert", options->api.cert, "a certificate to show to an https API, in PEM")
        ->option_text("FILE");
    added.add_option("--key", options->api.key, "its private key")->option_text("FILE");
    added.callback([&chosen, options, run] {
      chosen = [options, run] {
        ApiClient client(find_api(options->api));
        return run(client, *options);
      };
    });
    return added;
  };

  CLI::App& status_command = add("status", kStatus, kStatusExamples, status);
  status_command.add_flag("--json", options->is_json, "the answer of the API instead of the lines");
  add_colour_option(status_command, options->colour);

  CLI::App& watch_command = add("watch", kWatch, kWatchExamples, watch);
  watch_command.add_flag("--once", options->is_once, "print what is there now, and end");
  watch_command.add_flag("--json", options->is_json, "an object on a line for each change");
  add_colour_option(watch_command, options->colour);

  const auto take_hold = [options](const std::string& text) {
    if (!parse_duration(text)) {
      throw UsageError("--hold is a duration such as 30s or 10m, not \"" + text + "\"");
    }
    options->hold = text;
  };
  CLI::App& down = add("step-down", kStepDown, kStepDownExamples, step_down);
  down.add_option_function<std::string>("--hold", take_hold, "how long to stay out (default: 30s)")
      ->option_text("DURATION");
  down.add_flag("--now", options->is_now, "do not wait for the application to finish");

  const auto add_name = [&](CLI::App& added, const char* help) {
    added.add_option("NAME", options->member, help)->option_text(" ")->required();
  };
  add_name(add("transfer", kTransfer, kTransferExamples, transfer), "the member that is to lead");
  add("elect", kElect, kElectExamples, elect);
  add("reload", kReload, kReloadExamples, reload);
  add_name(add("forget", kForget, kForgetExamples, forget), "the member that is gone");
}

}  // namespace bellwether::cli
