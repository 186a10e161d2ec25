// The wiring of requests, counters and the two addresses.
#include "daemon/front_door.hh"

#include <chrono>
#include <functional>
#include <utility>

#include "api/bodies.hh"
#include "base/file_turn.hh"
#include "config/core_options.hh"
#include "core/link_limits.hh"
#include "io/loop/job.hh"
#include "io/names/listening.hh"

namespace bellwether::daemon {

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
