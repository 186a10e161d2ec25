// A change is another leader, another epoch, or a leader that comes or goes; all else that is
// published only says for how long it holds.
#include "api/leadership.hh"

#include <algorithm>

namespace bellwether::api {

LeadershipFeed::LeadershipFeed(WallTime now) {
  changes_.push_back({.since = now, .reason = words(Why::kStarted)});
}

void LeadershipFeed::on_publish(const Publish& publish, const Members& members, WallTime now) {
  valid_until_ = publish.is_leader ? publish.valid_until : Instant{};
  if (!is_change(publish)) return;
  Leadership next{.is_self = publish.is_leader,
                  .epoch = publish.leader ? publish.epoch : current().epoch,
                  .since = now,
                  .index = current().index + 1,
                  .reason = publish.why ? words(*publish.why) : ""};
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

bool LeadershipFeed::is_change(const Publish& publish) const {
  const Leadership& now = current();
  if (publish.is_leader != now.is_self || publish.leader.has_value() != now.leader.has_value()) {
    return true;
  }
  return publish.leader && (*publish.leader != now.leader->id || publish.epoch != now.epoch);
}

std::vector<Leadership> LeadershipFeed::changes_after(uint64_t epoch, uint64_t index) const {
  const auto seen = std::find_if(changes_.begin(), changes_.end(), [&](const Leadership& change) {
    return change.index == index && change.epoch == epoch;
  });
  if (seen == changes_.end()) return {};
  return {seen + 1, changes_.end()};
}

}  // namespace bellwether::api
