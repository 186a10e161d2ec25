// The next line says how many there were in between.
#include "daemon/rejection_log.hh"

namespace bellwether {

bool RejectionLog::refused_peer(Instant now, Rejection reason, const std::string& remote,
                                const std::string& text) {
  const auto left_out = limit_.admit(now, name(reason));
  if (!left_out) return false;
  log_.write(LogLevel::kWarn, "refused a peer",
             {{"reason", name(reason)},
              {"from", remote},
              {"details", text},
              {"more_since_last_line", std::to_string(*left_out)}});
  return true;
}

bool RejectionLog::refused_message(Instant now, Unfit reason, const std::string& peer) {
  const auto left_out = limit_.admit(now, words(reason));
  if (!left_out) return false;
  log_.write(LogLevel::kWarn, "refused a message",
             {{"reason", words(reason)},
              {"peer", peer},
              {"more_since_last_line", std::to_string(*left_out)}});
  return true;
}

}  // namespace bellwether
