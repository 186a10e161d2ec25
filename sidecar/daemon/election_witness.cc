// Bookkeeping between the moments in which the plugin is idle.
#include "daemon/election_witness.hh"

#include <algorithm>

namespace bellwether::daemon {

void ElectionWitness::on_received(const Uuid& from, FrameType type) {
  if (type != FrameType::kElection && type != FrameType::kHandover) return;
  if (!is_running_) {
    asker_ = from;
  } else if (!lowest_ || members_.index_of(from) < members_.index_of(*lowest_)) {
    lowest_ = from;
  }
}

void ElectionWitness::on_effect(const Effect& effect) {
  if (const auto* progress = std::get_if<Progress>(&effect)) {
    const bool is_idle = progress->state == ELECTION_STATE_IDLE;
    if (!is_idle && !is_running_) begin();
    is_running_ = !is_idle;
  } else if (const auto* publish = std::get_if<Publish>(&effect)) {
    if (publish->leader) last_leader_ = publish->leader;
  } else if (const auto* send = std::get_if<Send>(&effect)) {
    const bool is_news = is_running_ && std::holds_alternative<Coordinator>(send->frame.body);
    if (is_news) told_.insert(send->to);
  }
}

void ElectionWitness::begin() {
  lowest_.reset();
  predecessor_ = last_leader_;
  told_.clear();
}

// COORDINATOR goes to all who are alive, as far as the winner has found out; so who was not told is
// gone.  In the classic variant those that were asked ask as well, but they all rank above the one
// that began.
ElectionCase ElectionWitness::seen(bool was_asked, bool asks_suspected) const {
  const auto ranked = members_.ranked();
  const uint32_t self = members_.self_index();
  ElectionCase election{.members = {ranked.begin(), ranked.end()},
                        .initiator = self,
                        .asks_suspected = asks_suspected};
  for (uint32_t i = 0; i < ranked.size(); ++i) {
    const Uuid& id = members_.id_at(i);
    uint32_t& marks = election.members[i].marks;
    marks &= ~uint32_t{ELECTION_MEMBER_SUSPECT};
    const bool is_gone = i != self && !told_.contains(id);
    if (is_gone) marks |= ELECTION_MEMBER_SUSPECT;
    if (is_gone && predecessor_ == id) election.lost = i;
    const bool has_asked = (was_asked && asker_ == id) || lowest_ == id;
    if (has_asked && !is_gone) election.initiator = std::min(election.initiator, i);
  }
  return election;
}

}  // namespace bellwether::daemon
