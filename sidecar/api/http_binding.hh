// The API on a server's requests.  Each listener of the sidecar has one: the API's address and
// socket, and the one for metrics.
#pragma once

#include <functional>

#include "api/routes.hh"
#include "io/http/http_server.hh"

namespace bellwether::api {

class HttpBinding : public HttpListener {
 public:
  // `observer` is told of limits, and of what the server refused by itself.  Both must outlive it.
  HttpBinding(Routes& routes, Entrance entrance, const RoutesObserver& observer)
      : routes_(routes), entrance_(entrance), observer_(observer) {}

  void on_request(const HttpRequest& request, HttpReply reply) override;
  void on_gone(HttpReply) override { routes_.on_gone(); }
  void on_refused(unsigned status) override;
  void on_limit(Limit limit) override;

 private:
  Routes& routes_;
  Entrance entrance_;
  const RoutesObserver& observer_;
};

}  // namespace bellwether::api
