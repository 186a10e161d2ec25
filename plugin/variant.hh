// What the two variants have in common: one event in, actions out, and one deadline.
#pragma once

#include <bellwether/election_plugin.h>

#include <cstdint>

#include "outbox.hh"
#include "view.hh"

namespace bellwether::bully {

// How a variant is set up; the names of the timeouts are those of ARCHITECTURE.md.
struct Settings {
  uint64_t answer_timeout_ns = 0;
  uint64_t coordinator_timeout_ns = 0;
  uint64_t first_round = 0;
  bool sticky = false;         // who hears a leader answers ELECTION but starts nothing
  bool ask_suspected = false;  // ask suspected members too (the papers' count), wait for none
};

// Whether a process that is asked takes part in the election.  A leader need not be elected again,
// and who hears one (if `sticky`) has no need of another: the host's ANSWER names the leader, and
// the one that asked follows it.
inline bool takes_part(const View& view, const election_message& election, bool sticky) {
  if ((election.flags & ELECTION_FLAG_CALLED) != 0) return true;
  return !view.leads() && !(sticky && view.has_leader());
}

class Variant {
 public:
  virtual ~Variant() = default;

  // Handles one event; the actions go to `outbox`, the deadline can be read afterwards.
  virtual void step(const election_event& event, Outbox& outbox) = 0;

  // When TIMEOUT is wanted, or ELECTION_NO_DEADLINE.
  virtual uint64_t deadline_ns() const = 0;
};

}  // namespace bellwether::bully
