// Whose stream cannot be written to stays until drop_gone(), which tells of it.
#include "api/waiting_clients.hh"

#include <algorithm>
#include <utility>

namespace bellwether::api {

void LongPolls::answer(Instant now) {
  for (Waiting& waiting : std::exchange(waiting_, {})) {
    if (auto response = waiting.answer(waiting.deadline <= now)) {
      waiting.exchange.send(std::move(*response));
    } else {
      waiting_.push_back(std::move(waiting));
    }
  }
}

void LongPolls::drop_gone() {
  std::erase_if(waiting_, [](const Waiting& waiting) { return !waiting.exchange.is_open(); });
}

Instant LongPolls::deadline() const {
  Instant earliest = kNever;
  for (const Waiting& waiting : waiting_) earliest = std::min(earliest, waiting.deadline);
  return earliest;
}

bool EventStreams::open(Exchange exchange, std::string_view events, Instant now,
                        const io::HttpClientFacts& client, Attached application,
                        std::string token) {
  exchange.begin_stream("text/event-stream");
  if (!exchange.write(events)) return false;
  if (streams_.empty()) next_comment_ = now + kCommentInterval;
  streams_.push_back({.exchange = std::move(exchange),
                      .application = std::move(application),
                      .token = std::move(token),
                      .is_on_socket = client.process.has_value()});
  return true;
}

void EventStreams::send(std::string_view event) {
  for (Stream& stream : streams_) stream.exchange.write(event);
}

void EventStreams::send_to_each(
    const std::function<std::string(const Attached& application)>& event_for) {
  for (Stream& stream : streams_) stream.exchange.write(event_for(stream.application));
}

bool EventStreams::end_unless_allowed(const Authority& authority) {
  const auto first_ended = std::stable_partition(
      streams_.begin(), streams_.end(),
      [&](const Stream& stream) { return authority.is_in_force(stream.token); });
  const bool is_any = first_ended != streams_.end();
  std::for_each(first_ended, streams_.end(), [](Stream& stream) { stream.exchange.end_stream(); });
  streams_.erase(first_ended, streams_.end());
  return is_any;
}

bool EventStreams::drop_gone() {
  return std::erase_if(streams_, [](const Stream& stream) { return !stream.exchange.is_open(); }) >
         0;
}

std::vector<Attached> EventStreams::applications() const {
  std::vector<Attached> applications;
  for (const Stream& stream : streams_) applications.push_back(stream.application);
  return applications;
}

void EventStreams::on_time(Instant now) {
  if (deadline() > now) return;
  next_comment_ = now + kCommentInterval;
  for (Stream& stream : streams_) {
    if (!stream.is_on_socket) stream.exchange.write(":\n\n");
  }
}

}  // namespace bellwether::api
