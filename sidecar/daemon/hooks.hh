// The webhooks of the configuration, told of every change of leadership.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/backend.hh"
#include "api/leadership.hh"
#include "api/webhook.hh"
#include "config/config.hh"
#include "daemon/log.hh"
#include "io/names/resolver.hh"
#include "metrics/metrics.hh"

namespace bellwether::daemon {

class Hooks final : private api::LeadershipListener {
 public:
  // All must outlive it.
  Hooks(io::Loop& loop, io::Resolver& resolver, const api::Backend& backend,
        api::LeadershipFeed& feed, metrics::Metrics& metrics, Log& log);
  ~Hooks() override;
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;

  // From now on these.  New ones, and those that had answered 410 (Gone), are told of the leader at
  // once, if there is one; what one that is gone still had to say is dropped.
  void set(const std::vector<HookSettings>& hooks);

  // Of their files: the first flaw, and the certificate that is over first.
  api::TlsState tls() const;

 private:
  struct Hook;

  void on_change(const api::Leadership& leadership) override;
  api::HookEvent event_of(const api::Leadership& leadership, api::HookEventType type) const;
  void note_files() const;

  io::Loop& loop_;
  io::Resolver& resolver_;
  const api::Backend& backend_;
  api::LeadershipFeed& feed_;
  metrics::Metrics& metrics_;
  Log& log_;
  std::optional<api::NamedLeader> last_leader_;
  std::vector<std::unique_ptr<Hook>> hooks_;
};

}  // namespace bellwether::daemon
