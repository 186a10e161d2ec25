// A voter's way to leadership under guard "majority": first it canvasses ("would you grant me?"),
// so that a claim without prospects burns no epoch; then it stores its own vote; then it claims and
// collects grants.  It may lead when a majority of voters, itself among them, has granted, and
// nothing that they promised to earlier leaders is left.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/electorate.hh"
#include "core/promises.hh"

namespace bellwether {

class Candidacy {
 public:
  enum class Stage : uint8_t { kCanvass, kStore, kClaim };

  // `number` tells this canvass from earlier ones.
  Candidacy(uint64_t number, bool is_planned, bool is_appointed, std::vector<Uuid> silent)
      : number_(number),
        is_planned_(is_planned),
        is_appointed_(is_appointed),
        silent_(std::move(silent)) {}

  uint64_t number() const { return number_; }
  Stage stage() const { return stage_; }
  void enter(Stage stage) { stage_ = stage; }
  // The leader itself has asked this process to take over.
  bool is_planned() const { return is_planned_; }
  // An operator has named it.
  bool is_appointed() const { return is_appointed_; }
  // Those that were asked in the election and did not answer.
  const std::vector<Uuid>& silent() const { return silent_; }

  // --- the canvass ---
  // The last word of a voter counts.
  void note_opinion(size_t slot, bool is_yes) {
    (is_yes ? yes_ : no_).add(slot);
    (is_yes ? no_ : yes_).remove(slot);
  }
  size_t supporters() const { return yes_.count(); }
  size_t opponents() const { return no_.count(); }

  // --- the claim ---
  void note_refusal(size_t slot) { refusals_.add(slot); }
  size_t refusals() const { return refusals_.count(); }
  // A grant, with what still stands against it; replaces an earlier one of the same voter.
  void note_grant(size_t slot, Promises waits, Instant boot_until);
  // As in Promises.
  void release(const Uuid& leader, uint64_t epoch);
  size_t grants() const;
  bool is_in_force(size_t slot, Instant now) const {
    const auto& grant = grants_[slot];
    return grant && grant->boot_until <= now && grant->waits.is_empty_at(now);
  }
  // How many voters have granted with nothing left to wait for.
  size_t grants_in_force(Instant now) const;
  // When grants_in_force() may be more, if nothing is heard; kNever: by time alone never.
  Instant next_change(Instant now) const;

 private:
  struct Grant {
    Promises waits;
    Instant boot_until{};
  };

  uint64_t number_;
  Stage stage_ = Stage::kCanvass;
  bool is_planned_;
  bool is_appointed_;
  std::vector<Uuid> silent_;
  Votes yes_;
  Votes no_;
  Votes refusals_;
  std::array<std::optional<Grant>, kMaxVoters> grants_;
};

}  // namespace bellwether
