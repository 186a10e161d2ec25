// The modified bully algorithm of P. B. Soundarabai, R. Sahai, J. Thriveni, K. R. Venugopal and
// L. M. Patnaik, "Improved Bully Election Algorithm for Distributed Systems", 2014.  O(N) messages.
//
//   1. Who misses the leader, the initiator, asks every higher rank (ELECTION); who is asked
//      answers with its id (ANSWER) and halts: it starts no election of its own meanwhile.
//   2. The initiator chooses the highest that answered and hands over to it (HANDOVER), naming
//      everybody it asked.  If nobody answered, it has won itself.
//   3. The chosen one asks only those still higher that were not asked yet; normally that is
//      nobody, and it has won.  The host announces it (COORDINATOR).
//   4. If the chosen one dies, the initiator hands over to the next-highest that answered.
//      If the initiator dies, the halt timer of those it halted runs out, and they start.
#pragma once

#include "case.hh"
#include "variant.hh"

namespace bellwether::bully {

class Modified : public Variant {
 public:
  using Variant::Variant;

  // What an election takes; 3N - 4 in the worst case, see README.md.
  static election_cost cost(const Case& which);

 private:
  void on_election(const View& view, uint32_t from, bool is_called) override;
  void conclude(const View& view) override;
  void on_handover(const View& view, std::span<const election_id> asked, bool is_called) override;
  void on_leader_heard() override;
  void on_timeout(const View& view) override;
  void on_members(const View& view) override;

  void replace_chosen(const View& view);
  void succeed_initiator(const View& view);

  election_id initiator_{};  // HALTED: who asked first
  bool is_halted_by_call_ = false;
  election_id chosen_{};  // WAITING: whom this process handed over to
};

}  // namespace bellwether::bully
