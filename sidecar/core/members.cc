// The list of members: rank order, marks for the plugin, and what is taken over from a view.
#include "core/members.hh"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace bellwether {
namespace {

std::unordered_set<Uuid, UuidHash> ids_of(const MemberView& view) {
  std::unordered_set<Uuid, UuidHash> ids;
  for (const MemberEntry& entry : view.entries) ids.insert(entry.id);
  return ids;
}

bool is_here(const Member& member) {
  return member.is_connected && member.entry.liveness == Liveness::kAlive;
}

}  // namespace

const char* name(Liveness liveness) {
  switch (liveness) {
    case Liveness::kAlive:
      return "alive";
    case Liveness::kSuspect:
      return "suspect";
    case Liveness::kDown:
      return "down";
    case Liveness::kLeft:
      return "left";
  }
  return "?";
}

election_id to_election_id(const Uuid& id) {
  election_id result;
  std::memcpy(result.bytes, id.data, sizeof result.bytes);
  return result;
}

Uuid to_uuid(const election_id& id) {
  Uuid result;
  std::memcpy(result.data, id.bytes, sizeof id.bytes);
  return result;
}

Members::Members(MemberEntry self) : self_id_(self.id), listed_variant_(self.variant) {
  self.liveness = Liveness::kAlive;
  all_.push_back({.entry = std::move(self)});
  rebuild();
}

void Members::set_self_electable(bool is_electable) { set_electable(all_[self_], is_electable); }

Member* Members::find(const Uuid& id) {
  const auto found = index_.find(id);
  return found == index_.end() ? nullptr : &all_[found->second];
}

const Member* Members::find(const Uuid& id) const {
  const auto found = index_.find(id);
  return found == index_.end() ? nullptr : &all_[found->second];
}

uint32_t Members::index_of(const Uuid& id) const {
  const auto found = index_.find(id);
  return found == index_.end() || found->second >= ranked_.size() ? ELECTION_NOBODY : found->second;
}

Member* Members::put(const MemberEntry& entry, Instant now) {
  Member* known = find(entry.id);
  if (known == nullptr) {
    if (all_.size() >= kMaxMembers) return nullptr;
    all_.push_back({.entry = entry, .since = now});
    rebuild();
    return find(entry.id);
  }
  if (known->entry == entry) return known;
  const bool moves =
      known->entry.rank() != entry.rank() ||
      (known->entry.liveness == Liveness::kLeft) != (entry.liveness == Liveness::kLeft);
  if (known->entry.liveness != entry.liveness) known->since = now;
  known->entry = entry;
  if (moves) {
    rebuild();
    return find(entry.id);
  }
  refresh_marks(static_cast<size_t>(known - all_.data()));
  return known;
}

bool Members::set_liveness(Member& member, Liveness liveness, Instant now) {
  if (member.entry.liveness == liveness) return false;
  MemberEntry entry = member.entry;
  entry.liveness = liveness;
  put(entry, now);
  return true;
}

bool Members::set_electable(Member& member, bool is_electable) {
  if (member.entry.is_electable == is_electable) return false;
  member.entry.is_electable = is_electable;
  refresh_marks(static_cast<size_t>(&member - all_.data()));
  return true;
}

bool Members::set_variant(Member& member, const std::string& variant) {
  if (member.entry.variant == variant) return false;
  member.entry.variant = variant;
  view_.reset();
  return true;
}

void Members::load(const MemberView& view) {
  for (const MemberEntry& entry : view.entries) {
    if (entry.id == self_id_ || entry.liveness == Liveness::kLeft) continue;
    if (all_.size() >= kMaxMembers) break;
    all_.push_back({.entry = entry});
    all_.back().entry.liveness = Liveness::kSuspect;
  }
  rebuild();
  set_version(view.version);
}

void Members::start(Instant now) {
  for (Member& member : all_) member.since = now;
}

bool Members::merge(const MemberView& view, Instant now) {
  bool changed = add_unknown(view, now);
  if (view.version <= version_) return changed;
  changed |= take_over_known(view, now);
  changed |= drop_unlisted(view);
  set_version(view.version);
  return changed;
}

bool Members::add_unknown(const MemberView& view, Instant now) {
  bool changed = false;
  for (const MemberEntry& entry : view.entries) {
    if (entry.liveness == Liveness::kLeft || find(entry.id) != nullptr) continue;
    changed |= put(entry, now) != nullptr;
  }
  return changed;
}

bool Members::take_over_known(const MemberView& view, Instant now) {
  bool changed = false;
  for (const MemberEntry& entry : view.entries) {
    if (entry.id == self_id_) listed_variant_ = entry.variant;
    Member* known = find(entry.id);
    if (known == nullptr || entry.id == self_id_ || known->entry == entry) continue;
    if (!known->is_connected) {
      put(entry, now);
      changed = true;
    } else if (entry.boot == known->entry.boot && entry.liveness != Liveness::kLeft) {
      // Alive again, or suspect; that it is down, its connection here would have told.
      const bool is_alive = entry.liveness == Liveness::kAlive;
      changed |= set_electable(*known, entry.is_electable);
      changed |= set_variant(*known, entry.variant);
      changed |= set_liveness(*known, is_alive ? Liveness::kAlive : Liveness::kSuspect, now);
    }
  }
  return changed;
}

bool Members::drop_unlisted(const MemberView& view) {
  const std::unordered_set<Uuid, UuidHash> listed = ids_of(view);
  for (Member& member : all_) member.is_listed = listed.contains(member.entry.id);
  const auto dropped = std::erase_if(all_, [&](const Member& member) {
    return member.entry.id != self_id_ && !is_here(member) && !listed.contains(member.entry.id);
  });
  if (dropped != 0) rebuild();
  return dropped != 0;
}

bool Members::knows_more_than_listed() const {
  return std::any_of(all_.begin(), all_.end(),
                     [](const Member& member) { return is_here(member) && !member.is_listed; });
}

bool Members::forget(Instant before) {
  const auto gone = std::erase_if(all_, [&](const Member& member) {
    return member.entry.liveness != Liveness::kAlive && member.entry.id != self_id_ &&
           member.since < before;
  });
  if (gone != 0) rebuild();
  return gone != 0;
}

void Members::begin_view(uint64_t epoch) {
  for (Member& member : all_) member.acknowledged_beat = member.listed_beat = 0;
  lead_view({epoch, 1});
}

void Members::lead_view(ViewVersion version) {
  set_version(version);
  listed_variant_ = self().variant;
}

const std::shared_ptr<const MemberView>& Members::view() {
  if (!view_) {
    auto view = std::make_shared<MemberView>();
    view->version = version_;
    for (const Member& member : all_) view->entries.push_back(member.entry);
    view_ = std::move(view);
  }
  return view_;
}

bool Members::do_all_want(const std::string& variant) const {
  return std::all_of(all_.begin(), all_.end(), [&](const Member& member) {
    return member.entry.liveness != Liveness::kAlive || member.entry.variant == variant;
  });
}

uint32_t Members::living_candidates_above_self() const {
  uint32_t count = 0;
  for (size_t i = self_ + 1; i < ranked_.size(); ++i) {
    const MemberEntry& entry = all_[i].entry;
    if (entry.liveness == Liveness::kAlive && entry.is_electable) ++count;
  }
  return count;
}

// Rare (a member appears, goes or changes rank), so simplicity wins over speed.
void Members::rebuild() {
  std::sort(all_.begin(), all_.end(), [](const Member& left, const Member& right) {
    const bool left_gone = left.entry.liveness == Liveness::kLeft;
    const bool right_gone = right.entry.liveness == Liveness::kLeft;
    return left_gone != right_gone ? right_gone : left.entry.rank() < right.entry.rank();
  });
  const auto present =
      static_cast<size_t>(std::count_if(all_.begin(), all_.end(), [](const Member& member) {
        return member.entry.liveness != Liveness::kLeft;
      }));
  ranked_.assign(present, election_member{});
  index_.clear();
  for (size_t i = 0; i < all_.size(); ++i) {
    index_.emplace(all_[i].entry.id, static_cast<uint32_t>(i));
    if (i < present) refresh_marks(i);
  }
  self_ = index_.at(self_id_);
  view_.reset();
}

void Members::refresh_marks(size_t index) {
  view_.reset();
  if (index >= ranked_.size()) return;
  const MemberEntry& entry = all_[index].entry;
  election_member& member = ranked_[index];
  member.id = to_election_id(entry.id);
  member.priority = entry.priority;
  const bool is_suspect = entry.liveness != Liveness::kAlive;
  member.marks = (is_suspect ? uint32_t{ELECTION_MEMBER_SUSPECT} : 0u) |
                 (entry.is_electable ? uint32_t{ELECTION_MEMBER_ELECTABLE} : 0u);
}

void Members::set_version(ViewVersion version) {
  version_ = version;
  has_list_ = has_list_ || version != ViewVersion{};
  view_.reset();
}

}  // namespace bellwether
