// Tells one URL of every change of leadership, by HTTP POST: strictly in order, one at a time,
// again and again until it is delivered.  hook_queue.hh says what is told, what is kept and when it
// is retried.
//
// A delivery may come twice (the answer to the first was lost); its id is the same then.
#pragma once

#include <optional>
#include <string>

#include "api/hook_queue.hh"
#include "io/http/http_client.hh"
#include "io/loop/loop.hh"
#include "io/loop/timer.hh"

namespace bellwether::api {

struct WebhookSettings {
  std::string url;
  Duration timeout = std::chrono::seconds(2);  // of one attempt
  HookSource source{};
  std::string user_agent = "bellwether";
  uint64_t seed = 0;  // of the jitter
};

// For counters and the log; called from within the loop but for on_superseded(), which is called
// from within tell().  May not destroy the webhook.
class WebhookObserver {
 public:
  virtual ~WebhookObserver() = default;
  virtual void on_delivered() = 0;
  // One attempt; there will be another.  `why` is a phrase.
  virtual void on_failed(const std::string& why, bool is_timeout) = 0;
  // The receiver wants no more; nothing will be sent.
  virtual void on_gone() = 0;
  virtual void on_superseded() = 0;
};

class Webhook {
 public:
  // `resolver` and `observer` must outlive the webhook.
  Webhook(Loop& loop, Resolver& resolver, WebhookSettings settings, WebhookObserver& observer);
  // What is under way ends without a word.
  ~Webhook() = default;
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  void tell(HookEvent event);

 private:
  void send_next();
  void on_result(const HttpClientResult& result);

  WebhookSettings settings_;
  WebhookObserver& observer_;
  HookQueue queue_;
  LoopTimer retry_;
  HttpClient client_;
};

}  // namespace bellwether::api
