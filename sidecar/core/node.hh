// The node: everything that decides, composed.  It is told what happened and answers with what to
// do; it has no clock, socket, disk or thread, so the simulator runs the very code that ships.
//
//   plugin (Elector)   decides when this process proposes itself
//   Majority, Voter    decide whether, and from when, that is effective (guard "majority")
//   StoreGuard         the same, for a guard on a store
//   FailureDetector    decides who is suspected
//   Members            knows the group
//
// What it remembers from one input to the next stands in node_state.hh, what it does here.
//
// Its code is spread by duty: node.cc (inputs, timers, the plugin), node_links.cc (connections,
// frames, members), node_send.hh (what every frame carries), node_leadership.cc (follow, claim,
// lead, lose), node_heartbeat.cc, node_departure.cc (step-down, transfer, leave), node_drain.cc
// (the application finishes before), node_takeover.cc (a higher rank asks for the place),
// node_application.cc (what the application is worth), node_options.cc (new options, the change of
// variant).  Where the guards differ: node_guard.cc.  Of guard "majority" alone: node_voter.cc
// (votes and promises), node_candidate.cc (canvass, claim, lease), node_recall.cc (a voter that has
// lost its state).  Of guards on a store alone: node_store.cc (requests), node_bid.cc (the
// candidate), node_reign.cc (the leader).
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/effects.hh"
#include "core/elector.hh"
#include "core/guard.hh"
#include "core/handover.hh"
#include "core/members.hh"
#include "core/node_state.hh"
#include "core/options.hh"
#include "core/role.hh"
#include "core/store_guard.hh"
#include "core/timers.hh"

namespace bellwether {

// The shortest time between two lists that a leader sends because of scores, or its own state,
// alone.
inline constexpr Duration kListInterval = std::chrono::seconds(1);

class Node : private NodeState {
 public:
  // `self.boot` differs at every start.  `record` and `known` are what an earlier life stored, or
  // empty.  `plugin` must outlive the node.
  Node(const election_plugin& plugin, Options options, MemberEntry self, Record record,
       const MemberView& known = {});

  // Handles one input.  `now` never goes back.  The effects are to be carried out in order, and are
  // valid until the next call.
  const Effects& step(Instant now, const Input& input);

  // When a Tick is wanted; kNever: only inputs can change anything.
  Instant deadline() const { return timers_.next(); }

  // What this process says first on a new connection.
  Hello hello() const;

  // --- the state, for answers, metrics, traces and invariants ---
  const Role& role() const { return role_; }
  bool is_leading() const { return std::holds_alternative<Leading>(role_); }
  bool is_claiming() const { return std::holds_alternative<Claiming>(role_); }
  std::optional<LeaderHint> leader() const;
  const Record& record() const { return record_; }
  const Members& members() const { return members_; }
  const Timers& timers() const { return timers_; }
  uint32_t election_state() const { return election_state_; }
  Obstacle obstacle() const;
  bool may_lead() const { return obstacle() == Obstacle::kNone; }
  // Guard "majority": the voters that are there, itself among them.
  size_t reached_voters() const;
  Vote vote(Instant now) const;
  // The name of a peer whose [voters] are not this node's, and which was refused for that not long
  // before `now`; "": none.
  std::string other_voters(Instant now) const;
  // Whether this voter's lack of a vote is to hold up a rolling replacement (/readyz).  Not in a
  // new group: it has waited, and knows of nobody that has ever voted.
  bool waits_for_vote(Instant now) const;
  bool has_left() const { return has_left_; }
  bool has_failed() const { return has_failed_; }
  // What its application is worth, as it was told last.
  const Application& application() const { return application_; }
  bool is_handing_over() const { return handover_.has_value(); }
  // Its application is asked to finish, or has been; nullptr: it does not lead, or was not asked.
  const Drain* drain() const;
  // Whether the leader, this node or another one, waits for its application before it hands over.
  bool is_leader_draining() const;
  // Until then a leader that was asked for its place in vain does not give way to a higher rank.
  Instant stays_until() const { return asked_in_vain_.over_at(); }
  // Of a leader that hands over; nothing: nobody can lead.
  std::optional<Uuid> successor() const;
  // It has won an election against a leader that works, and has asked for its place.
  bool is_asking() const { return asking_.has_value(); }
  // Has claimed, or asks whether it may.
  bool is_candidate() const {
    return is_claiming() || (majority_ && majority_->canvassing) || (store_ && store_->asking);
  }
  // Either of these: what makes it unable to lead ends both.
  bool seeks_to_lead() const { return is_candidate() || is_asking(); }
  // The number of the last heartbeat of this process's claim or reign; 0: there was none.
  uint64_t sequence() const;
  // Of the epoch that is claimed or led under guard "majority"; nullptr: of none.
  const Lease* lease() const;
  // The memory of guard "majority", or of a guard on a store; nullptr under another one.
  const Majority* majority() const { return majority_ ? &*majority_ : nullptr; }
  const StoreGuard* store() const { return store_ ? &*store_ : nullptr; }
  // The highest epoch known: claimed, followed, or heard of.
  uint64_t known_epoch() const { return std::max(record_.max_epoch, heard_epoch_); }
  // A later one was followed here, voted for, or claimed.
  bool is_over(uint64_t epoch) const { return epoch < record_.max_epoch; }
  // How long this process's flag holds, seen from the last input, if nothing else is heard.
  Instant valid_until() const;
  // Its variant is the wanted one.
  const Options& options() const { return options_; }
  // The variant that elections held here follow.
  const std::string& active_variant() const { return elector_.variant(); }
  // Some living member wants another variant than this node, or does not say which.
  bool has_variant_mismatch() const { return !members_.do_all_want(options_.variant); }

 private:
  // node.cc
  void end_links_of_forgotten();
  void on(const Start&);
  void on(const Joined&);
  void on(const Tick&);
  void on(const Elect&);
  void note_own_pause(const Input& input);
  void on_timer(Timer timer);
  void finish_join();
  void end_hold();
  void keep_trying();
  Elector::Situation situation() const;
  void tell_plugin(uint32_t event, uint32_t reason = ELECTION_REASON_NONE);
  void carry_out(std::span<const election_action> actions);
  bool names_leader(const election_message& message) const;
  void remark(const char* text, std::optional<Uuid> peer = {});
  void fail(std::string text);

  // node_links.cc
  void on(const LinkUp&);
  void on(const LinkDown&);
  void on(const FrameReceived&);
  void on(const Forget&);
  void on_frame(Member& from, const Header& header, const ElectionFrame& frame);
  void on_frame(Member& from, const Header& header, const PlannedHandover& frame);
  void on_frame(Member& from, const Header&, const Refusal& frame);
  void on_frame(Member& from, const Header&, const HeartbeatAck& ack);
  void on_frame(Member& from, const Header& header, const Resign& frame);
  void on_frame(Member& from, const Header& header, const Leave& leave);
  void on_frame(Member& from, const Header&, const MembersFrame& frame);
  void on_frame(Member& from, const Header&, const Wish& wish);
  void on_frame(Member& from, const Header& header, const Grant& grant);
  void refuse(const Uuid& peer, Unfit why);
  void refuse_other_voters(const Hello& hello);
  void tell_leader_of_unlisted(const Uuid& leader);
  void note_epoch(Member& from, const Frame& frame);
  bool is_stale(const Member& from, const Frame& frame) const;
  void answer_stale(Member& from, const Frame& frame);
  bool is_plausible(uint64_t epoch) const;
  bool come_nearer(const Hello& hello);
  bool is_old_news(const ElectionFrame& answer) const;
  void note_release(Member& member, uint64_t released);
  void note_liveness(Member& member, Liveness liveness);
  void on_members_changed();
  // Whoever hears that a reign is over holds an election.  Of a hand-over only the frame that asks
  // the successor tells, and the one that says that there is none.
  Header header(bool tells_handover = false) const;

  // node_send.hh
  template <typename Body>
  void send(const Uuid& to, Body&& body);
  template <typename Body>
  void send_to_connected(const Body& body);

  // node_leadership.cc
  bool accept_claim(Member& claimant, const LeaderHint& claim);
  std::optional<Rank> rank_of(const LeaderHint& claim) const;
  void consider(const LeaderHint& hint, const Uuid& from);
  void on_newer_epoch(uint64_t epoch, const std::optional<LeaderHint>& hint);
  void on_refusal(const Uuid& from, const Refusal& refusal);
  void on_rival(const LeaderHint& rival, bool can_hear);
  void confirm_own_leadership(uint64_t epoch);
  void end_needless_election();
  void yield_to(const LeaderHint& leader);
  void wait_for_leader(const Uuid& id);
  void follow(const LeaderHint& leader, bool is_effective = true);
  void claim(std::span<const election_id> silent, bool is_appointed, bool is_planned = false);
  bool leads_on() const;
  void lead_at_once(const Proposal& proposal);
  void lead(Leading role, const Proposal& proposal);
  uint64_t next_epoch() const;
  void begin_reign();
  void announce(const std::vector<Uuid>& silent, const Coordinator& coordinator);
  bool is_following(const Uuid& id) const;
  void lose_leader(const Uuid& id, uint32_t reason);
  void stop_leading(Why why);
  void schedule_election(uint32_t reason);
  void arm_preemption();
  void preempt_anew();
  bool should_preempt() const;
  void update_electable();
  void publish(std::optional<Why> why = {});
  Lease* lease();

  // node_guard.cc: what the node asks its guard, and what each guard answers
  void start_guard(const Start& start);
  void on(const Persisted&);
  void watch_disk();
  void tell_unkept_claim();
  void on_guard_timer(Timer timer);
  void begin_claim(Proposal proposal);
  void claim_now(Proposal proposal);
  void on_frame(Member& from, const Header& header, const Coordinator& frame);
  void on_frame(Member& from, const Header& header, const Heartbeat& beat);
  void on_frame(Member& from, const Header& header, const Canvass& canvass);
  void on_frame(Member& from, const Header& header, const CanvassReply& reply);
  bool accept_leader(Member& from, const LeaderHint& claim);
  void refuse_claim(Member& claimant, uint64_t epoch, const Coordinator& claim);
  void note_support(Member& from, const HeartbeatAck& ack);
  void note_distance(const std::string& name, Instant shut_out_until);
  bool do_words_decide() const;
  bool leads_until_succeeded() const;
  bool counts(const Member& member) const;
  bool counts(const Member* member) const;
  void raise_epoch(uint64_t epoch);
  uint64_t kept_epoch() const;
  uint64_t guard_hash() const;
  Terms terms() const;
  Obstacle guard_obstacle() const;
  bool is_boot_wait() const;
  bool is_disk_wait() const;
  void note_proof(const Member& gone);
  void note_released(const Member& member);
  void ask_successor();
  void on_handover_timer();

  // node_heartbeat.cc
  void beat();
  void on_announced_beat(Member& from, uint64_t epoch, const Heartbeat& beat);
  void forget_the_gone();
  void list_what_is_new();
  void send_heartbeat(const Uuid& to);
  void correct_leader(const Uuid& id);
  void send_list_if_behind(Member& from, const HeartbeatAck& ack);
  void judge_followers();
  void judge_leader();
  void on_own_pause(Duration late);

  // node_voter.cc
  bool has_vote() const;
  void on_canvass(Member& from, const Canvass& canvass);
  bool supports(const Member& claimant, bool is_planned) const;
  void forget_canvass(const Member& candidate);
  bool favours(const Member& candidate) const;
  void change_opinions();
  void on_claim(Member& claimant, uint64_t epoch, const Coordinator& coordinator,
                bool is_effective = false);
  bool is_vote_stored() const;
  bool backs(const Uuid& claimant, uint64_t epoch) const;
  void vote_for(const Claim& claim, bool is_appointed);
  void forget_earlier_lives();
  void grant_if_stored();
  void note_void(const Uuid& leader, uint64_t epoch);
  void on_guarded_beat(Member& from, uint64_t epoch, const Heartbeat& beat);
  void hear_leader(const Member& from, uint64_t epoch, const Heartbeat& beat);

  // node_candidate.cc
  void canvass(Proposal proposal);
  void on_canvass_reply(Member& from, const CanvassReply& reply);
  void canvass_others(bool is_lost);
  void claim_again();
  void announce_again();
  void end_called_election();
  void note_late_opinion(const Opinions& before);
  void hasten_retry();
  void retry_take_over();
  void note_lost_place();
  void note_opinions();
  void store_own_vote(Proposal proposal);
  void on_own_vote_stored();
  void on_claim_timer();
  void be_more_patient();
  void take_if_safe();
  void give_up_claim(const char* why);
  void end_claim();
  void expire_lease();
  void lose_lease(Why why);
  void note_promise(const Member& from, const HeartbeatAck& ack);
  void note_stuck_voter(const Member& from);

  // node_recall.cc
  void begin_recall(bool is_first_start);
  void recall();
  void ask_newcomer();
  void on_recall_reply(size_t slot, const CanvassReply& reply);
  void end_recall();
  std::vector<RememberedRelease> remembered() const;
  void note_memory(const Member& voter, const Hello& hello);
  void doubt_state(uint64_t remembered);

  // node_store.cc
  void on(const StoreSeen&);
  void on(const StoreAnswered&);
  void on(const StoreFailed&);
  void on_kept(const Persisted& stored);
  Duration patience() const;
  void begin_request(StoreRequest::Kind kind);
  void give_up_request();
  void read_record();
  void write_record(StoreRequest::Kind kind, StoreRecord record);
  void make_record();
  StoreRecord record_of(const MemberEntry& holder, uint64_t epoch) const;
  void note_leases();
  Ground ground_to_write() const;
  bool holds_record() const;
  bool is_flag_on() const;
  bool is_answered(uint64_t number);
  void see_record(StoreSight sight, uint64_t clock_ms);
  void on_conflict();
  void stay_away(Duration at_least, const char* why);
  void note_store_is_there(bool takes_writes);
  void note_twin();
  void be_back();
  void on_store_timer();
  void watch_record();
  bool is_next_in_line() const;

  // node_bid.cc
  void bid(Proposal proposal);
  void pursue_bid();
  bool is_to_be_read_again(Ground ground) const;
  void await_turn();
  void send_claim();
  void begin_store_claim();
  void take_if_written();
  void drop_claim();
  void go_on_after_claim();
  void end_bid();
  void on_bid_timer();
  void stay_out_for_disk();
  void on_renewal_of_other();
  void on_bid(Member& from, const Canvass& canvass);
  void leave_turn_to(const Member& candidate);
  void tell_to_claim(const Uuid& id);
  void end_turn_of(const Uuid& told);
  void take_turn_of(const Uuid& gone);
  void on_bid_reply(Member& from, const CanvassReply& reply);

  // node_reign.cc
  void lead_by_record(const StoreClaim& claim);
  void renew();
  void leave_claim();
  void on_renewed(Instant sent_at);
  void arm_renewal(Instant sent_at);
  void try_to_renew_again(Duration at_least);
  void judge_record();
  Duration patience_for_handover() const;
  void begin_giving();
  void give_record();
  void write_given();
  void on_given(const StoreVersion& version);
  void give_to_next();
  void go_on_with_handover();
  void on_handover_failed();
  void resign();
  void keep_waiting();
  void wait_for_successor(const Member& from, uint64_t epoch);
  void note_named(const Header& header, const PlannedHandover& frame);
  bool accept_reign(Member& from, const LeaderHint& claim);

  // node_departure.cc
  void on(const StepDown&);
  void on(const Transfer&);
  void on(const LeaveGroup&);
  void begin_handover(std::optional<Uuid> successor, bool is_appointed,
                      std::optional<DrainReason> drain_reason = {}, Duration hold = {});
  void hand_over();
  const Member* next_successor() const;
  void abdicate(Why why);
  void try_next_successor();
  void decline_handover(Member& from);
  void note_answer(const Uuid& asker, uint32_t flags);
  void expect_no_win_of(const Uuid& asker);
  bool is_kept_out() const;
  void on_declined(const Uuid& id);
  void finish_handover();
  void finish_leaving();

  // node_drain.cc
  void on(const Drained&);
  bool is_to_finish() const;
  bool is_draining() const;
  void begin_drain(DrainReason reason);
  void end_drain(DrainEnd end);
  void hand_over_drained(DrainEnd end);
  void redirect_handover(std::optional<Uuid> successor, bool is_appointed, DrainReason reason);
  void review_drain();
  enum class Absent : uint8_t { kCount, kDoNotCount };  // those that may be back soon
  bool seek_taker(Absent absent);
  bool has_taker(Absent absent) const;
  bool can_take_over(const Member& member, Absent absent) const;
  bool is_for_higher_rank() const;
  const Member* next_asker() const;
  void call_off_drain();

  // node_takeover.cc
  void ask_or_claim(Proposal proposal);
  bool asks_for_place() const;
  void ask_for_place(Proposal proposal);
  void ask_again(Proposal proposal);
  void on_asking_timer();
  void take_place(bool is_appointed, bool is_given);
  void end_asking();
  void on_place_reply(const CanvassReply& reply);
  void accept_refusal(Duration wait);
  void on_take_over(Member& from, const Canvass& canvass);
  bool gives_way_to(const Member& candidate, const Canvass& canvass) const;
  void give_way_to(const Member& candidate, const Canvass& canvass);
  void note_outranked(const Member& asker);
  void refuse_place();
  void note_asked_in_vain();
  void forgive_askers();
  Duration stays_for() const;
  Duration drain_left() const;

  // node_application.cc
  void on(const Application&);
  void lead_no_longer_for_application();
  void on_able_again();
  void take_score();
  void tell_of_application();
  Wish wish() const;
  Wish new_wish();
  void tell_anew();
  void on_ranks_changed();

  // node_options.cc
  void on(const Reconfigure&);
  void set_drain_timeout(Duration timeout);
  void set_detection(const Options& options);
  void set_variant(const std::string& variant);
  void renew_elector();
};

}  // namespace bellwether
