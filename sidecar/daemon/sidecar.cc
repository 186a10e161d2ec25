// Start, run, stop.
#include "daemon/sidecar.hh"

#include <algorithm>
#include <csignal>
#include <utility>

#include "api/bodies.hh"
#include "api/routes.hh"
#include "core/plugin_facts.hh"
#include "plugin_loader.hh"

namespace bellwether {
namespace {

constexpr Duration kTickInterval = std::chrono::seconds(1);
constexpr Duration kTickUntilReady = std::chrono::milliseconds(20);
// For a departure: a leader asks at most three successors, each for handover_timeout.
constexpr int kMaxSuccessors = 3;
constexpr Duration kDepartureMargin = std::chrono::seconds(1);
constexpr Duration kLookAgain = std::chrono::milliseconds(1);

FlagWriterSettings flag_settings(const Config& config) {
  return {.path = config.flag.path,
          .mode = static_cast<mode_t>(config.flag.mode),
          .is_folder_shared = config.flag.is_folder_shared,
          .guard = config.has_majority_guard() ? uint8_t{LEADER_FLAG_GUARD_MAJORITY}
                                               : uint8_t{LEADER_FLAG_GUARD_NONE}};
}

const election_plugin& load(const SidecarSettings& settings) {
  const ElectionSettings& election = settings.parsed.config.election;
  return load_plugin(election.plugin, settings.plugin_dir);
}

api::Identity identity_of(const SidecarSettings& settings, const election_plugin& plugin) {
  return {.version = settings.version,
          .plugin = plugin.name,
          .plugin_version = plugin.version,
          .plugin_abi = std::to_string(plugin.abi_major) + "." + std::to_string(plugin.abi_minor)};
}

}  // namespace

Sidecar::Sidecar(SidecarSettings settings, Log& log)
    : settings_(std::move(settings)),
      log_(log),
      memory_keeper_(settings_.parsed.config.node.keeps_memory
                         ? std::optional<MemoryKeeper>(std::in_place)
                         : std::nullopt),
      plugin_(load(settings_)),
      identity_(identity_of(settings_, plugin_)),
      in_force_(settings_.parsed.config),
      metrics_({.group = config().group.name,
                .member = config().node.name,
                .version = settings_.version,
                .plugin = identity_.plugin,
                .abi = identity_.plugin_abi,
                .variants = variants_of(plugin_),
                .has_prices = has_prices(plugin_),
                .routes = api::counted_routes()}),
      store_({.folder = config().node.state_dir,
              .group = config().group.name,
              .voters = vote_tag(config().node.name, config().voters),
              .forget_promises = settings_.forget_promises}),
      flag_(flag_settings(config())),
      flag_watch_(log_, "the flag's file", config().flag.path),
      resolver_(loop_),
      participant_({.loop = loop_,
                    .plugin = plugin_,
                    .store = store_,
                    .flag = flag_,
                    .metrics = metrics_,
                    .log = log_,
                    .resolver = resolver_,
                    .is_flag_robust = settings_.flag_weakness.empty()},
                   config(), settings_.version, *this),
      front_door_(loop_, resolver_, *this, metrics_, log_, config()),
      config_file_(loop_, settings_.parsed.file, settings_.config_text,
                   [this](const ConfigFile::Reading& reading) { apply(reading); }),
      terminate_(loop_, SIGTERM, [this] { leave("SIGTERM"); }),
      interrupt_(loop_, SIGINT, [this] { leave("SIGINT"); }),
      hang_up_(loop_, SIGHUP, [this] { reload([](const api::ReloadResult&) {}); }),
      look_(loop_, SIGUSR1, [this] { dump(); }),
      ticker_(loop_, [this] { tick(); }),
      patience_(loop_,
                [this] {
                  log_.write(LogLevel::kWarn,
                             "the departure took too long; peers will notice by themselves");
                  end_ = SidecarEnd::kFailed;
                  finish();
                }),
      last_words_(loop_, [this] { await_last_words(); }) {}

// The flag first, whatever has led here: with what goes next the connections end, too.
Sidecar::~Sidecar() { flag_.publish({}); }

SidecarEnd Sidecar::run() {
  report_start();
  participant_.start(config().membership, settings_.is_first_start);
  tick();
  loop_.run();
  return end_;
}

void Sidecar::report_start() {
  log_.set_epoch(store_.record().max_epoch);
  log_.write(LogLevel::kInfo, "started",
             {{"version", settings_.version},
              {"group", config().group.name},
              {"id", to_string(store_.identity())},
              {"plugin", identity_.plugin},
              {"variant", node().options().variant},
              {"guard", config().guard()},
              {"peers_at", config().node.listen.text()},
              {"config", settings_.parsed.file}});
  for (const Finding& warning : settings_.parsed.warnings) {
    log_.write(LogLevel::kWarn, describe(settings_.parsed.file, "warning", warning));
  }
  for (const std::string& warning : store_.warnings()) log_.write(LogLevel::kWarn, warning);
  for (const std::string& warning : flag_.warnings()) log_.write(LogLevel::kWarn, warning);
  metrics_.set_flag_robust(settings_.flag_weakness.empty());
  if (!settings_.flag_weakness.empty()) {
    log_.write(LogLevel::kWarn, "a killed sidecar's flag stays on until its validity ends",
               {{"because", settings_.flag_weakness}});
  }
  if (open_files_ < kEnoughOpenFiles) {
    log_.write(LogLevel::kWarn, "only few files may be open, connections included",
               {{"limit", std::to_string(open_files_)},
                {"remedy", "raise it to " + std::to_string(kEnoughOpenFiles) +
                               " (LimitNOFILE=, ulimit -n)"}});
  }
  if (memory_keeper_ && !memory_keeper_->flaw().empty()) {
    log_.write(LogLevel::kWarn, "if this sidecar is killed, its peers learn of it after its memory",
               {{"because", memory_keeper_->flaw()}});
  }
}

// Again and again: is the loop alive, is this node ready, does everybody want the same?
void Sidecar::tick() {
  const Instant now = Loop::now();
  if (next_tick_ != kNever) metrics_.on_event_loop_lag(std::max(now - next_tick_, Duration{}));
  last_tick_ = now;
  metrics_.set_config_mismatch(!config_mismatches().empty());
  const uint64_t unwritten = log_.left_out() + log_.lost();
  metrics_.on_limit(Limit::kLogLines, unwritten - std::exchange(unwritten_, unwritten));
  note_vote();
  look_at_flag();
  front_door_.look_at_socket();
  const auto watchdog = systemd_.watchdog_interval();
  if (watchdog) systemd_.tell("WATCHDOG=1");
  // Not is_ready(): a vote may wait for other hosts, and systemd ends what does not start in time.
  if (!is_announced_ && is_serving(nullptr)) {
    is_announced_ = true;
    systemd_.tell("READY=1");
  }
  const Duration interval = is_announced_ ? kTickInterval : kTickUntilReady;
  next_tick_ = now + std::min(interval, watchdog.value_or(interval));
  ticker_.arm(next_tick_ - now);
}

// That the vote is lost, whatever the reason; the node says when it is back.
void Sidecar::note_vote() {
  const Vote vote = node().vote(now());
  const bool is_new = std::exchange(vote_, vote) != vote;
  if (!is_new || vote == Vote::kNone || vote == Vote::kInForce) return;
  log_.write(LogLevel::kWarn, api::vote_text(*this));
}

// Does an application that starts now find the flag?
void Sidecar::look_at_flag() {
  FileLook look = flag_.look();
  metrics_.set_flag_in_place(look.flaw.empty());
  const std::string made_good =
      look.is_folder_new ? " in a new folder; restart containers that have the old one mounted"
                         : "; readers find it within a second";
  if (flag_watch_.on_look(std::move(look), made_good, "it is not ready: ")) {
    metrics_.on_flag_loss();
  }
}

void Sidecar::on_publish(const Publish& publish) { front_door_.on_publish(publish); }

void Sidecar::on_election(const metrics::ElectionSummary& election) {
  front_door_.on_election(election, node().active_variant());
}

void Sidecar::on_failed(const Failed& failed) {
  log_.write(LogLevel::kError, "the plugin broke its contract; stopping", {{"flaw", failed.text}});
  end_ = SidecarEnd::kFailed;
  finish();
}

// Nothing that this process would still say can be trusted: it says nothing.
void Sidecar::on_broken() {
  end_ = SidecarEnd::kBrokenInvariant;
  front_door_.close();
  loop_.stop();
}

// --- the end ---

void Sidecar::leave(const char* signal) {
  if (is_leaving_) {
    log_.write(LogLevel::kWarn, "stopping at once", {{"signal", signal}});
    end_ = SidecarEnd::kFailed;
    participant_.close();
    return loop_.stop();
  }
  is_leaving_ = true;
  log_.write(LogLevel::kInfo, "leaving the group", {{"signal", signal}});
  systemd_.tell("STOPPING=1");
  patience_.arm(Loop::now() + kMaxSuccessors * node().options().handover_timeout +
                kDepartureMargin);
  participant_.leave();
}

void Sidecar::on_left() {
  log_.write(LogLevel::kInfo, "left the group");
  finish();
}

// May be called while an effect is carried out, so nothing is taken apart here.
void Sidecar::finish() {
  if (std::exchange(is_finishing_, true)) return;
  patience_.arm(kNever);
  participant_.close();
  front_door_.close();
  await_last_words();
}

void Sidecar::await_last_words() {
  if (participant_.is_closed()) return loop_.stop();
  last_words_.arm(kLookAgain);
}

}  // namespace bellwether
