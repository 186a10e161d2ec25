// The list of members: rank order, marks for the plugin, and what is taken over from a view.
#include "core/members.hh"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/names.hh"

namespace bellwether {
namespace {

// What its process says of itself, but for what it cannot be.
MemberEntry believed(MemberEntry entry, bool can_lead) {
  entry.is_electable = entry.is_electable && can_lead;
  return entry;
}

bool is_here(const Member& member) {
  return member.is_connected && member.entry.liveness == Liveness::kAlive;
}

}  // namespace

const char* name(Liveness liveness) {
  static constexpr Names<Liveness> kNames({"alive", "suspect", "down", "left"});
  return kNames[liveness];
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

Members::Members(const MemberEntry& self, Electorate voters)
    : voters_(std::move(voters)),
      self_(add(self, Instant{})),
      listed_variant_(self_.entry.variant) {
  self_.entry.liveness = Liveness::kAlive;
  rebuild();
}

void Members::set_self_electable(bool is_electable) {
  is_self_outdated_ |= set_electable(self_, is_electable);
}

Member* Members::find(const Uuid& id) {
  const auto found = places_.find(id);
  return found == places_.end() ? nullptr : found->second.member;
}

const Member* Members::find(const Uuid& id) const {
  const auto found = places_.find(id);
  return found == places_.end() ? nullptr : found->second.member;
}

std::string Members::name_of(const Uuid& id) const {
  const Member* member = find(id);
  return member != nullptr ? member->entry.name : to_string(id);
}

uint32_t Members::index_of(const Uuid& id) const {
  const auto found = places_.find(id);
  const bool is_ranked = found != places_.end() && found->second.index < ranked_.size();
  return is_ranked ? found->second.index : ELECTION_NOBODY;
}

Member* Members::put(const MemberEntry& entry, Instant now) {
  if (Member* known = find(entry.id)) {
    update(*known, entry, now);
    return known;
  }
  const bool is_voter = voters_.slot_of(entry.name).has_value();
  if (is_full_for(is_voter) && !make_room(is_voter)) return nullptr;
  Member& added = add(entry, now);
  rebuild();
  return &added;
}

Member& Members::add(const MemberEntry& entry, Instant now) {
  return all_.emplace_back(Member{.entry = believed(entry, can_lead(entry.name)),
                                  .slot = voters_.slot_of(entry.name),
                                  .since = now});
}

// Where there are voters nobody else can lead, whatever it says of itself.
bool Members::can_lead(const std::string& name) const {
  return voters_.size() == 0 || voters_.slot_of(name).has_value();
}

void Members::update(Member& member, const MemberEntry& entry, Instant now) {
  const MemberEntry taken = believed(entry, can_lead(entry.name));
  if (member.entry == taken) return;
  const bool moves =
      member.entry.rank() != taken.rank() ||
      (member.entry.liveness == Liveness::kLeft) != (taken.liveness == Liveness::kLeft);
  if (member.entry.liveness != taken.liveness) member.since = now;
  member.entry = taken;
  member.slot = voters_.slot_of(taken.name);
  moves ? rebuild() : refresh_marks(member);
}

// The voters were named by an operator: there is always room for them.
bool Members::is_full_for(bool is_voter) const {
  if (is_voter || voters_.size() == 0) return all_.size() >= kMaxMembers;
  const auto others = static_cast<size_t>(
      std::ranges::count_if(all_, [](const Member& member) { return !member.slot; }));
  return others >= kMaxMembers - voters_.size();
}

// A member that has left comes back under the same id, or not at all; one that is only out of sight
// may be back.
bool Members::make_room(bool is_for_voter) {
  const auto is_worse = [](const Member& left, const Member& right) {
    const bool left_has_left = left.entry.liveness == Liveness::kLeft;
    const bool right_has_left = right.entry.liveness == Liveness::kLeft;
    return left_has_left != right_has_left ? left_has_left : left.since < right.since;
  };
  const Member* least = nullptr;
  for (const Member& member : all_) {
    const bool is_gone = !member.is_connected && member.entry.liveness != Liveness::kAlive;
    if (member.slot && !is_for_voter) continue;
    if (is_gone && (least == nullptr || is_worse(member, *least))) least = &member;
  }
  return least != nullptr && forget_if([&](const Member& member) { return &member == least; });
}

template <typename Which>
bool Members::forget_if(Which which) {
  const size_t before = all_.size();
  for (auto member = all_.begin(); member != all_.end();) {
    const auto next = std::next(member);
    if (&*member != &self_ && which(*member)) gone_.splice(gone_.end(), all_, member);
    member = next;
  }
  if (all_.size() == before) return false;
  rebuild();
  return true;
}

bool Members::supersede(const Member& member) {
  return forget_if([&](const Member& other) {
    return &other != &member && !is_here(other) && other.entry.name == member.entry.name;
  });
}

bool Members::forget_named(const std::string& name) {
  return forget_if([&](const Member& member) {
    const bool is_gone = !member.is_connected && member.entry.liveness != Liveness::kAlive;
    return is_gone && member.entry.name == name;
  });
}

bool Members::is_listed_here(const Member& member) const {
  return find(member.entry.id) == &member;
}

bool Members::set_liveness(Member& member, Liveness liveness, Instant now) {
  if (member.entry.liveness == liveness || !is_listed_here(member)) return false;
  MemberEntry entry = member.entry;
  entry.liveness = liveness;
  update(member, entry, now);
  return true;
}

bool Members::set_electable(Member& member, bool says_electable) {
  const bool is_electable = says_electable && can_lead(member.entry.name);
  if (member.entry.is_electable == is_electable || !is_listed_here(member)) return false;
  member.entry.is_electable = is_electable;
  refresh_marks(member);
  return true;
}

bool Members::set_variant(Member& member, const std::string& variant) {
  if (member.entry.variant == variant || !is_listed_here(member)) return false;
  member.entry.variant = variant;
  view_.reset();
  return true;
}

bool Members::set_worth(Member& member, Ability ability, int64_t score, uint64_t revision) {
  const bool is_same = member.entry.ability == ability && member.entry.score == score &&
                       member.entry.revision == revision;
  if (is_same || !is_listed_here(member)) return false;
  member.entry.ability = ability;
  member.entry.score = score;
  member.entry.revision = revision;
  is_in_order(member) ? refresh_marks(member) : rebuild();
  return true;
}

// Scores change all the time, ranks rarely.
bool Members::is_in_order(const Member& member) const {
  const uint32_t index = index_of(member.entry.id);
  if (index == ELECTION_NOBODY) return true;
  const Rank rank = member.entry.rank();
  const bool is_above = index == 0 || order_[index - 1]->entry.rank() < rank;
  return is_above && (index + 1 >= ranked_.size() || rank < order_[index + 1]->entry.rank());
}

void Members::load(const MemberView& view) {
  for (const MemberEntry& entry : view.entries) {
    if (entry.id == self().id || entry.liveness == Liveness::kLeft) continue;
    if (all_.size() >= kMaxMembers) break;
    add(entry, Instant{}).entry.liveness = Liveness::kSuspect;
  }
  rebuild();
  set_version(view.version);
}

void Members::start(Instant now) {
  for (Member& member : all_) member.since = now;
}

bool Members::merge(const MemberView& view, Instant now) {
  if (view.version <= version_) return add_unknown(view, now);
  // First, or a full group would have no room for those that the list names.
  bool changed = drop_unlisted(view);
  changed |= add_unknown(view, now);
  changed |= take_over_known(view, now);
  set_version(view.version);
  return changed;
}

bool Members::add_unknown(const MemberView& view, Instant now) {
  bool changed = false;
  for (const MemberEntry& entry : view.entries) {
    if (entry.liveness == Liveness::kLeft || find(entry.id) != nullptr) continue;
    if (lives_under_another_id(entry)) continue;
    // It may have been forgotten here for somebody else: whoever gave way for it would be named
    // again by others, and so on.
    const bool is_gone = entry.liveness != Liveness::kAlive;
    if (is_gone && is_full_for(voters_.slot_of(entry.name).has_value())) continue;
    Member* added = put(entry, now);
    if (added != nullptr) added->is_hearsay = true;
    changed |= added != nullptr;
  }
  return changed;
}

// The list was made, or was on its way, before its sender heard of the newer identity.
bool Members::lives_under_another_id(const MemberEntry& entry) const {
  return std::ranges::any_of(all_, [&](const Member& member) {
    return member.entry.name == entry.name && (&member == &self_ || is_here(member));
  });
}

bool Members::take_over_known(const MemberView& view, Instant now) {
  bool changed = false;
  for (const MemberEntry& entry : view.entries) {
    if (entry.id == self().id) read_of_self(entry);
    Member* known = find(entry.id);
    if (known == nullptr || known == &self_ || known->entry == entry) continue;
    if (known->is_voter_under_another(entry.name)) continue;
    if (!known->is_connected) {
      update(*known, entry, now);
      changed = true;
    } else if (entry.boot == known->entry.boot && entry.liveness != Liveness::kLeft) {
      // Alive again, or suspect; that it is down, its connection here would have told.
      const bool is_alive = entry.liveness == Liveness::kAlive;
      // What the member itself has said here since is newer than what its leader has heard.
      if (known->entry.can_be_news(entry.revision)) {
        changed |= set_electable(*known, entry.is_electable);
        changed |= set_worth(*known, entry.ability, entry.score, entry.revision);
      }
      changed |= set_variant(*known, entry.variant);
      changed |= set_liveness(*known, is_alive ? Liveness::kAlive : Liveness::kSuspect, now);
    }
  }
  return changed;
}

void Members::read_of_self(const MemberEntry& listed) {
  listed_variant_ = listed.variant;
  listed_revision_ = listed.boot == self().boot ? listed.revision : 0;
  // Somebody has made it up, and the others would hear nothing below it.
  const bool is_made_up =
      listed_revision_ > self().revision && self().can_be_news(listed_revision_);
  if (is_made_up) set_worth(self_, self().ability, self().score, listed_revision_ + 1);
}

bool Members::drop_unlisted(const MemberView& view) {
  listed_.clear();
  for (const MemberEntry& entry : view.entries) listed_.push_back(entry.id);
  std::ranges::sort(listed_);
  return forget_if(
      [&](const Member& member) { return !is_here(member) && !is_listed(member.entry.id); });
}

bool Members::is_listed(const Uuid& id) const { return std::ranges::binary_search(listed_, id); }

bool Members::knows_more_than_listed() const {
  return std::ranges::any_of(all_, [this](const Member& member) {
    return is_here(member) && !is_listed(member.entry.id);
  });
}

bool Members::forget(Instant before, Instant hearsay_before) {
  return forget_if([&](const Member& member) {
    return member.entry.liveness != Liveness::kAlive &&
           member.since < (member.is_hearsay ? hearsay_before : before);
  });
}

void Members::begin_view(uint64_t epoch) {
  for (Member& member : all_) member.acknowledged_beat = member.listed_beat = 0;
  lead_view({epoch, 1});
}

void Members::lead_view(ViewVersion version) {
  set_version(version);
  listed_variant_ = self().variant;
  listed_revision_ = self().revision;
  is_self_outdated_ = false;
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

Duration Members::longest_lease() const {
  Duration longest{};
  for (const Member& member : all_) {
    if (member.entry.liveness != Liveness::kLeft) longest = std::max(longest, member.entry.lease);
  }
  return longest;
}

uint32_t Members::living_candidates_above_self() const {
  uint32_t count = 0;
  for (size_t i = self_index() + 1; i < ranked_.size(); ++i) {
    const MemberEntry& entry = order_[i]->entry;
    if (entry.liveness == Liveness::kAlive && entry.is_electable) ++count;
  }
  return count;
}

// Rare (a member appears, goes or changes rank), so simplicity wins over speed.
void Members::rebuild() {
  all_.sort([](const Member& left, const Member& right) {
    const bool left_gone = left.entry.liveness == Liveness::kLeft;
    const bool right_gone = right.entry.liveness == Liveness::kLeft;
    return left_gone != right_gone ? right_gone : left.entry.rank() < right.entry.rank();
  });
  order_.clear();
  ranked_.clear();
  places_.clear();
  for (Member& member : all_) {
    places_[member.entry.id] = {.member = &member, .index = static_cast<uint32_t>(order_.size())};
    order_.push_back(&member);
    if (member.entry.liveness != Liveness::kLeft) ranked_.emplace_back();
  }
  for (size_t i = 0; i < ranked_.size(); ++i) refresh_marks(*order_[i]);
  view_.reset();
}

void Members::refresh_marks(const Member& member) {
  view_.reset();
  const MemberEntry& entry = member.entry;
  const uint32_t index = index_of(entry.id);
  if (index == ELECTION_NOBODY) return;
  const bool is_suspect = entry.liveness != Liveness::kAlive;
  ranked_[index] = {
      .id = to_election_id(entry.id),
      .priority = entry.priority,
      .marks = (is_suspect ? uint32_t{ELECTION_MEMBER_SUSPECT} : 0u) |
               (entry.is_electable ? uint32_t{ELECTION_MEMBER_ELECTABLE} : 0u),
  };
}

void Members::set_version(ViewVersion version) {
  version_ = version;
  has_list_ = has_list_ || version != ViewVersion{};
  view_.reset();
}

}  // namespace bellwether
