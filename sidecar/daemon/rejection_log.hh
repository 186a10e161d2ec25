// Lines about what was refused: bytes of a peer, or a message that the node has no use for.  A
// stranger decides how often that happens, so each reason is worth one line a minute; the metrics
// count all.
#pragma once

#include <string>

#include "base/clock.hh"
#include "daemon/line_limit.hh"
#include "daemon/log.hh"
#include "metrics/labels.hh"

namespace bellwether {

class RejectionLog {
 public:
  // `log` must outlive this object.
  explicit RejectionLog(Log& log) : log_(log) {}

  // Both return whether it was worth a line.
  bool refused_peer(Instant now, Rejection reason, const std::string& remote,
                    const std::string& text);
  bool refused_message(Instant now, Unfit reason, const std::string& peer);

 private:
  Log& log_;
  LineLimit limit_{1, std::chrono::minutes(1)};
};

}  // namespace bellwether
