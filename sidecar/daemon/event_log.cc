// Frames that were refused come as fast as a stranger can send them, so they are worth a line at
// debug level only; the metrics count them.
#include "daemon/event_log.hh"

namespace bellwether {
namespace {

const char* state_name(uint32_t state) {
  switch (state) {
    case ELECTION_STATE_IDLE:
      return "idle";
    case ELECTION_STATE_COLLECTING:
      return "collecting";
    case ELECTION_STATE_WAITING:
      return "waiting";
    case ELECTION_STATE_HALTED:
      return "halted";
    case ELECTION_STATE_CLAIMING:
      return "claiming";
  }
  return "?";
}

}  // namespace

void EventLog::on_effect(const Effect& effect) {
  std::visit([this](const auto& what) { on(what); }, effect);
}

std::string EventLog::name_of(const Uuid& id) const {
  const Member* member = members_.find(id);
  return member != nullptr ? member->entry.name : to_string(id);
}

void EventLog::on(const Publish& publish) {
  if (publish.leader) log_.set_epoch(publish.epoch);
  if (*publish.reason == '\0') return;
  if (publish.is_leader) {
    log_.write(LogLevel::kInfo, "this node leads", {{"reason", publish.reason}});
  } else if (publish.leader) {
    log_.write(LogLevel::kInfo, "following a leader",
               {{"leader", name_of(*publish.leader)}, {"reason", publish.reason}});
  } else {
    log_.write(LogLevel::kInfo, "no leader is known", {{"reason", publish.reason}});
  }
}

void EventLog::on(const Report& report) {
  const std::string peer = report.peer ? name_of(*report.peer) : "";
  switch (report.kind) {
    case Report::Kind::kElection:
      return log_.write(LogLevel::kInfo, "election",
                        {{"state", state_name(report.state)}, {"reason", report.text}});
    case Report::Kind::kTimeout:
      return log_.write(LogLevel::kDebug, "timeout", {{"of", report.text}});
    case Report::Kind::kStale:
      return log_.write(LogLevel::kDebug, "ignored a message of an older epoch",
                        {{"type", report.text}, {"peer", peer}});
    case Report::Kind::kRejected:
      return log_.write(LogLevel::kWarn, "refused a message",
                        {{"reason", report.text}, {"peer", peer}});
    case Report::Kind::kMember:
      return log_.write(LogLevel::kInfo, "member", {{"name", peer}, {"state", report.text}});
    case Report::Kind::kNote:
      if (peer.empty()) return log_.write(LogLevel::kInfo, report.text);
      return log_.write(LogLevel::kInfo, report.text, {{"peer", peer}});
  }
}

void EventLog::on(const Store& store) { log_.set_epoch(store.record.max_epoch); }

}  // namespace bellwether
