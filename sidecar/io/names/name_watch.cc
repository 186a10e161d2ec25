// When to ask again; resolver.hh asks.
#include "io/names/name_watch.hh"

#include <algorithm>
#include <chrono>
#include <utility>

namespace bellwether {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kShortest = seconds(1);
constexpr Duration kLongest = seconds(60);
constexpr Duration kFirstRetry = milliseconds(250);
constexpr Duration kLastRetry = seconds(10);
constexpr int kMaxDoublings = 6;

}  // namespace

NameWatch::NameWatch(Loop& loop, Resolver& resolver, HostPort place,
                     std::function<void()> on_changed)
    : resolver_(resolver),
      place_(std::move(place)),
      on_changed_(std::move(on_changed)),
      // Spreads what many processes ask; nothing depends on it.
      random_(static_cast<std::minstd_rand::result_type>(std::hash<std::string>()(place_.host))),
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
  const bool is_first = !std::exchange(is_answered_, true);
  const bool is_failure = answer.addresses.empty();
  const Duration wait =
      is_failure ? wait_after_failure() : std::clamp(answer.time_to_live, kShortest, kLongest);
  failures_ = is_failure ? failures_ + 1 : 0;
  expiry_ = Loop::now() + wait;
  due_.arm(is_relaxed_ ? std::max(wait, kLongest) : wait);
  const bool is_changed = !is_failure && answer.addresses != addresses_;
  if (is_changed) addresses_ = answer.addresses;
  if (is_changed || is_first) on_changed_();
}

// Doubles, give or take a quarter.
Duration NameWatch::wait_after_failure() {
  const Duration base =
      std::min<Duration>(kFirstRetry * (1 << std::min(failures_, kMaxDoublings)), kLastRetry);
  return base * 3 / 4 + base * static_cast<Duration::rep>(random_() % 1024) / 2048;
}

}  // namespace bellwether
