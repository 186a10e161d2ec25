// What is bounded here is bounded by RejectionLog and Log.
#include "daemon/event_log.hh"

#include "base/duration_text.hh"

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

void EventLog::on_effect(Instant now, const Effect& effect) {
  std::visit([&](const auto& what) { on(now, what); }, effect);
}

void EventLog::on_command(const Input& command) {
  constexpr const char* kEvent = "carried out a command";
  if (const auto* step_down = std::get_if<StepDown>(&command)) {
    log_.write(LogLevel::kInfo, kEvent,
               {{"command", "step-down"}, {"hold", duration_text(step_down->hold)}});
  } else if (const auto* transfer = std::get_if<Transfer>(&command)) {
    log_.write(LogLevel::kInfo, kEvent, {{"command", "transfer"}, {"to", name_of(transfer->to)}});
  } else if (const auto* forget = std::get_if<Forget>(&command)) {
    log_.write(LogLevel::kInfo, kEvent, {{"command", "forget"}, {"name", forget->name}});
  } else if (std::holds_alternative<Elect>(command)) {
    log_.write(LogLevel::kInfo, kEvent, {{"command", "elect"}});
  }
}

std::string EventLog::name_of(const Uuid& id) const {
  const Member* member = members_.find(id);
  return member != nullptr ? member->entry.name : to_string(id);
}

void EventLog::on(Instant, const Publish& publish) {
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

void EventLog::on(Instant now, const Report& report) {
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
      rejections_.refused_message(now, report.text, peer);
      return;
    case Report::Kind::kMember:
      return log_.write(LogLevel::kInfo, "member", {{"name", peer}, {"state", report.text}});
    case Report::Kind::kNote:
      if (peer.empty()) return log_.write(LogLevel::kInfo, report.text);
      return log_.write(LogLevel::kInfo, report.text, {{"peer", peer}});
  }
}

void EventLog::on(Instant, const Store& store) { log_.set_epoch(store.record.max_epoch); }

}  // namespace bellwether
