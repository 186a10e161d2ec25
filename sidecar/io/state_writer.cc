// One job for each of the two files at a time; StateStore allows both at once.
#include "io/state_writer.hh"

#include <utility>

namespace bellwether {
namespace {

std::optional<StateError> write(StateStore& store, const Record& record) {
  return store.store(record);
}

std::optional<StateError> write(StateStore& store, const std::shared_ptr<const MemberView>& view) {
  return store.store_members(*view);
}

}  // namespace

// Lives until libuv is done with it, also when its owner has gone.
template <typename Value>
struct StateWriter::Job {
  uv_work_t request{};
  StateStore* store = nullptr;
  Value value{};
  std::optional<StateError> error{};
  StateWriter* owner = nullptr;  // nullptr: gone
  Queue<Value>* queue = nullptr;
};

StateWriter::StateWriter(Loop& loop, StateStore& store, StoreDone on_record, StoreDone on_members)
    : loop_(loop), store_(store) {
  records_.on_done = std::move(on_record);
  views_.on_done = std::move(on_members);
}

StateWriter::~StateWriter() {
  if (records_.running != nullptr) records_.running->owner = nullptr;
  if (views_.running != nullptr) views_.running->owner = nullptr;
}

void StateWriter::store(const Record& record) { push(records_, record); }

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
    running.error = write(*running.store, running.value);
  };
  const auto done = [](uv_work_t* request, int /*status: jobs are never cancelled*/) {
    const std::unique_ptr<Job<Value>> finished(static_cast<Job<Value>*>(request->data));
    if (finished->owner == nullptr) return;
    Queue<Value>& its_queue = *finished->queue;
    its_queue.running = nullptr;
    if (auto next = std::exchange(its_queue.next, std::nullopt)) {
      finished->owner->start(its_queue, std::move(*next));
    }
    its_queue.on_done(finished->error);
  };
  throw_if_failed(uv_queue_work(loop_.uv(), &job->request, work, done), "cannot queue a write");
  job.release();  // NOLINT(bugprone-unused-return-value): libuv has it, until `done`
}

}  // namespace bellwether
