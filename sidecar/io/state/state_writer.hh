// Stores what the node wants kept, in the thread pool, so that no disk holds up the loop.  While a
// write is under way the newest of what comes next waits; older ones are superseded by it.  A
// record that could not be written is tried again until it is, or until a newer one is there.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/member_view.hh"
#include "core/record.hh"
#include "io/loop/loop.hh"
#include "io/loop/timer.hh"
#include "io/state/state_store.hh"

namespace bellwether::io {

class StateWriter {
 public:
  using RecordDone = std::function<void(const Record&, const std::optional<FileError>&)>;
  using MembersDone = std::function<void(const std::optional<FileError>&)>;
  using Looked = std::function<void(FileLook)>;

  // `on_record`, with the record that was or was not written, and `on_members` are called from the
  // loop after each write; what was superseded is not told of.  `store` must outlive the loop:
  // writes that are under way when this object goes are finished.
  StateWriter(Loop& loop, StateStore& store, RecordDone on_record, MembersDone on_members);
  StateWriter(const StateWriter&) = delete;
  StateWriter& operator=(const StateWriter&) = delete;
  ~StateWriter() = default;

  // From now on looks every two seconds whether the record is where the next start finds it
  // (StateStore::look()), and tells what it has found.
  void watch(Looked on_look);

  // At once, or when the write that is under way is done.
  void look();

  // As StateStore::store().
  void store(const Record& record, bool is_vote_lost = false);
  void store_members(std::shared_ptr<const MemberView> view);

 private:
  // Until a record is tried again: doubles up to the last.
  static constexpr Duration kFirstRest = std::chrono::milliseconds(100);
  static constexpr Duration kLastRest = std::chrono::seconds(5);

  struct Votes {
    Record record;
    bool is_lost = false;
  };
  using View = std::shared_ptr<const MemberView>;  // shared with the core, which made it

  // What is under way, and what comes after it.
  template <typename Value>
  struct Queue {
    std::shared_ptr<void> running{};  // job.hh
    std::optional<Value> next{};
    bool is_resting = false;  // the last write failed, and the next one waits
    std::function<void(const Value&, const std::optional<FileError>&)> on_done{};
  };
  template <typename Value>
  void push(Queue<Value>& queue, Value value);
  template <typename Value>
  void start(Queue<Value>& queue, const Value& value);
  template <typename Value>
  void go_on(Queue<Value>& queue, const Value& value, const std::optional<FileError>& error);

  Loop& loop_;
  StateStore& store_;
  Queue<Votes> records_{};
  Queue<View> views_{};
  Duration rest_ = kFirstRest;
  LoopTimer rested_;
  Looked on_look_{};
  LoopTimer next_look_;
  bool is_look_due_ = false;  // after the write
};

}  // namespace bellwether::io
