// Who may write over a record.
#include "core/store_view.hh"

#include <algorithm>

#include "base/names.hh"

namespace bellwether {
namespace {

using Holder = StoreRecord::Holder;

uint64_t milliseconds_of(Duration duration) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

}  // namespace

const char* name(Ground ground) {
  static constexpr Names<Ground> kNames(
      {"none", "released", "own", "said_released", "ended", "was_held", "expired"});
  return kNames[ground];
}

const char* name(StoreRecord::Holder holder) {
  static constexpr Names<StoreRecord::Holder> kNames({"unknown", "released", "member", "stranger"});
  return kNames[holder];
}

bool StoreView::see(const StoreSight& sight, Instant now, uint64_t clock_ms, bool is_flag_on) {
  looked_at_ = now;
  if (is_known_ && sight.version == sight_.version) return false;
  const StoreRecord& record = sight.record;
  // Whoever leads a later epoch has waited for the one before; all else may be somebody's edit,
  // which cuts nobody's flag short.
  const bool is_later_reign =
      record.holder == Holder::kMember && record.epoch > sight_.record.epoch;
  const bool is_members = record.holder == Holder::kMember;
  const Duration length = is_members ? std::min(record.lease, kMaxStoreLease) : record.lease;
  longest_ = is_later_reign ? length : std::max(longest_, length);
  if (is_members || record.holder == Holder::kReleased) {
    longest_ever_ = std::max(longest_ever_, std::min(length, kMaxStoreLease));
  }
  if (sight.version != sight_.version) changed_at_ = now;
  sight_ = sight;
  is_known_ = true;
  seen_at_ = now;
  clock_ms_ = clock_ms;
  was_flag_on_ = is_flag_on;
  return true;
}

void StoreView::set_members_lease(Duration longest) {
  members_lease_ = std::min(longest, kMaxStoreLease);
}

Instant StoreView::over_at() const {
  return seen_at_ + std::max({longest_, own_lease_, members_lease_});
}

Ground StoreView::ground(Instant now, const MemberEntry& self, const HolderNews& news) const {
  if (!is_known_ || is_absent()) return Ground::kNone;
  switch (record().holder) {
    case Holder::kReleased:
      return Ground::kReleased;
    case Holder::kMember:
      if (holds(self.id, self.home)) return Ground::kOwn;
      if (news.released >= record().epoch) return Ground::kSaidReleased;
      if (news.has_ended) return Ground::kEnded;
      break;
    case Holder::kUnknown:
      if (was_flag_on_) return Ground::kWasHeld;
      break;
    case Holder::kStranger:
      break;
  }
  return over_at() <= now ? Ground::kExpired : Ground::kNone;
}

bool StoreView::has_epoch() const {
  const bool is_ours = record().holder == Holder::kMember || record().holder == Holder::kReleased;
  return is_ours && record().epoch != 0;
}

uint64_t StoreView::least_epoch(Instant now) const {
  if (has_epoch()) return record().epoch + 1;
  return std::max(record().epoch + 1, clock_ms_ + milliseconds_of(now - seen_at_));
}

}  // namespace bellwether
