// A few real nodes with the real plugin, observed: messages arrive at once and in order, time
// passes when told, and nobody fails unless told.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/node.hh"
#include "metrics/core_observer.hh"

namespace bellwether::tests {

class SmallGroup {
 public:
  // Process 0 has the lowest rank.
  SmallGroup(size_t size, const std::string& variant);

  // Starts a process and connects it with all that run.
  void start(size_t process);
  // The process is gone; its peers are refused when they try to connect again.
  void kill(size_t process);
  // The same, but its peers see only that their connections end; a new life starts at once.
  void restart(size_t process);
  void command(size_t process, const Input& input);
  void run_for(Duration duration);

  metrics::Metrics& metrics(size_t process) { return *members_[process]->metrics; }
  Instant now() const { return now_; }
  // By how much a series (without the prefix of its name) grew since it was asked for last.
  double increase(size_t process, const std::string& series);

 private:
  struct Process {
    MemberEntry self;
    std::unique_ptr<Node> node;  // null: does not run
    std::unique_ptr<metrics::Metrics> metrics;
    std::unique_ptr<metrics::CoreObserver> observer;
    std::map<std::string, double> seen;
  };
  struct Delivery {
    size_t from = 0;
    size_t to = 0;
    Frame frame;
  };

  void end(size_t process, LinkEvidence evidence);
  void step(size_t process, const Input& input);
  void carry_out(size_t process, const Effects& effects);
  void deliver();
  size_t index_of(const Uuid& id) const;

  std::string variant_;
  std::vector<std::unique_ptr<Process>> members_;
  std::deque<Delivery> under_way_;
  Instant now_{};
};

}  // namespace bellwether::tests
