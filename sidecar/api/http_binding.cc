// Answers go to the server's replies.
#include "api/http_binding.hh"

#include <memory>
#include <utility>

namespace bellwether::api {
namespace {

class ReplyAnswer : public Answer {
 public:
  explicit ReplyAnswer(HttpReply reply) : reply_(reply) {}

  bool is_open() const override { return reply_.is_open(); }
  void send(HttpResponse response) override { reply_.send(std::move(response)); }
  void begin_stream(std::string_view content_type) override { reply_.begin_stream(content_type); }
  bool write(std::string_view piece) override { return reply_.write(piece); }

 private:
  HttpReply reply_;
};

}  // namespace

void HttpBinding::on_request(const HttpRequest& request, HttpReply reply) {
  routes_.handle(request, std::make_unique<ReplyAnswer>(reply), entrance_);
}

void HttpBinding::on_refused(unsigned status) {
  observer_.on_answered(Routes::table().size(), status);
}

void HttpBinding::on_limit(Limit limit) { observer_.on_limit(limit); }

}  // namespace bellwether::api
