// The applications beside the virtual processes: they are asked to finish, and do, or do not.
#include <string>

#include "simulator/cluster.hh"

namespace bellwether::simulator {

void Cluster::ask_to_finish(uint32_t process, const Drain& drain) {
  Process& asked = processes_[process];
  last_interest_ = now();
  trace(process, std::string("asks its application to finish: ") + name(drain.reason));
  asked.drains_until = drain.until;
  asked.has_finished = false;
  if (!asked.drain_takes) return;
  queue_.push(now() + *asked.drain_takes, Finished{life_of(process), drain.epoch});
}

// It says so if it still lives, and works.
void Cluster::on(const Finished& finished) {
  const Application application = application_of(finished.process);
  if (!lives(finished) || !application.is_attached || !application.is_able()) return;
  processes_[finished.process].has_finished = true;
  trace(finished.process, "has an application that has finished");
  step(finished.process, Drained{finished.epoch});
}

// [I17] A drain ends for the reason that is given.
void Cluster::judge_drain(uint32_t process, const DrainEnded& ended) {
  const Process& drained = processes_[process];
  last_interest_ = now();
  const bool is_early =
      ended.end == DrainEnd::kTimeout && drained.clock.local(now()) < drained.drains_until;
  const bool is_wrong = (ended.end == DrainEnd::kDrained && !drained.has_finished) ||
                        (ended.end == DrainEnd::kDetached && drained.told->is_attached);
  if (is_early || is_wrong) {
    referee_.blame(process, std::string("does not wait for its application: ") + name(ended.end));
  }
}

}  // namespace bellwether::simulator
