// One round of questions: whom this process asked "are you there?", and who answered.
// Both variants ask the same way; they differ in what they make of the answers.
#pragma once

#include <bellwether/election_plugin.h>

#include <cstdint>
#include <span>
#include <vector>

#include "outbox.hh"
#include "view.hh"

namespace bellwether::bully {

class Round {
 public:
  // Rounds count from `first_number`, which differs at every process start, so that an answer to an
  // earlier life of this process is not mistaken for one to this.
  Round(uint64_t first_number, bool ask_suspected)
      : number_(first_number), ask_suspected_(ask_suspected) {}

  // Begins a new round.  `asked_already`: those whom somebody else asked and found silent.
  // `is_called`: somebody asked for this election, so that those who hear a leader take part too.
  void begin(const View& view, std::span<const election_id> asked_already, bool is_called);

  // Sends ELECTION to every higher rank that was not asked in this round.  To call again when the
  // members have changed: newcomers are asked, and who is suspect or has left is not waited for.
  void ask_higher(const View& view, Outbox& outbox);

  uint64_t number() const { return number_; }
  bool is_called() const { return is_called_; }

  // Notes an answer; returns false when it does not belong to this round.
  bool record_answer(const election_id& from, uint64_t round, bool electable);

  // Takes back the answer of one that did not do what it was chosen for.
  void disqualify(const election_id& id);

  // True when nobody is left to wait for.
  bool is_complete() const { return awaited_ == 0; }

  // The highest living member that answered and may lead, or ELECTION_NOBODY.
  uint32_t highest_candidate(const View& view) const;

  // Everybody who was asked in this round, by whomever.
  std::span<const election_id> asked() const { return asked_; }

  // Those of a higher rank who were asked and did not answer; valid until the next call.
  std::span<const election_id> silent_higher(const View& view);

 private:
  enum class Answer : uint8_t { kNone, kAskedByOther, kCandidate, kCannotLead };
  struct Question {
    Answer answer = Answer::kNone;
    bool is_awaited = false;
  };

  // Where `id` stands, or belongs, in asked_.
  size_t position(const election_id& id) const;
  bool was_asked(size_t position, const election_id& id) const;
  void await(Question& question, bool is_awaited);

  uint64_t number_;
  bool ask_suspected_;
  bool is_called_ = false;
  size_t awaited_ = 0;
  std::vector<election_id> asked_;   // sorted, so that a round over a thousand members stays cheap
  std::vector<Question> questions_;  // one for each of asked_
  std::vector<election_id> silent_;  // memory of silent_higher()
};

}  // namespace bellwether::bully
