// A new configuration is taken over whole or not at all.  What cannot change while the process runs
// waits for its restart, and says so.
#include <utility>

#include "config/core_options.hh"
#include "core/plugin_facts.hh"
#include "daemon/sidecar.hh"

namespace bellwether {

void Sidecar::reload(std::function<void(const api::ReloadResult&)> done) {
  config_file_.read(
      [this, done = std::move(done)](const ConfigFile::Reading& reading) { done(apply(reading)); });
}

api::ReloadResult Sidecar::apply(const ConfigFile::Reading& reading) {
  api::ReloadResult result;
  const std::string& file = settings_.parsed.file;
  const auto refuse = [&](std::string error) {
    log_.write(LogLevel::kError, "refused a new configuration; the old one stays",
               {{"error", error}});
    result.errors.push_back(std::move(error));
  };
  result.is_file_hanging = reading.is_hanging;
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
  if (before.membership != in_force_.membership) {
    participant_.set_membership(in_force_.membership);
  }
  if (const Options options = to_options(in_force_); options != to_options(before)) {
    participant_.reconfigure(options);
  }
  front_door_.set_hooks(in_force_.hooks);
  changes = diff(before, in_force_);
  for (ConfigChange& change : diff(in_force_, wanted)) {
    change.pending_restart = true;
    changes.push_back(std::move(change));
  }
}

}  // namespace bellwether
