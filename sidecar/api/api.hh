// The routes with their timer on the event loop: one for all clients that wait.
#pragma once

#include <memory>

#include "api/routes.hh"
#include "io/loop/timer.hh"

namespace bellwether::api {

class Api {
 public:
  // As for Routes; the loop must outlive it, too.
  Api(Loop& loop, Backend& backend, LeadershipFeed& feed, const ElectionHistory& history,
      RoutesObserver observer);

  void handle(const HttpRequest& request, std::unique_ptr<Answer> answer, Entrance entrance);
  void on_gone() { routes_.on_gone(); }

 private:
  void arm();

  Backend& backend_;
  Routes routes_;
  LoopTimer timer_;
};

}  // namespace bellwether::api
