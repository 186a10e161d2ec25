// Says in the log what the node does: one line for each event that a person may want to know of.
#pragma once

#include "core/effects.hh"
#include "core/members.hh"
#include "daemon/log.hh"

namespace bellwether {

class EventLog {
 public:
  // `members` is the node's.  Both must outlive this object.
  EventLog(Log& log, const Members& members) : log_(log), members_(members) {}

  void on_effect(const Effect& effect);

  // What people call a member; its id when it is not known.
  std::string name_of(const Uuid& id) const;

 private:
  void on(const Publish& publish);
  void on(const Report& report);
  void on(const Store& store);
  template <typename Other>
  void on(const Other&) {}  // not an event, or logged by whoever carries it out

  Log& log_;
  const Members& members_;
};

}  // namespace bellwether
