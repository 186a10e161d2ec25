// Whoever is answered is taken out first: an answer may bring the client's next request at once.
#include "api/long_polls.hh"

#include <algorithm>
#include <utility>

namespace bellwether::api {

void LongPolls::add(Instant deadline, Exchange exchange) {
  waiting_.push_back({deadline, std::move(exchange)});
}

std::vector<Exchange> LongPolls::take_all() { return take_due(kNever); }

std::vector<Exchange> LongPolls::take_due(Instant now) {
  const auto first_due =
      std::stable_partition(waiting_.begin(), waiting_.end(),
                            [&](const Waiting& waiting) { return waiting.deadline > now; });
  std::vector<Exchange> due;
  for (auto waiting = first_due; waiting != waiting_.end(); ++waiting) {
    due.push_back(std::move(waiting->exchange));
  }
  waiting_.erase(first_due, waiting_.end());
  return due;
}

void LongPolls::drop_gone() {
  std::erase_if(waiting_, [](const Waiting& waiting) { return !waiting.exchange.is_open(); });
}

Instant LongPolls::deadline() const {
  Instant earliest = kNever;
  for (const Waiting& waiting : waiting_) earliest = std::min(earliest, waiting.deadline);
  return earliest;
}

}  // namespace bellwether::api
