// How many lines of one kind are worth being written.  What happens on the network is decided by
// others, strangers among them, so each kind has a store of lines that fills again slowly; what is
// left out is counted.  Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hh"

namespace bellwether::daemon {

class LineLimit {
 public:
  // Of each kind `at_once` lines (at least 1) in a row, and then one in each `interval`.
  LineLimit(unsigned at_once, Duration interval)
      : slack_((at_once - 1) * interval), interval_(interval) {}

  // Whether a line may be written now: how many of its kind were left out since the last one, or
  // nothing when this one is to be left out, too.  Beyond kMaxKinds all further kinds are one.
  std::optional<uint64_t> admit(Instant now, std::string_view kind) {
    Kind& found = kind_of(kind);
    const Instant paid_until = std::max(found.paid_until, now);
    if (paid_until - now > slack_) {
      ++found.left_out;
      return std::nullopt;
    }
    found.paid_until = paid_until + interval_;
    return std::exchange(found.left_out, 0);
  }

  static constexpr size_t kMaxKinds = 256;

 private:
  struct Kind {
    Instant paid_until{};  // each line costs an interval
    uint64_t left_out = 0;
  };

  Kind& kind_of(std::string_view name) {
    if (const auto found = kinds_.find(name); found != kinds_.end()) return found->second;
    return kinds_[kinds_.size() < kMaxKinds ? std::string(name) : std::string()];
  }

  Duration slack_;
  Duration interval_;
  std::map<std::string, Kind, std::less<>> kinds_;
};

// What is wrong with one thing for as long as that lasts, in words that may change meanwhile, and
// whether they are worth a line: when it begins and when it is over; in between of each text one a
// minute, for two may take turns.
class LastingFlaw {
 public:
  // "": nothing is wrong (any more).  Whether that is worth a line.
  bool set(Instant now, std::string text) {
    if (text == text_) return false;
    const std::string before = std::exchange(text_, std::move(text));
    const bool is_admitted = lines_.admit(now, text_).has_value();
    return is_admitted || before.empty() || text_.empty();
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_{};
  LineLimit lines_{1, std::chrono::minutes(1)};
};

}  // namespace bellwether::daemon
