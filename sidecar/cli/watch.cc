// Events tell of the leader; then, and once a second, members and elections are asked for.
#include "cli/watch.hh"

#include <iostream>
#include <optional>
#include <vector>

#include "cli/sidecar_answers.hh"
#include "cli/watch_view.hh"

namespace bellwether::cli {
namespace {

constexpr auto kRefresh = std::chrono::seconds(1);

// Which elections the view has been told of.
class ElectionNews {
 public:
  // `history` is the body of /v1/history, the newest election first.
  void tell(const Json& history, WatchView& view) {
    const std::vector<Json> elections = objects_in(history, "elections");
    size_t fresh = 0;
    while (fresh < elections.size() && elections[fresh].dump() != newest_) ++fresh;
    for (size_t i = fresh; i > 0; --i) view.on_election(elections[i - 1], !has_begun_);
    if (!elections.empty()) newest_ = elections.front().dump();
    has_begun_ = true;
  }

 private:
  bool has_begun_ = false;
  std::string newest_;  // the text of one
};

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
    view_.on_members(get_members(client_));
    const Json status = get_status(client_);
    view_.on_vote(object_in(status, "vote"));
    view_.on_store(object_in(status, "store"));
    view_.on_application(status);
    elections_.tell(get_json(client_, "/v1/history", "elections"), view_);
    view_.show();
    if (!std::cout) throw std::runtime_error("cannot write the output; is the disk full?");
  }

  ApiClient& client_;
  WatchView& view_;
  std::string last_id_;  // of the event that came last
  ElectionNews elections_;
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
