// Two clients and what they are doing.  A watch is told from a timer, for it may be ended then.
#include "io/store/store_client.hh"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.hh"
#include "io/store/json_fields.hh"

namespace bellwether::io {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Longer than any interval of renewals, shorter than servers and what is in between wait.
constexpr Duration kKeepFor = seconds(60);
// Of a watch's first answer; a watch is not in a hurry.
constexpr Duration kWatchPatience = seconds(15);
// A watch that says nothing for so long may have lost its server; servers of Kubernetes send a
// bookmark once a minute.
constexpr Duration kWatchSilence = seconds(90);
// Sooner than kKeepFor.
constexpr Duration kWarmEach = seconds(30);
constexpr Duration kFirstWatchWait = milliseconds(200);
constexpr Duration kLongestWatchWait = seconds(15);
// A watch that lasted for so long has ended as all do.
constexpr Duration kOrdinaryWatch = seconds(10);

StoreFailure failure_of(HttpFailure failure) {
  switch (failure) {
    case HttpFailure::kTimeout:
      return StoreFailure::kTimeout;
    case HttpFailure::kTls:
      return StoreFailure::kTls;
    case HttpFailure::kNotHttp:
    case HttpFailure::kUrl:
      return StoreFailure::kMalformed;
    default:
      return StoreFailure::kUnreachable;
  }
}

// Of an answer that nobody need look into.
std::optional<StoreRefusal> flaw_of(const HttpClientResult& result, const std::string& server) {
  if (result.failure != HttpFailure::kNone) {
    return StoreRefusal{.failure = failure_of(result.failure), .words = result.error};
  }
  if (!result.answer.is_body_cut) return std::nullopt;
  return StoreRefusal{
      .failure = StoreFailure::kMalformed,
      .words = fmt::format("{} answers with more than {} KiB", server, kMaxStoreAnswer / 1024)};
}

}  // namespace

StoreClient::StoreClient(Loop& loop, Resolver& resolver, std::unique_ptr<StoreDialect> dialect,
                         StoreListener& listener, uint64_t seed)
    : dialect_(std::move(dialect)),
      listener_(listener),
      condition_{.server = dialect_->server(), .since = Loop::now()},
      watch_waits_(seed, kFirstWatchWait, kLongestWatchWait, 2),
      request_client_(loop, resolver),
      watch_client_(loop, resolver),
      fail_timer_(loop,
                  [this] {
                    if (const auto flaw = own_flaw()) return end_request(*flaw);
                    send_request();
                  }),
      watch_timer_(loop, [this] { on_watch_due(); }),
      warm_timer_(loop, [this] { keep_warm(); }) {}

void StoreClient::secure(StoreSecurity security) {
  dialect_->set_secret(security.secret);
  security_ = std::move(security);
  if (!is_watch_wanted_ || watch_client_.is_busy()) return;
  watch_waits_.restart();
  watch_timer_.arm({});
}

// --- one request ---

void StoreClient::read(uint64_t number, Duration patience) {
  ask({.number = number, .verb = StoreVerb::kRead}, patience);
}

void StoreClient::write(uint64_t number, Duration patience, const StoreVersion& expected,
                        const StoreRecord& record) {
  ask({.number = number, .verb = StoreVerb::kWrite, .expected = expected, .record = record},
      patience);
}

void StoreClient::rehearse(uint64_t number, Duration patience) {
  ask({.number = number, .verb = StoreVerb::kWrite, .is_rehearsal = true}, patience);
}

// Ends what was asked for last, without a word.
void StoreClient::give_up() {
  fail_timer_.disarm();
  if (request_client_.is_busy()) request_client_.drop();
  request_.reset();
}

void StoreClient::ask(Request request, Duration patience) {
  check(request.number > 0, "number 0 is the watch's");
  give_up();
  request_ = std::move(request);
  asked_ = Loop::now();
  deadline_ = asked_ + patience;
  if (own_flaw()) return fail_timer_.arm({});
  send_request();
}

void StoreClient::send_request() {
  log_in(request_client_, deadline_ - Loop::now(), request_->has_logged_in,
         &StoreClient::send_wanted, &StoreClient::end_request);
}

void StoreClient::send_wanted() {
  const auto now = std::chrono::system_clock::now();
  HttpClientRequest request = request_->verb == StoreVerb::kRead ? dialect_->read()
                              : request_->is_rehearsal
                                  ? dialect_->rehearse(now)
                                  : dialect_->write(request_->expected, request_->record, now);
  // What an operator reads when it is over is the patience, not what a moment has left of it.
  const Instant begun = request_->has_logged_in ? Loop::now() : asked_;
  request_client_.send(completed(std::move(request), deadline_ - begun),
                       [this](const HttpClientResult& result) { on_answer(result); });
}

void StoreClient::on_answer(const HttpClientResult& result) {
  if (auto flaw = flaw_of(result, dialect_->server())) return end_request(*flaw);
  end_request(request_->verb == StoreVerb::kRead ? dialect_->on_read(result.answer)
                                                 : dialect_->on_write(result.answer));
}

void StoreClient::end_request(const StoreReply& reply) {
  count(request_->verb, asked_, reply);
  if (must_log_in_again(reply, request_->has_logged_in)) return send_request();
  const Request request = std::exchange(request_, {}).value();
  if (const auto* refusal = std::get_if<StoreRefusal>(&reply)) {
    request_client_.drop();  // what follows goes over a new connection
    dialect_->on_failure(refusal->failure);
  }
  note_request(request, reply);
  tell(request, reply);
}

void StoreClient::tell(const Request& request, const StoreReply& reply) {
  const uint64_t number = request.number;
  if (const auto* seen = std::get_if<StoreSeen>(&reply)) {
    listener_.on_store_seen(number, seen->sight);
  } else if (const auto* written = std::get_if<StoreWritten>(&reply)) {
    listener_.on_store_written(number, written->version);
  } else if (const auto* conflict = std::get_if<StoreConflict>(&reply)) {
    listener_.on_store_conflict(number, conflict->found);
  } else if (const auto* refusal = std::get_if<StoreRefusal>(&reply)) {
    listener_.on_store_failed(number, refusal->failure, refusal->retry_after);
  } else {
    check(false, "a dialect answers a request");
  }
}

// --- the watch ---

void StoreClient::watch(bool is_wanted) {
  if (std::exchange(is_watch_wanted_, is_wanted) == is_wanted) return;
  watch_client_.drop();
  watch_timer_.disarm();
  warm_timer_.disarm();
  watch_seen_.reset();
  watch_flaw_.reset();
  is_streaming_ = false;
  watch_trouble_.reset();
  watch_waits_.restart();
  if (!is_wanted) return;
  dialect_->begin_watch();
  watch_timer_.arm({});
}

void StoreClient::on_watch_due() {
  if (is_streaming_ && watch_trouble_) note(watch_trouble_, StoreNothing{});
  if (watch_seen_) listener_.on_store_seen(0, std::exchange(watch_seen_, {}).value());
  if (!is_watch_wanted_) return;
  if (watch_flaw_) return end_watch(std::exchange(watch_flaw_, {}).value());
  if (!watch_client_.is_busy() && !watch_timer_.is_armed()) start_watch();
}

void StoreClient::start_watch() {
  watch_asked_ = Loop::now();
  has_watch_logged_in_ = false;
  if (const auto flaw = own_flaw()) return end_watch(*flaw);
  log_in_to_watch();
}

void StoreClient::log_in_to_watch() {
  watch_bytes_.clear();
  is_streaming_ = false;
  log_in(watch_client_, kWatchPatience, has_watch_logged_in_, &StoreClient::send_watch,
         &StoreClient::end_watch);
}

void StoreClient::send_watch() {
  if (!dialect_->must_read_to_watch()) return send_stream();
  watch_client_.send(completed(dialect_->read(), kWatchPatience),
                     [this](const HttpClientResult& result) {
                       auto flaw = flaw_of(result, dialect_->server());
                       if (flaw) return end_watch(*flaw);
                       const StoreReply reply = dialect_->on_read(result.answer);
                       const auto* seen = std::get_if<StoreSeen>(&reply);
                       if (seen == nullptr) return end_watch(reply);
                       watch_seen_ = seen->sight;
                       watch_timer_.arm({});
                       send_stream();
                     });
}

void StoreClient::send_stream() {
  HttpClientRequest request = completed(dialect_->watch(), kWatchPatience);
  request.keep_for = {};
  request.idle_timeout = kWatchSilence;
  request.on_piece = [this](std::string_view piece) { on_watch_piece(piece); };
  watch_client_.send(std::move(request),
                     [this](const HttpClientResult& result) { on_watch_end(result); });
}

void StoreClient::on_watch_piece(std::string_view piece) {
  if (watch_flaw_) return;
  if (!std::exchange(is_streaming_, true)) {
    watch_timer_.arm({});
    warm_timer_.arm({});
  }
  watch_bytes_ += piece;
  size_t begin = 0;
  for (size_t end = 0; (end = watch_bytes_.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const auto line = std::string_view(watch_bytes_).substr(begin, end - begin);
    if (!line.empty() && !watch_flaw_) on_watch_reply(dialect_->on_watch_line(line));
  }
  watch_bytes_.erase(0, begin);
  if (watch_bytes_.size() <= kMaxStoreAnswer) return;
  on_watch_reply(StoreRefusal{.failure = StoreFailure::kMalformed,
                              .words = fmt::format("{} sends an event of more than {} KiB",
                                                   dialect_->server(), kMaxStoreAnswer / 1024)});
}

void StoreClient::on_watch_reply(StoreReply reply) {
  if (std::holds_alternative<StoreNothing>(reply)) return;
  if (const auto* seen = std::get_if<StoreSeen>(&reply)) {
    watch_seen_ = seen->sight;
  } else {
    watch_flaw_ = std::move(reply);
  }
  watch_timer_.arm({});
}

// What it says the watch has told, and where it fails the next request finds out.  Where it does
// not, an earlier trouble is over.
void StoreClient::keep_warm() {
  if (!is_streaming_) return;
  warm_timer_.arm(kWarmEach);
  if (request_client_.is_busy() || own_flaw() || dialect_->login()) return;
  const Instant asked = Loop::now();
  request_client_.send(
      completed(dialect_->read(), kWatchPatience), [this, asked](const HttpClientResult& result) {
        const auto flaw = flaw_of(result, dialect_->server());
        const StoreReply reply = flaw ? StoreReply(*flaw) : dialect_->on_read(result.answer);
        count(StoreVerb::kRead, asked, reply);
        must_log_in_again(reply, false);
        if (std::holds_alternative<StoreSeen>(reply)) note_request({}, reply);
      });
}

// Servers end each watch after a while; silence is taken for that, too.
void StoreClient::on_watch_end(const HttpClientResult& result) {
  if (watch_flaw_) return;  // is due
  if (is_streaming_ || result.failure == HttpFailure::kNone) {
    const bool is_stream = is_streaming_ || result.answer.status == 200;
    return end_watch(is_stream ? StoreNothing{} : dialect_->on_watch_answer(result.answer));
  }
  end_watch(flaw_of(result, dialect_->server()).value());
}

void StoreClient::end_watch(const StoreReply& reply) {
  watch_client_.drop();
  const Duration lasted = Loop::now() - watch_asked_;
  if (is_streaming_ && lasted >= kOrdinaryWatch) watch_waits_.restart();
  count(StoreVerb::kWatch, watch_asked_, reply);
  if (must_log_in_again(reply, has_watch_logged_in_)) return log_in_to_watch();
  const auto* refusal = std::get_if<StoreRefusal>(&reply);
  const Duration asked = refusal == nullptr ? Duration::zero() : refusal->retry_after;
  watch_timer_.arm(std::max(watch_waits_.next(), asked));
  const auto seen = std::exchange(watch_seen_, {});
  if (refusal != nullptr) dialect_->on_failure(refusal->failure);
  note(watch_trouble_, reply);
  if (seen && is_watch_wanted_) listener_.on_store_seen(0, *seen);
  if (refusal != nullptr && is_watch_wanted_) {
    listener_.on_store_failed(0, refusal->failure, refusal->retry_after);
  }
}

// --- both ---

std::optional<StoreRefusal> StoreClient::own_flaw() const {
  if (security_ && security_->flaw.empty()) return std::nullopt;
  return StoreRefusal{.failure = StoreFailure::kUnauthorized,
                      .words = security_ ? security_->flaw : "its files are not read yet"};
}

HttpClientRequest StoreClient::completed(HttpClientRequest request, Duration timeout) const {
  request.tls = security_->tls;
  // Whole ones, as people are told of them.
  request.timeout = std::max(std::chrono::ceil<milliseconds>(timeout), milliseconds(1));
  request.max_body_bytes = kMaxStoreAnswer;
  request.keep_for = kKeepFor;
  return request;
}

// The store has let go of an earlier login: its time was over, or the store has restarted.  So it
// has done nothing, and is asked again at once, by a login of its own.
bool StoreClient::must_log_in_again(const StoreReply& reply, bool has_logged_in) {
  const auto* refusal = std::get_if<StoreRefusal>(&reply);
  if (has_logged_in || own_flaw() || refusal == nullptr ||
      refusal->failure != StoreFailure::kUnauthorized) {
    return false;
  }
  dialect_->on_failure(refusal->failure);
  return dialect_->login().has_value();
}

void StoreClient::log_in(HttpClient& client, Duration timeout, bool& has_logged_in,
                         void (StoreClient::*then)(),
                         void (StoreClient::*otherwise)(const StoreReply&)) {
  auto login = dialect_->login();
  if (!login) return (this->*then)();
  has_logged_in = true;
  const Instant asked = Loop::now();
  client.send(completed(std::move(*login), timeout),
              [this, asked, then, otherwise](const HttpClientResult& result) {
                const auto flaw = flaw_of(result, dialect_->server());
                const StoreReply reply = flaw ? *flaw : dialect_->on_login(result.answer);
                count(StoreVerb::kLogin, asked, reply);
                if (std::holds_alternative<StoreRefusal>(reply)) return (this->*otherwise)(reply);
                (this->*then)();
              });
}

void StoreClient::count(StoreVerb verb, Instant asked, const StoreReply& reply) {
  StoreRequestReport report{.verb = verb,
                            .is_conflict = std::holds_alternative<StoreConflict>(reply),
                            .took = Loop::now() - asked};
  if (const auto* refusal = std::get_if<StoreRefusal>(&reply)) report.failure = refusal->failure;
  listener_.on_store_request(report);
}

void StoreClient::note_request(const Request& request, const StoreReply& reply) {
  if (says_nothing_of_writes(reply)) return;
  note(request_trouble_, reply);
  const bool is_refused =
      request_trouble_ && (request_trouble_->failure == StoreFailure::kForbidden ||
                           request_trouble_->failure == StoreFailure::kUnavailable);
  if (is_refused && request.verb == StoreVerb::kWrite) {
    request_trouble_->refused_over = request.expected;
  }
}

// A store that is full, or lets a member read only, answers each read between the writes that it
// refuses.  That trouble is over when somebody has written, and for one that may not: when it has.
bool StoreClient::says_nothing_of_writes(const StoreReply& reply) const {
  const auto* seen = std::get_if<StoreSeen>(&reply);
  if (seen == nullptr || !request_trouble_ || !request_trouble_->refused_over) return false;
  return request_trouble_->failure == StoreFailure::kForbidden ||
         seen->sight.version == *request_trouble_->refused_over;
}

void StoreClient::note(std::optional<Trouble>& trouble, const StoreReply& reply) {
  const auto* refusal = std::get_if<StoreRefusal>(&reply);
  trouble =
      refusal == nullptr ? std::nullopt : std::optional(Trouble{refusal->failure, refusal->words});
  constexpr size_t kMaxWords = 600;
  // The newest of two; an older one is the other's, if there is still one.
  const bool is_of_request = &trouble == &request_trouble_;
  const auto& shown_one = trouble ? trouble : is_of_request ? watch_trouble_ : request_trouble_;
  StoreCondition condition{.server = dialect_->server(), .since = condition_.since};
  if (shown_one) {
    condition.failure = shown_one->failure;
    condition.trouble = shown(shown_one->words, kMaxWords);
  }
  if (refusal != nullptr && refusal->failure == StoreFailure::kUnauthorized) {
    listener_.on_store_secret_refused();
  }
  if (condition == condition_) return;
  if (condition.trouble != condition_.trouble) condition.since = Loop::now();
  condition_ = std::move(condition);
  listener_.on_store_condition();
}

}  // namespace bellwether::io
