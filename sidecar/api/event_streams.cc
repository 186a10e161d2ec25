// While something is written the streams are out of reach: a write may find that a client has gone,
// which is told at once, and comes back to drop_gone().
#include "api/event_streams.hh"

#include <iterator>
#include <utility>

namespace bellwether::api {

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

std::string event_text(std::string_view event, std::string_view id, std::string_view data) {
  std::string text = "event: ";
  text.append(event).append("\nid: ").append(id).append("\ndata: ").append(data);
  return text + "\n\n";
}

}  // namespace bellwether::api
