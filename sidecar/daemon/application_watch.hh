// Whether the application beside this sidecar is there and works, as far as [application] asks for
// that, and what it says that it is worth; made of attachments, health checks and scores, and told
// as one value (Application) whenever it changes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/backend.hh"
#include "config/config.hh"
#include "daemon/log.hh"
#include "io/http/http_client.hh"
#include "io/loop/loop.hh"
#include "io/loop/timer.hh"
#include "io/names/resolver.hh"
#include "metrics/metrics.hh"

namespace bellwether::daemon {

class ApplicationWatch {
 public:
  // `on_change`, and `on_finished` once all have finished that were asked to in this epoch, are
  // called from within the loop, or from within the functions below but the last two; not by the
  // constructor.  All must outlive it.
  ApplicationWatch(io::Loop& loop, io::Resolver& resolver, metrics::Metrics& metrics, Log& log,
                   std::function<void(const Application&)> on_change,
                   std::function<void(uint64_t epoch)> on_finished);

  // What is asked for from now on.  An attachment that is asked for anew has to be there first;
  // another health check has failed only once it has.
  void configure(const ApplicationSettings& settings);
  // These are attached, and no others.
  void set_attached(std::vector<api::Attached> applications);
  // Whether this node leads: what leads is given its grace, and no follower.
  void set_leading(bool is_leading);
  void set_score(int64_t score);
  // One of those that were asked has finished, if it is one of them.
  api::DrainWord on_drained(const api::Finished& finished);

  // Whoever is attached now is asked to finish; and is not waited for any more.
  void on_drain_begun(const Drain& drain);
  void on_drain_ended(const DrainEnded& ended);

  const api::ApplicationState& state() const { return state_; }

 private:
  void ask();
  void on_answer(const io::HttpClientResult& result);
  std::string flaw_of(const io::HttpClientResult& result) const;
  void arm_grace();
  void judge();
  void tell();
  void forget_gone();
  std::vector<uint64_t> ids_of(const std::string& name) const;

  io::Loop& loop_;
  io::Resolver& resolver_;
  metrics::Metrics& metrics_;
  Log& log_;
  std::function<void(const Application&)> on_change_;
  std::function<void(uint64_t drain)> on_finished_;
  ApplicationSettings settings_;
  api::ApplicationState state_;
  Application told_;                  // as on_change() was told last
  std::optional<Drain> drain_{};      // as it began; nothing: nobody is asked to finish
  std::vector<api::Attached> asked_;  // in their order, whether they have finished or not
  bool is_missed_ = true;             // nobody is attached, and the grace is over
  Instant gone_at_{};                 // when the last one that was attached went
  bool is_leading_ = false;
  uint32_t failures_ = 0;  // in a row
  io::LoopTimer grace_;
  io::LoopTimer next_check_;
  std::unique_ptr<io::HttpClient> client_;  // while there are checks
};

}  // namespace bellwether::daemon
