// The application leads, not the sidecar: a node whose application is gone, or does not work, leads
// no longer and is nobody's successor; and the application's score stands between priority and id
// in its rank.
//
// All are told what a member's application is worth (Wish), at most once an interval, and each word
// has a number.  Views of it differ for moments, and nothing depends on them but who takes over: a
// claim carries the score with which it was made, and its rank is that one for its epoch.
#include "core/node.hh"
#include "core/node_send.hh"

namespace bellwether {
namespace {

constexpr int kAbilityFaster = 10;

}  // namespace

void Node::on(const Application& application) {
  const Application before = application_;
  if (application == before) return;
  application_ = application;
  if (!application.is_attached && application.is_able()) hand_over_drained(DrainEnd::kDetached);
  const int64_t score = elector_.is_idle() ? application.score : members_.self().score;
  if (application.ability == before.ability && score == members_.self().score) return;
  members_.set_self_worth(application.ability, score);
  update_electable();
  if (!application.is_able() && before.is_able()) {
    lead_no_longer_for_application();
  } else if (application.is_able() && !before.is_able()) {
    on_able_again();
  }
  if (has_left_ || has_failed_) return;
  on_ranks_changed();
  tell_of_application();
}

// When no election is under way here, or nobody came to lead by it.  Until then a node has the rank
// with which it went into it: those that it asked as higher ones may lead already, and by another
// rank it would not wait for their answers.
void Node::take_score() {
  if (application_.score == members_.self().score) return;
  members_.set_self_worth(application_.ability, application_.score);
  on_ranks_changed();
  tell_of_application();
}

// At once: there is nobody to wait for.  Under each guard the flag goes off before the successor is
// asked, for nobody works until it leads.
void Node::lead_no_longer_for_application() {
  if (seeks_to_lead()) give_up_claim("its application cannot work");
  if (!is_leading()) return;
  preemption_.on_leadership_lost(now_);
  const bool is_gone = application_.ability == Ability::kAbsent;
  const bool was_draining = is_draining();
  end_drain(is_gone ? DrainEnd::kDetached : DrainEnd::kCut);
  abdicate(is_gone ? Why::kApplicationLost : Why::kApplicationUnhealthy);
  if (has_failed_) return;
  if (!handover_) return begin_handover(std::nullopt, false);
  if (was_draining) hand_over();
}

// A candidate from now on, as after a hold.
void Node::on_able_again() {
  if (may_lead() && !std::holds_alternative<Joining>(role_)) end_hold();
}

// At once, or when the interval is over; then what it is worth by then.
void Node::tell_of_application() {
  // Who is able again may be wanted soon; scores change all the time.
  const bool is_ability_news = was_told_able_ != application_.is_able();
  const Instant next = told_of_application_at_ +
                       options_.heartbeat_interval / (is_ability_news ? kAbilityFaster : 1);
  const bool is_too_soon = told_of_application_at_ != Instant{} && now_ < next;
  if (is_too_soon) return timers_.arm(Timer::kTell, next);
  told_of_application_at_ = now_;
  was_told_able_ = application_.is_able();
  send_to_connected(wish());
}

Wish Node::wish() const {
  const MemberEntry& self = members_.self();
  return {.variant = self.variant,
          .boot = self.boot,
          .revision = self.revision,
          .is_electable = self.is_electable,
          .ability = self.ability,
          .score = self.score};
}

// The same under a new number, so that whoever hears it thinks again.
Wish Node::new_wish() {
  members_.set_self_worth(application_.ability, members_.self().score);
  return wish();
}

// All of them, also by the next list.
void Node::tell_anew() {
  has_unlisted_scores_ = true;
  send_to_connected(new_wish());
}

// Somebody's score did, at least.
void Node::on_ranks_changed() {
  has_unlisted_scores_ = true;
  change_opinions();
  preempt_anew();
  tell_plugin(ELECTION_EVENT_MEMBERS);
}

}  // namespace bellwether
