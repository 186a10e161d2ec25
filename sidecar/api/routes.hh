// The HTTP API without its sockets: a request comes in, its answer goes out, now or later.  Nothing
// is decided in here but who may ask, and nothing is known of the protocol; the answers are in
// bodies.hh.  A path is a row of the table in routes.cc, and the function that it names.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/backend.hh"
#include "api/exchange.hh"
#include "api/history.hh"
#include "api/leadership.hh"
#include "api/waiting_clients.hh"
#include "io/loop/timer.hh"
#include "metrics/labels.hh"

namespace bellwether::api {

// Where a request came in.
enum class Entrance : uint8_t {
  kApi,
  // Meant for the network, so it has /metrics, /livez and /readyz only, under whatever name.
  kMetrics,
};

// The event loop's own timer runs every second; one that is older than this means that the process
// hangs, or gets no processor.
inline constexpr Duration kMaxLoopAge = std::chrono::seconds(10);

// How long a client may wait for a change: who asks for more gets this.
inline constexpr Duration kMaxWait = std::chrono::minutes(10);
inline constexpr Duration kDefaultWait = std::chrono::seconds(30);

// How long a node that steps down stays out of elections.
inline constexpr Duration kMaxHold = std::chrono::hours(24);
inline constexpr Duration kDefaultHold = std::chrono::seconds(30);

// "30s", "500ms", or plain seconds.
std::optional<Duration> parse_wait(std::string_view text);

// How often scores may change: beyond it the rest is refused, and nothing is lost by it, since only
// the newest is ever told to anybody.
class ScoreBudget {
 public:
  static constexpr int kPerSecond = 500;

  bool admit(Instant now) {
    if (now - second_ >= std::chrono::seconds(1)) {
      second_ = now;
      count_ = 0;
    }
    return ++count_ <= kPerSecond;
  }

 private:
  Instant second_{};  // since when is counted
  int count_ = 0;
};

// A hand-over that was asked for, and what is said of it.
struct HandoverWords {
  std::optional<Uuid> to{};  // is to lead; nothing: anybody else
  std::string came_to_nothing;
  const char* done;
  const char* under_way;
  Json details;  // behind either
};

class Routes;

struct Route {
  // The first is its name; unused ones are empty.  NAME stands for whatever is there instead.
  std::array<std::string_view, 3> paths;
  std::string_view methods;         // as `Allow` has them
  std::span<const unsigned> codes;  // that are counted one by one
  // Answers at once, or when there is something to say.
  std::variant<io::HttpResponse (Routes::*)() const,
               void (Routes::*)(const io::HttpRequest& request, Exchange exchange)>
      handler;
  bool is_for_metrics_listener = false;       // served there, too
  std::optional<metrics::Command> command{};  // it commands, so not everybody may ask

  bool allows(std::string_view method) const;
  // What stands for NAME in `path`, or ""; nothing when `path` is not this route's.
  std::optional<std::string_view> match(std::string_view path) const;
};

class Routes : private LeadershipListener {
 public:
  // All must outlive it.  Commands that are under way at its end must not be completed after it.
  Routes(io::Loop& loop, Backend& backend, LeadershipFeed& feed, const ElectionHistory& history,
         RoutesObserver observer);
  ~Routes() override;
  Routes(const Routes&) = delete;
  Routes& operator=(const Routes&) = delete;

  // The list that README.md shows, and a test compares with it.
  static std::span<const Route> table();
  // nullptr when there is no such path.
  static const Route* find(std::string_view path);

  // `answer` is shared by the copies of its exchange.
  void handle(const io::HttpRequest& request, std::shared_ptr<Answer> answer, Entrance entrance);

  // This process ends: who waits for a change is answered with what is so now.
  void dismiss_waiting() { long_polls_.answer(kNever); }
  // Some client has gone: whoever waited for an answer or an event and is not open any more.
  void on_gone();
  // Other tokens are in force: who is attached by one that is not has gone.
  void on_tokens();

  // When the timer calls on_time(); kNever: nobody waits for time to pass.
  Instant deadline() const;
  void on_time();

 private:
  void on_change(const Leadership& leadership) override;

  void arm();

  // At once.
  io::HttpResponse index() const;
  io::HttpResponse is_leader() const;
  io::HttpResponse is_follower() const;
  io::HttpResponse role_health(bool is_healthy) const;
  io::HttpResponse livez() const;
  io::HttpResponse readyz() const;
  io::HttpResponse metrics_text() const;
  io::HttpResponse ui() const;
  io::HttpResponse leader() const;
  io::HttpResponse history() const;
  // One of bodies.hh.
  template <Json (*kBody)(const Backend&, const LeadershipFeed&)>
  io::HttpResponse body() const {
    return json_response(200, kBody(backend_, feed_));
  }

  // When there is a change.
  void leader_or_wait(const io::HttpRequest& request, Exchange exchange);
  void events(const io::HttpRequest& request, Exchange exchange);
  std::string leader_event(const Leadership& leadership) const;

  // Tells the client why not.
  bool may_command(const io::HttpRequest& request, metrics::Command command, Exchange& exchange);

  // How long the client waits, at most kMaxWait; nothing: it has said so in a wrong way, and is
  // told.
  static std::optional<Duration> wait_of(const io::HttpRequest& request, Duration usual,
                                         Exchange& exchange);

  // handover_routes.cc
  void step_down(const io::HttpRequest& request, Exchange exchange);
  void transfer(const io::HttpRequest& request, Exchange exchange);
  void command_and_wait(const Input& input, HandoverWords words, Duration wait, Exchange exchange);
  Said progress_of_handover(const HandoverWords& words, bool is_last) const;

  // command_routes.cc
  void elect(const io::HttpRequest& request, Exchange exchange);
  void reload(const io::HttpRequest& request, Exchange exchange);
  void forget(const io::HttpRequest& request, Exchange exchange);
  void command(const Input& input, Exchange exchange, const io::HttpResponse& when_done);
  io::HttpResponse refusal(Outcome::Kind outcome) const;

  // application_routes.cc
  void attach(const io::HttpRequest& request, Exchange exchange);
  void score(const io::HttpRequest& request, Exchange exchange);
  void refuse_score(Exchange exchange) const;
  void drained(const io::HttpRequest& request, Exchange exchange);
  std::string application_event(const Leadership& leadership, const Attached& application) const;

  Backend& backend_;
  LeadershipFeed& feed_;
  const ElectionHistory& history_;
  RoutesObserver observer_;
  LongPolls long_polls_;
  EventStreams streams_{EventStreams::kMaxFollowers};
  EventStreams attachments_{EventStreams::kMaxAttachments};
  ScoreBudget scores_;
  // Apart from those: who tells scores all the time keeps nobody from attaching, and from leading.
  ScoreBudget scores_attached_with_;
  // They count from anywhere, so that what was said to the last process of this node names nobody
  // here; and can be read by whoever has 53 bits for a number.
  uint64_t last_attachment_;
  io::LoopTimer timer_;  // one for all clients that wait
};

// The API on a server's requests.  Each listener of the sidecar has one: the API's address and
// socket, and the one for metrics.
class HttpBinding : public io::HttpListener {
 public:
  // `observer` is told of limits, and of what the server refused by itself.  Both must outlive it.
  HttpBinding(Routes& routes, Entrance entrance, const RoutesObserver& observer)
      : routes_(routes), entrance_(entrance), observer_(observer) {}

  void on_request(const io::HttpRequest& request, io::HttpReply reply) override;
  void on_gone(io::HttpReply) override { routes_.on_gone(); }
  void on_refused(unsigned status) override {
    observer_.on_answered(Routes::table().size(), status);
  }
  void on_limit(Limit limit) override { observer_.on_limit(limit); }
  void on_tls_refused(const io::TlsFlaw& flaw, const std::string& client) override {
    using metrics::Listener;
    const bool is_api = entrance_ == Entrance::kApi;
    observer_.on_tls_refused(is_api ? Listener::kApi : Listener::kMetrics, flaw, client);
  }

 private:
  Routes& routes_;
  Entrance entrance_;
  const RoutesObserver& observer_;
};

// What requests are counted under: the routes in the order of the table, and last "none", where
// there is no such path or the request could not be read.
std::vector<metrics::HttpRoute> counted_routes();

}  // namespace bellwether::api
