// Every metric, declared once with its type, name, help, labels and buckets.  To add one, declare
// it here, count it where it happens (metrics.flag_updates.count()) and write its row into
// README.md; a test compares both.
//
// Every series is there from the start, at 0, and no label takes more values than its type has; so
// what a peer or a client does can move numbers but cannot make new ones.
//
// Threads: the event loop's only.  Nothing waits; only text() and a new leader allocate.  Nothing
// in here reads a clock: times are passed in.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hh"
#include "base/wall_time.hh"
#include "core/handover.hh"
#include "metrics/election_meter.hh"
#include "metrics/process_readings.hh"
#include "metrics/series.hh"

namespace bellwether::metrics {

// Upper bounds of the histograms.  From a hand-over on one machine to elections that were held
// again and again:
inline constexpr double kElectionSeconds[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                              0.25,  0.5,    1,     2.5,  5,     10,   30};
inline constexpr double kEventSeconds[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                           0.025,  0.05,    0.1,    0.25,  0.5,    1,     2.5};
// From a store on this machine to one that is given up: after 24 s with the longest lease.
inline constexpr double kStoreSeconds[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.1,
                                           0.25,  0.5,    1,     2.5,  5,     25};
// Between a request and an hour's job.
inline constexpr double kDrainSeconds[] = {0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300};
// One node of an election has at most about 4 messages for each member of its group.
inline constexpr double kMessageCounts[] = {0,   1,   2,   5,    10,   20,  50,
                                            100, 200, 500, 1000, 2000, 5000};

// Of a guard on a store.
struct StoreMetrics {
  explicit StoreMetrics(prometheus::Registry& all) : registry(all) {}

  prometheus::Registry& registry;
  const Counters<StoreVerb, StoreResult> requests{
      registry, "bellwether_store_requests_total",
      "Requests to the store that decides who leads, by what they came to.", "verb", "result"};
  const Counters<StoreFailure> failures{registry, "bellwether_store_failures_total",
                                        "Requests to the store that came to nothing, by why.",
                                        "reason"};
  const Histograms<> request_duration{
      registry, "bellwether_store_request_duration_seconds",
      "Time from a request to the store until its answer, or until it was given up; without "
      "watches.",
      kStoreSeconds};
  const Gauges<> up{registry, "bellwether_store_up",
                    "1 when the store did what this node asked for last, else 0."};
  const Gauges<> record_age{
      registry, "bellwether_store_record_age_seconds",
      "How long ago this node saw the store's record change; 0 while it does not look at it."};
  const Gauges<> is_strange{
      registry, "bellwether_store_record_is_strange",
      "1 while this node looks at the store's record and another client holds it, which is not a "
      "member, else 0."};
};

class Metrics {
 public:
  explicit Metrics(const Identity& identity);

  // What text() is, as HTTP says it.
  static constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

  // All metrics as Prometheus reads them, in alphabetical order.  Reads /proc.
  std::string text(Instant now, WallTime wall_clock);

  // --- what moves several series ---

  // `variant`: one of the plugin's.
  void on_election(const ElectionSummary& election, const std::string& variant);
  void on_received(FrameType type, size_t bytes);
  // Not delivered: the bytes do not count.
  void on_sent(FrameType type, size_t bytes, bool is_delivered);
  void on_config_reload(Reload result);
  // `is_in_force`: the files as they are now.  Of the certificate that is in force, in seconds
  // since 1970; nothing: there is none.
  void on_tls(TlsUse use, bool is_in_force, std::optional<std::time_t> begins,
              std::optional<std::time_t> ends) const;
  // Until when this node leads; text() no longer shows a leader after it.  Nothing: it does not.
  void set_leading(std::optional<Instant> valid_until) { leads_until_ = valid_until; }
  // The leader that this node knows, which may be this node, and since when.
  void set_leader(std::string_view leader_name, Instant since);
  void set_no_leader();

  // --- all series; leave to text() what changes with time alone, to the methods what they move ---

  // Before all that is made with them.
  const Identity who;
  prometheus::Registry registry;

  // --- elections ---
  const SeriesByVariant<prometheus::Counter, Trigger, Result> elections{
      registry,
      who.variants,
      "bellwether_elections_total",
      "Elections in which this node took part, by why its part began and how it ended.",
      "trigger",
      "result"};
  const SeriesByVariant<prometheus::Histogram> election_duration{
      registry, who.variants, "bellwether_election_duration_seconds",
      "Time from the beginning of this node's part in an election until it knew a new leader.",
      kElectionSeconds};
  const SeriesByVariant<prometheus::Histogram> election_messages{
      registry, who.variants, "bellwether_election_messages",
      "ELECTION, ANSWER, HANDOVER and COORDINATOR messages that this node sent, tried to send or "
      "received in one election.",
      kMessageCounts};
  const SeriesByVariant<prometheus::Counter, ElectionType> shadow_messages{
      registry, who.has_prices ? who.variants : std::vector<std::string>{},
      "bellwether_shadow_messages_total",
      "Messages that the elections which this node won would have taken by each variant.", "type"};
  const std::optional<Counters<ShadowResult>> shadow_elections =
      who.has_prices
          ? std::optional<Counters<ShadowResult>>(
                std::in_place, registry, "bellwether_shadow_elections_total",
                "Elections that this node won, by whether their cost by each variant is known.",
                "result")
          : std::nullopt;
  const SeriesByVariant<prometheus::Gauge> active_variant{
      registry, who.variants, "bellwether_active_variant",
      "1 for the variant by which this node elects, else 0."};
  const Counters<Awaited> timeouts{registry, "bellwether_timeouts_total",
                                   "Waits that ended without what they were for.", "phase"};

  // --- leadership ---
  const Gauges<> is_leader{registry, "bellwether_is_leader",
                           "1 while this node leads and its leadership is valid, else 0."};
  const Gauges<> master_status{
      add_family<prometheus::Gauge>(
          registry, "leader_election_master_status",
          "The same as bellwether_is_leader, under the name that client-go gave it."),
      {{"name", who.group}}};
  const Gauges<> leader_known{registry, "bellwether_leader_known",
                              "1 while this node follows a leader or is it, else 0."};
  // Its one series is made and removed by set_leader() and set_no_leader().
  prometheus::Family<prometheus::Gauge>& leader_info = add_family<prometheus::Gauge>(
      registry, "bellwether_leader_info",
      "1 for the leader that this node knows; no series without one.");
  const Gauges<> leader_since{
      registry, "bellwether_leader_since_timestamp_seconds",
      "Since when this node has followed its leader, or led, in seconds since 1970; 0 without a "
      "leader."};
  const Counters<Why> leader_changes{
      registry, "bellwether_leader_changes_total",
      "Times that the leader which this node knows became another one, or none.", "reason"};
  const Gauges<> epoch{registry, "bellwether_epoch",
                       "The highest epoch that this node knows; it never falls."};
  const Gauges<> lease_expiry{
      registry, "bellwether_lease_expiry_timestamp_seconds",
      "When this node's leadership ends unless it is renewed, in seconds since 1970; 0 while it "
      "does not lead."};
  const Counters<> flag_updates{registry, "bellwether_flag_updates_total",
                                "Writes of the leader flag."};
  const Gauges<> flag_robust{
      registry, "bellwether_flag_robust",
      "1 where the kernel turns the flag off when the sidecar is killed; 0 where only the end of "
      "its validity does."};
  const Gauges<> flag_in_place{
      registry, "bellwether_flag_in_place",
      "1 while applications that open the flag's path find this sidecar's flag, else 0."};
  const Counters<> flag_losses{
      registry, "bellwether_flag_losses_total",
      "Times that the flag's file was found removed or replaced; made again where it can be."};

  // --- the group ---
  const Gauges<Liveness> members{registry, "bellwether_members",
                                 "Members of the group as this node sees them, itself included.",
                                 "state"};
  const Gauges<Vote> vote{
      registry, "bellwether_vote",
      "1 for what the vote of this node is worth now, else 0; under guard none it has none.",
      "state"};
  const Gauges<> config_mismatch{
      registry, "bellwether_config_mismatch",
      "1 while a member is configured in a way that does not fit this node, else 0."};
  const Histograms<> heartbeat_rtt{registry, "bellwether_heartbeat_rtt_seconds",
                                   "Time from a heartbeat of this node to its acknowledgement.",
                                   kEventSeconds};

  // --- the store ---
  const std::optional<StoreMetrics> store =
      who.has_store ? std::optional<StoreMetrics>(std::in_place, registry) : std::nullopt;

  // --- messages ---
  const Counters<Direction, FrameType> messages{registry, "bellwether_messages_total",
                                                "Messages between this node and its peers.",
                                                "direction", "type"};
  const Counters<ByteDirection> message_bytes{
      registry, "bellwether_message_bytes_total",
      "Bytes of the messages between this node and its peers.", "direction"};
  const Counters<FrameType> stale_messages{registry, "bellwether_stale_messages_total",
                                           "Messages that were ignored because they are outdated.",
                                           "type"};
  prometheus::Family<prometheus::Counter>& rejected =
      add_family<prometheus::Counter>(registry, "bellwether_rejected_frames_total",
                                      "Frames, or bytes of a peer, that were not usable.");
  const Counters<Rejection> rejected_frames{rejected, {}, "reason"};
  const Counters<Unfit> unfit_frames{rejected, {}, "reason"};
  const Counters<ProofDoubt> death_proofs_doubted{
      registry, "bellwether_death_proofs_doubted_total",
      "Peers whose end a refused connection does not prove, though it is asked for.", "reason"};

  const Gauges<Security> peer_connections{registry, "bellwether_peer_connections",
                                          "Connections to members, by how they are secured.",
                                          "security"};
  const Gauges<TlsUse> tls_last_reload_successful{
      registry, "bellwether_tls_last_reload_successful",
      "1 while the files of certificates and secrets are in force as they are, or there are none, "
      "else 0.",
      "use"};
  const Gauges<TlsUse> tls_certificate_begin{
      registry, "bellwether_tls_certificate_not_before_timestamp_seconds",
      "Since when the certificate that this node shows is valid, in seconds since 1970; 0 without "
      "one.",
      "use"};
  const Gauges<TlsUse> tls_certificate_expiry{
      registry, "bellwether_tls_certificate_expiry_timestamp_seconds",
      "When the certificate that this node shows is over, in seconds since 1970; 0 without one.",
      "use"};

  // --- the application's side ---
  const HttpCounters http_requests{registry, who.routes, "bellwether_http_requests_total",
                                   "HTTP requests that were answered."};
  const Counters<Listener, TlsRejection> http_tls_refusals{
      registry, "bellwether_http_tls_refusals_total",
      "Connections of HTTP clients that ended by TLS, in the handshake or after it.", "listener",
      "reason"};
  const Counters<Command, Admission> api_writes{
      registry, "bellwether_api_writes_total",
      "Commands that were asked for by the API, by whether whoever asked was allowed to.", "verb",
      "result"};
  const Gauges<> application_able{
      registry, "bellwether_application_able",
      "1 while this node's application lets it lead, or nothing is asked of one, else 0."};
  const Gauges<> application_attachments{registry, "bellwether_application_attachments",
                                         "Applications that are attached."};
  const Gauges<> application_score{registry, "bellwether_application_score",
                                   "What the application says it is worth."};
  const Counters<HealthCheck> application_health_checks{
      registry, "bellwether_application_health_checks_total",
      "Questions to the application whether it works, by what came of them.", "result"};
  const Gauges<> application_draining{
      registry, "bellwether_application_draining",
      "1 while this node leads and lets its application finish before it hands over, else 0."};
  const Counters<DrainEnd> drains{
      registry, "bellwether_drains_total",
      "Times that the application was asked to finish before a hand-over, by how that ended.",
      "result"};
  const Histograms<> drain_duration{registry, "bellwether_drain_duration_seconds",
                                    "How long a hand-over waited for the application to finish.",
                                    kDrainSeconds};
  const Counters<HookResult> hook_deliveries{registry, "bellwether_hook_deliveries_total",
                                             "Attempts to deliver an event to a webhook.",
                                             "result"};

  // --- the process ---
  const Histograms<> event_loop_lag{registry, "bellwether_event_loop_lag_seconds",
                                    "How late the event loop noticed that a timer was due.",
                                    kEventSeconds};
  const Counters<Limit> limit_hits{
      registry, "bellwether_limit_hits_total",
      "Times that a bound refused, dropped, closed or delayed something.", "limit"};
  const Gauges<> config_last_reload_successful{
      registry, "bellwether_config_last_reload_successful",
      "1 when the configuration was read without error the last time, else 0."};
  const Counters<Reload> config_reloads{registry, "bellwether_config_reloads_total",
                                        "Times that the configuration was read again.", "result"};
  const Gauges<> build_info{
      add_family<prometheus::Gauge>(
          registry, "bellwether_build_info",
          "Always 1; the labels say which sidecar this is and which plugin it has loaded."),
      {{"version", who.version}, {"plugin", who.plugin}, {"abi", who.abi}}};
  const Counters<> process_cpu{registry, "process_cpu_seconds_total",
                               "Total user and system CPU time spent in seconds."};
  const Gauges<> process_resident_memory{registry, "process_resident_memory_bytes",
                                         "Resident memory size in bytes."};
  const Gauges<> process_open_fds{registry, "process_open_fds", "Number of open file descriptors."};
  const Gauges<> process_start_time{registry, "process_start_time_seconds",
                                    "Start time of the process since the Unix epoch in seconds."};

 private:
  void refresh_leadership(Instant now, WallTime wall_clock);
  void refresh_process();

  std::optional<Instant> leads_until_;
  std::string leader_name_;
  Instant leader_since_{};
  prometheus::Gauge* leader_ = nullptr;  // the one series of leader_info, or none
  ProcessReadings process_;
};

}  // namespace bellwether::metrics
