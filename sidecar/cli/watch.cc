// Events tell of the leader; then, and once a second, members and elections are asked for.
#include "cli/watch.hh"

#include <iostream>
#include <vector>

#include "cli/sidecar_answers.hh"
#include "cli/watch_view.hh"

namespace bellwether::cli {
namespace {

constexpr auto kRefresh = std::chrono::seconds(1);

class Follower {
 public:
  Follower(ApiClient& client, WatchView& view) : client_(client), view_(view) {}

  [[noreturn]] void run() {
    while (true) {
      try {
        follow();
      } catch (const ApiError& error) {
        if (last_id_.empty()) throw;  // nobody has ever answered
        view_.on_trouble(error.what());
      }
      client_.pause(kRefresh);
    }
  }

  void ask_once() {
    view_.on_leader(get_leader(client_));
    refresh();
  }

 private:
  // Until the stream breaks.
  [[noreturn]] void follow() {
    ApiEvents events(client_, last_id_);
    if (const io::HttpAnswer* refusal = events.refusal()) require_json(client_, *refusal, "leader");
    while (true) {
      for (auto event = events.next(kRefresh); event; event = events.next({})) {
        last_id_ = event->id;
        if (const auto leader = parse_json(event->data); leader && leader->is_object()) {
          view_.on_leader(*leader);
        }
      }
      refresh();
    }
  }

  void refresh() {
    const Json members = get_members(client_);
    view_.on_state(get_status(client_), members);
    tell_elections(objects_in(get_json(client_, "/v1/history", "elections"), "elections"));
    view_.show();
    if (!std::cout) throw std::runtime_error("cannot write the output; is the disk full?");
  }

  // The newest comes first, and those that the view has been told of last.
  void tell_elections(const std::vector<Json>& elections) {
    size_t fresh = 0;
    while (fresh < elections.size() && elections[fresh].dump() != newest_) ++fresh;
    for (size_t i = fresh; i > 0; --i) view_.on_election(elections[i - 1], !has_told_elections_);
    if (!elections.empty()) newest_ = elections.front().dump();
    has_told_elections_ = true;
  }

  ApiClient& client_;
  WatchView& view_;
  std::string last_id_;  // of the event that came last
  bool has_told_elections_ = false;
  std::string newest_;  // the text of an election
};

}  // namespace

ExitCode watch(ApiClient& client, const WatchOptions& options) {
  if (options.is_once) {
    const auto view = make_view(client.address(), options);
    Follower(client, *view).ask_once();
    return ExitCode::kOk;
  }
  client.take_interrupts();
  try {
    // Before the screen is taken: who finds nobody shall see why.
    get_leader(client);
    const auto view = make_view(client.address(), options);
    Follower(client, *view).run();
  } catch (const Interrupted&) {
    return ExitCode::kOk;
  }
}

}  // namespace bellwether::cli
