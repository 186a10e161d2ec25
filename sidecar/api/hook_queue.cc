// The order of deliveries and the pauses between them.
#include "api/hook_queue.hh"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.hh"
#include "io/http/http_url.hh"

namespace bellwether::api {
std::string event_id(const HookSource& source, uint64_t sequence) {
  return fmt::format("{:016x}-{}", source.boot, sequence);
}

std::string to_cloud_event(const HookSource& source, const HookEvent& event) {
  Json json{
      {"specversion", "1.0"},
      {"id", event_id(source, event.sequence)},
      {"source", fmt::format("/bellwether/{}/{}", io::percent_encode(source.group),
                             io::percent_encode(source.node))},
      {"type", name(event.type)},
  };
  if (!event.subject.empty()) json["subject"] = event.subject;
  json["time"] = event.time;
  // Twenty digits hold every number, so that the texts sort as the numbers do.
  json["sequence"] = fmt::format("{:020}", event.sequence);
  json["datacontenttype"] = "application/json";
  json["data"] = event.data;
  return dump(json);
}

HookOutcome outcome_of(const io::HttpClientResult& result) {
  const unsigned status = result.answer.status;
  if (result.failure != io::HttpFailure::kNone) return HookOutcome::kFailed;
  if (status >= 200 && status < 300) return HookOutcome::kDelivered;
  if (status == 410) return HookOutcome::kGone;
  const bool may_pass = status >= 500 || status == 408 || status == 425 || status == 429;
  return may_pass ? HookOutcome::kFailed : HookOutcome::kRejected;
}

bool HookQueue::push(HookEvent event) {
  if (is_gone_) return false;
  if (current_) return std::exchange(newest_, std::move(event)).has_value();
  current_ = std::move(event);
  return false;
}

const HookEvent* HookQueue::take() {
  if (is_sending_ || is_waiting_ || !current_) return nullptr;
  is_sending_ = true;
  return &*current_;
}

std::optional<Duration> HookQueue::on_outcome(HookOutcome outcome,
                                              std::optional<Duration> retry_after) {
  check(is_sending_, "an event was sent");
  is_sending_ = false;
  if (outcome == HookOutcome::kDelivered) {
    current_ = std::exchange(newest_, {});
    waits_.restart();
    return {};
  }
  if (outcome == HookOutcome::kGone) {
    is_gone_ = true;
    current_.reset();
    newest_.reset();
    return {};
  }
  is_waiting_ = true;
  return std::max(waits_.next(outcome == HookOutcome::kRejected ? kLongestWait : Duration::zero()),
                  std::min(retry_after.value_or(Duration::zero()), kLongestRetryAfter));
}

}  // namespace bellwether::api
