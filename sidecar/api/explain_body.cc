// Why each member leads or does not, in one plain sentence; as this node sees it.  The sentences
// follow the rules in the order in which the node applies them: who is there, who may lead, who is
// highest, who may take over.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "api/bodies.hh"
#include "base/duration_text.hh"

namespace bellwether::api {
namespace {

// Nobody that it knows of has ever voted.
constexpr const char* kNeverVoted =
    "this voter has no vote: it does not know whether it has ever voted, as in a new group";

constexpr const char* kNotAttached =
    "No application is attached to it, and it leads only while one is.";

// Whether its operator lets it lead at all.
bool can_lead(const Config& config, const MemberEntry& entry) {
  const bool is_voter = !config.has_majority_guard() || config.voters.contains(entry.name);
  return entry.priority != 0 && is_voter;
}

// As far as is known here: another voter says that it may not lead, not why.  One that never leads,
// or whose application keeps it from leading, may vote all the same.
bool may_have_a_vote(const Backend& backend, const std::string& voter) {
  const Node& node = backend.node();
  if (voter == node.members().self().name) return node.vote(backend.now()) == Vote::kInForce;
  return std::ranges::any_of(node.members().all(), [&](const Member& member) {
    const MemberEntry& entry = member.entry;
    return entry.name == voter && entry.liveness == Liveness::kAlive &&
           (entry.is_electable || entry.priority == 0 || entry.ability != Ability::kAble);
  });
}

// "": there are enough, or none are needed.
std::string why_votes_are_missing(const Backend& backend) {
  const Majority* majority = backend.node().majority();
  if (majority == nullptr) return "";
  std::string without;
  size_t votes = 0;
  for (const auto& [name, address] : backend.config().voters) {
    if (may_have_a_vote(backend, name)) {
      ++votes;
    } else {
      without += (without.empty() ? "" : ", ") + name;
    }
  }
  if (votes >= majority->quorum()) return "";
  return fmt::format("a leader needs {} votes, and these are away or may have none: {}",
                     majority->quorum(), without);
}

std::string time_left(const Backend& backend, Instant until) {
  return rough(std::max(until - backend.now(), Duration::zero()));
}

// "orders-1 remembers, orders-2 has not answered"
std::string answers_of_the_others(const Backend& backend, const Majority& majority) {
  std::string text;
  for (const auto& [name, address] : backend.config().voters) {
    const auto slot = majority.electorate.slot_of(name);
    if (!slot || slot == majority.slot) continue;
    const char* const answer = majority.voter.recall.has_recalled(*slot) ? " remembers"
                               : majority.voter.recall.has_lost_its_own(*slot)
                                   ? " does not know either"
                                   : " has not answered";
    text += (text.empty() ? "" : ", ") + name + answer;
  }
  return text;
}

std::string what_recalls_it(const Backend& backend, const Majority& majority) {
  if (!majority.voter.recall.is_asking()) {
    return "asks the other voters in " +
           time_left(backend, backend.node().timers().deadline(Timer::kRecall));
  }
  return fmt::format(
      "asks the other voters, and needs answers from {} that remember, or from all: {}",
      majority.quorum(), answers_of_the_others(backend, majority));
}

std::string as_sentence(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + ".";
}

// After "does not keep its state".
std::string because_of_storage(const Backend& backend) {
  const std::string flaw = backend.storage_flaw();
  return flaw.empty() ? "" : ": " + flaw;
}

class Explanation {
 public:
  Explanation(const Backend& backend, const LeadershipFeed& feed)
      : backend_(backend),
        node_(backend.node()),
        leader_(feed.current().leader),
        epoch_(feed.current().epoch),
        is_leading_(feed.is_leading(backend.now())),
        ranked_(members_by_rank(node_)) {}

  Json members() const {
    Json members = Json::array();
    for (const Member* member : ranked_) {
      members.push_back({{"rank", members.size() + 1},
                         {"name", member->entry.name},
                         {"id", to_string(member->entry.id)},
                         {"priority", member->entry.priority},
                         {"leads", is_leader(*member)},
                         {"why", why(*member)}});
    }
    return members;
  }

 private:
  bool is_self(const Member& member) const { return member.entry.id == node_.members().self().id; }
  bool is_leader(const Member& member) const { return leader_ && leader_->id == member.entry.id; }

  std::string why(const Member& member) const {
    if (is_leader(member)) return why_it_leads(member);
    if (std::string reason = why_it_is_not_there(member); !reason.empty()) return reason;
    if (std::string reason = why_it_may_not_lead(member); !reason.empty()) return reason;
    return leader_ ? why_it_follows(member) : why_nobody_leads(member);
  }

  std::string why_it_leads(const Member& member) const {
    std::string text = fmt::format("It leads, in epoch {}", epoch_);
    if (is_appointed()) text += "; an operator appointed it";
    if (is_self(member)) {
      if (!is_leading_) text += "; but it did not get to renew, so its flag is off";
      if (const Drain* drain = node_.drain(); drain != nullptr && !drain->is_over) {
        text += "; it hands over once its application has finished, in " +
                time_left(backend_, drain->until) + " at the latest";
      }
      return text + ".";
    }
    if (node_.is_leader_draining()) text += "; it hands over once its application has finished";
    const Instant heard = backend_.peer(member.entry.id).heard;
    if (heard != Instant{}) text += "; last heard " + rough(backend_.now() - heard) + " ago";
    return text + ".";
  }

  std::string why_it_is_not_there(const Member& member) const {
    const std::string since = " for " + rough(backend_.now() - member.since) + ".";
    switch (member.entry.liveness) {
      case Liveness::kAlive:
        return "";
      case Liveness::kSuspect:
        return "It is suspected: silent, or not connected," + since;
      case Liveness::kDown:
        return "It is down: its host refuses connections," + since;
      case Liveness::kLeft:
        return "It has left the group.";
    }
    return "";
  }

  std::string why_it_may_not_lead(const Member& member) const {
    const MemberEntry& entry = member.entry;
    const Config& config = backend_.config();
    if (entry.priority == 0) return "Its priority is 0, so it never leads.";
    if (!can_lead(config, entry)) return "It is not a voter, and only voters lead.";
    if (is_self(member)) return why_this_node_may_not_lead();
    if (entry.ability == Ability::kAbsent) return kNotAttached;
    if (entry.ability == Ability::kUnhealthy) return "Its application fails its health checks.";
    if (entry.is_electable) return "";
    return fmt::format(
        "It says that it may not lead now: it stepped down, has just started, {}; `bellwether "
        "explain` at {} says which.",
        last_reasons(), entry.name);
  }

  // What else it may be under this guard: a member tells the others that it may not lead, not why.
  const char* last_reasons() const {
    const Config& config = backend_.config();
    if (config.has_majority_guard()) return "leaves, has no vote, or reaches no majority";
    return config.has_store_guard() ? "leaves, or cannot use the store" : "or leaves";
  }

  std::string why_this_node_may_not_lead() const {
    switch (node_.obstacle()) {
      case Obstacle::kNone:
      case Obstacle::kPriorityZero:
      case Obstacle::kNoVoter:
        return "";  // said by the caller, of every member
      case Obstacle::kNoApplication:
        return why_its_application_cannot_work();
      case Obstacle::kHold:
        return "It stepped down, and stays out for another " + due_in(Timer::kHold) + ".";
      case Obstacle::kBootWait:
        return "It has just restarted, and waits " + due_in(Timer::kHold) +
               " for what it promised before to be over.";
      case Obstacle::kHandingOver:
        return "It is handing over, and waits for its successor.";
      case Obstacle::kForgotten:
      case Obstacle::kNoDisk:
        if (node_.majority() != nullptr) return as_sentence(vote_text(backend_));
        return node_.timers().is_armed(Timer::kHold)
                   ? "Its disk was too slow for its last claims, so it stays out for another " +
                         due_in(Timer::kHold) + "."
                   : "Its disk does not keep its state" + because_of_storage(backend_) + ".";
      case Obstacle::kNoContact:
        return why_it_has_no_contact();
      case Obstacle::kNoStore:
        return why_it_has_no_store();
      case Obstacle::kTwin:
        return "Another process holds the record under its id: its state folder was copied. Empty "
               "the folder of one of the two, and restart that one.";
      case Obstacle::kLeaving:
        return "It leaves the group.";
    }
    return "";
  }

  std::string why_it_has_no_store() const {
    const std::string trouble = backend_.store() ? backend_.store()->trouble : "";
    std::string limit;
    if (node_.store()->failure == StoreFailure::kTimeout) {
      limit = " An answer that takes longer than " +
              duration_text(longest_patience(node_.store()->lease)) +
              " (2/5 lease) comes too late to lead by it; a longer lease leaves more time.";
    }
    return as_sentence(trouble.empty() ? "the store did not answer when it was asked last"
                                       : trouble) +
           limit + " It may be asked again in " + due_in(Timer::kStore) + ".";
  }

  // Of one that waits for the store's record.
  std::string why_it_waits_for_the_record() const {
    const StoreView& view = node_.store()->view;
    if (!view.is_known()) return "It asks the store for the record of the group.";
    if (view.is_absent()) return "The store has no record of the group; it makes one.";
    const StoreRecord& record = view.record();
    const std::string until = time_left(backend_, view.over_at());
    if (record.holder == StoreRecord::Holder::kUnknown) {
      return "Nobody is known to hold the store's record, which was made anew or emptied; it waits "
             "for another " +
             until + ", for how long somebody may believe in it.";
    }
    const std::string stranger =
        record.holder == StoreRecord::Holder::kStranger ? ", which is not a member" : "";
    const bool was_longer =
        view.over_at() - view.seen_at() > std::max(record.lease, node_.store()->lease);
    return "The store's record is held by " + record.name + stranger +
           "; unless that one renews it, it is free in " + until +
           (was_longer ? ": the longest length that it has shown counts." : ".");
  }

  std::string why_its_application_cannot_work() const {
    const std::string& flaw = backend_.application().health_flaw;
    if (node_.application().ability == Ability::kAbsent) {
      return kNotAttached;
    }
    return flaw.empty() ? "Its application has not passed a health check yet."
                        : "Its application fails its health checks: " + flaw + ".";
  }

  std::string why_it_has_no_contact() const {
    const Majority& majority = *node_.majority();
    return fmt::format("It reaches {} of {} voters, itself included; a leader needs {}.",
                       node_.reached_voters(), majority.electorate.size(), majority.quorum());
  }

  std::string why_it_follows(const Member& member) const {
    const Member* leader = node_.members().find(leader_->id);
    if (leader == nullptr || member.entry.rank() < leader->entry.rank()) {
      return "It ranks below " + leader_->name + ", which leads.";
    }
    const std::string outranks = "It outranks " + leader_->name;
    if (is_appointed()) {
      return outranks + ", but an operator appointed that one, and nobody takes over from it.";
    }
    const Options& options = node_.options();
    if (options.preempt == Preempt::kOff) {
      return outranks + ", but preempt = \"never\": a working leader stays.";
    }
    if (member.entry.priority == leader->entry.priority) {
      const std::string reason = why_a_score_is_not_enough(member.entry, leader->entry);
      if (!reason.empty()) return outranks + reason + ": a working leader stays.";
    }
    if (const Member* first = candidate_above(member)) {
      return outranks + ", but " + first->entry.name + " ranks higher still and comes first.";
    }
    if (is_self(member) && node_.timers().is_armed(Timer::kPreempt)) {
      return outranks + ", and takes over in " + due_in(Timer::kPreempt) + ".";
    }
    if (node_.is_leading() && node_.stays_until() > backend_.now()) {
      return outranks + ", which was asked for its place in vain, and stays for another " +
             time_left(backend_, node_.stays_until()) + " at least.";
    }
    const std::string expected = outranks + ", and is expected to take over (preempt_delay is " +
                                 duration_text(options.preempt_delay) + ")";
    if (node_.is_leading()) return expected + ".";
    return expected + ", unless " + leader->entry.name + " was asked in vain and still refuses.";
  }

  // Of equal priorities; "": it is enough.
  std::string why_a_score_is_not_enough(const MemberEntry& member,
                                        const MemberEntry& leader) const {
    const Options& options = node_.options();
    const int64_t lead = member.score - leader.score;
    const char* const by = lead > 0 ? " by its score only" : " by its id only";
    if (options.preempt == Preempt::kPriority)
      return fmt::format("{}, and preempt = \"priority\"", by);
    if (options.score_margin == 0 || lead > options.score_margin) return "";
    if (lead == 0) return fmt::format("{}, and score_margin is {}", by, options.score_margin);
    return fmt::format(", but its score is ahead by {} only, and score_margin is {}", lead,
                       options.score_margin);
  }

  std::string why_nobody_leads(const Member& member) const {
    if (std::holds_alternative<Joining>(node_.role())) {
      return "No leader is known yet: this node has just started and looks for one.";
    }
    if (is_self(member) && node_.is_claiming()) return why_it_only_claims();
    if (is_self(member) && node_.store() != nullptr && node_.is_candidate()) {
      return why_it_waits_for_the_record();
    }
    if (const Member* first = candidate_above(member)) {
      return "There is no leader, and " + first->entry.name + " comes first.";
    }
    const std::string missing = why_votes_are_missing(backend_);
    return "There is no leader; it ranks highest of those that may lead, " +
           (missing.empty() ? "and should win" : "but " + missing) + ".";
  }

  std::string why_it_only_claims() const {
    if (node_.store() != nullptr) {
      return fmt::format("It claims epoch {}, and waits for the store and its own disk.",
                         std::get<Claiming>(node_.role()).epoch);
    }
    const Majority& majority = *node_.majority();
    const auto& claiming = std::get<Claiming>(node_.role());
    const size_t granted = claiming.candidacy.grants();
    if (granted < majority.quorum()) {
      return fmt::format("It claims epoch {}: {} of the {} votes that it needs are there.",
                         claiming.epoch, granted, majority.quorum());
    }
    return fmt::format(
        "It has won epoch {}, and waits until what was promised to an earlier leader is over.",
        claiming.epoch);
  }

  // The highest that is there, may lead, and outranks `member`.
  const Member* candidate_above(const Member& member) const {
    for (const Member* other : ranked_) {
      if (other == &member) return nullptr;
      if (!is_leader(*other) && why_it_is_not_there(*other).empty() &&
          why_it_may_not_lead(*other).empty()) {
        return other;
      }
    }
    return nullptr;
  }

  // While the effects of a step are carried out, the node is ahead of what was published.
  bool is_appointed() const {
    const auto leader = node_.leader();
    return leader && leader->id == leader_->id && leader->is_appointed;
  }

  std::string due_in(Timer timer) const {
    return time_left(backend_, node_.timers().deadline(timer));
  }

  const Backend& backend_;
  const Node& node_;
  const std::optional<NamedLeader>& leader_;
  uint64_t epoch_;
  bool is_leading_;
  std::vector<const Member*> ranked_;
};

}  // namespace

std::string why_nobody_leads(const Backend& backend, const LeadershipFeed& feed) {
  if (feed.current().leader) return "";
  bool is_anybody_there = false;
  for (const Member& member : backend.node().members().all()) {
    const MemberEntry& entry = member.entry;
    if (entry.liveness != Liveness::kAlive || !can_lead(backend.config(), entry)) continue;
    if (entry.ability == Ability::kAble) return "";
    is_anybody_there = true;
  }
  return is_anybody_there ? "nobody's application is able" : "";
}

std::string vote_text(const Backend& backend) {
  const Vote vote = backend.node().vote(backend.now());
  const bool is_new = vote == Vote::kForgotten && backend.node().known_epoch() == 0;
  std::string text = is_new ? kNeverVoted : describe(vote);
  const Majority* majority = backend.node().majority();
  switch (vote) {
    case Vote::kNone:
    case Vote::kInForce:
      return text;
    case Vote::kForgotten:
      return text + "; it " + what_recalls_it(backend, *majority);
    case Vote::kBroken:
      return text + (backend.storage_flaw().empty()
                         ? "; that is tried again and again, and gives the vote back"
                         : because_of_storage(backend));
    case Vote::kShutOut:
      return text + " at once; this voter comes nearer each time that it meets one of them";
  }
  return text;
}

std::string rough(Duration duration) {
  using std::chrono::floor;
  using std::chrono::milliseconds;
  using std::chrono::minutes;
  using std::chrono::seconds;
  if (duration < seconds(1)) return duration_text(floor<milliseconds>(duration));
  if (duration < minutes(2)) return duration_text(floor<seconds>(duration));
  if (duration < std::chrono::hours(2)) return duration_text(floor<minutes>(duration));
  return duration_text(floor<std::chrono::hours>(duration));
}

Json explain_body(const Backend& backend, const LeadershipFeed& feed) {
  const auto& leader = feed.current().leader;
  const std::string why_nobody = why_nobody_leads(backend, feed);
  return {{"group", backend.config().group.name},
          {"seen_by", backend.node().members().self().name},
          {"leader", leader ? Json(leader->name) : Json(nullptr)},
          {"guard", backend.config().guard()},
          {"vote", vote_json(backend)},
          {"why_nobody_leads", why_nobody.empty() ? Json(nullptr) : Json(as_sentence(why_nobody))},
          {"members", Explanation(backend, feed).members()}};
}

}  // namespace bellwether::api
