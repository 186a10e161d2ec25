// The queue's decisions, carried out by a client and a timer.
#include "api/webhook.hh"

#include <fmt/core.h>

#include <chrono>
#include <utility>

namespace bellwether::api {

Webhook::Webhook(Loop& loop, Resolver& resolver, WebhookSettings settings,
                 WebhookObserver& observer)
    : settings_(std::move(settings)),
      observer_(observer),
      queue_(settings_.seed),
      retry_(loop,
             [this] {
               queue_.due();
               send_next();
             }),
      client_(loop, resolver) {}

void Webhook::tell(HookEvent event) {
  if (queue_.push(std::move(event)) > 0) observer_.on_superseded();
  send_next();
}

void Webhook::send_next() {
  const HookEvent* event = queue_.take();
  if (event == nullptr) return;
  client_.send(
      {.method = "POST",
       .url = settings_.url,
       .headers = {{"Content-Type", kHookContentType}, {"User-Agent", settings_.user_agent}},
       .body = to_cloud_event(settings_.source, *event),
       .timeout = settings_.timeout},
      [this](const HttpClientResult& result) { on_result(result); });
}

void Webhook::on_result(const HttpClientResult& result) {
  const HookOutcome outcome = outcome_of(result);
  const auto wait =
      queue_.on_outcome(outcome, retry_after(result.answer, std::chrono::system_clock::now()));
  if (wait) retry_.arm(*wait);
  if (outcome == HookOutcome::kDelivered) {
    observer_.on_delivered();
  } else if (outcome == HookOutcome::kGone) {
    observer_.on_gone();
  } else {
    observer_.on_failed(result.error.empty()
                            ? fmt::format("the answer was {}", result.answer.status)
                            : result.error,
                        result.failure == HttpFailure::kTimeout);
  }
  send_next();
}

}  // namespace bellwether::api
