// What happened follows from who led before.
#include "daemon/hooks.hh"

#include <algorithm>
#include <utility>

#include "api/bodies.hh"

namespace bellwether::daemon {

// One webhook, and who counts for it.
struct Hooks::Hook final : api::WebhookObserver {
  Hook(Hooks& hooks, const HookSettings& hook_settings, size_t number)
      : owner(hooks),
        settings(hook_settings),
        webhook(hooks.loop_, hooks.resolver_,
                {.url = settings.url,
                 .timeout = settings.timeout,
                 .source = {.group = hooks.backend_.config().group.name,
                            .node = hooks.backend_.config().node.name,
                            .boot = hooks.backend_.node().members().self().boot},
                 .user_agent = "bellwether/" + hooks.backend_.identity().version,
                 .seed = hooks.backend_.node().members().self().boot + number},
                *this) {}

  void on_delivered() override {
    owner.metrics_.hook_deliveries.count(metrics::HookResult::kDelivered);
    if (std::exchange(is_failing, false)) {
      owner.log_.write(LogLevel::kInfo, "a webhook answers again", {{"url", settings.url}});
    }
  }
  void on_failed(const std::string& why, bool is_timeout) override {
    owner.metrics_.hook_deliveries.count(metrics::HookResult::kFailed);
    if (is_timeout) owner.metrics_.timeouts.count(Awaited::kHook);
    // One line for each outage; the metrics count the attempts.
    if (std::exchange(is_failing, true)) return;
    owner.log_.write(LogLevel::kWarn, "a webhook failed", {{"url", settings.url}, {"why", why}});
  }
  void on_gone() override {
    is_gone = true;
    owner.metrics_.hook_deliveries.count(metrics::HookResult::kGone);
    owner.log_.write(LogLevel::kWarn, "a webhook answered 410 (gone) and is told nothing more",
                     {{"url", settings.url}, {"remedy", "reload to have it told again"}});
  }
  void on_superseded() override {
    owner.metrics_.hook_deliveries.count(metrics::HookResult::kSuperseded);
  }

  Hooks& owner;
  HookSettings settings;
  bool is_failing = false;
  bool is_gone = false;
  api::Webhook webhook;
};

Hooks::Hooks(Loop& loop, Resolver& resolver, const api::Backend& backend, api::LeadershipFeed& feed,
             metrics::Metrics& metrics, Log& log)
    : loop_(loop),
      resolver_(resolver),
      backend_(backend),
      feed_(feed),
      metrics_(metrics),
      log_(log) {
  feed_.subscribe(*this);
}

Hooks::~Hooks() { feed_.unsubscribe(*this); }

void Hooks::set(const std::vector<HookSettings>& hooks) {
  std::vector<std::unique_ptr<Hook>> wanted;
  for (const HookSettings& settings : hooks) {
    const auto same = std::ranges::find_if(hooks_, [&](const auto& hook) {
      return hook && !hook->is_gone && hook->settings == settings;
    });
    if (same != hooks_.end()) {
      wanted.push_back(std::move(*same));
      continue;
    }
    wanted.push_back(std::make_unique<Hook>(*this, settings, wanted.size()));
    if (last_leader_) {
      wanted.back()->webhook.tell(event_of(feed_.current(), api::HookEventType::kElected));
    }
  }
  hooks_ = std::move(wanted);
}

void Hooks::on_change(const api::Leadership& leadership) {
  const bool is_known = leadership.leader.has_value();
  if (!is_known && !last_leader_) return;
  const api::HookEventType type = !is_known       ? api::HookEventType::kLost
                                  : !last_leader_ ? api::HookEventType::kElected
                                                  : api::HookEventType::kChanged;
  const api::HookEvent event = event_of(leadership, type);
  last_leader_ = leadership.leader;
  for (const auto& hook : hooks_) hook->webhook.tell(event);
}

// Of a loss, the subject is who led until then.
api::HookEvent Hooks::event_of(const api::Leadership& leadership, api::HookEventType type) const {
  const auto& subject = leadership.leader ? leadership.leader : last_leader_;
  return {.type = type,
          .subject = subject ? subject->name : "",
          .sequence = leadership.index,
          .time = rfc3339(leadership.since),
          .data = api::leader_body(backend_, feed_, leadership)};
}

}  // namespace bellwether::daemon
