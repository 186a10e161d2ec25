// The record, and the foreign client of it.
#include "simulator/virtual_store.hh"

#include "core/store_view.hh"

namespace bellwether::simulator {
namespace {

using Holder = StoreRecord::Holder;

// No longer than that of any group: of a record that was deleted nobody can know that it was
// longer.
constexpr Duration kForeignLease = std::chrono::seconds(1);
// It goes by a length of its own, whatever the record says, as client-go's does: which must not be
// shorter than anybody else's.
constexpr Duration kForeignWait = std::chrono::seconds(12);
constexpr const char* kForeigner = "stranger";

}  // namespace

StoreSight VirtualStore::read() {
  const bool is_old = !earlier_.empty() && happens(options.old_reads);
  return is_old ? earlier_[random_.below(earlier_.size())] : sight_;
}

std::optional<StoreVersion> VirtualStore::write(const StoreVersion& expected,
                                                const StoreRecord& record) {
  if (expected != sight_.version) return std::nullopt;
  rewrite(record);
  return sight_.version;
}

void VirtualStore::empty_holder() {
  if (sight_.version.empty()) return;
  StoreRecord record = sight_.record;
  record.holder = Holder::kUnknown;
  record.id = {};
  record.name.clear();
  rewrite(record);
}

// By hand, and its holder stays.
void VirtualStore::shorten_lease() {
  if (sight_.version.empty()) return;
  StoreRecord record = sight_.record;
  record.lease = std::chrono::milliseconds(1);
  rewrite(record);
}

void VirtualStore::rewrite(const StoreRecord& record) {
  change({.version = std::to_string(++versions_), .record = record});
}

void VirtualStore::change(StoreSight sight) {
  earlier_.push_back(std::move(sight_));
  if (earlier_.size() > kKept) earlier_.pop_front();
  sight_ = std::move(sight);
}

void ForeignElector::look(VirtualStore& store, Instant now) {
  const StoreSight& sight = store.sight();
  const StoreRecord& record = sight.record;
  const bool is_own = holds(record);
  if (sight.version.empty()) return;  // it makes none
  if (sight.version != seen_) {
    seen_ = sight.version;
    seen_at_ = now;
  }
  const bool is_over = now >= seen_at_ + kForeignWait;
  if (!is_own && record.holder != Holder::kReleased && !is_over) return;
  const auto version = store.write(sight.version, claimed(sight, now));
  seen_ = *version;
  seen_at_ = now;
  leads_until_ = now + kForeignLease * 4 / 5;
}

void ForeignElector::start_as(const MemberEntry& member) {
  twin_ = member;
  twin_->home = ~member.home;
  twin_->boot = ~member.boot;
  is_on_ = true;
}

bool ForeignElector::holds(const StoreRecord& record) const {
  if (twin_) return record.is_held_by(twin_->id, twin_->home);
  return record.holder == Holder::kStranger && record.name == kForeigner;
}

StoreRecord ForeignElector::claimed(const StoreSight& before, Instant now) const {
  if (!twin_) return {.holder = Holder::kStranger, .name = kForeigner, .lease = kForeignLease};
  return {.holder = Holder::kMember,
          .id = twin_->id,
          .name = twin_->name,
          .home = twin_->home,
          .boot = twin_->boot,
          .epoch = epoch_over(before, now),
          .lease = kForeignLease};
}

// A twin is a sidecar as well, and takes the epoch that a sidecar takes.
uint64_t ForeignElector::epoch_over(const StoreSight& before, Instant now) const {
  if (holds(before.record)) return before.record.epoch;
  StoreView view(kForeignLease);
  const auto clock_ms =
      static_cast<uint64_t>(now.time_since_epoch() / std::chrono::milliseconds(1));
  view.see(before, now, clock_ms, false);
  return view.least_epoch(now);
}

void ForeignElector::stop(VirtualStore& store) {
  const bool is_to_empty = !twin_ && holds(store.sight().record);
  is_on_ = false;
  twin_.reset();
  leads_until_ = {};
  if (is_to_empty) store.empty_holder();
}

}  // namespace bellwether::simulator
