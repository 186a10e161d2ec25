// What webhooks are told follows from which node led before.
#include "daemon/hooks.hh"

#include <algorithm>
#include <functional>
#include <utility>

#include "api/bodies.hh"
#include "config/keys.hh"
#include "config/text_forms.hh"
#include "daemon/hook_files.hh"

namespace bellwether::daemon {

// One webhook, its files, and what is counted and logged of it.
struct Hooks::Hook {
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
                [this](const api::HookReport& report) { on_report(report); }) {
    if (!settings.has_files()) {
      webhook.secure({});
      return;
    }
    files.emplace(
        hooks.loop_, HookReading{}, reader(number),
        [](const HookReading& last, const Unread& unread) {
          return HookReading{.files = unread_files(last.files, unread), .keys = last.keys};
        },
        [this](const HookReading& reading) { on_files(reading); });
  }

  // Once it is one of its owner's: without a thread the answer comes at once.
  void begin() {
    if (files) files->read([] {});
  }

  // Its place in the configuration, by which errors name its keys.
  void set_number(size_t number) {
    if (files) files->set_read(reader(number));
  }

  Reread<HookReading>::Read reader(size_t number) const {
    return std::bind_front(read_hook_files, settings, hook_path(number));
  }

  // What was in force stays while the files are of no use.
  void on_files(const HookReading& reading) {
    flaw = reading.files.error;
    if (!flaw.empty()) {
      owner.log_.write(LogLevel::kError,
                       in_force ? "the files of a webhook are refused; what was in force stays"
                                : "the files of a webhook cannot be used; its events wait",
                       {{"url", shown_url(settings.url)}, {"error", flaw}});
      if (!in_force) webhook.secure({.tls = {}, .keys = {}, .flaw = flaw});
    } else {
      in_force = reading.files;
      webhook.secure({.tls = reading.files.tls, .keys = reading.keys, .flaw = ""});
      owner.log_.write(LogLevel::kInfo, "the files of a webhook are in force",
                       {{"url", shown_url(settings.url)}});
    }
    owner.note_files();
  }

  // Of what is in force; nothing: there is no certificate.
  const io::TlsContext* context() const { return in_force ? in_force->tls.get() : nullptr; }

  void on_report(const api::HookReport& report) {
    owner.metrics_.hook_deliveries.count(report.result);
    if (report.is_timeout) owner.metrics_.timeouts.count(Awaited::kHook);
    if (report.result == HookResult::kGone) {
      is_gone = true;
      owner.log_.write(
          LogLevel::kWarn, "a webhook answered 410 (gone) and is told nothing more",
          {{"url", shown_url(settings.url)}, {"remedy", "reload to have it told again"}});
    } else if (report.result == HookResult::kDelivered && std::exchange(is_failing, false)) {
      owner.log_.write(LogLevel::kInfo, "a webhook answers again",
                       {{"url", shown_url(settings.url)}});
    } else if (report.result == HookResult::kFailed && !std::exchange(is_failing, true)) {
      // One line for each outage; the metrics count the attempts.
      owner.log_.write(LogLevel::kWarn, "a webhook failed",
                       {{"url", shown_url(settings.url)}, {"why", report.why}});
    }
  }

  Hooks& owner;
  HookSettings settings;
  bool is_failing = false;
  bool is_gone = false;
  std::string flaw;                    // why the files as they are now are not in force
  std::optional<TlsReading> in_force;  // nothing: they have been of no use yet
  api::Webhook webhook;
  std::optional<Reread<HookReading>> files;
};

Hooks::Hooks(io::Loop& loop, io::Resolver& resolver, const api::Backend& backend,
             api::LeadershipFeed& feed, metrics::Metrics& metrics, Log& log)
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
  std::vector<Hook*> added;
  for (const HookSettings& settings : hooks) {
    const auto same = std::ranges::find_if(hooks_, [&](const auto& hook) {
      return hook && !hook->is_gone && hook->settings == settings;
    });
    if (same != hooks_.end()) {
      (*same)->set_number(wanted.size());
      wanted.push_back(std::move(*same));
      continue;
    }
    wanted.push_back(std::make_unique<Hook>(*this, settings, wanted.size()));
    added.push_back(wanted.back().get());
    if (last_leader_) {
      added.back()->webhook.tell(event_of(feed_.current(), api::HookEventType::kElected));
    }
  }
  hooks_ = std::move(wanted);
  for (Hook* const hook : added) hook->begin();
  note_files();
}

api::TlsState Hooks::tls() const {
  api::TlsState state;
  for (const auto& hook : hooks_) {
    if (state.flaw.empty()) state.flaw = hook->flaw;
    const auto expiry = hook->context() != nullptr ? hook->context()->expiry() : std::nullopt;
    if (expiry && expiry < state.expiry.value_or(*expiry + 1)) state.expiry = expiry;
  }
  return state;
}

void Hooks::note_files() const {
  const api::TlsState state = tls();
  std::optional<std::time_t> begins;
  for (const auto& hook : hooks_) {
    if (hook->context() == nullptr || hook->context()->expiry() != state.expiry) continue;
    begins = hook->context()->beginning();
  }
  metrics_.on_tls(metrics::TlsUse::kHooks, state.flaw.empty(), begins, state.expiry);
}

void Hooks::on_change(const api::Leadership& leadership) {
  const bool is_known = leadership.leader.has_value();
  if (!is_known && !last_leader_) return;
  const api::HookEventType type = leadership.is_draining ? api::HookEventType::kDraining
                                  : !is_known            ? api::HookEventType::kLost
                                  : !last_leader_        ? api::HookEventType::kElected
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
          .time = rfc3339(leadership.changed),
          .data = api::leader_body(backend_, feed_, leadership)};
}

}  // namespace bellwether::daemon
