// A line is paid for with an interval; who has paid too far ahead has to wait.
#include "daemon/line_limit.hh"

#include <algorithm>
#include <utility>

namespace bellwether {

std::optional<uint64_t> LineLimit::admit(Instant now, std::string_view kind) {
  Kind& found = kind_of(kind);
  const Instant paid_until = std::max(found.paid_until, now);
  if (paid_until - now > slack_) {
    ++found.left_out;
    return std::nullopt;
  }
  found.paid_until = paid_until + interval_;
  return std::exchange(found.left_out, 0);
}

LineLimit::Kind& LineLimit::kind_of(std::string_view name) {
  if (const auto found = kinds_.find(name); found != kinds_.end()) return found->second;
  return kinds_[kinds_.size() < kMaxKinds ? std::string(name) : std::string()];
}

}  // namespace bellwether
