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
#include "variant.hh"

namespace bellwether::bully {

class Classic : public Variant {
 public:
  using Variant::Variant;

  // What an election takes; N^2 - N - 1 in the worst case, see README.md.
  static election_cost cost(const Case& which);

 private:
  void on_election(const View& view, uint32_t from, bool is_called) override;
  void on_candidate(const View& view) override;
  void conclude(const View& view) override;
  void on_handover(const View& view, std::span<const election_id> asked, bool is_called) override;
  void on_timeout(const View& view) override;
  void on_members(const View& view) override;
};

}  // namespace bellwether::bully
