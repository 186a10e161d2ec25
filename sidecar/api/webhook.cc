// The queue's decisions, carried out by a client and a timer.
#include "api/webhook.hh"

#include <fmt/core.h>

#include <chrono>
#include <utility>

namespace bellwether::api {
namespace {

HookReport report_of(HookOutcome outcome, const io::HttpClientResult& result) {
  if (outcome == HookOutcome::kDelivered) return {.result = HookResult::kDelivered};
  if (outcome == HookOutcome::kGone) return {.result = HookResult::kGone};
  return {.result = HookResult::kFailed,
          .why = result.error.empty() ? fmt::format("the answer was {}", result.answer.status)
                                      : result.error,
          .is_timeout = result.failure == io::HttpFailure::kTimeout};
}

}  // namespace

Webhook::Webhook(io::Loop& loop, io::Resolver& resolver, WebhookSettings settings,
                 OnReport on_report)
    : settings_(std::move(settings)),
      on_report_(std::move(on_report)),
      queue_(settings_.seed),
      retry_(loop,
             [this] {
               queue_.due();
               send_next();
             }),
      client_(loop, resolver) {}

void Webhook::tell(HookEvent event) {
  if (queue_.push(std::move(event))) on_report_({.result = HookResult::kSuperseded});
  send_next();
}

void Webhook::secure(HookSecurity security) {
  security_ = std::move(security);
  send_next();
}

void Webhook::send_next() {
  if (!security_) return;
  const HookEvent* event = queue_.take();
  if (event == nullptr) return;
  // A receiver that counts on a signature must not get an event without.
  if (!security_->flaw.empty()) {
    return on_result({.failure = io::HttpFailure::kTls, .error = security_->flaw});
  }
  io::HttpClientRequest request{.method = "POST",
                                .url = settings_.url,
                                .headers = {{"Content-Type", "application/cloudevents+json"},
                                            {"User-Agent", settings_.user_agent}},
                                .body = SecretText(to_cloud_event(settings_.source, *event)),
                                .tls = security_->tls,
                                .timeout = settings_.timeout};
  if (security_->keys != nullptr) {
    const int64_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    const auto signed_by = signature_headers(
        *security_->keys, event_id(settings_.source, event->sequence), now, request.body);
    request.headers.insert(request.headers.end(), signed_by.begin(), signed_by.end());
  }
  client_.send(std::move(request),
               [this](const io::HttpClientResult& result) { on_result(result); });
}

void Webhook::on_result(const io::HttpClientResult& result) {
  const HookOutcome outcome = outcome_of(result);
  const auto wait =
      queue_.on_outcome(outcome, io::retry_after(result.answer, std::chrono::system_clock::now()));
  if (wait) retry_.arm(*wait);
  on_report_(report_of(outcome, result));
  send_next();
}

}  // namespace bellwether::api
