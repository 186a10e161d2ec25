// A voter that has forgotten what it granted: whom it has asked since, and what they said.
// node_recall.cc has the whole story.
#pragma once

#include "base/clock.hh"
#include "core/electorate.hh"

namespace bellwether {

class Recall {
 public:
  // What was forgotten may have been promised until `until`.
  void begin(Instant until) {
    is_lost_ = true;
    forgotten_until_ = until;
  }
  // An answer to an earlier question counts no more.
  void ask() {
    is_asking_ = true;
    recalled_.clear();
    also_lost_.clear();
  }
  void note_reply(size_t slot, bool is_lost) {
    (is_lost ? also_lost_ : recalled_).add(slot);
    if (!is_lost) remembering_.add(slot);
  }
  // It has shown that it knows of a claim, whenever.
  void note_memory(size_t slot) { remembering_.add(slot); }
  void end() { is_lost_ = is_asking_ = false; }

  // There is no vote.
  bool is_lost() const { return is_lost_; }
  // The wait before the question is over.
  bool is_asking() const { return is_asking_; }
  Instant forgotten_until() const { return forgotten_until_; }
  size_t recalled() const { return recalled_.count(); }
  size_t answered() const { return recalled_.count() + also_lost_.count(); }
  bool has_recalled(size_t slot) const { return recalled_.contains(slot); }
  bool has_lost_its_own(size_t slot) const { return also_lost_.contains(slot); }
  bool does_anybody_remember() const { return remembering_.count() != 0; }

 private:
  bool is_lost_ = false;
  bool is_asking_ = false;
  Instant forgotten_until_{};
  Votes recalled_;     // voters that told what they know
  Votes also_lost_;    // voters that know of no claim
  Votes remembering_;  // voters that have ever shown that they know of one
};

}  // namespace bellwether
