// The node: its inputs, its timers, and how it drives the election plugin.
#include "core/node.hh"

#include <utility>

#include "base/check.hh"
#include "core/node_send.hh"
#include "core/plugin_facts.hh"

namespace bellwether {
namespace {

// A plugin that claims in answer to its own claim would never come to an end.
constexpr int kMaxPluginDepth = 8;

// With what others are told of the options.
MemberEntry completed(MemberEntry entry, const Options& options) {
  entry.variant = options.variant;
  if (!options.store.empty()) entry.lease = options.lease;
  return entry;
}

// Guard "majority" lets nobody take leadership from a leader whom a majority hears, unless it
// outranks it.  An election that all join nevertheless would have no end.
Options settled(const election_plugin& plugin, Options options) {
  options.variant = chosen_variant(plugin, options.variant);
  if (!options.voters.empty() || !options.store.empty()) options.sticky = true;
  return options;
}

Awaited awaited_by_plugin(uint32_t state) {
  switch (state) {
    case ELECTION_STATE_COLLECTING:
      return Awaited::kAnswer;
    case ELECTION_STATE_WAITING:
    case ELECTION_STATE_HALTED:
      return Awaited::kCoordinator;
    default:
      return Awaited::kElection;
  }
}

}  // namespace

NodeState::NodeState(const election_plugin& plugin, Options options, MemberEntry self,
                     Record record)
    : plugin_(plugin),
      options_(settled(plugin, std::move(options))),
      record_(record),
      members_(completed(std::move(self), options_), Electorate(options_.voters)),
      elector_(plugin, options_, members_.self().id),
      detector_(options_),
      preemption_(options_.preempt, options_.preempt_delay, options_.score_margin),
      backoff_(options_.seed),
      role_(Joining{}) {
  if (!options_.voters.empty()) {
    majority_.emplace(options_, members_.self().name, record_);
  }
  if (!options_.store.empty()) store_.emplace(options_, record_);
}

Node::Node(const election_plugin& plugin, Options options, MemberEntry self, Record record,
           const MemberView& known)
    : NodeState(plugin, std::move(options), std::move(self), record) {
  members_.load(known);
  note_leases();
  update_electable();
}

const Effects& Node::step(Instant now, const Input& input) {
  check(now >= now_, "time never goes back");
  now_ = now;
  effects_.clear();
  members_.begin_step();
  epoch_horizon_.look_around(now_, known_epoch());
  if (has_left_ || has_failed_) return effects_;
  note_own_pause(input);
  expire_lease();
  std::visit([this](const auto& what) { on(what); }, input);
  watch_disk();
  if (!has_left_ && !has_failed_) {
    keep_trying();
    if (elector_.is_idle()) take_score();
    review_drain();
    forget_earlier_lives();
  }
  end_links_of_forgotten();
  watch_record();
  return effects_;
}

// A process that stays connected but is not a member is heard by nobody, and would never know.
void Node::end_links_of_forgotten() {
  for (const Member& member : members_.forgotten()) {
    if (member.is_connected) effects_.push_back(EndLink{member.entry.id});
  }
}

void Node::on(const Start& start) {
  if (!elector_.is_working()) return fail(elector_.flaw());
  members_.start(now_);
  start_guard(start);
  timers_.arm(Timer::kJoin, now_ + options_.join_timeout);
  publish(Why::kStarted);
}

void Node::on(const Joined&) {
  has_met_all_ = true;
  // A node that has been told of a leader gives it until the timeout to be heard.
  if (timers_.is_armed(Timer::kJoin) && !expects_leader_) finish_join();
}

// Before anything that waited is read: it must not pass for the regular rhythm.  Once a pause:
// until the timers have been judged.
void Node::note_own_pause(const Input& input) {
  const Duration late = now_ - std::min(now_, timers_.next());
  if (detector_.is_own_pause(late) && !is_pause_noted_) {
    is_pause_noted_ = true;
    on_own_pause(late);
  }
  if (std::holds_alternative<Tick>(input)) is_pause_noted_ = false;
}

void Node::on(const Tick&) {
  for (size_t i = 0; i < kValues<Timer> && !has_left_ && !has_failed_; ++i) {
    const auto timer = static_cast<Timer>(i);
    if (timers_.take(timer, now_)) on_timer(timer);
  }
}

void Node::on_timer(Timer timer) {
  switch (timer) {
    case Timer::kHeartbeat:
      return beat();
    case Timer::kSuspicion:
      return judge_leader();
    case Timer::kPlugin:
      if (election_state_ != ELECTION_STATE_COLLECTING) take_score();
      if (elector_.deadline() > now_) return;  // by another rank it has begun a new round
      effects_.push_back(TimedOut{awaited_by_plugin(election_state_)});
      return tell_plugin(ELECTION_EVENT_TIMEOUT);
    case Timer::kJoin:
      effects_.push_back(TimedOut{Awaited::kJoin});
      return finish_join();
    case Timer::kElect:
      if (now_ < declined_.until()) return timers_.arm(Timer::kElect, declined_.until());
      if (std::holds_alternative<Leaderless>(role_) && may_lead()) {
        tell_plugin(ELECTION_EVENT_ELECT, elect_reason_);
      }
      return;
    case Timer::kPreempt:
      if (!should_preempt()) return;
      // Another election, or what has come of it, is under way; this one comes after it.
      if (timers_.is_armed(Timer::kPlugin) || is_candidate()) {
        return timers_.arm(Timer::kPreempt, now_ + options_.coordinator_timeout);
      }
      has_tried_to_preempt_ = true;
      preempts_again_at_ = now_ + options_.heartbeat_interval;
      return tell_plugin(ELECTION_EVENT_ELECT, ELECTION_REASON_OUTRANKS);
    case Timer::kHold:
      return end_hold();
    case Timer::kHandover:
      effects_.push_back(TimedOut{Awaited::kHandover});
      return on_handover_timer();
    case Timer::kDrain:
      effects_.push_back(TimedOut{Awaited::kDrain});
      return hand_over_drained(DrainEnd::kTimeout);
    case Timer::kLease:
      // expire_lease() has judged it before this input; a single voter's lease renews itself.
      if (valid_until() > now_) timers_.arm(Timer::kLease, valid_until());
      return;
    case Timer::kClaim:
    case Timer::kRecall:
    case Timer::kStore:
    case Timer::kRenew:
      return on_guard_timer(timer);
    case Timer::kTell:
      return tell_of_application();
  }
}

void Node::on(const Elect&) {
  if (!may_lead()) {
    effects_.push_back(Outcome{Outcome::Kind::kNotEligible});
    return;
  }
  effects_.push_back(Outcome{Outcome::Kind::kDone});
  // It has won an election already: what it is about to ask for it asks for in the operator's name.
  if (asking_) {
    Proposal proposal = asking_->proposal;
    proposal.is_planned = true;
    return ask_again(std::move(proposal));
  }
  if (majority_ && majority_->canvassing) {
    Proposal proposal = *std::exchange(majority_->canvassing, std::nullopt);
    proposal.is_planned = true;
    return ask_or_claim(std::move(proposal));
  }
  tell_plugin(ELECTION_EVENT_ELECT, ELECTION_REASON_OPERATOR);
}

// Query first: only who has found no leader holds an election.  The textbook's recovering process
// holds one in any case.
void Node::finish_join() {
  timers_.disarm(Timer::kJoin);
  if (std::holds_alternative<Joining>(role_)) role_ = Leaderless{};
  if (std::holds_alternative<Leaderless>(role_)) {
    schedule_election(ELECTION_REASON_STARTED);
  } else if (!options_.query_first && !is_leading() && may_lead()) {
    tell_plugin(ELECTION_EVENT_ELECT, ELECTION_REASON_STARTED);
  }
}

// May lead from now on.  Whoever is without a leader then has waited for nothing else, as after the
// restart of all voters: it need not back off as after an election that failed.
void Node::end_hold() {
  update_electable();
  if (store_) send_to_connected(new_wish());
  arm_preemption();
  if (!std::holds_alternative<Leaderless>(role_) || timers_.is_armed(Timer::kPlugin)) return;
  schedule_election(ELECTION_REASON_RETRY);
}

// Runs after every input: a process that may lead and knows no leader always has a timer that
// brings it on.
void Node::keep_trying() {
  if (timers_.is_armed(Timer::kPlugin)) return;  // an election is running
  if (is_candidate()) return;
  if (std::holds_alternative<Leaderless>(role_) && may_lead()) {
    if (timers_.is_armed(Timer::kElect)) return;
    elect_reason_ = ELECTION_REASON_RETRY;
    timers_.arm(Timer::kElect, now_ + backoff_.next(now_));
  }
}

void Node::tell_plugin(uint32_t event, uint32_t reason) {
  if (event == ELECTION_EVENT_ELECT) {
    renew_elector();
    if (elector_.is_idle()) is_called_ = false;
    is_called_ = is_called_ || reason == ELECTION_REASON_OPERATOR;
  }
  carry_out(elector_.event(situation(), event, reason));
}

Elector::Situation Node::situation() const {
  const auto current = leader();
  const uint32_t index = current ? members_.index_of(current->id) : ELECTION_NOBODY;
  return {.now = now_, .members = members_, .leader = index};
}

void Node::carry_out(std::span<const election_action> actions) {
  if (!elector_.is_working()) return fail(elector_.flaw());
  if (++plugin_depth_ > kMaxPluginDepth) {
    return fail("plugin claims without end");
  }
  timers_.arm(Timer::kPlugin, elector_.deadline());
  const election_action* victory = nullptr;
  for (const election_action& action : actions) {
    switch (action.type) {
      case ELECTION_ACTION_SEND: {
        const election_message& message = action.message;
        ElectionFrame frame{.kind = message.kind, .flags = message.flags, .round = message.round};
        frame.ids.assign(message.ids, message.ids + message.id_count);
        if (names_leader(message)) frame.leader = leader();
        const Uuid& to = members_.id_at(action.to);
        if (message.kind == ELECTION_MESSAGE_ANSWER) note_answer(to, message.flags);
        send(to, std::move(frame));
        break;
      }
      case ELECTION_ACTION_STATE:
        election_state_ = action.state;
        effects_.push_back(Progress{action.state, action.text});
        break;
      default:
        victory = &action;  // Elector lets no other action pass
    }
  }
  // Last, because the plugin is told the outcome and its actions are gone then.
  if (victory != nullptr) {
    // What an operator wants is as good as the leader's own wish to hand over.
    leads_on() ? claim_again()
               : claim({victory->message.ids, victory->message.id_count}, false,
                       /*is_planned=*/is_called_);
  }
  --plugin_depth_;
}

// Whoever is asked by the leader itself may not know that it leads: it has claimed anew, perhaps,
// and took the other for silent.  It is to ask for the place then, not to claim it.
bool Node::names_leader(const election_message& message) const {
  if (message.kind == ELECTION_MESSAGE_ELECTION) return is_leading() && do_words_decide();
  const bool takes_part = (message.flags & ELECTION_FLAG_TAKES_PART) != 0;
  return message.kind == ELECTION_MESSAGE_ANSWER && !takes_part;
}

std::optional<LeaderHint> Node::leader() const {
  if (const auto* leading = std::get_if<Leading>(&role_)) {
    return LeaderHint{members_.self().id, leading->epoch, leading->is_appointed, leading->score};
  }
  if (const auto* following = std::get_if<Following>(&role_)) {
    return LeaderHint{following->leader, following->epoch, following->is_appointed,
                      following->score};
  }
  return std::nullopt;
}

void Node::remark(const char* text, std::optional<Uuid> peer) {
  effects_.push_back(Remark{text, peer});
}

void Node::fail(std::string text) {
  if (has_failed_) return;
  if (is_leading()) stop_leading(Why::kPluginFailed);
  has_failed_ = true;
  effects_.push_back(Failed{std::move(text)});
}

}  // namespace bellwether
