// What the variants have in common: which event is which of the papers' occasions, one state with
// its deadline, how the higher ranks are asked, and what winning is.
#pragma once

#include <bellwether/election_plugin.h>

#include <cstdint>
#include <span>

#include "outbox.hh"
#include "round.hh"
#include "view.hh"

namespace bellwether::bully {

class Variant {
 public:
  explicit Variant(const election_config& config);
  virtual ~Variant() = default;

  // Handles one event and returns what follows, in order; valid until the next call.
  std::span<const election_action> step(const election_event& event);

  // When TIMEOUT is wanted, or ELECTION_NO_DEADLINE.
  uint64_t deadline_ns() const { return deadline_ns_; }

 protected:
  // A lower rank asks, has its answer, and this process is in no election yet.  `is_called`:
  // somebody asked for the election, so that those who hear a leader take part too.
  virtual void on_election(const View& view, uint32_t from, bool is_called) = 0;
  // A higher rank that may lead has answered.
  virtual void on_candidate(const View& /*view*/) {}
  // COLLECTING is over: everybody has answered, or has had the time for it.
  virtual void conclude(const View& view) = 0;
  // A lower rank found this process to be the highest of those it asked.
  virtual void on_handover(const View& view, std::span<const election_id> asked,
                           bool is_called) = 0;
  // The old leader was heard while there is an election against it.
  virtual void on_leader_heard() {}
  // In another state than COLLECTING.
  virtual void on_timeout(const View& view) = 0;
  virtual void on_members(const View& view) = 0;

  // Step 1 of both papers: asks the higher ranks, but for those whom somebody else has asked.
  void start(const View& view, bool is_called, std::span<const election_id> asked_already = {});
  void win(const View& view, const char* why);
  void become(uint32_t state, uint64_t deadline_ns, const char* why);
  void become_idle(const char* why);

  // The names of the timeouts are those of ARCHITECTURE.md.
  const uint64_t answer_timeout_ns_;
  const uint64_t coordinator_timeout_ns_;
  Outbox outbox_;
  Round round_;
  uint32_t state_ = ELECTION_STATE_IDLE;
  uint64_t deadline_ns_ = ELECTION_NO_DEADLINE;

 private:
  void on_message(const View& view, uint32_t from, const election_message& message);
  void on_leader(const View& view, uint32_t reason);
  void collect(const View& view);
  bool takes_part(const View& view, bool is_called) const;
  bool is_ahead_of_higher(const View& view, uint32_t other) const;

  const bool is_sticky_;  // who hears a leader answers ELECTION but starts nothing
};

}  // namespace bellwether::bully
