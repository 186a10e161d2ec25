// One job for each of the two files at a time; StateStore allows both at once.
#include "io/state/state_writer.hh"

#include <algorithm>
#include <utility>

#include "io/loop/job.hh"

namespace bellwether::io {

namespace {

constexpr Duration kBetweenLooks = std::chrono::seconds(2);

template <typename Value>
std::optional<FileError> write(StateStore& store, const Value& value) {
  if constexpr (requires { value.record; }) {
    return store.store(value.record, value.is_lost);
  } else {
    return store.store_members(*value);
  }
}

}  // namespace

StateWriter::StateWriter(Loop& loop, StateStore& store, RecordDone on_record,
                         MembersDone on_members)
    : loop_(loop),
      store_(store),
      rested_(loop,
              [this] {
                records_.is_resting = false;
                start(records_, *std::exchange(records_.next, std::nullopt));
              }),
      next_look_(loop, [this] { look(); }) {
  records_.on_done = [told = std::move(on_record)](const Votes& votes, const auto& error) {
    told(votes.record, error);
  };
  views_.on_done = [told = std::move(on_members)](const View&, const auto& error) { told(error); };
}

void StateWriter::watch(Looked on_look) {
  on_look_ = std::move(on_look);
  next_look_.arm(kBetweenLooks);
}

// In the place of a write, for both use the same file.
void StateWriter::look() {
  next_look_.arm(kBetweenLooks);
  is_look_due_ = records_.running != nullptr;
  if (is_look_due_ || records_.is_resting) return;
  records_.running = run_in_pool(
      loop_, [store = &store_] { return store->look(); },
      [this](FileLook look) {
        records_.running.reset();
        auto next = std::exchange(records_.next, std::nullopt);
        // What was stored is so no more: it is written again, and told of as any write is.
        if (!next && store_.has_failed()) next = {store_.last_record(), store_.is_last_lost()};
        if (next) start(records_, *next);
        on_look_(std::move(look));
      });
}

void StateWriter::store(const Record& record, bool is_vote_lost) {
  push(records_, Votes{record, is_vote_lost});
}

void StateWriter::store_members(View view) { push(views_, std::move(view)); }

template <typename Value>
void StateWriter::push(Queue<Value>& queue, Value value) {
  if (queue.running != nullptr || queue.is_resting) {
    queue.next = std::move(value);
  } else {
    start(queue, value);
  }
}

template <typename Value>
void StateWriter::start(Queue<Value>& queue, const Value& value) {
  const auto work = [store = &store_, value] { return write(*store, value); };
  const auto done = [this, &queue, value](const std::optional<FileError>& error) {
    queue.running.reset();
    go_on(queue, value, error);
    queue.on_done(value, error);
  };
  queue.running = run_in_pool(loop_, work, done);
}

template <typename Value>
void StateWriter::go_on(Queue<Value>& queue, const Value& value,
                        const std::optional<FileError>& error) {
  if constexpr (std::is_same_v<Value, Votes>) {
    if (error) {
      if (!queue.next) queue.next = value;
      queue.is_resting = true;
      rested_.arm(rest_);
      rest_ = std::min(2 * rest_, kLastRest);
      return;
    }
    rest_ = kFirstRest;
    if (!queue.next && is_look_due_) return look();
  }
  if (auto next = std::exchange(queue.next, std::nullopt)) start(queue, *next);
}

}  // namespace bellwether::io
