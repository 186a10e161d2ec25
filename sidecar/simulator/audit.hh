// What no process sees of itself, judged over all of them in virtual time: what the disks hold, who
// has led which epoch, and who stands behind a flag.  What a node can see of itself is judged by
// SelfCheck (core/self_check.hh).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "core/node.hh"

namespace bellwether::simulator {

// A voter as it is at this moment of its own clock; without a node it does not run.
struct Voter {
  const Node* node = nullptr;
  Instant local_now{};
};

// Each check returns what is broken, in words, or nothing.
class Audit {
 public:
  // The disk of `process` held `held` and has `record` now.
  std::optional<std::string> broken_by_write(uint32_t process, const Record& held,
                                             const Record& record);

  // Guard "majority": the disk of `voter` has `record` now, whatever became of an earlier one.
  std::optional<std::string> broken_by_vote(const Uuid& voter, const Record& record);

  // Guard "majority", times are of the voter's own clock: a life of `process` begins, and its
  // earlier ones may have promised until then.
  void on_start(uint32_t process, Instant earlier_lives_until) {
    bound_until_[process] = earlier_lives_until;
  }
  // At any moment: by its disk its next life would wait for so long from now on.
  std::optional<std::string> broken_by_memory(uint32_t process, const Voter& voter,
                                              Duration boot_wait);

  // Guard "majority": `leader`, in this life of its process, turns its flag on in `epoch`, or
  // renews it.
  std::optional<std::string> broken_by_reign(uint32_t process, uint32_t life, uint64_t epoch,
                                             const Node& leader);

 private:
  struct Reign {
    uint32_t process = 0;
    uint32_t life = 0;
    Uuid leader{};
  };
  bool is_led(const Record& vote) const;

  std::map<uint64_t, Reign> reigns_;  // by epoch
  // By epoch and claimant: the processes whose disks have ever had this vote.
  std::map<std::pair<uint64_t, Uuid>, std::set<uint32_t>> votes_;
  std::map<std::pair<uint64_t, Uuid>, Uuid> cast_;  // by epoch and voter: for whom
  std::map<uint32_t, Instant> bound_until_;         // by process: when its last promise is over
};

// Guard "majority": `leader` leads and its flag is on at this moment.  So many voters must be bound
// to it that no other claimant could take over, whatever the leader believes of its lease.
std::optional<std::string> broken_by_backing(const Node& leader, std::span<const Voter> voters);

}  // namespace bellwether::simulator
