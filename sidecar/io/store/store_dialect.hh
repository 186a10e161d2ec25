// How one kind of store is spoken to: requests out of what is wanted, and what answers mean.  No
// socket, no clock and no timer is known here; store_client.hh has those.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/undumped_memory.hh"
#include "base/wall_time.hh"
#include "core/store_record.hh"
#include "core/why.hh"
#include "io/http/http_client.hh"

namespace bellwether::io {

// Longer answers, and events of a watch, are refused: a record has a few hundred bytes, the rest is
// what others have attached to it.
inline constexpr size_t kMaxStoreAnswer = size_t{512} * 1024;

// What the record says, now that it was read or has changed.
struct StoreSeen {
  StoreSight sight;
};
struct StoreWritten {
  StoreVersion version;
};
// The record has another version than the one that was to be replaced, or there is one where none
// was expected, or none where one was.
struct StoreConflict {
  std::optional<StoreSight> found{};  // where the answer says what there is
};
struct StoreRefusal {
  StoreFailure failure{};
  std::string words;       // a phrase that follows the server's name: "answers with ..."
  Duration retry_after{};  // what the server asks for, a minute at most
};
// Whatever comes between may send one answer twice, or late: a write has been done if the answer
// shows what this one has written, to the microsecond.  On any doubt the record is read.
inline StoreRefusal answer_to_another_write(const std::string& server) {
  return {.failure = StoreFailure::kMalformed,
          .words = server +
                   " answers a write with what this one has not written: what is in "
                   "between mixes answers up, or somebody changes the record as it is "
                   "written (an admission webhook)"};
}
// In, or a line of a watch that changes nothing for anybody.
struct StoreNothing {};
// A watch cannot go on from where it was.
struct StorePositionLost {};

using StoreReply = std::variant<StoreNothing, StoreSeen, StoreWritten, StoreConflict,
                                StorePositionLost, StoreRefusal>;

// Of requests only method, URL, headers, authorization and body are set here.
class StoreDialect {
 public:
  virtual ~StoreDialect() = default;

  // Whom the next request goes to, as a URL without a path.
  virtual std::string server() const = 0;
  // The token or the password from now on; "": none.
  virtual void set_secret(const Secret& secret) = 0;

  // What must be asked first to be known at all; nothing: the rest can be asked.
  virtual std::optional<HttpClientRequest> login() { return std::nullopt; }
  virtual StoreReply on_login(const HttpAnswer& /*answer*/) { return StoreNothing{}; }

  // An answer that is not older than the question.
  virtual HttpClientRequest read() = 0;
  // StoreSeen or StoreRefusal.
  virtual StoreReply on_read(const HttpAnswer& answer) = 0;

  // Over the record of that version; an empty one: only where there is none.
  virtual HttpClientRequest write(const StoreVersion& expected, const StoreRecord& record,
                                  WallTime now) = 0;
  // A write of no effect, to learn what would become of one; answered as a write.
  virtual HttpClientRequest rehearse(WallTime now) = 0;
  // StoreWritten, StoreConflict or StoreRefusal; of the write that was asked for last.
  virtual StoreReply on_write(const HttpAnswer& answer) = 0;

  // Whether a read has to come before a watch, to say from where on.
  virtual bool must_read_to_watch() const = 0;
  // Answered without an end, by JSON values of a line each; goes on behind what was last seen.
  virtual HttpClientRequest watch() = 0;
  // The next watch begins anew, with what there is.
  virtual void begin_watch() = 0;
  // StoreNothing, StoreSeen, StorePositionLost or StoreRefusal.
  virtual StoreReply on_watch_line(std::string_view line) = 0;
  // The same of an answer that is not a stream, for its status is not 200.
  virtual StoreReply on_watch_answer(const HttpAnswer& answer) = 0;

  // The server did not answer as it should: the next request goes to another one, if there is one.
  virtual void on_failure(StoreFailure /*failure*/) {}
};

}  // namespace bellwether::io
