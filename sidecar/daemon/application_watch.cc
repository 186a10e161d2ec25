// Attachments, checks, and the verdict.
#include "daemon/application_watch.hh"

#include <algorithm>
#include <utility>

namespace bellwether::daemon {
namespace {

// Nobody reads what a health check says beyond its status.
constexpr size_t kMaxAnswerBytes = 1024;

// http+unix://, as the client has it, of unix:/PATH:/URL.
std::string client_url(const std::string& url) {
  constexpr std::string_view kUnix = "unix:";
  if (!url.starts_with(kUnix)) return url;
  const size_t colon = url.find(":/", kUnix.size());
  return "http+unix://" + io::percent_encode(url.substr(kUnix.size(), colon - kUnix.size())) +
         url.substr(colon + 1);
}

}  // namespace

ApplicationWatch::ApplicationWatch(io::Loop& loop, io::Resolver& resolver,
                                   metrics::Metrics& metrics, Log& log,
                                   std::function<void(const Application&)> on_change)
    : loop_(loop),
      resolver_(resolver),
      metrics_(metrics),
      log_(log),
      on_change_(std::move(on_change)),
      grace_(loop,
             [this] {
               is_missed_ = state_.attached.empty();
               judge();
             }),
      next_check_(loop, [this] { ask(); }) {
  metrics_.application_able.set(true);
}

void ApplicationWatch::configure(const ApplicationSettings& settings) {
  const bool is_check_new = settings.health != settings_.health;
  const bool has_begun = is_check_new || settings.health_interval != settings_.health_interval;
  settings_ = settings;
  if (is_check_new) {
    state_.is_healthy = false;
    failures_ = 0;
    state_.health_flaw.clear();
    state_.is_checked = !settings.health.empty();
    client_ = state_.is_checked ? std::make_unique<io::HttpClient>(loop_, resolver_) : nullptr;
  }
  if (!state_.is_checked) {
    next_check_.disarm();
  } else if (has_begun) {
    next_check_.arm(Duration::zero());
  }
  judge();
}

void ApplicationWatch::set_attached(std::vector<std::string> names) {
  const bool was_attached = !state_.attached.empty();
  state_.attached = std::move(names);
  metrics_.application_attachments.set(state_.attached.size());
  if (!state_.attached.empty()) {
    grace_.disarm();
    is_missed_ = false;
  } else if (was_attached && settings_.grace > Duration::zero()) {
    grace_.arm(settings_.grace);
  } else if (was_attached) {
    is_missed_ = true;
  }
  judge();
}

void ApplicationWatch::set_score(int64_t score) {
  metrics_.application_score.set(score);
  if (std::exchange(state_.worth.score, score) != score) on_change_(state_.worth);
}

// At even distances; an answer that is late is not waited for, since its time is shorter.
void ApplicationWatch::ask() {
  next_check_.arm(settings_.health_interval);
  if (client_->is_busy()) return;
  client_->send({.url = client_url(settings_.health),
                 .headers = {{"User-Agent", "bellwether"}},
                 .timeout = settings_.health_timeout,
                 .max_body_bytes = kMaxAnswerBytes},
                [this](const io::HttpClientResult& result) { on_answer(result); });
}

void ApplicationWatch::on_answer(const io::HttpClientResult& result) {
  state_.health_flaw = flaw_of(result);
  const bool has_passed = state_.health_flaw.empty();
  metrics_.application_health_checks.count(has_passed ? metrics::HealthCheck::kPassed
                                                      : metrics::HealthCheck::kFailed);
  failures_ = has_passed ? 0 : std::min(failures_ + 1, settings_.health_failures);
  if (has_passed) state_.is_healthy = true;
  if (failures_ >= settings_.health_failures) state_.is_healthy = false;
  judge();
}

std::string ApplicationWatch::flaw_of(const io::HttpClientResult& result) const {
  constexpr unsigned kFirstGood = 200;
  constexpr unsigned kFirstOther = 300;
  if (result.failure != io::HttpFailure::kNone) return result.error;
  const unsigned status = result.answer.status;
  if (status >= kFirstGood && status < kFirstOther) return "";
  return settings_.health + " answers " + std::to_string(status);
}

bool ApplicationWatch::is_absent() const { return settings_.is_attachment_needed && is_missed_; }

void ApplicationWatch::judge() {
  const bool is_unhealthy = state_.is_checked && !state_.is_healthy;
  const Ability ability = is_absent()    ? Ability::kAbsent
                          : is_unhealthy ? Ability::kUnhealthy
                                         : Ability::kAble;
  if (ability == state_.worth.ability) return;
  state_.worth.ability = ability;
  metrics_.application_able.set(state_.worth.is_able());
  if (state_.worth.is_able()) {
    log_.write(LogLevel::kInfo, "the application can work");
  } else {
    log_.write(LogLevel::kWarn, "the application cannot work, so this node does not lead",
               {{"because", ability == Ability::kAbsent  ? "none is attached"
                            : state_.health_flaw.empty() ? "it has passed no health check yet"
                                                         : state_.health_flaw}});
  }
  on_change_(state_.worth);
}

}  // namespace bellwether::daemon
