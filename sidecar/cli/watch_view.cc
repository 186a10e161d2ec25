// Lines and objects tell of changes only, so they remember what they have told; the page shows all
// there is.
#include "cli/watch_view.hh"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <utility>
#include <vector>

#include "base/wall_time.hh"
#include "cli/other_screen.hh"
#include "cli/sidecar_answers.hh"
#include "core/guard.hh"

namespace bellwether::cli {
namespace {

constexpr size_t kMaxChanges = 8;  // shown below the members

std::string now_text() { return rfc3339(std::chrono::system_clock::now()); }

// "orders-2 leads, epoch 7 (a leader was announced)"
std::string change_text(const Json& leader) {
  return fmt::format("{} ({})", leader_text(leader), text_of(leader, "reason"));
}

// "election by modified, leader_lost: won, orders-2 leads epoch 7; here ELECTION 2, …, in 12ms"
std::string election_text(const Json& election) {
  std::string text = fmt::format("election by {}, {}: {}", text_of(election, "variant"),
                                 text_of(election, "trigger"), text_of(election, "result"));
  const Json& winner = object_in(election, "winner");
  if (!winner.empty()) {
    text += fmt::format(", {} leads epoch {}", text_of(winner, "name"), text_of(election, "epoch"));
  }
  const Json& messages = object_in(election, "messages");
  text += fmt::format("; here ELECTION {}, ANSWER {}, HANDOVER {}, COORDINATOR {}",
                      text_of(messages, "election"), text_of(messages, "answer"),
                      text_of(messages, "handover"), text_of(messages, "coordinator"));
  if (const std::string duration = age_in(election, "duration_ms"); !duration.empty()) {
    text += ", in " + duration;
  }
  return text;
}

using States = std::map<std::string, std::string>;  // of members, by name

States states_in(const Json& members) {
  States states;
  for (const Json& member : objects_in(members, "members")) {
    std::string state = text_of(member, "state");
    const std::string why_not = text_in(member, "why_not_able");
    if (is_alive(member) && !why_not.empty()) state += ", its application is " + why_not;
    if (is_true(member, "is_draining")) state += ", its application finishes";
    states[text_of(member, "name")] = std::move(state);
  }
  return states;
}

// Each change once: a line for people, or a JSON object on a line:
// {"time":…,"event":"leader","data":{…}}.
class NewsView final : public WatchView {
 public:
  explicit NewsView(bool is_json) : is_json_(is_json) {}

  void on_leader(const Json& leader) override {
    if (text_of(leader, "index") == index_) return;  // known, after a connection that broke
    index_ = text_of(leader, "index");
    is_in_trouble_ = false;
    tell("leader", leader, change_text(leader), text_of(leader, "since"));
  }

  void on_state(const Json& status, const Json& members) override {
    on_members(members);
    on_vote(object_in(status, "vote"));
    on_store(object_in(status, "store"));
    on_nobody(text_in(status, "why_nobody_leads"));
    on_application(object_in(status, "application"));
  }

  // Those of the past can be had from /v1/history.
  void on_election(const Json& election, bool is_past) override {
    if (!is_past) tell("election", election, election_text(election), text_of(election, "time"));
  }

  // Once, until it is over; then the leader is told anew.
  void on_trouble(const std::string& what) override {
    if (!is_in_trouble_) tell("trouble", {{"error", what}}, what);
    is_in_trouble_ = true;
    index_.clear();
    show();
  }

  void show() override { std::cout << std::flush; }

 private:
  void on_members(const Json& members) {
    const States before = std::exchange(states_, states_in(members));
    if (states_ == before) return;
    if (is_json_) return tell("members", members, "");
    for (const auto& [name, state] : states_) {
      const auto known = before.find(name);
      const bool is_new = known == before.end() || known->second != state;
      if (is_new) tell("members", members, name + " is " + state);
    }
    for (const auto& [name, state] : before) {
      if (!states_.contains(name)) tell("members", members, name + " is forgotten");
    }
  }

  // Why it is not in force tells how long that takes, and so changes all the time.
  void on_vote(const Json& vote) {
    const auto state = word_in<Vote>(vote, "state");
    if (vote.empty() || std::exchange(vote_, state) == state) return;
    tell("vote", vote, "vote " + vote_text(vote));
  }

  void on_store(const Json& store) {
    const std::string trouble = store_trouble(store);
    if (std::exchange(store_, trouble) == trouble) return;
    tell("store", store,
         text_of(store, "name") + ": " + (trouble.empty() ? "well again" : trouble));
  }

  void on_nobody(const std::string& why) {
    if (std::exchange(why_nobody_, why) == why || why.empty()) return;
    tell("nobody_leads", {{"why", why}}, why);
  }

  // Scores change all the time, and why a check fails does, so neither is news.
  void on_application(const Json& application) {
    const bool is_well = is_true(application, "is_able") || application.empty();
    std::string state = is_well ? "" : text_of(application, "why_not");
    for (const std::string& name : texts_in(application, "attached")) state += " " + name;
    const Json& draining = object_in(application, "draining");
    if (!draining.empty()) state += " finishes";
    for (const std::string& name : texts_in(draining, "waiting_for")) state += " " + name;
    if (std::exchange(application_, state) == state) return;
    const std::string text = application_text(application);
    tell("application", application, "application " + (text.empty() ? "detached" : text));
  }

  void tell(const char* event, const Json& data, const std::string& line,
            const std::string& since = now_text()) const {
    if (is_json_) {
      std::cout << dump({{"time", now_text()}, {"event", event}, {"data", data}}) << "\n";
    } else {
      std::cout << since << "  " << line << "\n";
    }
  }

  bool is_json_;
  std::string index_;  // of the change that was told last
  bool is_in_trouble_ = false;
  States states_;
  std::optional<Vote> vote_ = Vote::kInForce;  // which is not worth a word at first
  std::string store_;                          // what is wrong with it
  std::string application_;                    // why it is not able, and who is attached
  std::string why_nobody_;                     // leads
};

// Writes the page each time anew, below the one before.  `sidecar` is named in its head.
class PageView : public WatchView {
 public:
  PageView(std::string sidecar, bool is_coloured)
      : sidecar_(std::move(sidecar)), is_coloured_(is_coloured) {}

  void on_leader(const Json& leader) override {
    trouble_.clear();
    if (text_of(leader, "index") != text_of(leader_, "index")) {
      add_change(text_of(leader, "since"), {change_text(leader), Style::kStrong});
    }
    leader_ = leader;
  }

  void on_state(const Json& status, const Json& members) override {
    status_ = status;
    members_ = members;
  }

  void on_election(const Json& election, bool) override {
    add_change(text_of(election, "time"), election_text(election));
  }

  void on_trouble(const std::string& what) override {
    trouble_ = what;
    show();
  }

  void show() override {
    for (const Line& line : lines(line_width())) std::cout << text(line) << "\n";
    std::cout.flush();
  }

 protected:
  std::vector<Line> lines(size_t width) const {
    const bool has_leader = !object_in(leader_, "leader").empty();
    std::vector<Line> lines{{"group " + text_of(members_, "group") + ": ",
                             {leader_text(leader_), has_leader ? Style::kStrong : Style::kBad},
                             {"  (seen by " + sidecar_ + ")", Style::kFaint}}};
    const Json& vote = object_in(status_, "vote");
    const Json& store = object_in(status_, "store");
    const Json& application = object_in(status_, "application");
    const std::string beside = application_text(application);
    const bool is_able = is_true(application, "is_able");
    for (const Span& span :
         {Span(text_in(status_, "why_nobody_leads"), Style::kBad),
          Span(text_in(vote, "why").empty() ? "" : "vote " + vote_text(vote), Style::kDoubtful),
          Span(store.empty() ? "" : text_of(store, "name") + ", " + record_text(store),
               Style::kFaint),
          Span(text_in(store, "trouble"), Style::kDoubtful),
          Span(beside.empty() ? "" : "application: " + beside,
               is_able ? Style::kFaint : Style::kDoubtful),
          Span(trouble_, Style::kBad)}) {
      if (span.text.empty()) continue;
      for (std::string& part : wrapped(span.text, width)) {
        lines.push_back({{std::move(part), span.style}});
      }
    }
    lines.emplace_back();
    for (Line& line : member_lines(members_, width)) lines.push_back(std::move(line));
    lines.emplace_back();
    for (const auto& [time, what] : changes_) {
      add_wrapped({{time + "  ", Style::kFaint}}, what, width, lines);
    }
    return lines;
  }

  std::string text(const Line& line, size_t width = kAnyWidth) const {
    return to_text(line, is_coloured_, width);
  }

 private:
  // The newest first.
  void add_change(const std::string& time, const Span& what) {
    const auto place =
        std::ranges::find_if(changes_, [&](const auto& change) { return change.first <= time; });
    changes_.insert(place, {time, what});
    if (changes_.size() > kMaxChanges) changes_.pop_back();
  }

  std::string sidecar_;
  bool is_coloured_;
  Json leader_ = Json::object();
  Json status_ = Json::object();
  Json members_ = Json::object();
  std::string trouble_;
  std::vector<std::pair<std::string, Span>> changes_;  // with their times
};

// The page on the terminal's other screen, drawn over itself; the user's own comes back when the
// view goes.
class LiveView final : public PageView {
 public:
  using PageView::PageView;

  // Line by line over what was there, as large as the screen is now: nothing flickers.
  void show() override {
    const ScreenSize size = screen_size(STDOUT_FILENO);
    std::vector<Line> all = lines(size.columns);
    if (all.size() > size.rows) all.resize(size.rows);
    std::cout << "\x1b[H";
    for (size_t i = 0; i < all.size(); ++i) {
      std::cout << (i == 0 ? "" : "\r\n") << text(all[i], size.columns) << "\x1b[K";
    }
    std::cout << "\x1b[J" << std::flush;
  }

 private:
  OtherScreen screen_;
};

}  // namespace

std::unique_ptr<WatchView> make_view(const ApiAddress& address, const WatchOptions& options) {
  if (options.is_json) return std::make_unique<NewsView>(true);
  if (options.is_once) return std::make_unique<PageView>(address.text(), options.is_coloured);
  if (::isatty(STDOUT_FILENO) != 1) return std::make_unique<NewsView>(false);
  return std::make_unique<LiveView>(address.text(), options.is_coloured);
}

}  // namespace bellwether::cli
