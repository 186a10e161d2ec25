// Attachments, checks, and the verdict.
#include "daemon/application_watch.hh"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/duration_text.hh"

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
                                   std::function<void(const Application&)> on_change,
                                   std::function<void(uint64_t drain)> on_finished)
    : loop_(loop),
      resolver_(resolver),
      metrics_(metrics),
      log_(log),
      on_change_(std::move(on_change)),
      on_finished_(std::move(on_finished)),
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
  if (grace_.is_armed() && is_leading_) arm_grace();
  if (is_check_new) {
    failures_ = 0;
    state_.is_checked = !settings.health.empty();
    // The last verdict stands until the new check has one.
    if (!state_.is_checked) {
      state_.is_healthy = true;
      state_.health_flaw.clear();
    }
    client_ = state_.is_checked ? std::make_unique<io::HttpClient>(loop_, resolver_) : nullptr;
  }
  if (!state_.is_checked) {
    next_check_.disarm();
  } else if (has_begun) {
    next_check_.arm(Duration::zero());
  }
  judge();
}

void ApplicationWatch::set_attached(std::vector<api::Attached> applications) {
  const bool was_attached = !state_.attached.empty();
  state_.attached = std::move(applications);
  metrics_.application_attachments.set(state_.attached.size());
  if (!state_.attached.empty()) {
    grace_.disarm();
    is_missed_ = false;
  } else if (was_attached && is_leading_ && settings_.grace > Duration::zero()) {
    gone_at_ = io::Loop::now();
    arm_grace();
  } else if (was_attached) {
    is_missed_ = true;
  }
  state_.worth.is_attached = !state_.attached.empty();
  forget_gone();
  judge();
}

// As it is now, from when the application went.
void ApplicationWatch::arm_grace() {
  grace_.arm(std::max(gone_at_ + settings_.grace - io::Loop::now(), Duration::zero()));
}

// Nobody waits for the application of a node that does not lead.  It is told a moment later, since
// this comes from within the node.
void ApplicationWatch::set_leading(bool is_leading) {
  is_leading_ = is_leading;
  if (!is_leading && grace_.is_armed()) grace_.arm(Duration::zero());
}

void ApplicationWatch::set_score(int64_t score) {
  metrics_.application_score.set(score);
  state_.worth.score = score;
  tell();
}

// --- those that are asked to finish ---

void ApplicationWatch::on_drain_begun(const Drain& drain) {
  metrics_.application_draining.set(true);
  drain_ = drain;
  asked_ = state_.waiting_for = state_.attached;
  log_.write(LogLevel::kInfo, "the application is asked to finish",
             {{"reason", name(drain.reason)},
              {"at_most", duration_text(drain.until - drain.since)},
              {"applications", fmt::format("{}", fmt::join(names_of(asked_), ", "))}});
}

// A newcomer was not asked, whatever its name: what it says ends nobody's work.
api::DrainWord ApplicationWatch::on_drained(const api::Finished& finished) {
  if (!drain_) return api::DrainWord::kNotAsked;
  if (finished.epoch != drain_->epoch) return api::DrainWord::kOtherEpoch;
  // One that was called off, after which more has begun.
  if (finished.drain && *finished.drain != drain_->number) return api::DrainWord::kOtherDrain;
  const std::vector<uint64_t> ids =
      finished.attachment ? std::vector{*finished.attachment} : ids_of(finished.name);
  if (ids.size() > 1) return api::DrainWord::kAmbiguous;
  if (ids.empty() || std::ranges::find(asked_, ids.front(), &api::Attached::id) == asked_.end()) {
    return api::DrainWord::kUnknown;
  }
  // It may say so twice.
  const bool was_waited_for = std::erase_if(state_.waiting_for, [&](const auto& waiting) {
                                return waiting.id == ids.front();
                              }) > 0;
  if (was_waited_for && state_.waiting_for.empty()) on_finished_(drain_->number);
  return api::DrainWord::kTaken;
}

// Of those that were asked, and of those that have come since.
std::vector<uint64_t> ApplicationWatch::ids_of(const std::string& name) const {
  std::vector<uint64_t> ids;
  for (const auto* applications : {&asked_, &state_.attached}) {
    for (const api::Attached& application : *applications) {
      const bool is_new = std::ranges::find(ids, application.id) == ids.end();
      if (application.name == name && is_new) ids.push_back(application.id);
    }
  }
  return ids;
}

void ApplicationWatch::forget_gone() {
  if (state_.waiting_for.empty()) return;
  std::erase_if(state_.waiting_for, [&](const api::Attached& waiting) {
    return std::ranges::find(state_.attached, waiting.id, &api::Attached::id) ==
           state_.attached.end();
  });
  // Where none is left at all, that itself is told.
  if (state_.waiting_for.empty() && !state_.attached.empty()) on_finished_(drain_->number);
}

void ApplicationWatch::on_drain_ended(const DrainEnded& ended) {
  const bool is_late = ended.end == DrainEnd::kTimeout;
  log_.write(is_late ? LogLevel::kWarn : LogLevel::kInfo,
             is_late ? "the application has not finished in time"
                     : "the application is waited for no longer",
             {{"because", name(ended.end)},
              {"took", duration_text(std::chrono::floor<std::chrono::milliseconds>(ended.took))},
              {"unfinished", fmt::format("{}", fmt::join(names_of(state_.waiting_for), ", "))},
              {"refuses_others_for", duration_text(ended.refuses_for)}});
  metrics_.application_draining.set(false);
  drain_.reset();
  asked_.clear();
  state_.waiting_for.clear();
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

void ApplicationWatch::judge() {
  const bool is_absent = settings_.is_attachment_needed && is_missed_;
  const bool is_unhealthy = state_.is_checked && !state_.is_healthy;
  const Ability ability = is_absent      ? Ability::kAbsent
                          : is_unhealthy ? Ability::kUnhealthy
                                         : Ability::kAble;
  if (ability == state_.worth.ability) return tell();
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
  tell();
}

void ApplicationWatch::tell() {
  if (state_.worth == told_) return;
  told_ = state_.worth;
  on_change_(told_);
}

}  // namespace bellwether::daemon
