// The next line says how many there were in between.
#include "daemon/rejection_log.hh"

namespace bellwether {
namespace {

constexpr Duration kBetweenLines = std::chrono::minutes(1);

}  // namespace

void RejectionLog::write(Instant now, metrics::Rejection reason, const std::string& remote,
                         const std::string& text) {
  Reason& refused = reasons_[static_cast<size_t>(reason)];
  if (now < refused.next_line) {
    ++refused.silent;
    return;
  }
  log_.write(LogLevel::kWarn, "refused a peer",
             {{"reason", metrics::name(reason)},
              {"from", remote},
              {"details", text},
              {"more_since_last_line", std::to_string(refused.silent)}});
  refused = {.next_line = now + kBetweenLines};
}

}  // namespace bellwether
