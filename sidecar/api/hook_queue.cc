// The order of deliveries and the pauses between them.
#include "api/hook_queue.hh"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <utility>

#include "base/check.hh"
#include "io/http/http_url.hh"

namespace bellwether::api {
namespace {

// Longer than any that is honoured, and far from overflow.
constexpr int64_t kMostSeconds = 1'000'000;

std::optional<Duration> read_seconds(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return {};
  int64_t seconds = kMostSeconds;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return std::chrono::seconds(std::min(seconds, kMostSeconds));
}

// Sun, 06 Nov 1994 08:49:37 GMT
std::optional<Duration> read_date(const std::string& text, WallTime now) {
  std::tm date{};
  const char* end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (end == nullptr || *end != '\0') return {};
  const int64_t seconds = ::timegm(&date) - std::chrono::system_clock::to_time_t(now);
  return std::chrono::seconds(std::clamp<int64_t>(seconds, 0, kMostSeconds));
}

}  // namespace

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

std::optional<Duration> retry_after(const io::HttpAnswer& answer, WallTime now) {
  const std::string* text = answer.header("Retry-After");
  if (text == nullptr) return {};
  const std::optional<Duration> seconds = read_seconds(*text);
  return seconds ? seconds : read_date(*text, now);
}

size_t HookQueue::push(HookEvent event) {
  if (is_gone_) return 0;
  if (!current_) {
    current_ = std::move(event);
    return 0;
  }
  const size_t superseded = newest_ ? 1 : 0;
  newest_ = std::move(event);
  return superseded;
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
