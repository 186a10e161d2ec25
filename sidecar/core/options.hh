// What a node is configured with: the part of the TOML that concerns the protocol, as values.
// The defaults are those of profile "default" under guard "none".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hh"
#include "base/names.hh"

namespace bellwether {

// First epochs are the milliseconds of a wall clock, which may be wrong by decades; up to here (the
// year 2248) any epoch can be the first one of an honest process.
inline constexpr uint64_t kLatestEpochSeed = uint64_t{1} << 43;

inline constexpr Duration kLongestDrain = std::chrono::hours(1);

// May a member that outranks a working leader take over?
enum class Preempt : uint8_t {
  kAlways,    // yes: the textbook, a higher process bullies a lower one
  kPriority,  // only with a strictly higher priority: a random id is no reason to interrupt
  kOff,       // never
  kLast = kOff,
};
inline const char* name(Preempt preempt) {
  static constexpr Names<Preempt> kNames({"always", "priority", "never"});
  return kNames[preempt];
}

struct Options {
  // The variant that this node wants, one of the plugin's (empty: its last); it elects by it once
  // all living members want the same.
  std::string variant;

  // T of the papers: how long an ANSWER may take.
  Duration answer_timeout = std::chrono::milliseconds(100);
  // How long a COORDINATOR may take after an ANSWER.
  Duration coordinator_timeout = std::chrono::milliseconds(350);

  Duration heartbeat_interval = std::chrono::milliseconds(100);
  // Silence is suspicious after a time that follows the observed arrivals, within these bounds.
  Duration suspect_after_min = std::chrono::milliseconds(500);
  Duration suspect_after_max = std::chrono::milliseconds(800);

  // How long a starting process looks for a leader before it holds an election.
  Duration join_timeout = std::chrono::milliseconds(500);
  // How long a successor may take to claim in a planned hand-over.
  Duration handover_timeout = std::chrono::milliseconds(300);
  // How long an application that is attached may take to finish before a planned hand-over, up to
  // kLongestDrain; 0: it is not asked.
  Duration drain_timeout = Duration::zero();

  Preempt preempt = Preempt::kAlways;
  Duration preempt_delay = Duration::zero();
  // Of two with equal priorities the one takes over whose score is higher by more than this; 0: a
  // higher id will do where scores are equal.  At most kMaxScore.
  int64_t score_margin = 0;

  // Guard "majority": the names of all voters, at most kMaxVoters; empty: guard "none".
  std::vector<std::string> voters;
  // Guard on a store: which store, and which record in it; the same in every member's
  // configuration. Empty: none, and then there may be voters.
  std::string store;
  // Guard on a store: how often the leader writes itself into the record again.
  Duration renew_interval = std::chrono::seconds(2);
  // How long a voter's promise lasts, up to kMaxLease; or the record in a store, which may be
  // longer.
  Duration lease = std::chrono::milliseconds(1000);

  // Members that are down or have left for this long are forgotten.
  Duration reap_after = std::chrono::hours(24);

  // The four departures from the papers; profile "textbook" switches them all off.
  bool query_first = true;     // a starting process follows a leader it finds instead of electing
  bool sticky = true;          // who hears a leader does not join somebody else's election
  bool skip_suspected = true;  // no ELECTION to members known to be dead
  bool stagger = true;         // after a leader's death the next in line starts, the others wait

  // A claim is one more than the highest epoch heard; the first of an empty group starts from here,
  // and so do voters of which too few remember (node_recall.cc).  At most kLatestEpochSeed.
  uint64_t epoch_seed = 0;

  // Seeds the jitter of retries and the numbers of election rounds; differs at every start.
  uint64_t seed = 1;

  friend bool operator==(const Options&, const Options&) = default;
};

// The papers as they are written: everybody is asked, everybody joins in, who recovers elects.
inline Options textbook_options() {
  Options options;
  options.query_first = false;
  options.sticky = false;
  options.skip_suspected = false;
  options.stagger = false;
  return options;
}

}  // namespace bellwether
