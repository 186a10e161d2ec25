// A row for each thing that an operator asks about first; those that do not apply are left out.
#include "cli/status_view.hh"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>

#include "api/lack.hh"
#include "base/counted.hh"
#include "cli/sidecar_answers.hh"
#include "config/config.hh"

namespace bellwether::cli {
namespace {

using api::Lack;

bool has_leader(const Json& leader) { return !object_in(leader, "leader").empty(); }

std::string since_text(const Json& leader) {
  const std::string since = text_of(leader, "since");
  const auto age = age_of(since);
  return since + (age ? ", " + age_text(*age) + " ago" : "") + ": " + text_of(leader, "reason");
}

// What it waits for is said once, where that makes the node not ready.
Row vote_row(const Json& status, const Json& vote) {
  const bool is_in_force = text_in(vote, "why").empty();
  const bool is_said = word_in<Lack>(status, "lacks") == Lack::kVote;
  return {Span("vote", Style::kFaint),
          {is_said ? text_of(vote, "state") : vote_text(vote),
           is_in_force ? Style::kPlain : Style::kDoubtful}};
}

// Who holds the record, and below it what is wrong, unless that makes the node not ready and is
// said there.
void add_store(std::vector<Row>& rows, const Json& status) {
  const Json& store = object_in(status, "store");
  if (store.empty()) return;
  const std::string trouble = text_in(store, "trouble");
  const bool is_stranger = trouble.empty() && !store_trouble(store).empty();
  rows.push_back({Span("store", Style::kFaint),
                  {text_of(store, "name") + ", " + record_text(store),
                   is_stranger ? Style::kDoubtful : Style::kPlain}});
  const bool is_said = word_in<Lack>(status, "lacks") == Lack::kStore;
  if (!trouble.empty() && !is_said) {
    rows.push_back({Span("", Style::kFaint), {trouble, Style::kDoubtful}});
  }
}

// The reason that all share stands beside it; a vote that is missing comes before what only one
// that may lead can lack.
Span leader_cell(const Json& leader, const Json& status) {
  if (has_leader(leader)) return {leader_text(leader), Style::kStrong};
  const bool has_no_vote = !text_in(object_in(status, "vote"), "why").empty();
  const std::string why = has_no_vote ? "see vote" : why_nobody_leads(status);
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
  const std::string uptime = age_in(status, "uptime_ms");
  return fmt::format("bellwether {}, plugin {} {} (ABI {}), up {}", text_of(status, "version"),
                     text_of(plugin, "name"), text_of(plugin, "version"), text_of(plugin, "abi"),
                     uptime.empty() ? "-" : uptime);
}

// Nothing where there is no [tls].
std::optional<Row> tls_row(const Json& status, const Json& members) {
  const Json& tls = object_in(status, "tls");
  const std::string mode = text_of(tls, "mode");
  if (tls.empty() || word_in<TlsMode>(tls, "mode") == TlsMode::kOff) return std::nullopt;
  const Span head("tls", Style::kFaint);
  const std::string flaw = text_in(tls, "why_not_in_force");
  if (!flaw.empty()) return Row{head, {mode + ", not in force: " + flaw, Style::kDoubtful}};
  std::string plain;
  for (const Json& member : objects_in(members, "members")) {
    const bool is_plain = word_in<Security>(member, "security") == Security::kPlain;
    if (!is_plain || !is_alive(member)) continue;
    plain += (plain.empty() ? "" : ", ") + text_of(member, "name");
  }
  const std::string expiry = text_in(tls, "certificate_expires");
  const std::string text = mode + (expiry.empty() ? "" : ", certificate until " + expiry);
  if (plain.empty()) return Row{head, text};
  return Row{head, {text + "; plain: " + plain, Style::kDoubtful}};
}

// Of [api] and [metrics], if they have a certificate, and of hooks with files.
void add_certificates(std::vector<Row>& rows, const Json& status) {
  for (const char* table : {"api", "metrics", "hooks"}) {
    const Json& files = object_in(object_in(status, "tls"), table);
    if (files.empty()) continue;
    const Span head(std::string(table) + " tls", Style::kFaint);
    const std::string flaw = text_in(files, "why_not_in_force");
    const std::string expiry = text_in(files, "certificate_expires");
    if (flaw.empty() && expiry.empty()) {
      rows.push_back({head, "in force"});
    } else if (flaw.empty()) {
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
  const std::string landlock = text_in(confinement, "landlock");
  if (!landlock.empty()) parts += (parts.empty() ? "" : ", ") + ("Landlock " + landlock);
  if (parts.empty()) parts = "no";
  const Span head("confined", Style::kFaint);
  const std::string lack = text_in(confinement, "why_not_whole");
  if (lack.empty()) return Row{head, parts};
  return Row{head, {parts + "; " + lack, Style::kDoubtful}};
}

// A row for each text in the list.
void add_each(std::vector<Row>& rows, const char* head, const Json& config, const char* key) {
  for (const std::string& text : texts_in(config, key)) {
    rows.push_back({Span(head, Style::kDoubtful), Span(text, Style::kDoubtful)});
  }
}

}  // namespace

std::vector<Line> status_lines(const Json& leader, const Json& status, const Json& members,
                               size_t width) {
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
  const std::string flaw = text_in(object_in(status, "commands"), "why_no_token_counts");
  if (!flaw.empty()) {
    rows.push_back(
        {Span("commands", Style::kDoubtful), Span("refused over TCP: " + flaw, Style::kDoubtful)});
  }
  add_certificates(rows, status);
  if (auto confinement = confinement_row(status)) rows.push_back(std::move(*confinement));
  add_each(rows, "pending", config, "pending_restart");
  add_each(rows, "mismatch", config, "mismatches");
  std::vector<Line> lines = aligned(rows);
  lines.emplace_back();
  for (Line& line : member_lines(members, width)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace bellwether::cli
