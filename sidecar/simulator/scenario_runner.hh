// Carries one scenario out: the cluster it drives, what its words mean, and what it expects.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulator/cluster.hh"
#include "simulator/scenario.hh"
#include "simulator/scenario_words.hh"

namespace bellwether::simulator {

// What `nodes` says of the group.
struct GroupSettings {
  ClusterOptions cluster;
  std::optional<std::string> variant;
  enum class Guard : uint8_t { kNone, kMajority, kStore } guard = Guard::kNone;
  std::optional<uint32_t> voters{};  // all that are there from the start unless set
};

class ScenarioRunner {
 public:
  // `keeps_trace`: take_trace() will be asked for; making the lines takes most of a run's time.
  ScenarioRunner(std::string file, ScenarioSettings settings, bool keeps_trace);

  // One command; false when the scenario has failed.
  bool run(const Command& command);

  // The trace begins anew: its times count from now.
  void begin_trace() {
    if (cluster_) cluster_->set_trace_origin(cluster_->now());
  }
  std::vector<std::string> take_trace() { return std::exchange(trace_, {}); }

  bool has_failed() const { return !failure_.empty(); }
  const std::string& failure() const { return failure_; }

  // --- for the verbs ---
  const ScenarioSettings& settings() const { return settings_; }
  // Makes the cluster; `nodes` only.
  void create(const GroupSettings& group, uint32_t count);
  bool has_cluster() const { return cluster_ != nullptr; }
  // Throws when there was no `nodes` yet.
  Cluster& cluster();
  const std::string& variant() const { return variant_; }
  // Whether the plugin has it.
  bool is_variant(const std::string& word) const;

  // "3" as a process; throws when there is none.
  uint32_t process(const std::string& word);
  std::string name_of(uint32_t process) { return cluster().name_of(process); }
  // Reads "1 3..5 7,8", and parts: `leader`, `next` (who would be the next) and `others` (all but
  // the leader), which nobody plays while nobody leads; throws when there is no such word.
  std::vector<uint32_t> processes(Words& words);
  // Reads one "1->2" or "1<->2" and all that follow it; parts stand for nodes here, too.
  std::vector<Pair> directions(Words& words);

  [[noreturn]] void refuse(const std::string& text) const;
  // The scenario fails here.
  void fail(const std::string& expected, const std::string& found);

  void settle();
  void mark() { counted_before_ = settled_ = counts_so_far(); }
  struct Counts {
    MessageCounts messages{};
    uint64_t claims = 0;
    uint64_t requests = 0;
    // Of a running process, at the begin or now: an election is called among those who are listed
    // then, and its leader may drop some of them.
    size_t longest_list = 0;
  };
  // Since the end of the settle before the last one, or `mark`.
  Counts counts();

 private:
  static bool is_part(std::string_view word);
  std::vector<uint32_t> players(std::string_view part);
  void add_processes(const std::string& list, std::vector<uint32_t>& result);
  std::vector<Pair> pairs(const std::string& from, const std::string& to);
  Counts counts_so_far();

  std::string file_;
  ScenarioSettings settings_;
  bool keeps_trace_;
  std::string variant_;
  std::unique_ptr<Cluster> cluster_;
  size_t line_ = 0;
  Counts counted_before_;  // what does not count any more
  Counts settled_;
  std::vector<std::string> trace_;
  std::string failure_;
};

// Reads the `key=value` words of `nodes`, `link`, `store` and `reconfigure`; in
// scenario_settings.cc.
void apply_group_settings(GroupSettings& group, Words& words);
void apply_link_settings(GroupSettings& group, Words& words);
void apply_store_settings(GroupSettings& group, Words& words);
// Those of `nodes` that a running node takes over.
void apply_node_settings(GroupSettings& group, Words& words);

// `expect ...`, in scenario_expect.cc.
void run_expect(ScenarioRunner& runner, Words& words);

// The verbs of the network, in scenario_network.cc: how connections behave, who does not hear whom,
// and what is lost, late, or ended by a proxy.
void run_link(ScenarioRunner& runner, Words& words);
void run_partition(ScenarioRunner& runner, Words& words);
void run_cut(ScenarioRunner& runner, Words& words);
void run_heal(ScenarioRunner& runner, Words& words);
void run_reset(ScenarioRunner& runner, Words& words);
void run_proxy(ScenarioRunner& runner, Words& words);
void run_hold(ScenarioRunner& runner, Words& words);
void run_release(ScenarioRunner& runner, Words& words);
void run_drop(ScenarioRunner& runner, Words& words);

}  // namespace bellwether::simulator
