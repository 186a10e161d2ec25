// Whoever is answered is taken out first: an answer may bring the client's next request at once.
// While something is written to the streams they are out of reach: a write may find that a client
// has gone, which is told at once, and comes back to drop_gone().
#include "api/waiting_clients.hh"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bellwether::api {

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

void EventStreams::open(Exchange exchange, std::string_view events, Instant now) {
  exchange.begin_stream("text/event-stream");
  if (!exchange.write(events)) return;
  if (streams_.empty()) next_comment_ = now + kCommentInterval;
  streams_.push_back(std::move(exchange));
}

void EventStreams::send(std::string_view event) {
  std::vector<Exchange> streams = std::exchange(streams_, {});
  std::erase_if(streams, [&](Exchange& stream) { return !stream.write(event); });
  streams_.insert(streams_.end(), std::make_move_iterator(streams.begin()),
                  std::make_move_iterator(streams.end()));
}

void EventStreams::on_time(Instant now) {
  if (deadline() > now) return;
  next_comment_ = now + kCommentInterval;
  send(":\n\n");
}

void EventStreams::drop_gone() {
  std::erase_if(streams_, [](const Exchange& stream) { return !stream.is_open(); });
}

}  // namespace bellwether::api
