// A row for each thing that an operator asks about first; those that do not apply are left out.
#include "cli/status_view.hh"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "api/lack.hh"
#include "base/counted.hh"
#include "cli/sidecar_answers.hh"
#include "config/config.hh"

namespace bellwether::cli {
namespace {

using api::Lack;

std::string since_text(const Json& leader) {
  const std::string since = text_of(leader, "since");
  const auto age = age_of(since);
  return since + (age ? ", " + age_text(*age) + " ago" : "") + ": " + text_of(leader, "reason");
}

// What it waits for is said once, where that makes the node not ready.
void add_vote(std::vector<Row>& rows, const Json& status) {
  const Json& vote = object_in(status, "vote");
  if (vote.empty()) return;
  const bool is_in_force = text_in(vote, "why").empty();
  const bool is_said = word_in<Lack>(status, "lacks") == Lack::kVote;
  rows.push_back(headed("vote", {is_said ? text_of(vote, "state") : vote_text(vote),
                                 is_in_force ? Style::kPlain : Style::kDoubtful}));
}

// Who holds the record, and below it what is wrong, unless that makes the node not ready and is
// said there.
void add_store(std::vector<Row>& rows, const Json& status) {
  const Json& store = object_in(status, "store");
  if (store.empty()) return;
  const std::string trouble = text_in(store, "trouble");
  const bool is_stranger = trouble.empty() && !store_trouble(store).empty();
  rows.push_back(headed("store", {text_of(store, "name") + ", " + record_text(store),
                                  is_stranger ? Style::kDoubtful : Style::kPlain}));
  const bool is_said = word_in<Lack>(status, "lacks") == Lack::kStore;
  if (!trouble.empty() && !is_said) rows.push_back(headed("", {trouble, Style::kDoubtful}));
}

// The reason that all share stands beside it; a vote that is missing comes before what only one
// that may lead can lack.
Span leader_cell(const Json& leader, const Json& status) {
  if (!object_in(leader, "leader").empty()) return {leader_text(leader), Style::kStrong};
  const bool has_no_vote = !text_in(object_in(status, "vote"), "why").empty();
  const std::string why = has_no_vote ? "see vote" : text_in(status, "why_nobody_leads");
  return {leader_text(leader) + (why.empty() ? "" : ": " + why), Style::kBad};
}

// Nothing where no application is asked for, and none has said anything.
void add_application(std::vector<Row>& rows, const Json& status) {
  const Json& application = object_in(status, "application");
  const std::string text = application_text(application);
  if (text.empty()) return;
  const bool is_able = is_true(application, "is_able");
  rows.push_back(headed("application", {text + (is_able ? "" : ", so this node does not lead"),
                                        is_able ? Style::kPlain : Style::kDoubtful}));
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
void add_tls(std::vector<Row>& rows, const Json& status, const Json& members) {
  const Json& tls = object_in(status, "tls");
  if (tls.empty() || word_in<TlsMode>(tls, "mode") == TlsMode::kOff) return;
  const std::string flaw = text_in(tls, "why_not_in_force");
  std::string plain;
  for (const Json& member : objects_in(members, "members")) {
    const bool is_plain = word_in<Security>(member, "security") == Security::kPlain;
    if (!is_plain || !is_alive(member)) continue;
    plain += (plain.empty() ? "; plain: " : ", ") + text_of(member, "name");
  }
  const std::string expiry = text_in(tls, "certificate_expires");
  const std::string text = !flaw.empty()     ? ", files refused: " + flaw
                           : !expiry.empty() ? ", certificate until " + expiry + plain
                                             : plain;
  const bool is_well = flaw.empty() && plain.empty();
  rows.push_back(
      headed("tls", {text_of(tls, "mode") + text, is_well ? Style::kPlain : Style::kDoubtful}));
}

// Of [api] and [metrics], if they have a certificate, and of hooks with files.
void add_certificates(std::vector<Row>& rows, const Json& status) {
  for (const char* table : {"api", "metrics", "hooks"}) {
    const Json& files = object_in(object_in(status, "tls"), table);
    if (files.empty()) continue;
    const std::string flaw = text_in(files, "why_not_in_force");
    const std::string expiry = text_in(files, "certificate_expires");
    const std::string text = !flaw.empty()    ? "files refused: " + flaw
                             : expiry.empty() ? "in force"
                                              : "certificate until " + expiry;
    rows.push_back(headed(std::string(table) + " tls",
                          {text, flaw.empty() ? Style::kPlain : Style::kDoubtful}));
  }
}

// Nothing where an older sidecar does not say it.
void add_confinement(std::vector<Row>& rows, const Json& status) {
  const Json& confinement = object_in(status, "confinement");
  if (confinement.empty()) return;
  std::string text = is_true(confinement, "seccomp") ? "seccomp" : "";
  const std::string landlock = text_in(confinement, "landlock");
  if (!landlock.empty()) text += (text.empty() ? "" : ", ") + ("Landlock " + landlock);
  if (text.empty()) text = "no";
  const std::string lack = text_in(confinement, "why_not_whole");
  if (!lack.empty()) text += "; " + lack;
  rows.push_back(headed("confined", {text, lack.empty() ? Style::kPlain : Style::kDoubtful}));
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
  std::vector<Row> rows{
      headed("group", fmt::format("{}, guard {}, variant {}", text_of(status, "group"),
                                  text_of(status, "guard"), variant_text(status))),
      headed("leader", leader_cell(leader, status)),
      headed("since", since_text(leader)),
      headed("node", node_cell(status)),
      headed("program", program_text(status)),
      headed("config", text_of(config, "hash")),
  };
  add_vote(rows, status);
  add_store(rows, status);
  add_application(rows, status);
  add_tls(rows, status, members);
  const std::string flaw = text_in(object_in(status, "commands"), "why_no_token_counts");
  if (!flaw.empty()) {
    rows.push_back(
        {Span("commands", Style::kDoubtful), Span("no token counts: " + flaw, Style::kDoubtful)});
  }
  add_certificates(rows, status);
  add_confinement(rows, status);
  add_each(rows, "pending", config, "pending_restart");
  add_each(rows, "mismatch", config, "mismatches");
  std::vector<Line> lines = aligned(rows);
  lines.emplace_back();
  for (Line& line : member_lines(members, width)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace bellwether::cli
