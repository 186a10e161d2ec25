// A voter's way to leadership under guard "majority": first it canvasses ("would you grant me?"),
// so that a claim without prospects burns no epoch; then it stores its own vote; then it claims and
// collects grants.  It may lead when a majority of voters, itself among them, has granted, and
// nothing that they promised to earlier leaders is left.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "core/electorate.hh"
#include "core/promises.hh"

namespace bellwether {

// What a claim is to be.
struct Proposal {
  bool is_planned = false;     // the leader itself has asked this process to take over
  bool is_appointed = false;   // an operator has named it
  std::vector<Uuid> silent{};  // those that were asked in the election and did not answer
  bool is_take_over = false;   // a leader that is there has been asked for its place, or gives it
};

// "Would you grant me?"  What those think that were asked; the last word of each counts.
class Opinions {
 public:
  void ask(size_t slot) { asked_.add(slot); }
  void note(size_t slot, bool is_yes) {
    (is_yes ? supporters_ : opponents_).add(slot);
    (is_yes ? opponents_ : supporters_).remove(slot);
  }
  bool is_supported(size_t quorum) const { return supporters_.count() >= quorum; }
  // Whatever the others say.
  bool is_hopeless(size_t quorum) const { return asked_.without(opponents_).count() < quorum; }

 private:
  Votes asked_{};
  Votes supporters_{};
  Votes opponents_{};
};

// The claim, and what has come of it.
class Candidacy {
 public:
  explicit Candidacy(Proposal proposal) : proposal_(std::move(proposal)) {}

  const Proposal& proposal() const { return proposal_; }

  void note_refusal(size_t slot) { refusals_.add(slot); }
  size_t refusals() const { return refusals_.count(); }
  // A grant, with what still stands against it; replaces an earlier one of the same voter.
  void note_grant(size_t slot, Promises waits, Instant boot_until) {
    grants_[slot] = Grant{std::move(waits), boot_until};
  }
  // As in Promises.
  void release(const Uuid& leader, uint64_t epoch) {
    for (auto& grant : grants_) {
      if (grant) grant->waits.release(leader, epoch);
    }
  }
  size_t grants() const {
    return static_cast<size_t>(
        std::ranges::count_if(grants_, [](const auto& grant) { return grant.has_value(); }));
  }
  bool is_in_force(size_t slot, Instant now) const {
    const auto& grant = grants_[slot];
    return grant && grant->boot_until <= now && grant->waits.is_empty_at(now);
  }
  // How many voters have granted with nothing left to wait for.
  size_t grants_in_force(Instant now) const {
    size_t count = 0;
    for (size_t slot = 0; slot < grants_.size(); ++slot) count += is_in_force(slot, now) ? 1u : 0u;
    return count;
  }
  // When grants_in_force() may be more, if nothing is heard; kNever: by time alone never.
  Instant next_change(Instant now) const {
    Instant next = kNever;
    for (const auto& grant : grants_) {
      if (!grant) continue;
      const Instant free = std::max(grant->boot_until, grant->waits.empty_at());
      if (free > now) next = std::min(next, free);
    }
    return next;
  }

 private:
  struct Grant {
    Promises waits;
    Instant boot_until{};
  };

  Proposal proposal_;
  Votes refusals_;
  std::array<std::optional<Grant>, kMaxVoters> grants_;
};

}  // namespace bellwether
