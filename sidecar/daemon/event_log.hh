// Says in the log what the node does: one line for each event that a person may want to know of.
#pragma once

#include "core/effects.hh"
#include "core/members.hh"
#include "daemon/log.hh"
#include "daemon/rejection_log.hh"

namespace bellwether {

class EventLog {
 public:
  // `members` is the node's.  All must outlive this object.
  EventLog(Log& log, RejectionLog& rejections, const Members& members)
      : log_(log), rejections_(rejections), members_(members) {}

  void on_effect(Instant now, const Effect& effect);
  // Elect, StepDown, Transfer or Forget, when it was not refused.
  void on_command(const Input& command);

  // What people call a member; its id when it is not known.
  std::string name_of(const Uuid& id) const;

 private:
  void on(Instant now, const Publish& publish);
  void on(Instant, const Progress& progress);
  void on(Instant, const TimedOut& timeout);
  void on(Instant, const Stale& stale);
  void on(Instant now, const Rejected& rejected);
  void on(Instant, const Sighting& sighting);
  void on(Instant, const Remark& remark);
  void on(Instant now, const Store& store);
  template <typename Other>
  void on(Instant, const Other&) {}  // not an event, or logged by whoever carries it out

  Log& log_;
  RejectionLog& rejections_;
  const Members& members_;
};

}  // namespace bellwether
