// Says in the log what the node does: one line for each event that a person may want to know of.
#pragma once

#include <string>

#include "base/clock.hh"
#include "base/counted.hh"
#include "core/effects.hh"
#include "core/members.hh"
#include "daemon/line_limit.hh"
#include "daemon/log.hh"
#include "io/loop/files.hh"

namespace bellwether::daemon {

class EventLog {
 public:
  // `members` is the node's.  All must outlive this object.
  EventLog(Log& log, const Members& members) : log_(log), members_(members) {}

  void on_effect(Instant now, const Effect& effect) {
    std::visit([&](const auto& what) { on(now, what); }, effect);
  }
  // What was refused: bytes of a peer, or a message that the node has no use for.  A stranger
  // decides how often that happens, so each reason is worth one line a minute; the metrics count
  // all.  Each returns whether it was worth a line.
  bool on_rejected(Instant now, Rejection reason, const std::string& remote,
                   const std::string& text);
  bool on_rejected(Instant now, const Rejected& rejected);
  bool on_limit(Instant now, Limit limit);
  // Elect, StepDown, Transfer or Forget, when it was not refused.
  void on_command(const Input& command);

  // Whether a line about an election is worth being written.  While nobody can lead (the store is
  // away, or a majority) elections are held again and again, and come to nothing: the first ones
  // are told in full, and from then on, until there is a leader, a line a minute.
  bool tells_elections() const { return elections_ <= kToldElections; }
  static constexpr uint64_t kToldElections = 5;

 private:
  void on(Instant now, const Publish& publish);
  void on(Instant now, const Progress& progress);
  void on(Instant, const TimedOut& timeout);
  void on(Instant, const Stale& stale);
  void on(Instant now, const Rejected& rejected) { on_rejected(now, rejected); }
  void on(Instant, const Sighting& sighting);
  void on(Instant now, const Remark& remark);
  void on(Instant, const Persist& persist) { log_.set_epoch(persist.record.max_epoch); }
  // No event, or logged by whoever carries it out.
  template <OneOf<Send, RefuseLink, EndLink, PersistMembers, StoreRead, StoreWrite, StoreWatch,
                  DrainBegun, DrainEnded, MembersChanged, Outcome, Left, Failed>
                Other>
  void on(Instant, const Other&) {}

  void note_election(Instant now, uint32_t state);
  // Of a line about an election.
  LogLevel level() const { return tells_elections() ? LogLevel::kInfo : LogLevel::kDebug; }

  Log& log_;
  LineLimit refusals_{1, std::chrono::minutes(1)};
  LineLimit vain_lines_{1, std::chrono::minutes(1)};
  uint64_t elections_ = 0;  // that have begun since there was a leader
  bool is_electing_ = false;
  const Members& members_;
};

// What the log says of a file that is to be found at its path: a line when somebody has taken it
// away, and when it is back after it could not be made again; and when the reason for that changes.
class FileWatch {
 public:
  // `what`: as in "the flag's file".  `log` must outlive it.
  FileWatch(Log& log, std::string what, std::string path);

  // True when it was lost since the time before.  `made_good` and `not_made_good`: what follows
  // from that, for people; the latter before the reason.
  bool on_look(Instant now, const io::FileLook& look, const std::string& made_good,
               const std::string& not_made_good);

  // Why it is not there; empty: it is.
  const std::string& flaw() const { return flaw_.text(); }

 private:
  Log& log_;
  std::string what_;
  std::string path_;
  LastingFlaw flaw_{};
};

}  // namespace bellwether::daemon
