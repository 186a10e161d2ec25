// The node's side of its connections: who is there, what they say, and the list of members.
#include <algorithm>
#include <utility>

#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {
namespace {

// A leader that cannot take a member on (the group is full) is not told more often.
constexpr Duration kTellAgain = std::chrono::seconds(1);
// Longer than until a refused peer is dialled again.
constexpr Duration kRefusedFor = std::chrono::seconds(30);
// Longer than a HELLO is on its way.
constexpr Duration kLateFor = std::chrono::seconds(10);

bool is_claim(const Frame& frame) {
  return std::holds_alternative<Coordinator>(frame.body) ||
         std::holds_alternative<Heartbeat>(frame.body);
}

// Guard on a store: a leader hands over, and all are to wait.
bool is_parting(const Frame& frame) {
  const auto* beat = std::get_if<Heartbeat>(&frame.body);
  return beat != nullptr && !beat->is_effective;
}

// But for what its application is worth, which may change many times a second.
bool is_same_member(const MemberEntry& before, const MemberEntry& after) {
  if (before.id != after.id) return false;
  MemberEntry then = before;
  then.ability = after.ability;
  then.score = after.score;
  then.revision = after.revision;
  return then == after;
}

// Their order is that of ranks, of which the score is a part.
bool has_same_members(const MemberView& before, const MemberView& after) {
  return std::ranges::is_permutation(before.entries, after.entries, is_same_member);
}

// Whom the sender says it follows.
std::optional<LeaderHint> hint_in(const Frame& frame) {
  if (const auto* election = std::get_if<ElectionFrame>(&frame.body)) return election->leader;
  if (const auto* refusal = std::get_if<Refusal>(&frame.body)) return refusal->leader;
  const auto* ack = std::get_if<HeartbeatAck>(&frame.body);
  return ack != nullptr && ack->refusal ? ack->refusal->leader : std::nullopt;
}

// The answer of one that cannot lead.
ElectionFrame declined(uint64_t round) {
  return {.kind = ELECTION_MESSAGE_ANSWER, .flags = ELECTION_FLAG_TAKES_PART, .round = round};
}

}  // namespace

const char* name(LinkEvidence evidence) {
  static constexpr Names<LinkEvidence> kNames({"closed", "refused", "timeout"});
  return kNames[evidence];
}

Hello Node::hello() const {
  return {.header = header(),
          .self = members_.self(),
          .leader = leader(),
          .view = members_.version(),
          .voters = guard_hash(),
          .remembered = remembered()};
}

void Node::on(const LinkUp& link) {
  const Hello& hello = link.hello;
  const Uuid& id = hello.self.id;
  if (id == members_.self().id) return refuse(id, Unfit::kOwnId);
  if (hello.voters != guard_hash()) return refuse_other_voters(hello);
  if (!is_plausible(hello.header.epoch) && !come_nearer(hello)) {
    return refuse(id, Unfit::kEpochTooFarAhead);
  }
  const Member* known = members_.find(id);
  if (known != nullptr && known->is_voter_under_another(hello.self.name)) {
    return refuse(id, Unfit::kIdOfVoter);
  }
  const bool is_new = known == nullptr;
  const bool is_new_life = known != nullptr && known->entry.boot != hello.self.boot;
  // Nobody says anything after its LEAVE: this was said before, on a connection that was made anew.
  // But a LEAVE that somebody else has said shall not keep a living process out for ever.
  const bool is_same_life = !is_new && !is_new_life && known->entry.name == hello.self.name;
  const bool has_left = is_same_life && known->entry.liveness == Liveness::kLeft;
  if (has_left && now_ - known->since < kLateFor) {
    effects_.push_back(Rejected{Unfit::kNotConnected, id});
    return effects_.push_back(EndLink{id});
  }
  MemberEntry entry = hello.self;
  entry.liveness = Liveness::kAlive;
  // The leader has heard it since, perhaps: what its list says of this life stands.
  if (std::holds_alternative<Following>(role_) && !is_new && !is_new_life) {
    if (entry.can_be_news(known->entry.revision)) {
      entry.is_electable = known->entry.is_electable;
      entry.ability = known->entry.ability;
      entry.score = known->entry.score;
      entry.revision = known->entry.revision;
    }
    entry.variant = known->entry.variant;
  }
  Member* member = members_.put(entry, now_);
  if (member == nullptr) return refuse(id, Unfit::kGroupFull);
  if (is_new || is_new_life) forget_canvass(*member);
  member->is_connected = true;
  member->is_hearsay = false;
  member->was_linked = true;
  member->linked_boot = entry.boot;
  members_.supersede(*member);
  member->arrivals.restart(now_);
  effects_.push_back(Sighting{id, Liveness::kAlive});
  silence_ = Flapping{};
  on_members_changed();
  // What a new life says may be over before its leader hears of it, which then lists nothing new.
  if (is_new_life && std::holds_alternative<Following>(role_)) members_.expect_new_list();
  const bool is_other_lease = entry.lease != members_.self().lease && entry.lease != Duration{};
  if (store_ && is_other_lease && (is_new || is_new_life)) remark("has another lease", id);
  // A newcomer that knows nobody learns here whom else to connect to.
  const bool knows_less = hello.view == ViewVersion{} && members_.has_list();
  if (is_new || knows_less) send(id, MembersFrame{members_.view()});
  // While its own HELLO was on the way this node had no link yet on which to say it.
  if (link.told && *link.told != members_.self().revision) send(id, wish());

  note_memory(*member, hello);
  note_release(*member, hello.header.released);
  // A new life does not lead, even when it has forgotten the epoch that it led.
  if (is_new_life) lose_leader(id, ELECTION_REASON_LEADER_LOST);
  if (hello.header.epoch > known_epoch()) on_newer_epoch(hello.header.epoch, hello.leader);
  if (hello.leader) consider(*hello.leader, id);
  if (is_leading() || is_claiming()) send_heartbeat(id);  // it shall know at once whom to follow
  ask_newcomer();
  // The connection that broke may have taken the question with it, or the answer.
  if (asking_ && is_following(id)) ask_for_place(std::move(asking_->proposal));
}

// Whoever stays connected to a process that it cannot take on would wait for ever.
void Node::refuse(const Uuid& peer, Unfit why) {
  effects_.push_back(Rejected{why, peer});
  effects_.push_back(RefuseLink{peer, why});
}

// They are two groups, of which neither hears the other's leader.  Whoever has just started without
// [voters] beside some has a wrong configuration, rather than a group of its own to lead.
void Node::refuse_other_voters(const Hello& hello) {
  other_voters_ = {.name = hello.self.name,
                   .knows_epoch = hello.voters != 0 && hello.header.epoch != 0,
                   .until = now_ + kRefusedFor};
  refuse(hello.self.id, Unfit::kOtherVoters);
  if (guard_hash() == 0 && std::holds_alternative<Joining>(role_)) {
    timers_.arm(Timer::kJoin, other_voters_.until);
    expects_leader_ = true;
  }
}

std::string Node::other_voters(Instant now) const {
  return now < other_voters_.until ? other_voters_.name : "";
}

void Node::on(const LinkDown& link) {
  Member* member = members_.find(link.peer);
  if (member == nullptr) return;
  member->is_connected = false;
  update_electable();
  if (link.is_proof) note_proof(*member);
  if (member->entry.liveness == Liveness::kLeft) return;
  // A connection can break, or stall, without its process: the leader is given time to come back.
  if (is_following(link.peer) && link.evidence != LinkEvidence::kRefused) return;
  note_liveness(*member,
                link.evidence == LinkEvidence::kRefused ? Liveness::kDown : Liveness::kSuspect);
  take_turn_of(link.peer);
  if (link.evidence == LinkEvidence::kRefused) on_declined(link.peer);
  lose_leader(link.peer, ELECTION_REASON_LEADER_LOST);
}

void Node::on(const FrameReceived& received) {
  Member* from = members_.find(received.from);
  if (from == nullptr || !from->is_connected || from->entry.liveness == Liveness::kLeft) {
    return effects_.push_back(Rejected{Unfit::kNotConnected, received.from});
  }
  const Frame& frame = received.frame;
  const Header& header = frame.header;
  if (!is_plausible(header.epoch)) return refuse(received.from, Unfit::kEpochTooFarAhead);
  from->arrivals.heard(now_, std::holds_alternative<Heartbeat>(frame.body));
  note_liveness(*from, Liveness::kAlive);
  note_release(*from, header.released);
  note_epoch(*from, frame);
  if (is_stale(*from, frame)) return answer_stale(*from, frame);
  std::visit([&](const auto& body) { on_frame(*from, header, body); }, frame.body);
}

// --- the gate: here frames are judged by their epoch, so that those who handle them need not ---

// A claim that is news is followed, and raises the epoch so.  Whatever else names a newer one, or
// takes it back at once, speaks of a claim unseen here.
void Node::note_epoch(Member& from, const Frame& frame) {
  const uint64_t epoch = frame.header.epoch;
  const bool is_claimed = is_claim(frame);
  if (is_claimed) from.claimed_epoch = std::max(from.claimed_epoch, epoch);
  const bool is_to_follow = is_claimed && do_words_decide() && from.released < epoch;
  if (epoch > known_epoch() && !is_to_follow) on_newer_epoch(epoch, hint_in(frame));
}

// Claims and hand-overs are over with a later claim; all else is worth hearing.
bool Node::is_stale(const Member& from, const Frame& frame) const {
  const uint64_t epoch = frame.header.epoch;
  if (const auto* election = std::get_if<ElectionFrame>(&frame.body)) {
    return election->kind == ELECTION_MESSAGE_HANDOVER && epoch < known_epoch();
  }
  if (std::holds_alternative<PlannedHandover>(frame.body)) return is_over(epoch);
  if (store_ && is_parting(frame)) return false;
  if (!is_claim(frame) || !is_over(epoch)) return false;
  // Whoever hears of a newer epoch stays with its leader until that one has heard of it, too.
  const auto current = leader();
  return !do_words_decide() || !current || current->id != from.entry.id || current->epoch != epoch;
}

void Node::answer_stale(Member& from, const Frame& frame) {
  const Uuid& id = from.entry.id;
  if (const auto* claim = std::get_if<Coordinator>(&frame.body)) {
    return refuse_claim(from, frame.header.epoch, *claim);
  }
  effects_.push_back(Stale{type_of(frame), id});
  if (const auto* beat = std::get_if<Heartbeat>(&frame.body)) {
    send(id, HeartbeatAck{.sequence = beat->sequence,
                          .view = members_.version(),
                          .is_electable = may_lead(),
                          .refusal = Refusal{frame.header.epoch, leader()}});
    // The list behind a beat that is late may be wrong all the same.
    if (!do_words_decide() && is_following(id)) correct_leader(id);
  }
}

void Node::on_frame(Member& from, const Header& header, const ElectionFrame& frame) {
  const Uuid id = from.entry.id;
  if (frame.leader && !is_old_news(frame)) consider(*frame.leader, id);
  if (frame.kind == ELECTION_MESSAGE_ELECTION) {
    declined_.forget(id);  // it has not won by the last answer
    if (is_kept_out()) {
      ElectionFrame answer = declined(frame.round);
      note_answer(id, answer.flags);
      return send(id, std::move(answer));
    }
  }
  const uint32_t sender = members_.index_of(id);
  uint32_t flags = frame.flags;
  // An election that was called is over with the next claim; its late questions call no other.
  if (header.epoch < known_epoch()) flags &= ~uint32_t{ELECTION_FLAG_CALLED};
  // Whoever has no vote cannot be waited for, nor call for anything.
  if (!counts(from)) flags &= ~uint32_t{ELECTION_FLAG_CALLED | ELECTION_FLAG_ELECTABLE};
  if (frame.kind != ELECTION_MESSAGE_ANSWER) {  // it may begin an election here
    renew_elector();
    if (elector_.is_idle()) is_called_ = false;
    is_called_ = is_called_ || (flags & ELECTION_FLAG_CALLED) != 0;
  }
  carry_out(elector_.message(situation(), sender, frame, flags));
}

void Node::on_frame(Member& from, const Header& header, const PlannedHandover& frame) {
  const auto current = leader();
  const bool is_mine = counts(from) && (!current || current->id == from.entry.id);
  if (is_mine && !may_lead()) return decline_handover(from);
  if (!is_mine) return effects_.push_back(Stale{FrameType::kHandover, from.entry.id});
  note_named(header, frame);
  take_place(frame.is_appointed, !store_ || !frame.version.empty());
}

void Node::on_frame(Member& from, const Header&, const Refusal& frame) {
  on_refusal(from.entry.id, frame);
}

void Node::on_frame(Member& from, const Header&, const Resign&) {
  // The header has said it; see note_release().
  remark("resigned", from.entry.id);
  expect_no_win_of(from.entry.id);
}

void Node::on_frame(Member& from, const Header&, const Leave& leave) {
  const Uuid id = from.entry.id;
  if (leave.boot != from.entry.boot) {
    return effects_.push_back(Stale{FrameType::kLeave, id});
  }
  if (store_) store_->ended.add(leave.boot);
  note_liveness(from, Liveness::kLeft);
  on_declined(id);
  lose_leader(id, ELECTION_REASON_RESIGNED);
}

// The leader's list is the group's; all others can only name members that are unknown here.  Who
// knows no leader takes the newest list there is.
void Node::on_frame(Member& from, const Header&, const MembersFrame& frame) {
  const Uuid id = from.entry.id;
  const auto current = leader();
  const bool is_the_list = !current || current->id == id;
  const ViewVersion before = members_.version();
  const auto members_before = members_.view();
  const bool is_change =
      is_the_list ? members_.merge(*frame.view, now_) : members_.add_unknown(*frame.view, now_);
  // Also the same list under a newer number: after a restart it must not pass for an old one.
  if (!is_change && members_.version() != before) {
    effects_.push_back(PersistMembers{members_.view()});
  }
  if (current && is_the_list) tell_leader_of_unlisted(id);
  if (!is_change) return;
  if (!has_same_members(*members_before, *members_.view())) {
    remark("took over the list of members", id);
  }
  on_members_changed();
}

// The leader has not met everybody: without word of it, two could lead who do not know each other,
// and a newcomer that knows one follower only would stay alone.
void Node::tell_leader_of_unlisted(const Uuid& leader) {
  const bool is_too_soon = told_leader_at_ != Instant{} && now_ - told_leader_at_ < kTellAgain;
  if (is_too_soon || !members_.knows_more_than_listed()) return;
  told_leader_at_ = now_;
  send(leader, MembersFrame{members_.view()});
}

// Of the variant followers have it from the leader's next list, which no late frame contradicts;
// should one mislead the leader, then its list shows the sender that it was misheard.  Of the
// application the later of two words is known by its number, so all believe it at once.
void Node::on_frame(Member& from, const Header& header, const Wish& wish) {
  const MemberEntry& entry = from.entry;
  const bool is_later = wish.boot == entry.boot && wish.revision > entry.revision;
  bool is_change = false;
  if (is_later) {
    is_change = members_.set_electable(from, wish.is_electable);
    members_.set_worth(from, wish.ability, wish.score, wish.revision);
  }
  if (!std::holds_alternative<Following>(role_)) {
    is_change = members_.set_variant(from, wish.variant) || is_change;
  }
  if (is_change) {
    on_members_changed();
  } else if (is_later) {
    on_ranks_changed();
  }
  // What it said before it heard of this leader is no answer to it.
  const bool is_answer = handover_ && header.epoch >= handover_->epoch;
  if (is_later && is_answer && !wish.is_electable) on_declined(from.entry.id);
}

// The others take the shorter list over with the next view.
void Node::on(const Forget& forget) {
  const auto is_named = [&](const Member& member) { return member.entry.name == forget.name; };
  const auto& all = std::as_const(members_).all();
  Outcome::Kind outcome = Outcome::Kind::kStillThere;
  if (!is_leading()) {
    outcome = Outcome::Kind::kNotLeader;
  } else if (std::none_of(all.begin(), all.end(), is_named)) {
    outcome = Outcome::Kind::kUnknownMember;
  } else if (members_.forget_named(forget.name)) {
    outcome = Outcome::Kind::kDone;
  }
  effects_.push_back(Outcome{outcome});
  if (outcome == Outcome::Kind::kDone) on_members_changed();
}

bool Node::is_plausible(uint64_t epoch) const { return epoch_horizon_.covers(epoch); }

// Returns whether that is near enough.  Where there are voters nobody else leads, or is led without
// them: whoever is not one of them and has come that far is a stranger, or can wait until they
// have.
bool Node::come_nearer(const Hello& hello) {
  if (majority_ && !majority_->electorate.slot_of(hello.self.name)) return false;
  epoch_horizon_.approach(now_, leader().has_value());
  const bool is_near = is_plausible(hello.header.epoch);
  note_distance(hello.self.name, is_near ? now_ : now_ + kRefusedFor);
  return is_near;
}

// Somebody that cannot lead anyway says that it stays with the leader this process follows too.
// That is no reason to give up an election against this leader.
bool Node::is_old_news(const ElectionFrame& answer) const {
  const auto current = leader();
  const bool is_electable = (answer.flags & ELECTION_FLAG_ELECTABLE) != 0;
  return !is_electable && current && current->id == answer.leader->id &&
         current->epoch == answer.leader->epoch;
}

// The leader itself says that it leads no longer, or a new life of it does.
void Node::note_release(Member& member, uint64_t released) {
  if (!counts(member)) return;  // it has the id of a voter, perhaps, and not its name
  if (store_ && std::exchange(member.released_home, member.entry.home) != member.entry.home) {
    member.released = 0;  // of two processes with one id neither speaks for the other
  }
  if (released > member.released) {
    member.released = released;
    note_released(member);
  }
  const auto* following = std::get_if<Following>(&role_);
  if (following == nullptr || member.released < following->epoch) return;
  lose_leader(member.entry.id, ELECTION_REASON_RESIGNED);
}

void Node::note_liveness(Member& member, Liveness liveness) {
  if (!members_.set_liveness(member, liveness, now_)) return;
  effects_.push_back(Sighting{member.entry.id, liveness});
  if (liveness == Liveness::kAlive) silence_ = Flapping{};  // there is another one to answer
  on_members_changed();
  if (liveness == Liveness::kDown || liveness == Liveness::kLeft) expect_no_win_of(member.entry.id);
}

void Node::on_members_changed() {
  note_leases();
  update_electable();
  if (is_leading()) members_.bump_view();
  effects_.push_back(MembersChanged{});
  if (members_.has_list()) effects_.push_back(PersistMembers{members_.view()});
  change_opinions();
  preempt_anew();
  tell_plugin(ELECTION_EVENT_MEMBERS);
}

Header Node::header(bool tells_handover) const {
  const auto* leading = std::get_if<Leading>(&role_);
  const auto* claiming = std::get_if<Claiming>(&role_);
  uint64_t reign = 0;
  if (leading != nullptr) reign = leading->epoch;
  if (claiming != nullptr) reign = claiming->epoch;
  // What the disk may still lose must not be told: after a crash this process would claim an epoch
  // that it has released already.
  const uint64_t kept = kept_epoch();
  if (reign != 0 && reign <= kept) return {.epoch = reign, .released = reign - 1};
  const bool is_secret = handover_ && !leads_until_succeeded() && !tells_handover;
  const uint64_t released = is_secret ? std::min(kept, handover_->epoch - 1) : kept;
  return {.epoch = std::max(kept, heard_epoch_), .released = released};
}

}  // namespace bellwether
