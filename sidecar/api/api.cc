// A deadline that is gone when the timer fires costs one idle call; so only new requests arm it.
#include "api/api.hh"

#include <utility>

namespace bellwether::api {

Api::Api(Loop& loop, Backend& backend, LeadershipFeed& feed, const ElectionHistory& history,
         RoutesObserver observer)
    : backend_(backend), routes_(backend, feed, history, std::move(observer)), timer_(loop, [this] {
        routes_.on_time();
        arm();
      }) {}

void Api::handle(const HttpRequest& request, std::unique_ptr<Answer> answer, Entrance entrance) {
  routes_.handle(request, std::move(answer), entrance);
  arm();
}

void Api::arm() {
  const Instant deadline = routes_.deadline();
  if (deadline == kNever) return timer_.disarm();
  timer_.arm(deadline - backend_.now());
}

}  // namespace bellwether::api
