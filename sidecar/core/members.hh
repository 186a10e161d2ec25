// The members of the group as this process knows them, in rank order, with what it has seen of each
// itself.  The leader's list is the group's: it is sent to all as a view (MemberView), and its
// version grows with every change.
#pragma once

#include <bellwether/election_plugin.h>

#include <list>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/clock.hh"
#include "core/electorate.hh"
#include "core/failure_detector.hh"
#include "core/member_view.hh"

namespace bellwether {

struct Member {
  MemberEntry entry;
  std::optional<size_t> slot{};  // of a voter, by its name
  bool is_connected = false;     // its hello of the present connection is here
  bool is_hearsay = false;       // others have named it; it has never been connected here
  bool was_linked = false;       // under this name, in this life of this process
  uint64_t released = 0;         // it never again leads an epoch up to this (Header::released)
  uint64_t released_home = 0;    // MemberEntry::home of the process that has said so
  uint64_t claimed_epoch = 0;    // the highest that it has claimed itself, as far as is known here
  uint64_t linked_boot = 0;      // MemberEntry::boot of the life that was connected here last
  Arrivals arrivals{};           // when it was heard
  Instant since{};               // when its liveness changed last

  // Of this process's heartbeats as the leader, by number: the newest that this member has
  // acknowledged, and the newest that was sent before it was last sent the list.
  uint64_t acknowledged_beat = 0;
  uint64_t listed_beat = 0;

  bool is_there() const { return is_connected && entry.liveness == Liveness::kAlive; }
  // A member that has shown here that it is a voter stays that one: ids are told to everybody, and
  // only names can be bound to certificates.
  bool is_voter_under_another(const std::string& name) const {
    return was_linked && slot && entry.name != name;
  }
  // It could take leadership over now.
  bool is_candidate() const { return is_there() && entry.is_electable; }
};

// More are refused: a HANDOVER names all of them in one message.  Those that are gone give way to
// those that come.
inline constexpr size_t kMaxMembers = ELECTION_MESSAGE_MAX_IDS;

// A Member stays where it is, and can be used, until begin_step(): whatever is called meanwhile,
// the caller's references stay good.  One that was forgotten meanwhile is not listed any more, and
// what is noted of it comes to nothing.
class Members {
 public:
  // `self` is always there, alive, and is not taken from any view.  `voters`: nobody under guard
  // "none".
  explicit Members(const MemberEntry& self, Electorate voters = Electorate({}));
  ~Members() = default;
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  const MemberEntry& self() const { return self_.entry; }
  void set_self_electable(bool is_electable);
  bool set_self_variant(const std::string& variant) { return set_variant(self_, variant); }
  // Its application is worth another thing than before.
  void set_self_worth(Ability ability, int64_t score) {
    set_worth(self_, ability, score, self().revision + 1);
  }

  // All members but those that have left, in ascending rank, as the plugin sees them; the same
  // index serves both.  Valid until the next change.
  std::span<const election_member> ranked() const { return ranked_; }
  uint32_t self_index() const { return places_.at(self().id).index; }

  // Every member that is known, in the order of ranked(); those that have left come behind.
  std::list<Member>& all() { return all_; }
  const std::list<Member>& all() const { return all_; }

  // References to members that were forgotten before end here.
  void begin_step() { gone_.clear(); }
  // Those that were forgotten in this step, as they were.
  const std::list<Member>& forgotten() const { return gone_; }

  // nullptr when unknown.
  Member* find(const Uuid& id);
  const Member* find(const Uuid& id) const;
  // For people: a member's name, or else the id.
  std::string name_of(const Uuid& id) const;
  // The index in ranked(), or ELECTION_NOBODY when unknown or left.
  uint32_t index_of(const Uuid& id) const;
  const Uuid& id_at(uint32_t index) const { return order_[index]->entry.id; }

  // Takes over what the entry says of its process; adds it when unknown.  For a newcomer to a full
  // group the one is forgotten that has been gone longest, those that have left first; a voter for
  // voters only.  Returns nullptr when all are there, or connected.
  Member* put(const MemberEntry& entry, Instant now);

  // A process has one name at a time: forgets what else has borne `member`'s, and is gone.  Returns
  // whether there was any.
  bool supersede(const Member& member);
  // Forgets those of this name that are neither alive nor connected.  Returns whether there were
  // any.
  bool forget_named(const std::string& name);

  // What this process sees of it.  Returns whether anything changed.
  bool set_liveness(Member& member, Liveness liveness, Instant now);
  bool set_electable(Member& member, bool says_electable);
  bool set_variant(Member& member, const std::string& variant);
  // By its own word of this revision.
  bool set_worth(Member& member, Ability ability, int64_t score, uint64_t revision);

  // Takes over what an earlier life of this process has stored; nobody in it has been heard yet.
  void load(const MemberView& view);
  // The process starts: from `now` on counts how long those that were loaded have been silent.
  void start(Instant now);

  // Takes over a view.  An older one than ours can only add members.  A newer one is the group's
  // list: who is not in it is not a member any more, unless it is connected here and alive.  Of
  // those connected here the leader, which hears everybody, says who is suspect and who may lead.
  // Returns whether anything changed.
  bool merge(const MemberView& view, Instant now);
  // Adds the members that are unknown here, up to the limit; in a full group nobody gives way for
  // one that is gone.  Returns whether any was added.
  bool add_unknown(const MemberView& view, Instant now);

  // Whether somebody is connected here, and alive, whom the leader's list does not name.
  bool knows_more_than_listed() const;

  // Forgets those that have been suspect or down, or have left, since before `before`; those that
  // are only hearsay, since before `hearsay_before`.  A connection is not a reason to keep one: a
  // host that vanished never closed it.
  bool forget(Instant before, Instant hearsay_before);

  // The list as it is now; made anew only when something changed.
  const std::shared_ptr<const MemberView>& view();
  ViewVersion version() const { return version_; }
  // Whether there ever was a list here, of whatever leader.
  bool has_list() const { return has_list_; }
  // A new leader's list is a new view; so is every change while it leads.
  void begin_view(uint64_t epoch);
  void bump_view() { lead_view({version_.epoch, version_.counter + 1}); }
  // Whether this process may lead has changed since, so some of those that have this version of its
  // list may have it otherwise.
  bool is_self_outdated() const { return is_self_outdated_; }
  // There is a new leader: whatever list it sends first counts as newer than ours.
  void expect_new_list() { set_version({}); }

  // Whether all that are alive want this variant.
  bool do_all_want(const std::string& variant) const;
  // The group's list says of this process what is no longer, or not yet, so: it was not heard.
  // `is_told_lately`: what its application is worth, and no list may have come since.
  bool is_self_misheard(bool is_told_lately) const {
    const bool is_score_old = listed_revision_ != self().revision && !is_told_lately;
    return listed_variant_ != self().variant || is_score_old;
  }

  // Of all that are here or may come back; MemberEntry::lease.
  Duration longest_lease() const;

  // How many living, electable members outrank this process.
  uint32_t living_candidates_above_self() const;

 private:
  struct Place {
    Member* member = nullptr;
    uint32_t index = 0;  // in the order of all()
  };

  void lead_view(ViewVersion version);
  Member& add(const MemberEntry& entry, Instant now);
  void update(Member& member, const MemberEntry& entry, Instant now);
  bool is_listed_here(const Member& member) const;
  bool can_lead(const std::string& name) const;
  bool is_full_for(bool is_voter) const;
  bool make_room(bool is_for_voter);
  template <typename Which>
  bool forget_if(Which which);
  bool lives_under_another_id(const MemberEntry& entry) const;
  bool take_over_known(const MemberView& view, Instant now);
  void read_of_self(const MemberEntry& listed);
  bool is_listed(const Uuid& id) const;
  bool drop_unlisted(const MemberView& view);
  void rebuild();
  bool is_in_order(const Member& member) const;
  void refresh_marks(const Member& member);
  void set_version(ViewVersion version);

  const Electorate voters_;
  // Whom the last list of the leader names, in order: some are not known here, for they live here
  // under another id still, or were forgotten since.
  std::vector<Uuid> listed_;
  std::list<Member> all_;
  std::list<Member> gone_;  // in this step
  Member& self_;
  std::vector<Member*> order_;
  std::vector<election_member> ranked_;
  std::unordered_map<Uuid, Place, UuidHash> places_;
  ViewVersion version_;
  bool has_list_ = false;
  // What the group's list says of this process; HELLO said so first.
  std::string listed_variant_;
  uint64_t listed_revision_ = 0;
  bool is_self_outdated_ = false;           // in a list of its own
  std::shared_ptr<const MemberView> view_;  // shared with the frames and the store that carry it
};

election_id to_election_id(const Uuid& id);
Uuid to_uuid(const election_id& id);

}  // namespace bellwether
