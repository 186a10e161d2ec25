// Whom a node has told that it cannot lead.  Any of them may come to lead, or another, by that
// word, and this node cannot see it coming: what happens to end here meanwhile (a hold) is no
// reason to claim beside it, nor is another one's question.
#pragma once

#include <algorithm>
#include <vector>

#include "base/clock.hh"
#include "core/identity.hh"

namespace bellwether {

class Declined {
 public:
  // Whoever it is has come to an end by then.
  void note(const Uuid& asker, Instant until) {
    if (std::find(askers_.begin(), askers_.end(), asker) == askers_.end()) askers_.push_back(asker);
    until_ = std::max(until_, until);
  }

  // It has come to an end already: it asks for something else, or has given up.  True if it was
  // waited for.
  bool forget(const Uuid& asker) {
    const bool was_there = std::erase(askers_, asker) > 0;
    if (askers_.empty()) clear();
    return was_there;
  }

  void clear() { *this = Declined{}; }

  Instant until() const { return until_; }

 private:
  std::vector<Uuid> askers_;  // members, each once
  Instant until_{};
};

}  // namespace bellwether
