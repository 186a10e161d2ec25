// One request under way: where its answer goes, and what it is counted under when it is answered.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "api/answer.hh"
#include "metrics/http_routes.hh"
#include "metrics/labels.hh"

namespace bellwether::api {

// Who counts.  A client that goes before its answer is not counted.
struct RoutesObserver {
  std::function<void(metrics::HttpRoute route, unsigned code)> on_answered;
  std::function<void(metrics::Limit limit)> on_limit;
};

class Exchange {
 public:
  // `observer` must outlive it.
  Exchange(metrics::HttpRoute route, std::unique_ptr<Answer> answer, const RoutesObserver& observer)
      : route_(route), answer_(std::move(answer)), observer_(&observer) {}

  bool is_open() const { return answer_->is_open(); }

  void send(HttpResponse response) {
    if (!answer_->is_open()) return;
    observer_->on_answered(route_, response.status);
    answer_->send(std::move(response));
  }

  void begin_stream(std::string_view content_type) {
    if (!answer_->is_open()) return;
    constexpr unsigned kOk = 200;
    observer_->on_answered(route_, kOk);
    answer_->begin_stream(content_type);
  }
  bool write(std::string_view piece) { return answer_->write(piece); }

 private:
  metrics::HttpRoute route_;
  std::unique_ptr<Answer> answer_;
  const RoutesObserver* observer_;
};

}  // namespace bellwether::api
