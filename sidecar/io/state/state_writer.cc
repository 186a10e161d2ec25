// One job for each of the two files at a time; StateStore allows both at once.
#include "io/state/state_writer.hh"

#include <algorithm>
#include <utility>

namespace bellwether {

// Lives until libuv is done with it, also when its owner has gone.
template <typename Value>
struct StateWriter::Job {
  uv_work_t request{};
  StateStore* store = nullptr;
  Value value{};
  std::optional<StateError> error{};
  StateWriter* owner = nullptr;  // nullptr: gone
  Queue<Value>* queue = nullptr;

  std::optional<StateError> write() {
    if constexpr (std::is_same_v<Value, View>) {
      return store->store_members(*value);
    } else {
      return store->store(value.record, value.is_lost);
    }
  }
};

StateWriter::StateWriter(Loop& loop, StateStore& store, RecordDone on_record,
                         MembersDone on_members)
    : loop_(loop), store_(store), rested_(loop, [this] {
        records_.is_resting = false;
        start(records_, *std::exchange(records_.next, std::nullopt));
      }) {
  records_.on_done = [told = std::move(on_record)](const Votes& votes, const auto& error) {
    told(votes.record, error);
  };
  views_.on_done = [told = std::move(on_members)](const View&, const auto& error) { told(error); };
}

StateWriter::~StateWriter() {
  if (records_.running != nullptr) records_.running->owner = nullptr;
  if (views_.running != nullptr) views_.running->owner = nullptr;
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
    start(queue, std::move(value));
  }
}

template <typename Value>
void StateWriter::start(Queue<Value>& queue, Value value) {
  auto job = std::make_unique<Job<Value>>();
  job->request.data = job.get();
  job->store = &store_;
  job->value = std::move(value);
  job->owner = this;
  job->queue = &queue;
  queue.running = job.get();
  const auto work = [](uv_work_t* request) {
    auto& running = *static_cast<Job<Value>*>(request->data);
    running.error = running.write();
  };
  const auto done = [](uv_work_t* request, int /*status: jobs are never cancelled*/) {
    const std::unique_ptr<Job<Value>> finished(static_cast<Job<Value>*>(request->data));
    if (finished->owner == nullptr) return;
    Queue<Value>& its_queue = *finished->queue;
    its_queue.running = nullptr;
    finished->owner->go_on(its_queue, *finished);
    its_queue.on_done(finished->value, finished->error);
  };
  throw_if_failed(uv_queue_work(loop_.uv(), &job->request, work, done), "cannot queue a write");
  job.release();  // NOLINT(bugprone-unused-return-value): libuv has it, until `done`
}

template <typename Value>
void StateWriter::go_on(Queue<Value>& queue, const Job<Value>& done) {
  if constexpr (std::is_same_v<Value, Votes>) {
    if (done.error) {
      if (!queue.next) queue.next = done.value;
      queue.is_resting = true;
      rested_.arm(rest_);
      rest_ = std::min(2 * rest_, kLastRest);
      return;
    }
    rest_ = kFirstRest;
  }
  if (auto next = std::exchange(queue.next, std::nullopt)) start(queue, std::move(*next));
}

}  // namespace bellwether
