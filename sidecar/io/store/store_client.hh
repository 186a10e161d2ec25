// The record of a group in a store, read, written and watched: one request at a time, and one
// watch, each over a connection of its own that is kept.
//
// A request ends in one of four ways, of which its asker is told once; the next request ends the
// one before, with its connection, so that nobody looks at a late answer.  Nothing is repeated and
// no redirect is followed, for of two sendings of a write nobody would know whose answer it is; but
// for what the store has refused because it has let go of an earlier login.  A
// watch that ends goes on by itself.  Whoever watches may have to write in a hurry, so its other
// connection is kept open by a read now and then.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/backoff.hh"
#include "base/counted.hh"
#include "base/undumped_memory.hh"
#include "core/store_record.hh"
#include "core/why.hh"
#include "io/http/http_client.hh"
#include "io/loop/loop.hh"
#include "io/loop/timer.hh"
#include "io/store/store_dialect.hh"

namespace bellwether::io {

// One request, for counters.
struct StoreRequestReport {
  StoreVerb verb{};
  std::optional<StoreFailure> failure{};  // nothing: the store has answered the question
  bool is_conflict = false;
  Duration took{};
};

// Called from within the loop, never from within a call of the client; may ask it for something
// else, but not destroy it.
class StoreListener {
 public:
  virtual ~StoreListener() = default;

  // What the record says; an empty version: there is none.  `number`: of the read; 0: the watch has
  // seen a change, or has just begun.
  virtual void on_store_seen(uint64_t number, const StoreSight& sight) = 0;
  // The record is as the write wanted it, and this is its version.
  virtual void on_store_written(uint64_t number, const StoreVersion& version) = 0;
  // The store has refused the write, for the record is not the one expected.  `found`: what there
  // is instead, where the answer has said so.
  virtual void on_store_conflict(uint64_t number, const std::optional<StoreSight>& found) = 0;
  // `retry_after`: what the store has asked for; mostly zero.  `number` 0: the watch has failed,
  // and will be tried again by itself.
  virtual void on_store_failed(uint64_t number, StoreFailure failure, Duration retry_after) = 0;

  // After each request, also those that only the client knows of (login, watch).
  virtual void on_store_request(const StoreRequestReport& /*report*/) {}
  // condition() is another one.
  virtual void on_store_condition() {}
  // The store does not believe the token or the password: read the files again, then secure().
  virtual void on_store_secret_refused() {}
};

// What its files have come to.
struct StoreSecurity {
  TlsContextPtr tls{};  // for https; nullptr: none
  Secret secret{};      // a token or a password; "": none
  std::string flaw{};   // why nothing can be sent; "": it can
};

// For people.
struct StoreCondition {
  std::string server;     // in use: "https://10.96.0.1:443"
  std::string trouble{};  // one sentence about what is wrong; "": the last requests were answered
  std::optional<StoreFailure> failure{};
  Instant since{};  // of this trouble, or of the end of the last

  bool operator==(const StoreCondition&) const = default;
};

class StoreClient {
 public:
  // `resolver` and `listener` outlive the client.  `seed`: of the jitter.
  StoreClient(Loop& loop, Resolver& resolver, std::unique_ptr<StoreDialect> dialect,
              StoreListener& listener, uint64_t seed);
  // What is under way ends without a word.
  ~StoreClient() = default;
  StoreClient(const StoreClient&) = delete;
  StoreClient& operator=(const StoreClient&) = delete;

  // Before that every request fails.
  void secure(StoreSecurity security);

  // `number` is above 0, and comes back with the outcome; `patience`: until kTimeout, of
  // connecting, logging in and the rest together.
  void read(uint64_t number, Duration patience);
  // Only over the record of version `expected`; an empty one: only where there is none.
  void write(uint64_t number, Duration patience, const StoreVersion& expected,
             const StoreRecord& record);
  // A write that changes nothing, and is answered as if it did: whether one would be allowed.  The
  // record has been read before.
  void rehearse(uint64_t number, Duration patience);
  // Whether changes are to be told as they happen, with number 0; the first thing told is what
  // there is.  (A Lease that is not there is not told of before it is made.)
  void watch(bool is_wanted);

  const StoreCondition& condition() const { return condition_; }

 private:
  struct Request {
    uint64_t number = 0;
    StoreVerb verb = StoreVerb::kRead;
    StoreVersion expected{};
    StoreRecord record{};
    bool is_rehearsal = false;
    bool has_logged_in = false;
  };

  void give_up();
  void ask(Request request, Duration patience);
  void send_request();
  void send_wanted();
  void on_answer(const HttpClientResult& result);
  void end_request(const StoreReply& reply);
  void tell(const Request& request, const StoreReply& reply);

  void start_watch();
  void log_in_to_watch();
  void send_watch();
  void send_stream();
  void on_watch_piece(std::string_view piece);
  void on_watch_reply(StoreReply reply);
  void on_watch_due();
  void on_watch_end(const HttpClientResult& result);
  void end_watch(const StoreReply& reply);
  void keep_warm();

  // What one of the two has met; both are one trouble for people.
  struct Trouble {
    StoreFailure failure{};
    std::string words;
    std::optional<StoreVersion> refused_over{};  // a write over that version
  };

  HttpClientRequest completed(HttpClientRequest request, Duration timeout) const;
  std::optional<StoreRefusal> own_flaw() const;
  bool must_log_in_again(const StoreReply& reply, bool has_logged_in);
  void log_in(HttpClient& client, Duration timeout, bool& has_logged_in,
              void (StoreClient::*then)(), void (StoreClient::*otherwise)(const StoreReply&));
  void count(StoreVerb verb, Instant asked, const StoreReply& reply);
  void note_request(const Request& request, const StoreReply& reply);
  bool says_nothing_of_writes(const StoreReply& reply) const;
  void note(std::optional<Trouble>& trouble, const StoreReply& reply);

  std::unique_ptr<StoreDialect> dialect_;
  StoreListener& listener_;
  std::optional<StoreSecurity> security_;
  StoreCondition condition_;
  std::optional<Trouble> request_trouble_;
  std::optional<Trouble> watch_trouble_;

  std::optional<Request> request_;  // under way
  Instant asked_{};
  Instant deadline_{};

  bool is_watch_wanted_ = false;
  bool is_streaming_ = false;  // changes are told as they happen
  Instant watch_asked_{};
  bool has_watch_logged_in_ = false;
  std::string watch_bytes_;               // of a line that has not ended
  std::optional<StoreSight> watch_seen_;  // not told yet; a newer one takes its place
  std::optional<StoreReply> watch_flaw_;  // why the watch ends, found in a line of it
  Backoff watch_waits_;

  HttpClient request_client_;
  HttpClient watch_client_;
  LoopTimer fail_timer_;   // what fails before it is sent is told from within the loop
  LoopTimer watch_timer_;  // the next watch, or what a watch has seen
  LoopTimer warm_timer_;
};

}  // namespace bellwether::io
