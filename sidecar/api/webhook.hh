// Tells one URL of every change of leadership, by HTTP POST: strictly in order, one at a time,
// again and again until it is delivered.  hook_queue.hh says what is told, what is kept and when it
// is retried.
//
// A delivery may come twice (the answer to the first was lost); its id is the same then, that in
// its signature, too.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "api/hook_queue.hh"
#include "api/webhook_signature.hh"
#include "base/counted.hh"
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

// What its files have come to (hook_files.hh).
struct HookSecurity {
  io::TlsContextPtr tls{};  // for https; nullptr: none
  SigningKeysPtr keys{};    // nullptr: events are not signed
  std::string flaw{};       // why nothing can be sent; "": it can
};

// For counters and the log.
struct HookReport {
  HookResult result{};
  std::string why{};        // an attempt failed: a phrase
  bool is_timeout = false;  // an attempt failed: that is why
};

class Webhook {
 public:
  // Called from within the loop, or from within tell() and secure(); may not destroy the webhook.
  using OnReport = std::function<void(const HookReport&)>;

  // `resolver` must outlive the webhook.
  Webhook(io::Loop& loop, io::Resolver& resolver, WebhookSettings settings, OnReport on_report);
  // What is under way ends without a word.
  ~Webhook() = default;
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  void tell(HookEvent event);
  // Before that nothing is sent; from now on attempts are made with it.
  void secure(HookSecurity security);

 private:
  void send_next();
  void on_result(const io::HttpClientResult& result);

  WebhookSettings settings_;
  OnReport on_report_;
  std::optional<HookSecurity> security_;
  HookQueue queue_;
  io::LoopTimer retry_;
  io::HttpClient client_;
};

}  // namespace bellwether::api
