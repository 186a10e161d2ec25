// Start, run, stop; and a new configuration.  What the API asks is in sidecar_backend.cc.
#include "daemon/sidecar.hh"

#include <algorithm>
#include <csignal>

#include "api/bodies.hh"
#include "api/routes.hh"
#include "config/core_options.hh"
#include "config/failover.hh"
#include "core/plugin_facts.hh"
#include "io/loop/thread_traces.hh"
#include "plugin_loader.hh"

namespace bellwether::daemon {
namespace {

constexpr Duration kTickInterval = std::chrono::seconds(1);
constexpr Duration kTickUntilReady = std::chrono::milliseconds(20);
constexpr Duration kLookAtLogAgain = std::chrono::milliseconds(1);

uint8_t flag_guard(const Config& config) {
  if (config.has_store_guard()) return LEADER_FLAG_GUARD_STORE;
  return config.has_majority_guard() ? LEADER_FLAG_GUARD_MAJORITY : LEADER_FLAG_GUARD_NONE;
}

io::FlagFileSettings flag_settings(const Config& config) {
  return {.path = config.flag.path,
          .mode = static_cast<mode_t>(config.flag.mode),
          .is_folder_shared = config.flag.is_folder_shared,
          .guard = flag_guard(config)};
}

}  // namespace

Sidecar::Sidecar(SidecarSettings settings, Log& log)
    : settings_(std::move(settings)),
      log_(log),
      memory_keeper_(settings_.parsed.config.node.keeps_memory
                         ? std::optional<io::MemoryKeeper>(std::in_place)
                         : std::nullopt),
      plugin_(load_plugin(settings_.parsed.config.election.plugin, settings_.plugin_dir)),
      identity_{
          .version = settings_.version,
          .plugin = plugin_.name,
          .plugin_version = plugin_.version,
          .plugin_abi = std::to_string(plugin_.abi_major) + "." + std::to_string(plugin_.abi_minor),
          .confinement = settings_.confinement},
      in_force_(settings_.parsed.config),
      metrics_({.group = config().group.name,
                .member = config().node.name,
                .version = settings_.version,
                .plugin = identity_.plugin,
                .abi = identity_.plugin_abi,
                .variants = variants_of(plugin_),
                .has_prices = has_prices(plugin_),
                .has_store = config().has_store_guard(),
                .routes = api::counted_routes()}),
      store_({.folder = config().node.state_dir,
              .group = config().group.name,
              .voters = io::vote_tag(config().node.name, config().voters),
              .forget_promises = settings_.forget_promises}),
      flag_(flag_settings(config())),
      flag_watch_(log_, "the flag's file", config().flag.path),
      resolver_(loop_),
      tls_(loop_, config(), [this] { on_tls(); }),
      participant_({.loop = loop_,
                    .plugin = plugin_,
                    .store = store_,
                    .flag = flag_,
                    .metrics = metrics_,
                    .log = log_,
                    .resolver = resolver_,
                    .is_flag_robust = settings_.flag_weakness.empty()},
                   config(), settings_.version, *this),
      application_(
          loop_, resolver_, metrics_, log_,
          [this](const Application& application) {
            if (is_started_ && !is_finishing_) participant_.set_application(application);
          },
          [this](uint64_t drain) { participant_.on_drained(drain); }),
      authority_(config().api),
      front_door_(loop_, resolver_, *this, metrics_, log_, config()),
      config_file_(
          watch_config(loop_, settings_.parsed.file, settings_.config_text,
                       [this](const ConfigReading& reading) { last_reload_ = apply(reading); })),
      terminate_(loop_, SIGTERM, [this] { leave("SIGTERM"); }),
      interrupt_(loop_, SIGINT, [this] { leave("SIGINT"); }),
      hang_up_(loop_, SIGHUP, [this] { reload([](const api::ReloadResult&) {}); }),
      look_(loop_, SIGUSR1, [this] { dump(); }),
      ticker_(loop_, [this] { tick(); }),
      patience_(loop_,
                [this] {
                  log_.write(LogLevel::kWarn,
                             "the departure took too long; peers will notice by themselves");
                  end_ = SidecarEnd::kCutShort;
                  finish();
                }),
      last_words_(loop_, [this] { await_last_words(); }) {
  const std::string& path = config().api.token_file;
  if (path.empty()) return;
  const io::Secrecy secrecy = io::secret_in(config().api.is_folder_shared);
  const TokenReading first = read_tokens(path, secrecy);
  on_tokens(first);
  token_file_.emplace(
      loop_, first, [path, secrecy](const TokenReading&) { return read_tokens(path, secrecy); },
      [path](const TokenReading&, const Unread& unread) {
        return TokenReading{.digests = {},
                            .error = "cannot read api.token_file " + path + ": " + unread.why};
      },
      [this](const TokenReading& reading) { on_tokens(reading); });
}

// The flag first, whatever has led here: with what goes next the connections end, too.
Sidecar::~Sidecar() { flag_.publish({}); }

SidecarEnd Sidecar::run() {
  io::wipe_traces();  // of the files that this thread has read; from now on others do
  report_start();
  application_.configure(config().application);
  on_tls();
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
  for (const std::string& name : authority_.unknown_names()) {
    log_.write(LogLevel::kWarn, "[api] names a user or a group that stands for nobody here",
               {{"name", name}});
  }
  for (const std::string& warning : store_.warnings()) log_.write(LogLevel::kWarn, warning);
  for (const std::string& warning : flag_.warnings()) log_.write(LogLevel::kWarn, warning);
  metrics_.flag_robust.set(settings_.flag_weakness.empty());
  if (!settings_.flag_weakness.empty()) {
    log_.write(LogLevel::kWarn, "a killed sidecar's flag stays on until its validity ends",
               {{"because", settings_.flag_weakness}});
  }
  if (settings_.open_files < io::kEnoughOpenFiles) {
    log_.write(LogLevel::kWarn, "only few files may be open, connections included",
               {{"limit", std::to_string(settings_.open_files)},
                {"remedy", "raise it to " + std::to_string(io::kEnoughOpenFiles) +
                               " (LimitNOFILE=, ulimit -n)"}});
  }
  const io::Confinement& confinement = identity_.confinement;
  if (!confinement.lack.empty()) {
    log_.write(LogLevel::kInfo, "not confined, or in part",
               {{"seccomp", confinement.has_system_call_filter ? "yes" : "no"},
                {"landlock", confinement.landlock_abi > 0 ? "yes" : "no"},
                {"because", confinement.lack}});
  }
  if (settings_.are_keys_dumped) {
    log_.write(LogLevel::kWarn, "a core dump would hold keys; something used OpenSSL before us",
               {{"remedy", "leave core_dumps off, and take out what LD_PRELOAD names"}});
  }
  if (memory_keeper_ && !memory_keeper_->flaw().empty()) {
    log_.write(LogLevel::kWarn, "if this sidecar is killed, its peers learn of it after its memory",
               {{"because", memory_keeper_->flaw()}});
  }
}

void Sidecar::on_tokens(const TokenReading& reading) {
  authority_.set_tokens(reading.digests, reading.error);
  if (reading.error.empty()) {
    log_.write(LogLevel::kInfo, "tokens for commands were read");
    front_door_.on_tokens();
  } else {
    log_.write(LogLevel::kError, "no token is accepted", {{"error", reading.error}});
  }
}

// The files of [tls], or the configuration, are other ones.  Without its first certificate, or
// secret, this process would be a group of its own.
void Sidecar::on_tls() {
  const io::TlsContextPtr tls = tls_.in_force() ? tls_.in_force()->tls : nullptr;
  metrics_.on_tls(metrics::TlsUse::kMembers, tls_.flaw().empty(),
                  tls != nullptr ? tls->beginning() : std::nullopt,
                  tls != nullptr ? tls->expiry() : std::nullopt);
  if (const bool is_news = std::exchange(tls_flaw_, tls_.flaw()) != tls_.flaw();
      is_news && !tls_.flaw().empty()) {
    log_.write(LogLevel::kError,
               is_started_
                   ? "refused the files of [tls]; what was in force stays"
                   : "the files of [tls] cannot be used; this node joins no group until they can",
               {{"error", tls_.flaw()}});
  }
  if (!tls_.in_force() || is_leaving_) return;
  participant_.set_security(*tls_.in_force());
  const bool had_tls = std::exchange(has_tls_, tls != nullptr);
  if (std::exchange(is_started_, true)) return tell_tls(had_tls);
  participant_.start(config().membership, settings_.is_first_start, application_.state().worth);
  if (has_new_options_) participant_.reconfigure(to_options(in_force_));
}

void Sidecar::tell_tls(bool had_tls) {
  if (!tls_.flaw().empty()) return;
  if (has_tls_) {
    log_.write(LogLevel::kInfo, "the files of [tls] are in force");
  } else if (had_tls) {
    log_.write(LogLevel::kWarn,
               "[tls] is off from now on: whoever reaches the port can be a member");
  }
}

// Again and again: is the loop alive, is this node ready, does everybody want the same?
void Sidecar::tick() {
  const Instant now = io::Loop::now();
  if (next_tick_ != kNever) metrics_.event_loop_lag.observe(std::max(now - next_tick_, Duration{}));
  last_tick_ = now;
  metrics_.config_mismatch.set(!config_mismatches().empty());
  const uint64_t unwritten = log_.left_out() + log_.lost();
  metrics_.limit_hits.add(unwritten - std::exchange(unwritten_, unwritten), Limit::kLogLines);
  note_vote();
  look_at_flag();
  look_at_state();
  front_door_.look_at_socket();
  systemd_.tell_alive();
  tell_systemd();
  const Duration interval = is_announced_ ? kTickInterval : kTickUntilReady;
  next_tick_ = now + std::min(interval, systemd_.watchdog_interval().value_or(interval));
  ticker_.arm(next_tick_ - now);
}

// READY is not readiness: a vote, a file or a store may wait for somebody, and systemd ends what
// does not start in time.  `systemctl status` shows what it waits for.
void Sidecar::tell_systemd() {
  if (is_leaving_) return;
  if (!is_announced_ && (!is_looking() || why_cannot_serve())) {
    is_announced_ = true;
    systemd_.tell("READY=1");
  }
  const auto lack = unready();
  std::string status = lack ? "not ready: " + lack->why : "ready";
  std::replace(status.begin(), status.end(), '\n', ' ');  // which would begin another assignment
  if (status != status_) systemd_.tell("STATUS=" + status);
  status_ = std::move(status);
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
  const io::FileLook look = flag_.look();
  metrics_.flag_in_place.set(look.flaw.empty());
  const std::string made_good =
      look.is_folder_new ? " in a new folder; restart containers that have the old one mounted"
                         : "; readers find it within a second";
  if (flag_watch_.on_look(now(), look, made_good, "it is not ready: ")) {
    metrics_.flag_losses.count();
  }
}

// A folder of systemd's that was deleted cannot be made in its sandbox, and is there at the next
// start.
void Sidecar::look_at_state() {
  const std::string& folder = config().node.state_dir;
  if (is_leaving_ || !participant_.is_state_refused() || !Systemd::makes(folder)) return;
  log_.write(LogLevel::kError,
             "the state's folder was deleted, and only systemd can make it; leaving the group, to "
             "be started again",
             {{"folder", folder}});
  end_ = SidecarEnd::kStateRefused;
  depart();
}

// On SIGUSR1: all that there is to know, for whoever can reach the process but not its API.
void Sidecar::dump() const {
  log_.write(LogLevel::kInfo, "state", {{"status", front_door_.status_text()}});
}

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
  const bool is_told_again = std::exchange(is_told_to_leave_, true);
  // Then it does not wait for its application any more; told once more, for nobody.
  if (is_told_again && node().timers().is_armed(Timer::kDrain)) return participant_.leave();
  if (is_told_again) {
    log_.write(LogLevel::kWarn, "stopping at once", {{"signal", signal}});
    end_ = SidecarEnd::kCutShort;
    participant_.close();
    return loop_.stop();
  }
  log_.write(LogLevel::kInfo, "leaving the group", {{"signal", signal}});
  // What it left for by itself is nobody's wish any more.
  if (end_ == SidecarEnd::kStateRefused) end_ = SidecarEnd::kInGoodOrder;
  if (!is_leaving_) depart();
}

void Sidecar::depart() {
  is_leaving_ = true;
  systemd_.tell("STOPPING=1\nSTATUS=leaving the group");
  patience_.arm(io::Loop::now() + longest_departure(config()));
  if (!is_started_) return finish();
  participant_.leave();
}

// May be called while an effect is carried out, so nothing is taken apart here.
void Sidecar::finish() {
  if (std::exchange(is_finishing_, true)) return;
  patience_.arm(kNever);
  participant_.close();
  front_door_.dismiss_waiting();
  front_door_.close();
  await_last_words();
}

void Sidecar::await_last_words() {
  if (!participant_.is_closed()) return last_words_.arm(kLookAtLogAgain);
  // The last line of a clean end.
  if (node().has_left()) log_.write(LogLevel::kInfo, "left the group");
  loop_.stop();
}

// --- a new configuration ---

// It is taken over whole or not at all.  What cannot change while the process runs waits for its
// restart, and says so.
void Sidecar::reload(std::function<void(const api::ReloadResult&)> done) {
  config_file_.read([this, done = std::move(done)] { done(last_reload_); });
}

api::ReloadResult Sidecar::apply(const ConfigReading& reading) {
  api::ReloadResult result;
  const std::string& file = settings_.parsed.file;
  const auto refuse = [&](std::string error) {
    log_.write(LogLevel::kError, "refused a new configuration; the old one stays",
               {{"error", error}});
    result.errors.push_back(std::move(error));
  };
  result.is_file_unread = reading.is_unread;
  if (!reading.error.empty()) {
    refuse(reading.error);
  } else {
    try {
      Environment environment = process_environment(Onlooker::kNo);
      // Another plugin waits for a restart, and its variants with it.
      environment.variants = [this](const std::string& plugin) {
        return plugin == in_force_.election.plugin ? variants_of(plugin_)
                                                   : std::vector<std::string>{};
      };
      ParsedConfig parsed = parse_config(reading.text, file, environment);
      for (const Finding& warning : parsed.warnings) {
        result.warnings.push_back(describe(file, "warning", warning));
      }
      settings_.parsed = std::move(parsed);
      apply(settings_.parsed.config, result.changes);
    } catch (const ConfigErrors& errors) {
      for (const Finding& error : errors.findings()) refuse(describe(file, "error", error));
    }
  }
  metrics_.on_config_reload(result.errors.empty() ? metrics::Reload::kApplied
                                                  : metrics::Reload::kRefused);
  for (const ConfigChange& change : result.changes) {
    log_.write(LogLevel::kInfo,
               change.pending_restart ? "a change waits for a restart" : "configuration changed",
               {{"key", change.key}, {"before", change.before}, {"after", change.after}});
  }
  return result;
}

// `changes`: those that are made, and all that wait.
void Sidecar::apply(const Config& wanted, std::vector<ConfigChange>& changes) {
  const Config before = std::exchange(in_force_, take_over(in_force_, wanted));
  log_.configure(in_force_.log);
  tls_.configure(in_force_, wanted.voters);
  if (is_started_ && before.membership != in_force_.membership) {
    participant_.set_membership(in_force_.membership);
  }
  if (const Options options = to_options(in_force_); options != to_options(before)) {
    has_new_options_ = !is_started_;
    if (is_started_) participant_.reconfigure(options);
  }
  application_.configure(in_force_.application);
  front_door_.configure(in_force_);
  changes = diff(before, in_force_);
  for (ConfigChange& change : diff(in_force_, wanted)) {
    change.pending_restart = true;
    changes.push_back(std::move(change));
  }
}

}  // namespace bellwether::daemon
