// The smallest shell a node can have.
#include "small_group.hh"

#include <algorithm>
#include <utility>

#include "scrape.hh"

namespace bellwether::tests {

SmallGroup::SmallGroup(size_t size, const std::string& variant) : variant_(variant) {
  for (size_t i = 0; i < size; ++i) {
    auto process = std::make_unique<Process>();
    process->self = {.name = "node-" + std::to_string(i), .priority = 100, .boot = 1};
    process->self.id.data[15] = static_cast<uint8_t>(i + 1);
    members_.push_back(std::move(process));
  }
}

void SmallGroup::start(size_t process) {
  Process& starting = *members_[process];
  ++starting.self.boot;
  Options options;
  options.variant = variant_;
  options.seed = process + 1;
  starting.node =
      std::make_unique<Node>(bellwether_election_plugin, options, starting.self, Record{});
  metrics::Identity identity = sample_identity();
  identity.variants = {variant_};
  starting.observer.reset();
  starting.metrics = std::make_unique<metrics::Metrics>(identity);
  starting.observer = std::make_unique<metrics::CoreObserver>(
      *starting.metrics, starting.node->members(), starting.node->record(),
      starting.node->active_variant());
  starting.seen.clear();
  step(process, Start{});
  for (size_t i = 0; i < members_.size(); ++i) {
    if (i == process || !members_[i]->node) continue;
    const Hello hello = members_[i]->node->hello();
    step(i, LinkUp{starting.node->hello()});
    step(process, LinkUp{hello});
  }
  deliver();
}

void SmallGroup::kill(size_t process) { end(process, LinkEvidence::kRefused); }

void SmallGroup::restart(size_t process) {
  end(process, LinkEvidence::kClosed);
  start(process);
}

void SmallGroup::end(size_t process, LinkEvidence evidence) {
  members_[process]->observer.reset();  // watches the node's members
  members_[process]->node.reset();
  for (size_t i = 0; i < members_.size(); ++i) {
    if (!members_[i]->node) continue;
    step(i, LinkDown{members_[process]->self.id, evidence});
  }
  deliver();
}

void SmallGroup::command(size_t process, const Input& input) {
  step(process, input);
  deliver();
}

void SmallGroup::run_for(Duration duration) {
  const Instant end = now_ + duration;
  for (;;) {
    size_t next = members_.size();
    Instant due = end;
    for (size_t i = 0; i < members_.size(); ++i) {
      if (!members_[i]->node || members_[i]->node->deadline() > due) continue;
      if (next < members_.size() && members_[i]->node->deadline() == due) continue;
      next = i;
      due = members_[i]->node->deadline();
    }
    if (next == members_.size()) break;
    now_ = std::max(now_, due);
    step(next, Tick{});
    deliver();
  }
  now_ = end;
}

double SmallGroup::increase(size_t process, const std::string& series) {
  const double value = scrape(metrics(process), now_).at("bellwether_" + series);
  return value - std::exchange(members_[process]->seen[series], value);
}

void SmallGroup::step(size_t process, const Input& input) {
  carry_out(process, members_[process]->node->step(now_, input));
}

void SmallGroup::carry_out(size_t process, const Effects& effects) {
  metrics::CoreObserver& observer = *members_[process]->observer;
  for (const Effect& effect : effects) {
    observer.on_effect(now_, effect);
    const auto* send = std::get_if<Send>(&effect);
    if (send == nullptr) continue;
    const size_t to = index_of(send->to);
    const bool is_connected = members_[to]->node != nullptr;
    observer.on_sent(type_of(send->frame), 100, is_connected);
    if (is_connected) under_way_.push_back({process, to, send->frame});
  }
  observer.on_carried_out();
}

void SmallGroup::deliver() {
  while (!under_way_.empty()) {
    const Delivery delivery = std::move(under_way_.front());
    under_way_.pop_front();
    Process& receiver = *members_[delivery.to];
    if (!receiver.node) continue;
    receiver.observer->on_received(type_of(delivery.frame), 100);
    step(delivery.to, FrameReceived{members_[delivery.from]->self.id, delivery.frame});
  }
}

size_t SmallGroup::index_of(const Uuid& id) const { return static_cast<size_t>(id.data[15]) - 1; }

}  // namespace bellwether::tests
