// The generator of random schedules: every throw of the dice becomes a line of a scenario.
#include "simulator/fault_schedule.hh"

#include <compare>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/names.hh"
#include "core/plugin_facts.hh"
#include "simulator/application_faults.hh"
#include "simulator/drain_faults.hh"
#include "simulator/fault_lines.hh"
#include "simulator/memory_faults.hh"
#include "simulator/network_faults.hh"
#include "simulator/store_faults.hh"

namespace bellwether::simulator {
namespace {

// Until a voter that has lost its state votes again, which may end in a take-over.
constexpr const char* kRecall = "wait 12s";

constexpr uint32_t kMaxSize = 12;

constexpr const char* kLeases[] = {" lease=400", " lease=900", " lease=3s"};

// One of the group, and what the rest of a schedule depends on.
enum class Touches : uint8_t { kNothingElse, kPreemption, kScope, kQuestions, kAll };
struct DicedSetting {
  std::string_view words;
  Touches touches = Touches::kNothingElse;
  friend auto operator<=>(const DicedSetting&, const DicedSetting&) = default;
};
constexpr DicedSetting kNoStagger{" stagger=off"};
constexpr DicedSetting kDicedSettings[] = {{" preempt=priority", Touches::kPreemption},
                                           {" preempt=never", Touches::kPreemption},
                                           {" preempt_delay=500"},
                                           {" scope=all", Touches::kScope},
                                           {" sticky=off", Touches::kQuestions},
                                           {" query_first=off"},
                                           kNoStagger,
                                           {" suspect_after=300"},
                                           {" epoch_seed=1000"},
                                           {" profile=textbook", Touches::kAll},
                                           {" join_timeout=100"},
                                           {" reap_after=2000"}};

enum class DiskFault : uint8_t { kSlow, kVerySlow, kFail, kLost, kNone, kLast = kNone };
constexpr PerValue<DiskFault, const char*> kDiskWords({" slow=50", " slow=500", " fail", " lost",
                                                       " ok"});

constexpr const char* kRepair = "# All faults end here; what was held arrives late.";

class Schedule : private FaultLines {
 public:
  Schedule(uint64_t seed, const election_plugin& plugin, const std::string& variant,
           Guarding guarding)
      : FaultLines(seed),
        variants_(variants_of(plugin)),
        network_(seed, random_),
        memories_(seed),
        stores_(seed),
        applications_(seed),
        drains_(seed),
        is_guarded_(guarding == Guarding::kMajority),
        has_store_(guarding == Guarding::kStore),
        size_(static_cast<uint32_t>(random_.between(3, 9))) {
    line("# A random schedule of faults, seed " + number(seed) + ".");
    line("nodes " + everybody() + " variant=" + variant + " seed=" + number(seed) + guard() +
         settings());
    if (random_.happens(0.2) && voters_ != 1) add_priority();
    add(applications_.at_start(size_) + drains_.at_start(size_));
    // A group whose voters have all lost their state cannot be told from a new one, so the faults
    // begin when the new one has begun.
    if (is_guarded_) add(memories_.at_start(size_, voters_));
    line(network_.link());
    if (!is_guarded_) line("start " + everybody());
    if (has_proof_) add(network_.proxies_at_start(size_));
    line("wait " + number(random_.below(2000)));
  }

  std::string text() && {
    const uint64_t faults = random_.between(5, 40);
    for (uint64_t i = 0; i < faults; ++i) {
      add_fault();
      if (has_store_) add(stores_.now_and_then(size_));
      add(network_.proxies_next());
      add(applications_.next(size_) + drains_.next(size_));
      if (random_.happens(0.7)) line("wait " + number(random_.below(700)));
    }
    repair();
    line("expect agreement within budget");
    if (!forgetful_.empty()) line(kRecall);
    line("settle");
    line("expect agreement");
    line("expect one list");
    add(drains_.at_end(size_, is_sticky_));
    line("mark");
    line("elect " + any());
    line("wait 2s");
    line("expect bounded cost");
    if (is_guarded_) add(memories_.at_end(forgetful_));
    if (epilogue_ == Epilogue::kCutOff) tell_of_the_next_in_line();
    if (epilogue_ == Epilogue::kDeaf) tell_of_a_deaf_leader();
    return take_lines();
  }

 private:
  std::string any() { return FaultLines::any(size_); }
  std::string everybody() const { return FaultLines::everybody(size_); }
  // Faults that meet the leader tell more.
  bool meets_leader() { return random_.happens(0.25); }
  std::string anybody() { return meets_leader() ? "leader" : any(); }

  template <typename Choice, size_t kCount>
  const Choice& one_of(const Choice (&choices)[kCount]) {
    return choices[random_.below(kCount)];
  }

  // 3, 5 or 7 voters, now and then one; all others only follow.
  std::string guard() {
    if (has_store_) {
      std::string settings = stores_.settings();
      has_proof_ = stores_.has_proof();
      return settings;
    }
    if (!is_guarded_) return "";
    voters_ = size_ - (size_ + 1) % 2;
    while (voters_ > 3 && random_.happens(0.4)) voters_ -= 2;
    voters_ = std::min(voters_, 7u);
    if (random_.happens(0.05)) voters_ = 1;
    if (voters_ > 1 && random_.happens(0.3)) {
      epilogue_ = random_.happens(0.5) ? Epilogue::kCutOff : Epilogue::kDeaf;
    }
    has_proof_ = random_.happens(0.5);
    const std::string proof = has_proof_ ? " death_proof=refused" : "";
    return " guard=majority voters=" + number(voters_) +
           (random_.happens(0.5) ? one_of(kLeases) : "") + proof;
  }

  std::string settings() {
    std::set<DicedSetting> chosen;
    if (is_guarded_ && random_.happens(0.25)) chosen.insert(kNoStagger);
    while (random_.happens(0.5)) chosen.insert(one_of(kDicedSettings));
    std::string words;
    bool has_preempt = false;
    for (const auto& [setting, touches] : chosen) {
      if ((is_guarded_ || has_store_) && touches == Touches::kAll) continue;
      // A leader asks the dead each time.
      if (has_store_ && touches == Touches::kScope) continue;
      const bool is_preempt = touches == Touches::kPreemption;
      if (is_preempt && has_preempt) continue;
      has_preempt |= is_preempt;
      is_sticky_ &= touches != Touches::kQuestions && touches != Touches::kAll;
      words += setting;
    }
    return words;
  }

  void add_fault() {
    static constexpr const char* kRates[] = {"0.89", "0.95", "1", "1.05", "1.11"};
    static constexpr const char* kMoments[] = {" at store", " at stored"};
    switch (random_.below(is_guarded_ ? 28 : 24)) {
      case 0:
      case 1:
        return line("kill " + anybody());
      case 2:
        return line("kill " + anybody() + " silently");
      case 3:
      case 4:
        return line("restart " + anybody());
      case 5:
      case 6:
        return line("start " + any());
      case 7:
        return line("pause " + anybody());
      case 8:
        return line("resume " + everybody());
      case 9:
        return line(network_.partition(size_));
      case 10:
        return line("cut " + network_.direction(size_));
      case 11:
      case 12:
        return line("heal");
      case 13:
        return line("reset " + two());
      case 14:
        return line("hold " + network_.direction(size_));
      case 15:
        return line("release");
      case 16:
        return line(network_.drop(size_));
      case 17:
        return add_disk_fault(static_cast<DiskFault>(random_.below(kValues<DiskFault>)));
      case 18:
        return line("clock " + any() + " rate=" + one_of(kRates));
      case 19:
        return line("step_down " + anybody() + " hold=" + number(random_.below(1500)));
      case 20:
        return line(random_.happens(0.5) ? "transfer " + two() : "elect " + any());
      case 21:
        return add_reconfiguration();
      case 22:
        return add_newcomer();
      case 24:
        return add_death_at_store(one_of(kMoments));
      case 25:
        return add_other_lease();
      case 26:
        return add_rivals();
      case 27:
        return add_forgotten_vote();
      default:
        return line("leave " + anybody());
    }
  }

  // A lease is that of the next life.
  void add_other_lease() {
    const std::string node = any();
    line("reconfigure " + node + one_of(kLeases));
    if (random_.happens(0.5)) line("restart " + node);
  }

  // No more voters forget than leave a majority that remembers; a disk is lost when nobody writes
  // to it, and the voter is soon back, or while it runs.
  void add_disk_fault(DiskFault fault) {
    const uint64_t place = random_.between(1, size_);
    const std::string node = number(place);
    if (is_guarded_ && fault == DiskFault::kLost) {
      if (place <= voters_) forgetful_.insert(node);
      if (forgetful_.size() > (voters_ - 1) / 2) {
        forgetful_.erase(node);
        return;
      }
    }
    has_failing_disk_ |= fault == DiskFault::kFail;
    const bool is_replaced = is_guarded_ && fault == DiskFault::kLost && random_.happens(0.5);
    if (is_replaced) line("kill " + node);
    line("disk " + node + kDiskWords[fault]);
    if (is_replaced) line("start " + node);
  }

  void add_death_at_store(const std::string& moment) {
    const bool is_leader = meets_leader();
    const std::string node = is_leader ? "leader" : any();
    if (!is_leader) doomed_.insert(node);
    for (uint32_t other = 1; is_leader && other <= size_; ++other) doomed_.insert(number(other));
    line("kill " + node + moment);
  }

  // Two that do not know of each other claim at once, where nobody waits for the next in line.
  void add_rivals() {
    line("cut next<->" + any());
    line("wait 3s");
    line("kill leader");
  }

  // The crash of one whose disk is behind, while an election is held.
  void add_forgotten_vote() {
    const std::string node = any();
    line("disk " + node + " slow=" + number(random_.between(50, 900)));
    line(random_.happens(0.5) ? "restart leader" : "elect " + any());
    line("wait " + number(random_.between(10, 700)));
    line("restart " + node);
  }

  void add_newcomer() {
    if (size_ == kMaxSize) return line("start " + any());
    const std::string contact = any();
    contacts_.insert(contact);
    line("join " + number(++size_) + " via " + contact);
  }

  // One node, or all of them; one after the other if the dice say `reconfigure` again.
  void add_reconfiguration() {
    std::vector<std::string> news;
    for (const std::string& variant : variants_) news.push_back(" variant=" + variant);
    for (const char* other :
         {" preempt=always", " preempt=priority", " answer_timeout=50", " coordinator_timeout=500",
          " preempt_delay=300", " suspect_after=400"}) {
      news.emplace_back(other);
    }
    const std::string nodes = random_.happens(0.5) ? any() : everybody();
    // A variant more often than anything else.
    const bool is_variant = random_.happens(0.5);
    line("reconfigure " + nodes + news[random_.below(is_variant ? variants_.size() : news.size())]);
  }

  void add_priority() {
    static constexpr uint64_t kPriorities[] = {0, 50, 200};
    const uint64_t priority = one_of(kPriorities);
    has_witness_ = priority == 0;
    line("priority " + any() + " " + number(priority));
  }

  std::string two() {
    const uint64_t first = random_.between(1, size_);
    return number(first) + " " + number(first % size_ + 1);
  }

  void repair() {
    line(kRepair);
    add(network_.at_end());
    if (has_store_) add(StoreFaults::at_end());
    line("resume " + everybody());
    line("release");
    add(applications_.at_end(size_));
    for (uint32_t node = 1; node <= size_; ++node) {
      line("disk " + number(node) + " ok");
      line("clock " + number(node) + " rate=1");
    }
    // A node that is about to leave goes first, and is started again like all others.
    line("wait 2s");
    // A disk that works again is tried again.
    if (is_guarded_ && has_failing_disk_) line("wait 5s");
    // A node that has not yet come to the write at which it dies shall not.
    doomed_.insert(memories_.doomed().begin(), memories_.doomed().end());
    for (const std::string& node : doomed_) line("restart " + node);
    if (epilogue_ == Epilogue::kDeaf) {
      line("reconfigure " + everybody() + " lease=1500");
      return line("restart " + everybody());
    }
    // Now and then somebody stays dead.
    const bool is_complete = has_witness_ || is_guarded_ || random_.happens(0.6);
    if (is_complete) return line("start " + everybody());
    line("kill " + any());
    for (uint32_t node = 1; node <= size_; ++node) {
      if (random_.happens(0.7) || node == size_) line("start " + number(node));
    }
    // A node that knows nobody else would be alone.
    for (const std::string& contact : contacts_) line("start " + contact);
  }

  // What comes of these is known, whatever was before: a rule whose absence costs time, or epochs,
  // and breaks no promise, is not seen otherwise.
  void tell_of_the_next_in_line() {
    line("# The next in line does not hear the leader; all others do.  No epoch is burnt.");
    calm_down();
    line("cut next<->leader");
    line("wait 8s");
    line("heal");
    line("wait 8s");
    line("expect agreement");
    line("expect claims 0");
  }

  void tell_of_a_deaf_leader() {
    line("# The leader hears nobody.  It says so when its lease ends, and nobody waits longer.");
    calm_down();
    line("cut others->leader");
    line("wait 2s");
    line("expect claims 1");
  }

  void calm_down() {
    // A voter that had lost its state has its vote again by then, and gives it in the next epoch.
    line("wait 12s");
    line("reconfigure " + everybody() + " preempt=never");
    line("step_down leader hold=0");
    line("settle");
    line("mark");
  }

  // How a guarded schedule goes on after all is well.
  enum class Epilogue : uint8_t { kNone, kCutOff, kDeaf };

  std::vector<std::string> variants_;  // that the plugin has
  NetworkFaults network_;
  MemoryFaults memories_;
  StoreFaults stores_;
  ApplicationFaults applications_;
  DrainFaults drains_;
  bool is_guarded_;
  bool has_store_;
  uint32_t size_;
  uint32_t voters_ = 0;
  Epilogue epilogue_ = Epilogue::kNone;
  bool has_witness_ = false;  // a node that never leads: alone it would be without a leader
  bool has_proof_ = false;
  std::set<std::string> contacts_;   // that newcomers were given
  std::set<std::string> forgetful_;  // voters that have lost their state
  std::set<std::string> doomed_;     // nodes that were to die when they write next
  bool has_failing_disk_ = false;
  bool is_sticky_ = true;  // whoever outranks a leader asks it
};

}  // namespace

std::string fault_scenario(uint64_t seed, const election_plugin& plugin, const std::string& variant,
                           Guarding guarding) {
  return Schedule(seed, plugin, variant, guarding).text();
}

uint64_t faults_in(const std::string& schedule) {
  std::istringstream lines(schedule.substr(0, schedule.find(kRepair)));
  uint64_t faults = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string verb = line.substr(0, line.find(' '));
    const bool is_setting = verb == "#" || verb == "nodes" || verb == "link" || verb == "wait";
    if (!is_setting) ++faults;
  }
  return faults;
}

}  // namespace bellwether::simulator
