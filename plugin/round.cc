// How a round of questions is kept: who was asked, who is awaited, who answered what.
#include "round.hh"

#include <algorithm>

namespace bellwether::bully {

void Round::begin(const View& view, std::span<const election_id> asked_already, bool is_called) {
  ++number_;
  is_called_ = is_called;
  awaited_ = 0;
  asked_.clear();
  // A peer's list is believed as far as it names members; so it stays as short as theirs.
  for (const election_id& id : asked_already) {
    if (view.find(id) != ELECTION_NOBODY) asked_.push_back(id);
  }
  std::sort(asked_.begin(), asked_.end(), is_before);
  const auto is_same = [](const election_id& a, const election_id& b) { return a == b; };
  asked_.erase(std::unique(asked_.begin(), asked_.end(), is_same), asked_.end());
  questions_.assign(asked_.size(), Question{.answer = Answer::kAskedByOther});
}

void Round::ask_higher(const View& view, Outbox& outbox) {
  for (Question& question : questions_) await(question, false);
  for (uint32_t member = view.self() + 1; member < view.count(); ++member) {
    const bool suspect = view.is_suspect(member);
    const election_id& id = view.id(member);
    const size_t at = position(id);
    if (!was_asked(at, id)) {
      if (suspect && !ask_suspected_) continue;
      outbox.send_election(member, number_, is_called_);
      asked_.insert(asked_.begin() + static_cast<ptrdiff_t>(at), id);
      questions_.insert(questions_.begin() + static_cast<ptrdiff_t>(at), Question{});
    }
    Question& question = questions_[at];
    if (question.answer == Answer::kNone) await(question, !suspect);
  }
}

bool Round::record_answer(const election_id& from, uint64_t round, bool electable) {
  const size_t at = position(from);
  if (round != number_ || !was_asked(at, from)) return false;
  await(questions_[at], false);
  questions_[at].answer = electable ? Answer::kCandidate : Answer::kCannotLead;
  return true;
}

void Round::disqualify(const election_id& id) {
  const size_t at = position(id);
  if (was_asked(at, id)) questions_[at].answer = Answer::kCannotLead;
}

uint32_t Round::highest_candidate(const View& view) const {
  for (uint32_t member = view.count(); member-- > view.self() + 1;) {
    const size_t at = position(view.id(member));
    if (view.is_suspect(member) || !was_asked(at, view.id(member))) continue;
    if (questions_[at].answer == Answer::kCandidate) return member;
  }
  return ELECTION_NOBODY;
}

std::span<const election_id> Round::silent_higher(const View& view) {
  silent_.clear();
  for (uint32_t member = view.self() + 1; member < view.count(); ++member) {
    const election_id& id = view.id(member);
    const size_t at = position(id);
    if (!was_asked(at, id)) continue;
    const Answer answer = questions_[at].answer;
    // One that may not lead was not chosen for that reason, and may well have answered the other.
    const bool is_silent =
        answer == Answer::kNone || (answer == Answer::kAskedByOther && view.may_lead(member));
    if (is_silent) silent_.push_back(id);
  }
  return silent_;
}

size_t Round::position(const election_id& id) const {
  const auto found = std::lower_bound(asked_.begin(), asked_.end(), id, is_before);
  return static_cast<size_t>(found - asked_.begin());
}

bool Round::was_asked(size_t position, const election_id& id) const {
  return position < asked_.size() && asked_[position] == id;
}

void Round::await(Question& question, bool is_awaited) {
  if (question.is_awaited == is_awaited) return;
  question.is_awaited = is_awaited;
  is_awaited ? ++awaited_ : --awaited_;
}

}  // namespace bellwether::bully
