// A change is another leader, another epoch, a leader that comes or goes, or one that is to hand
// over; all else that is published only says for how long it holds.
#include "api/leadership.hh"

#include <algorithm>

namespace bellwether::api {

LeadershipFeed::LeadershipFeed(WallTime now) {
  changes_.push_back({.since = now, .reason = words(Why::kStarted), .changed = now});
}

void LeadershipFeed::on_publish(const Publish& publish, const Members& members, WallTime now) {
  valid_until_ = publish.is_leader ? publish.valid_until : Instant{};
  const auto leader = current().leader ? std::optional(current().leader->id) : std::nullopt;
  const bool is_other_leader = publish.leader != leader || publish.is_leader != current().is_self;
  const bool is_other_epoch = publish.leader && publish.epoch != current().epoch;
  const bool is_other_reign = is_other_leader || is_other_epoch;
  if (!is_other_reign && publish.is_draining == current().is_draining) return;
  Leadership next{.is_self = publish.is_leader,
                  .epoch = publish.leader ? publish.epoch : current().epoch,
                  .since = is_other_reign ? now : current().since,
                  .index = current().index + 1,
                  .reason = publish.why ? words(*publish.why) : current().reason,
                  .is_draining = publish.is_draining,
                  .changed = now};
  if (publish.leader) {
    const Member* member = members.find(*publish.leader);
    next.leader = {.id = *publish.leader,
                   .name = member != nullptr ? member->entry.name : to_string(*publish.leader),
                   .address = member != nullptr ? member->entry.address : ""};
  }
  changes_.push_back(std::move(next));
  if (changes_.size() > kMaxKept) changes_.pop_front();
  for (LeadershipListener* listener : listeners_) listener->on_change(current());
}

std::vector<Leadership> LeadershipFeed::changes_after(uint64_t epoch, uint64_t index) const {
  const auto seen = std::find_if(changes_.begin(), changes_.end(), [&](const Leadership& change) {
    return change.index == index && change.epoch == epoch;
  });
  if (seen == changes_.end()) return {};
  return {seen + 1, changes_.end()};
}

}  // namespace bellwether::api
