// Lines about peers whose bytes were refused.  A stranger decides how often that happens, so each
// reason is worth one line a minute; the metrics count all.
#pragma once

#include <array>
#include <string>

#include "core/clock.hh"
#include "daemon/log.hh"
#include "metrics/labels.hh"

namespace bellwether {

class RejectionLog {
 public:
  explicit RejectionLog(Log& log) : log_(log) {}

  void write(Instant now, metrics::Rejection reason, const std::string& remote,
             const std::string& text);

 private:
  struct Reason {
    Instant next_line{};
    uint64_t silent = 0;  // refused since the last line
  };

  Log& log_;
  std::array<Reason, metrics::kValues<metrics::Rejection>> reasons_{};
};

}  // namespace bellwether
