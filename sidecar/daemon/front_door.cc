// The wiring of requests, counters and the two addresses; and what webhooks are told, which follows
// from who led before.
#include "daemon/front_door.hh"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "api/bodies.hh"
#include "base/file_turn.hh"
#include "config/core_options.hh"
#include "config/keys.hh"
#include "config/text_forms.hh"
#include "core/link_limits.hh"
#include "io/loop/job.hh"
#include "io/names/listening.hh"

namespace bellwether::daemon {

// One webhook, and who counts for it.
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
    const std::string path = hook_path(number);
    files.emplace(
        hooks.loop_, HookReading{}, std::bind_front(read_hook_files, settings, path),
        [](const HookReading& last, const Unread& unread) {
          return HookReading{.files = unread_files(last.files, unread), .keys = last.keys};
        },
        [this](const HookReading& reading) { on_files(reading); });
    files->read([] {});
  }

  // What was in force stays while the files are of no use.
  void on_files(const HookReading& reading) {
    flaw = reading.files.error;
    if (!flaw.empty()) {
      owner.log_.write(LogLevel::kError, "the files of a webhook cannot be used",
                       {{"url", shown_url(settings.url)}, {"error", flaw}});
      if (!in_force) webhook.secure({.tls = {}, .keys = {}, .flaw = flaw});
    } else {
      in_force = reading.files;
      webhook.secure({.tls = reading.files.tls, .keys = reading.keys, .flaw = ""});
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

FrontDoor::FrontDoor(io::Loop& loop, io::Resolver& resolver, api::Backend& backend,
                     metrics::Metrics& metrics, Log& log, const Config& config)
    : loop_(loop),
      backend_(backend),
      feed_(std::chrono::system_clock::now()),
      hooks_(loop, resolver, backend, feed_, metrics, log),
      metrics_(metrics),
      log_(log),
      observer_{
          .on_answered = [&](size_t route,
                             unsigned code) { metrics.http_requests.count(route, code); },
          .on_limit = [&](Limit limit) { metrics.limit_hits.count(limit); },
          .on_tls_refused = [this](auto listener, const auto& flaw,
                                   const auto& client) { on_tls_refused(listener, flaw, client); },
          .on_command = [this](
                            auto command, const auto& client,
                            const auto& permission) { on_command(command, client, permission); }},
      routes_(loop, backend_, feed_, history_, observer_),
      api_binding_(routes_, api::Entrance::kApi, observer_),
      metrics_binding_(routes_, api::Entrance::kMetrics, observer_),
      api_{.use = metrics::TlsUse::kApi, .server{loop, api_binding_}},
      metrics_door_{.use = metrics::TlsUse::kMetrics, .server{loop, metrics_binding_}},
      socket_watch_(log, "the API's socket", config.api.socket) {
  open(api_, config.api.listen,
       config.api.has_tls() ? TlsFiles::Read(std::bind_front(read_api_tls, config.api)) : nullptr);
  open(metrics_door_, config.metrics.listen,
       config.metrics.has_tls() ? TlsFiles::Read(std::bind_front(read_metrics_tls, config.metrics))
                                : nullptr);
  if (!config.api.socket.empty()) {
    io::listen_by_key("api.socket", [&] { api_.server.listen_on_socket(config.api.socket); });
  }
  configure(config);
}

void FrontDoor::configure(const Config& config) {
  // A client's host is taken for gone as soon as a peer's is.
  api_.server.set_patience(link_limits(to_options(config)).unacknowledged);
  hooks_.set(config.hooks);
}

// Without `read` it serves plain HTTP.
void FrontDoor::open(Door& door, const HostPort& place, const TlsFiles::Read& read) {
  if (place.is_none()) return;
  if (read) {
    door.server.secure(nullptr);
    door.tls.emplace(loop_, read, [this, &door] { on_certificate(door); });
    on_certificate(door);
  }
  io::listen_by_key(std::string(name(door.use)) + ".listen", [&] { door.server.listen(place); });
}

void FrontDoor::on_certificate(Door& door) {
  const io::TlsContextPtr in_force = door.tls->in_force();
  const std::string& flaw = door.tls->flaw();
  const bool has_any = in_force != nullptr;
  metrics_.on_tls(door.use, flaw.empty(), has_any ? in_force->beginning() : std::nullopt,
                  has_any ? in_force->expiry() : std::nullopt);
  const std::string files = std::string("the files of [") + name(door.use) + "] ";
  if (!flaw.empty()) {
    return log_.write(LogLevel::kError,
                      files + (has_any ? "are refused; what was in force stays"
                                       : "cannot be used; nobody is served over TCP"),
                      {{"error", flaw}});
  }
  door.server.secure(in_force);
  log_.write(LogLevel::kInfo, files + "are in force");
}

api::TlsState FrontDoor::tls(metrics::TlsUse use) const {
  if (use == metrics::TlsUse::kHooks) return hooks_.tls();
  const Door& door = use == metrics::TlsUse::kApi ? api_ : metrics_door_;
  if (!door.tls) return {};
  const io::TlsContextPtr in_force = door.tls->in_force();
  return {.flaw = door.tls->flaw(),
          .expiry = in_force != nullptr ? in_force->expiry() : std::nullopt};
}

void FrontDoor::on_tls_refused(metrics::Listener listener, const io::TlsFlaw& flaw,
                               const std::string& client) {
  metrics_.http_tls_refusals.count(listener, to_tls_rejection(flaw.reason));
  const auto left_out = refusals_.admit(io::Loop::now(), name(flaw.reason));
  if (!left_out) return;
  log_.write(LogLevel::kWarn, "refused a client",
             {{"listener", name(listener)},
              {"reason", name(flaw.reason)},
              {"from", client},
              {"details", flaw.text},
              {"more_since_last_line", std::to_string(*left_out)}});
}

void FrontDoor::on_command(metrics::Command command, const io::HttpClientFacts& client,
                           const api::Permission& permission) {
  using metrics::Admission;
  const bool is_given = permission.is_given();
  metrics_.api_writes.count(command, is_given ? Admission::kAllowed : Admission::kRefused);
  // Scores come all the time.
  if (is_given && command == metrics::Command::kScore) return;
  // Each command for itself: applications that come and go must not hide what an operator does.
  const char* const event = is_given ? "a command was asked for" : "refused a command";
  const std::string kind = std::string(event) + ": " + name(command);
  if (is_given) {
    return log_.write_of(kind, LogLevel::kInfo, event,
                         {{"command", name(command)}, {"by", api::text_of(client)}});
  }
  log_.write_of(
      kind, LogLevel::kWarn, event,
      {{"command", name(command)}, {"by", api::text_of(client)}, {"because", permission.reason}});
}

void FrontDoor::on_publish(const Publish& publish) {
  feed_.on_publish(publish, backend_.node().members(), std::chrono::system_clock::now());
}

void FrontDoor::on_election(const metrics::ElectionSummary& election, const std::string& variant) {
  history_.on_election(election, variant, feed_.current(), std::chrono::system_clock::now());
}

void FrontDoor::look_at_socket() {
  const io::MadeFile* const file = api_.server.socket_file();
  if (file == nullptr) return;
  const Instant now = io::Loop::now();
  if (socket_look_ != nullptr) {
    if (now - socket_look_began_ < FileTurn::kPatience) return;
    socket_watch_.on_look(now, {.loss = "cannot be looked at", .flaw = Unread::kNoAnswer}, "", "");
    return;
  }
  socket_look_began_ = now;
  socket_look_ = io::run_in_thread(
      loop_, [file = *file] { return file.loss(); },
      [this](const std::string& loss) {
        socket_look_.reset();
        socket_watch_.on_look(io::Loop::now(), api_.server.make_good(loss), "",
                              "nobody can connect to it; remove what is in its place: ");
      });
}

void FrontDoor::close() {
  socket_look_.reset();  // it would find the socket gone, and make another one
  metrics_door_.server.stop_listening();
  auto file = api_.server.stop_listening();
  if (file == nullptr) return;
  // The loop ends when that has, or the process when it takes too long.
  static_cast<void>(io::run_in_thread(
      loop_,
      [file = std::move(file)]() mutable {
        file.reset();
        return true;
      },
      [](bool /*is_done*/) {}));
}

std::string FrontDoor::status_text() const { return dump(api::status_body(backend_, feed_)); }

}  // namespace bellwether::daemon
