// Events tell of the leader, and once a second the members are asked for.  What is shown is kept
// apart from how: a page, or lines.
#include "cli/watch.hh"

#include <sys/ioctl.h>
#include <unistd.h>

#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <optional>

#include "cli/interrupts.hh"
#include "cli/sidecar_answers.hh"

namespace bellwether::cli {
namespace {

using api::Json;

constexpr auto kRefresh = std::chrono::seconds(1);
constexpr size_t kMaxChanges = 8;  // shown below the members

class View {
 public:
  virtual ~View() = default;
  virtual void on_leader(const Json& leader) = 0;
  virtual void on_members(const Json& members) = 0;
  virtual void on_trouble(const std::string& what) = 0;
};

// "2026-01-31T09:00:01.250Z  orders-2 leads, epoch 7 (claimed)"
std::string change_text(const Json& leader) {
  return text_of(leader, "since") + "  " + leader_text(leader) + " (" + text_of(leader, "reason") +
         ")";
}

// For logs and pipes: what is there at first, then what changes.
class Lines : public View {
 public:
  void on_leader(const Json& leader) override {
    if (text_of(leader, "index") == index_) return;  // known, after a connection that broke
    index_ = text_of(leader, "index");
    is_in_trouble_ = false;
    print(change_text(leader));
  }

  void on_members(const Json& members) override {
    const auto list = members.find("members");
    if (list == members.end() || !list->is_array()) return;
    std::map<std::string, std::string> states;
    for (const Json& member : *list) {
      if (member.is_object()) states[text_of(member, "name")] = text_of(member, "state");
    }
    for (const auto& [name, state] : states) {
      const auto before = states_.find(name);
      if (before == states_.end() || before->second != state) print(name + " is " + state);
    }
    for (const auto& [name, state] : states_) {
      if (!states.contains(name)) print(name + " is forgotten");
    }
    states_ = std::move(states);
  }

  // Once, until it is over; then the leader is told anew.
  void on_trouble(const std::string& what) override {
    if (!is_in_trouble_) print(what);
    is_in_trouble_ = true;
    index_.clear();
  }

 private:
  static void print(const std::string& line) { std::cout << line << std::endl; }

  std::string index_;  // of the change that was printed last
  bool is_in_trouble_ = false;
  std::map<std::string, std::string> states_;
};

class Page : public View {
 public:
  explicit Page(std::string sidecar) : sidecar_(std::move(sidecar)) {}

  void on_leader(const Json& leader) override {
    trouble_.clear();
    if (text_of(leader, "index") != text_of(leader_, "index"))
      changes_.push_front(change_text(leader));
    if (changes_.size() > kMaxChanges) changes_.pop_back();
    leader_ = leader;
  }

  void on_members(const Json& members) override {
    members_ = members;
    draw();
  }

  void on_trouble(const std::string& what) override {
    trouble_ = what;
    draw();
  }

 protected:
  std::vector<std::string> lines() const {
    std::vector<std::string> lines{"group " + text_of(members_, "group") + ": " +
                                   leader_text(leader_) + "  (seen by " + sidecar_ + ")"};
    if (!trouble_.empty()) lines.push_back(trouble_);
    lines.emplace_back();
    for (std::string& line : member_lines(members_)) lines.push_back(std::move(line));
    lines.emplace_back();
    for (const std::string& change : changes_) lines.push_back(change);
    return lines;
  }

 private:
  virtual void draw() {
    for (const std::string& line : lines()) std::cout << line << "\n";
    std::cout.flush();
  }

  std::string sidecar_;
  Json leader_ = Json::object();
  Json members_ = Json::object();
  std::string trouble_;
  std::deque<std::string> changes_;  // the newest first
};

// On the terminal's other screen, so that the user's own comes back at the end.
class LivePage : public Page {
 public:
  explicit LivePage(const std::string& sidecar) : Page(sidecar) {
    std::cout << "\x1b[?1049h\x1b[?25l" << std::flush;
  }
  ~LivePage() override { std::cout << "\x1b[?25h\x1b[?1049l" << std::flush; }
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;

 private:
  // Line by line over what was there: nothing flickers.
  void draw() override {
    winsize size{};
    const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    const size_t width = is_known ? size.ws_col : 80;
    const size_t height = is_known ? size.ws_row : 24;
    std::vector<std::string> all = lines();
    if (all.size() > height) all.resize(height);
    std::cout << "\x1b[H";
    for (size_t i = 0; i < all.size(); ++i) {
      std::cout << (i == 0 ? "" : "\r\n") << all[i].substr(0, width) << "\x1b[K";
    }
    std::cout << "\x1b[J" << std::flush;
  }
};

// Until the stream breaks.  `last_id` is what has been seen.
void follow(const ApiClient& client, View& view, std::string& last_id) {
  ApiEvents events(client, last_id);
  if (const ApiAnswer* refusal = events.refusal()) require_json(client, *refusal);
  while (true) {
    for (auto event = events.next(kRefresh); event; event = events.next({})) {
      last_id = event->id;
      if (const auto leader = api::parse_json(event->data); leader && leader->is_object()) {
        view.on_leader(*leader);
      }
    }
    view.on_members(get_json(client, "/v1/members"));
    if (!std::cout) throw std::runtime_error("cannot write the output");
  }
}

void follow_for_ever(const ApiClient& client, View& view) {
  std::string last_id;
  while (true) {
    try {
      follow(client, view, last_id);
    } catch (const ApiError& error) {
      if (last_id.empty()) throw;  // nobody has ever answered
      view.on_trouble(error.what());
    }
    client.pause(kRefresh);
  }
}

}  // namespace

ExitCode watch(const ApiAddress& address, bool is_once) {
  if (is_once) {
    const ApiClient client(address);
    Page page(address.text());
    page.on_leader(get_json(client, "/v1/leader"));
    page.on_members(get_json(client, "/v1/members"));
    return ExitCode::kOk;
  }
  const Interrupts interrupts;
  const ApiClient client(address, interrupts.fd());
  try {
    // Before the screen is taken: who finds nobody shall see why.
    get_json(client, "/v1/leader");
    std::unique_ptr<View> view;
    if (isatty(STDOUT_FILENO) == 1) {
      view = std::make_unique<LivePage>(address.text());
    } else {
      view = std::make_unique<Lines>();
    }
    follow_for_ever(client, *view);
  } catch (const Interrupted&) {
    return ExitCode::kOk;
  }
  return ExitCode::kOk;
}

}  // namespace bellwether::cli
