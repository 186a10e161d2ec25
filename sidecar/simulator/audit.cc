// The numbers in brackets are those of the table "Invariants" in ARCHITECTURE.md.
#include "simulator/audit.hh"

#include <algorithm>

namespace bellwether::simulator {
namespace {

// Whether `voter` would make any other claimant wait for the end of `leader`.
bool is_bound(const Voter& voter, const LeaderHint& leader) {
  if (voter.node == nullptr) return true;  // its next life begins with a wait
  if (voter.node->members().self().id == leader.id) return true;
  const bellwether::Voter& memory = voter.node->majority()->voter;
  if (memory.recall.is_lost() || memory.boot_until() > voter.local_now) return true;
  const auto made = memory.promises().all();
  return std::any_of(made.begin(), made.end(), [&](const Promise& promise) {
    return promise.leader == leader.id && promise.epoch >= leader.epoch &&
           promise.until > voter.local_now;
  });
}

}  // namespace

std::optional<std::string> Audit::broken_by_write(uint32_t process, const Record& held,
                                                  const Record& record) {
  if (record.max_epoch < held.max_epoch) return "its disk forgets the highest epoch";  // [I1]
  if (record.granted_to == Uuid{}) return std::nullopt;
  const bool is_second = record.max_epoch == held.max_epoch && record.granted_to != held.granted_to;
  const bool is_late = held.granted_to == Uuid{} && is_led(record);
  if (is_second && !is_late) return "its disk has two votes in one epoch";  // [I2]
  votes_[{record.max_epoch, record.granted_to}].insert(process);
  return std::nullopt;
}

// A vote for the one that leads the epoch is too late to make another leader, be it a second one.
bool Audit::is_led(const Record& vote) const {
  const auto reign = reigns_.find(vote.max_epoch);
  return reign != reigns_.end() && reign->second.leader == vote.granted_to;
}

std::optional<std::string> Audit::broken_by_vote(const Uuid& voter, const Record& record) {
  if (record.granted_to == Uuid{}) return std::nullopt;
  const auto [cast, is_new] = cast_.try_emplace({record.max_epoch, voter}, record.granted_to);
  if (is_new || cast->second == record.granted_to || is_led(record)) return std::nullopt;
  return "votes twice in epoch " + std::to_string(record.max_epoch);  // [I2]
}

std::optional<std::string> Audit::broken_by_memory(uint32_t process, const Voter& voter,
                                                   Duration boot_wait) {
  Instant& bound_until = bound_until_[process];
  bound_until = std::max(bound_until, voter.node->majority()->voter.promises().empty_at());
  if (bound_until <= voter.local_now + boot_wait) return std::nullopt;
  return "its disk forgets a promise that may still run";  // [I15]
}

std::optional<std::string> Audit::broken_by_reign(uint32_t process, uint32_t life, uint64_t epoch,
                                                  const Node& leader) {
  const Uuid& id = leader.members().self().id;
  const auto [reign, is_new] = reigns_.try_emplace(epoch, Reign{process, life, id});
  if (reign->second.process != process || reign->second.life != life) {
    return "epoch " + std::to_string(epoch) + " is led a second time";  // [S1]
  }
  if (!is_new || leader.majority() == nullptr) return std::nullopt;
  const size_t votes = votes_[{epoch, id}].size();
  if (votes >= leader.majority()->quorum()) return std::nullopt;
  return "leads with " + std::to_string(votes) + " votes on the disks";  // [I2]
}

// [I3]
std::optional<std::string> broken_by_backing(const Node& leader, std::span<const Voter> voters) {
  const LeaderHint reign = *leader.leader();
  const auto bound = static_cast<size_t>(std::count_if(
      voters.begin(), voters.end(), [&](const Voter& voter) { return is_bound(voter, reign); }));
  if (bound >= leader.majority()->quorum()) return std::nullopt;
  return "its flag is on with " + std::to_string(bound) + " of " + std::to_string(voters.size()) +
         " voters bound to it";
}

}  // namespace bellwether::simulator
