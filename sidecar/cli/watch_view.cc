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

// What both kinds of news have in common: nothing is told twice.
class News : public WatchView {
 public:
  void on_leader(const Json& leader) final {
    if (text_of(leader, "index") == index_) return;  // known, after a connection that broke
    index_ = text_of(leader, "index");
    is_in_trouble_ = false;
    tell_leader(leader);
  }

  void on_members(const Json& members) final {
    States states = states_in(members);
    if (states == states_) return;
    tell_members(members, states_, states);
    states_ = std::move(states);
  }

  // Why it is not in force tells how long that takes, and so changes all the time.
  void on_vote(const Json& vote) final {
    const auto state = word_in<Vote>(vote, "state");
    if (vote.empty() || state == vote_) return;
    vote_ = state;
    tell_vote(vote);
  }

  void on_store(const Json& store) final {
    std::string trouble = store_trouble(store);
    if (trouble == store_) return;
    store_ = std::move(trouble);
    tell_store(store, store_.empty() ? "well again" : store_);
  }

  // Scores change all the time, and why a check fails does, so neither is news.
  void on_application(const Json& status) final {
    const Json& application = object_in(status, "application");
    std::string state = is_true(application, "is_able") || application.empty()
                            ? ""
                            : text_of(application, "why_not");
    for (const std::string& name : texts_in(application, "attached")) state += " " + name;
    const Json& draining = object_in(application, "draining");
    if (!draining.empty()) state += " finishes";
    for (const std::string& name : texts_in(draining, "waiting_for")) state += " " + name;
    if (std::string why = why_nobody_leads(status); why != why_nobody_) {
      why_nobody_ = std::move(why);
      if (!why_nobody_.empty()) tell_why_nobody(why_nobody_);
    }
    if (state == application_) return;
    application_ = std::move(state);
    tell_application(application);
  }

  // Those of the past can be had from /v1/history.
  void on_election(const Json& election, bool is_past) final {
    if (!is_past) tell_election(election);
  }

  // Once, until it is over; then the leader is told anew.
  void on_trouble(const std::string& what) final {
    if (!is_in_trouble_) tell_trouble(what);
    is_in_trouble_ = true;
    index_.clear();
  }

  void show() final { std::cout << std::flush; }

 private:
  virtual void tell_leader(const Json& leader) = 0;
  virtual void tell_members(const Json& members, const States& before, const States& now) = 0;
  virtual void tell_vote(const Json& vote) = 0;
  virtual void tell_store(const Json& store, const std::string& what) = 0;
  virtual void tell_application(const Json& application) = 0;
  virtual void tell_why_nobody(const std::string& why) = 0;
  virtual void tell_election(const Json& election) = 0;
  virtual void tell_trouble(const std::string& what) = 0;

  std::string index_;  // of the change that was told last
  bool is_in_trouble_ = false;
  States states_;
  std::optional<Vote> vote_ = Vote::kInForce;  // which is not worth a word at first
  std::string store_;                          // what is wrong with it
  std::string application_;                    // why it is not able, and who is attached
  std::string why_nobody_;                     // leads
};

// A line for each change.
class LineView final : public News {
  void tell_leader(const Json& leader) override {
    print(text_of(leader, "since"), change_text(leader));
  }

  void tell_members(const Json&, const States& before, const States& now) override {
    for (const auto& [name, state] : now) {
      const auto known = before.find(name);
      if (known == before.end() || known->second != state) print(now_text(), name + " is " + state);
    }
    for (const auto& [name, state] : before) {
      if (!now.contains(name)) print(now_text(), name + " is forgotten");
    }
  }

  void tell_vote(const Json& vote) override { print(now_text(), "vote " + vote_text(vote)); }

  void tell_store(const Json& store, const std::string& what) override {
    print(now_text(), text_of(store, "name") + ": " + what);
  }

  void tell_application(const Json& application) override {
    const std::string text = application_text(application);
    print(now_text(), "application " + (text.empty() ? "detached" : text));
  }

  void tell_why_nobody(const std::string& why) override { print(now_text(), why); }

  void tell_election(const Json& election) override {
    print(text_of(election, "time"), election_text(election));
  }

  void tell_trouble(const std::string& what) override {
    print(now_text(), what);
    show();
  }

  static void print(const std::string& time, const std::string& what) {
    std::cout << time << "  " << what << "\n";
  }
};

// A JSON object on a line for each change: {"time":…,"event":"leader","data":{…}}.
class JsonView final : public News {
  void tell_leader(const Json& leader) override { print("leader", leader); }
  void tell_members(const Json& members, const States&, const States&) override {
    print("members", members);
  }
  void tell_vote(const Json& vote) override { print("vote", vote); }
  void tell_store(const Json& store, const std::string&) override { print("store", store); }
  void tell_application(const Json& application) override { print("application", application); }
  void tell_why_nobody(const std::string& why) override { print("nobody_leads", {{"why", why}}); }
  void tell_election(const Json& election) override { print("election", election); }
  void tell_trouble(const std::string& what) override {
    print("trouble", {{"error", what}});
    show();
  }

  static void print(const char* event, const Json& data) {
    std::cout << dump({{"time", now_text()}, {"event", event}, {"data", data}}) << "\n";
  }
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

  void on_members(const Json& members) override { members_ = members; }

  void on_vote(const Json& vote) override {
    vote_ = text_in(vote, "why").empty() ? "" : "vote " + vote_text(vote);
  }

  void on_store(const Json& store) override {
    store_ = store.empty() ? "" : text_of(store, "name") + ", " + record_text(store);
    store_trouble_ = text_in(store, "trouble");
  }

  void on_application(const Json& status) override {
    const Json& application = object_in(status, "application");
    const std::string text = application_text(application);
    const bool is_able = is_true(application, "is_able");
    application_ = {text.empty() ? "" : "application: " + text,
                    is_able ? Style::kFaint : Style::kDoubtful};
    why_nobody_ = why_nobody_leads(status);
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
    for (const Span& span : {Span(why_nobody_, Style::kBad), Span(vote_, Style::kDoubtful),
                             Span(store_, Style::kFaint), Span(store_trouble_, Style::kDoubtful),
                             application_, Span(trouble_, Style::kBad)}) {
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
  Json members_ = Json::object();
  std::string vote_;           // empty: in force, or there is none
  std::string store_;          // who holds its record; empty: there is none
  std::string store_trouble_;  // what is wrong with it
  Span application_{"", Style::kFaint};
  std::string why_nobody_;  // leads; empty: somebody does, or each has a reason of its own
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
  if (options.is_json) return std::make_unique<JsonView>();
  if (options.is_once) return std::make_unique<PageView>(address.text(), options.is_coloured);
  if (::isatty(STDOUT_FILENO) != 1) return std::make_unique<LineView>();
  return std::make_unique<LiveView>(address.text(), options.is_coloured);
}

}  // namespace bellwether::cli
