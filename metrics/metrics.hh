// What this process counts, one method for each duty.  Every series is there from the start, at 0,
// and no label takes more values than its type has; so what a peer or a client does can move
// numbers but cannot make new ones.
//
// Threads: the event loop's only.  No method waits; only text() and a new leader allocate.  Nothing
// in here reads a clock: times are passed in.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hh"
#include "metrics/identity.hh"
#include "metrics/labels.hh"
#include "metrics/process_readings.hh"

namespace prometheus {
class Gauge;
}

namespace bellwether::metrics {

struct Table;
struct ElectionSummary;

class Metrics {
 public:
  explicit Metrics(const Identity& identity);
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  ~Metrics();

  // What text() is, as HTTP says it.
  static constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

  // All metrics as Prometheus reads them, in alphabetical order.  Reads /proc.
  std::string text(Instant now, std::chrono::system_clock::time_point wall_clock);

  // --- elections and leadership: told by CoreObserver and Participant ---

  // `variant`: one of the plugin's.
  void on_election(const ElectionSummary& election, const std::string& variant);
  // Of a plugin that says what an election costs: an election that this node won would have taken
  // so many messages of this type by `variant`.
  void on_shadow_messages(const std::string& variant, ElectionType type, uint64_t messages);
  void on_shadow_election(ShadowResult result);
  // `valid_until`: text() no longer shows a leader after it.
  void set_leading(Instant valid_until);
  void set_not_leading();
  // The leader that this node knows, which may be this node, and since when.
  void set_leader(std::string_view leader_name, Instant since);
  void set_no_leader();
  // `variant`: one of the plugin's.
  void set_active_variant(const std::string& variant);
  void on_leader_change(Why why);
  // Lower than before: ignored.
  void set_epoch(uint64_t epoch);
  void set_members(const std::array<uint64_t, kValues<Liveness>>& counts);
  void on_received(FrameType type, size_t bytes);
  // Not delivered: the bytes do not count.
  void on_sent(FrameType type, size_t bytes, bool is_delivered);
  void on_stale(FrameType type);

  // --- told by whoever sees it ---

  void on_timeout(Awaited what);
  void on_rejected(Rejection reason);
  void on_rejected(Unfit reason);
  void on_doubt(ProofDoubt doubt);
  void on_heartbeat_rtt(Duration rtt);
  void on_event_loop_lag(Duration lag);
  void on_flag_update();
  void on_hook(HookResult result);
  // `route`: its place in Identity::routes.
  void on_http_request(size_t route, unsigned code);
  void on_limit(Limit limit, uint64_t times = 1);
  void set_config_mismatch(bool is_mismatch);
  // Once, at start.
  void set_flag_robust(bool is_robust);
  void set_flag_in_place(bool is_in_place);
  void on_flag_loss();
  void on_config_reload(Reload result);
  // Before each text(), for time alone may change it.
  void set_vote(Vote vote);

 private:
  void refresh_leadership(Instant now, std::chrono::system_clock::time_point wall_clock);
  void refresh_process();

  std::unique_ptr<Table> table_;
  bool is_leading_ = false;
  Instant valid_until_{};
  std::string leader_name_;
  Instant leader_since_{};
  uint64_t epoch_ = 0;
  prometheus::Gauge* leader_info_ = nullptr;     // the one series of Table::leader_info, or none
  prometheus::Gauge* active_variant_ = nullptr;  // the one series that is 1, or none yet
  ProcessReadings process_;
};

}  // namespace bellwether::metrics
