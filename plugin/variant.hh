// What the variants have in common: which event is which of the papers' occasions, one state with
// its deadline, and what winning is.
#pragma once

#include <bellwether/election_plugin.h>

#include <cstdint>

#include "outbox.hh"
#include "round.hh"
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
  explicit Variant(const Settings& settings)
      : settings_(settings), round_(settings.first_round, settings.ask_suspected) {}
  virtual ~Variant() = default;

  // Handles one event; the actions go to `outbox`, the deadline can be read afterwards.
  void step(const election_event& event, Outbox& outbox);

  // When TIMEOUT is wanted, or ELECTION_NO_DEADLINE.
  uint64_t deadline_ns() const { return deadline_ns_; }

 protected:
  // Begins an election of this process's own.
  virtual void start(const View& view, bool is_called, Outbox& outbox) = 0;
  virtual void on_election(const View& view, uint32_t from, const election_message& election,
                           Outbox& outbox) = 0;
  virtual void on_answer(const View& view, uint32_t from, const election_message& answer,
                         Outbox& outbox) = 0;
  virtual void on_handover(const View& view, const election_message& handover, Outbox& outbox) = 0;
  // The old leader was heard while there is an election against it.
  virtual void on_leader_heard(Outbox& /*outbox*/) {}
  virtual void on_timeout(const View& view, Outbox& outbox) = 0;
  virtual void on_members(const View& view, Outbox& outbox) = 0;

  void win(const View& view, const char* why, Outbox& outbox);
  void become(uint32_t state, uint64_t deadline_ns, const char* why, Outbox& outbox);
  void become_idle(const char* why, Outbox& outbox);

  const Settings settings_;
  Round round_;
  uint32_t state_ = ELECTION_STATE_IDLE;
  uint64_t deadline_ns_ = ELECTION_NO_DEADLINE;

 private:
  void on_message(const View& view, uint32_t from, const election_message& message, Outbox& outbox);
};

}  // namespace bellwether::bully
