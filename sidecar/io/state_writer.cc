// One job for each of the two files at a time; StateStore allows both at once.
#include "io/state_writer.hh"

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
    : loop_(loop), store_(store) {
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
  if (queue.running != nullptr) {
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
    if (auto next = std::exchange(its_queue.next, std::nullopt)) {
      finished->owner->start(its_queue, std::move(*next));
    }
    its_queue.on_done(finished->value, finished->error);
  };
  throw_if_failed(uv_queue_work(loop_.uv(), &job->request, work, done), "cannot queue a write");
  job.release();  // NOLINT(bugprone-unused-return-value): libuv has it, until `done`
}

}  // namespace bellwether
