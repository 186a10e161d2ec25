// The core knows what a vote is worth; this adds what is still missing.
#include "api/vote_text.hh"

#include <algorithm>

#include "base/duration_text.hh"

namespace bellwether::api {
namespace {

// Nobody that it knows of has ever voted.
constexpr const char* kNeverVoted =
    "this voter has no vote: it does not know whether it has ever voted, as in a new group";

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
                                   ? " does not know, either"
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
  return "asks the other voters, of which " + std::to_string(majority.quorum()) +
         " that remember are enough, or the answers of all: " +
         answers_of_the_others(backend, majority);
}

}  // namespace

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
      return text + "; that is tried again and again, and gives the vote back";
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
  return duration_text(floor<minutes>(duration));
}

}  // namespace bellwether::api
