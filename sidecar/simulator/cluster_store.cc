// The virtual cluster's way to the store of guard "store": requests that arrive late, twice or
// never, answers that do not come back, and events of the watch.
#include <utility>

#include "simulator/cluster.hh"

namespace bellwether::simulator {
namespace {

// A connection that nobody takes is refused as fast as an answer would come, or not at all.
constexpr double kIsRefused = 0.5;

}  // namespace

uint64_t Cluster::wall_clock_ms(uint32_t process) const {
  const Duration wall_clock = now().time_since_epoch() + processes_[process].ahead;
  return static_cast<uint64_t>(wall_clock / std::chrono::milliseconds(1));
}

template <typename Request>
void Cluster::ask_store(uint32_t process, const Request& request) {
  ++store_requests_;
  if (!store_.is_reached_by(process)) {
    if (!store_.happens(kIsRefused)) return;
    return answer_store(process, StoreFailed{request.number, StoreFailure::kUnreachable, {}});
  }
  if (store_.happens(store_.options.lost_requests)) return;
  const bool is_repeated = store_.happens(store_.options.repeated);
  const StoreArrival arrival{life_of(process), request};
  queue_.push(now() + store_.way(), arrival);
  if (is_repeated) queue_.push(now() + store_.late(), arrival);
}

void Cluster::answer_store(uint32_t process, Input answer) {
  queue_.push(now() + store_.way(), StoreReply{life_of(process), std::move(answer)});
}

void Cluster::on(const StoreArrival& arrival) {
  // What was sent arrives also when its sender is dead; or it is not heard of ever.
  if (!store_.is_reached_by(arrival.process)) return;
  Input answer = StoreFailed{};
  if (const auto* read = std::get_if<StoreRead>(&arrival.request)) {
    answer = StoreSeen{.number = read->number, .sight = store_.read()};
  } else {
    const auto& write = std::get<StoreWrite>(arrival.request);
    const bool is_conditional = holds(Assumption::kConditionalWrite);
    const auto version =
        store_.write(is_conditional ? write.expected : store_.sight().version, write.record);
    answer = StoreAnswered{
        .number = write.number, .is_written = version.has_value(), .version = version.value_or("")};
    if (version) tell_watchers();
  }
  const bool is_heard = lives(arrival) && !store_.happens(store_.options.lost_answers);
  if (is_heard) answer_store(arrival.process, std::move(answer));
}

void Cluster::on(StoreReply& reply) {
  if (!lives(reply)) return;
  const uint64_t clock_ms = wall_clock_ms(reply.process);
  if (auto* seen = std::get_if<StoreSeen>(&reply.input)) {
    // Events wait for a watch, which may have ended.
    if (seen->number == 0 && !processes_[reply.process].is_watching) return;
    seen->clock_ms = clock_ms;
  }
  if (auto* answered = std::get_if<StoreAnswered>(&reply.input)) answered->clock_ms = clock_ms;
  step(reply.process, reply.input);
}

void Cluster::tell_watchers() {
  for (uint32_t process = 0; process < size(); ++process) tell_watcher(process);
}

void Cluster::tell_watcher(uint32_t process) {
  const Process& watcher = processes_[process];
  if (!watcher.node || !watcher.is_watching) return;
  if (!store_.is_reached_by(process)) {
    return answer_store(process, StoreFailed{0, StoreFailure::kUnreachable, {}});
  }
  if (store_.happens(store_.options.lost_answers)) return;
  answer_store(process, StoreSeen{.number = 0, .sight = store_.read()});
}

// Whoever watches looks at the record now and then, too.
void Cluster::on(const StoreLook& look) {
  if (foreigner_.is_on()) {
    foreigner_.look(store_, now());
    judge_flags();
  }
  tell_watchers();
  queue_.push(now() + ForeignElector::kPeriod, look);
}

void Cluster::change_store(const std::function<void(VirtualStore&)>& change) {
  change(store_);
  last_interest_ = now();
  tell_watchers();
}

void Cluster::set_foreigner(bool is_on) {
  if (is_on) return foreigner_.start();
  foreigner_.stop(store_);
  tell_watchers();
}

template void Cluster::ask_store(uint32_t process, const StoreRead& request);
template void Cluster::ask_store(uint32_t process, const StoreWrite& request);

}  // namespace bellwether::simulator
