// When to ask again; resolver.hh asks.
#include "io/names/name_watch.hh"

#include <algorithm>
#include <chrono>
#include <utility>

namespace bellwether::io {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kShortest = seconds(1);
constexpr Duration kLongest = seconds(60);
constexpr Duration kFirstRetry = milliseconds(250);
constexpr Duration kLastRetry = seconds(10);
constexpr int kPart = 4;

}  // namespace

NameWatch::NameWatch(Loop& loop, Resolver& resolver, HostPort place,
                     std::function<void()> on_changed)
    : resolver_(resolver),
      place_(std::move(place)),
      on_changed_(std::move(on_changed)),
      // Spreads what many processes ask; nothing depends on it.
      retries_(std::hash<std::string>()(place_.host), kFirstRetry, kLastRetry, kPart),
      due_(loop, [this] { look_up(); }) {
  if (const auto address = SocketAddress::from_numeric(place_)) {
    addresses_.push_back(*address);
    is_answered_ = true;
  } else {
    look_up();
  }
}

void NameWatch::set_relaxed(bool is_relaxed) {
  if (is_relaxed == std::exchange(is_relaxed_, is_relaxed) || expiry_ == kNever) return;
  due_.arm(is_relaxed ? kLongest : expiry_ - Loop::now());
}

void NameWatch::look_up() {
  expiry_ = kNever;
  lookup_ = resolver_.look_up(place_, [this](const NameAnswer& answer) { on_answer(answer); });
}

void NameWatch::on_answer(const NameAnswer& answer) {
  const bool is_failure = answer.addresses.empty();
  const bool is_answer = !is_failure || answer.is_certain;
  const bool is_first = is_answer && !std::exchange(is_answered_, true);
  const Duration wait =
      is_failure ? retries_.next() : std::clamp(answer.time_to_live, kShortest, kLongest);
  if (!is_failure) retries_.restart();
  expiry_ = Loop::now() + wait;
  due_.arm(is_relaxed_ ? std::max(wait, kLongest) : wait);
  const bool is_changed = !is_failure && answer.addresses != addresses_;
  if (is_changed) addresses_ = answer.addresses;
  if (is_changed || is_first) on_changed_();
}

}  // namespace bellwether::io
