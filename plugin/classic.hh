// The Bully Algorithm of H. Garcia-Molina, "Elections in a Distributed Computing System", IEEE
// Transactions on Computers C-31(1), 1982, with the message names of later textbooks.  O(N^2).
//
//   1. Who misses the leader asks every higher rank (ELECTION) and waits for an ANSWER.
//   2. Nobody answers in time: it has won.  The host announces it (COORDINATOR).
//   3. Somebody answers: it leaves the election to them and waits for a COORDINATOR; if none comes,
//      it starts again.
//   4. Who is asked answers, and holds an election itself unless it is in one already.
#pragma once

#include "case.hh"
#include "round.hh"
#include "variant.hh"

namespace bellwether::bully {

class Classic : public Variant {
 public:
  explicit Classic(const Settings& settings);

  // What an election takes; N^2 - N - 1 in the worst case, see README.md.
  static election_cost cost(const Case& which);

  void step(const election_event& event, Outbox& outbox) override;
  uint64_t deadline_ns() const override { return deadline_ns_; }

 private:
  void on_message(const View& view, uint32_t from, const election_message& message, Outbox& outbox);
  void on_election(const View& view, uint32_t from, const election_message& election,
                   Outbox& outbox);
  void on_answer(const View& view, uint32_t from, const election_message& answer, Outbox& outbox);
  void on_timeout(const View& view, Outbox& outbox);
  void on_members(const View& view, Outbox& outbox);

  void start(const View& view, bool is_called, Outbox& outbox);
  void win(const View& view, Outbox& outbox);
  void become(uint32_t state, uint64_t deadline_ns, const char* why, Outbox& outbox);
  void become_idle(const char* why, Outbox& outbox);

  const Settings settings_;
  Round round_;
  uint32_t state_;
  uint64_t deadline_ns_;
};

}  // namespace bellwether::bully
