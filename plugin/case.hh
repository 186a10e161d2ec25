// An election whose cost the host asks for, with the questions that the closed forms ask of it.
// Members come in ascending rank, as in view.hh.
#pragma once

#include <bellwether/election_plugin.h>

#include <cstdint>

namespace bellwether::bully {

class Case {
 public:
  explicit Case(const election_case& which) : which_(which) {}

  uint32_t initiator() const { return which_.initiator; }
  bool asks_suspected() const { return (which_.flags & ELECTION_CASE_ASK_SUSPECTED) != 0; }
  bool is_gone(uint32_t member) const { return has_mark(member, ELECTION_MEMBER_SUSPECT); }

  // The highest that lives.
  uint32_t winner() const {
    uint32_t winner = which_.member_count - 1;
    while (is_gone(winner)) --winner;
    return winner;
  }

  // How many of those above `member` live, and answer it.
  uint64_t living_above(uint32_t member) const {
    uint64_t living = 0;
    for (uint32_t higher = member + 1; higher < which_.member_count; ++higher) {
      if (!is_gone(higher)) ++living;
    }
    return living;
  }

  // How many of those above `member` it asks: the living; and the dead where that is the rule, or
  // else the lost one if it takes that for living.
  uint64_t asked_by(uint32_t member) const {
    if (asks_suspected()) return which_.member_count - 1 - member;
    return living_above(member) + (is_misled(member) && which_.lost > member ? 1u : 0u);
  }

  // Whether the winner waits in vain for an answer of the lost one.
  bool winner_waits() const { return is_misled(winner()) && which_.lost > winner(); }

  // Whom the winner tells: all others that it takes for living.
  uint64_t told() const {
    const uint64_t living = living_above(0) + (is_gone(0) ? 0u : 1u);
    return living - 1 + (is_misled(winner()) && which_.lost < winner() ? 1u : 0u);
  }

  // Whether the initiator, or somebody above it that lives, may not lead: what comes of that
  // depends on for how long.
  bool is_anybody_held() const {
    for (uint32_t member = initiator(); member < which_.member_count; ++member) {
      if (!is_gone(member) && !has_mark(member, ELECTION_MEMBER_ELECTABLE)) return true;
    }
    return false;
  }

 private:
  // Whether `member` takes a dead one for living.
  bool is_misled(uint32_t member) const {
    return which_.lost != ELECTION_NOBODY && member != initiator();
  }
  bool has_mark(uint32_t member, uint32_t mark) const {
    return (which_.members[member].marks & mark) != 0;
  }

  const election_case& which_;
};

}  // namespace bellwether::bully
