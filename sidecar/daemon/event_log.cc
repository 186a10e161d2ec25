// How many lines there are of one kind is bounded by Log; of what was refused, here.
#include "daemon/event_log.hh"

#include <utility>

#include "base/duration_text.hh"
#include "core/elector.hh"

namespace bellwether::daemon {

bool EventLog::on_rejected(Instant now, Rejection reason, const std::string& remote,
                           const std::string& text) {
  const auto left_out = refusals_.admit(now, name(reason));
  if (!left_out) return false;
  log_.write(LogLevel::kWarn, "refused a peer",
             {{"reason", name(reason)},
              {"from", remote},
              {"details", text},
              {"more_since_last_line", std::to_string(*left_out)}});
  return true;
}

bool EventLog::on_rejected(Instant now, const Rejected& rejected) {
  const auto left_out = refusals_.admit(now, words(rejected.why));
  if (!left_out) return false;
  log_.write(LogLevel::kWarn, "refused a message",
             {{"reason", words(rejected.why)},
              {"peer", members_.name_of(rejected.peer)},
              {"more_since_last_line", std::to_string(*left_out)}});
  return true;
}

bool EventLog::on_limit(Instant now, Limit limit) {
  const auto left_out = refusals_.admit(now, name(limit));
  if (!left_out) return false;
  log_.write(LogLevel::kWarn, "a limit was reached",
             {{"limit", name(limit)}, {"more_since_last_line", std::to_string(*left_out)}});
  return true;
}

void EventLog::on_command(const Input& command) {
  constexpr const char* kEvent = "carried out a command";
  if (const auto* step_down = std::get_if<StepDown>(&command)) {
    log_.write(LogLevel::kInfo, kEvent,
               {{"command", "step-down"},
                {"hold", duration_text(step_down->hold)},
                {"now", step_down->is_now ? "yes" : "no"}});
  } else if (const auto* transfer = std::get_if<Transfer>(&command)) {
    log_.write(LogLevel::kInfo, kEvent,
               {{"command", "transfer"}, {"to", members_.name_of(transfer->to)}});
  } else if (const auto* forget = std::get_if<Forget>(&command)) {
    log_.write(LogLevel::kInfo, kEvent, {{"command", "forget"}, {"name", forget->name}});
  } else if (std::holds_alternative<Elect>(command)) {
    log_.write(LogLevel::kInfo, kEvent, {{"command", "elect"}});
  }
}

void EventLog::on(Instant, const Publish& publish) {
  if (publish.leader) elections_ = 0;
  if (publish.leader) log_.set_epoch(publish.epoch);
  if (!publish.why) return;
  const char* const reason = words(*publish.why);
  if (publish.is_leader) {
    log_.write(LogLevel::kInfo, "this node leads", {{"reason", reason}});
  } else if (publish.leader) {
    log_.write(LogLevel::kInfo, "following a leader",
               {{"leader", members_.name_of(*publish.leader)}, {"reason", reason}});
  } else {
    log_.write(level(), "no leader is known", {{"reason", reason}});
  }
}

void EventLog::on(Instant now, const Progress& progress) {
  note_election(now, progress.state);
  log_.write(level(), "election",
             {{"state", election_state_name(progress.state)}, {"reason", progress.text}});
}

void EventLog::note_election(Instant now, uint32_t state) {
  const bool was_electing = std::exchange(is_electing_, state != ELECTION_STATE_IDLE);
  const bool begins = is_electing_ && (!was_electing || state == ELECTION_STATE_COLLECTING);
  if (!begins) return;
  ++elections_;
  if (tells_elections() || !vain_lines_.admit(now, "election")) return;
  log_.write(LogLevel::kInfo, "elections come to nothing, and are told at level debug from now on",
             {{"elections", std::to_string(elections_)}});
}

void EventLog::on(Instant, const TimedOut& timeout) {
  log_.write(LogLevel::kDebug, "timeout", {{"of", name(timeout.what)}});
}

void EventLog::on(Instant, const Stale& stale) {
  log_.write(LogLevel::kDebug, "ignored a message of an older epoch",
             {{"type", name(stale.type)}, {"peer", members_.name_of(stale.from)}});
}

void EventLog::on(Instant, const Sighting& sighting) {
  log_.write(LogLevel::kInfo, "member",
             {{"name", members_.name_of(sighting.peer)}, {"state", name(sighting.liveness)}});
}

void EventLog::on(Instant now, const Remark& remark) {
  const bool is_vain = !tells_elections() && !vain_lines_.admit(now, remark.text);
  const LogLevel level = is_vain ? LogLevel::kDebug : LogLevel::kInfo;
  if (!remark.peer) return log_.write(level, remark.text);
  log_.write(level, remark.text, {{"peer", members_.name_of(*remark.peer)}});
}

FileWatch::FileWatch(Log& log, std::string what, std::string path)
    : log_(log), what_(std::move(what)), path_(std::move(path)) {}

bool FileWatch::on_look(Instant now, const io::FileLook& look, const std::string& made_good,
                        const std::string& not_made_good) {
  const bool is_lost = flaw_.text().empty() && !look.loss.empty();
  const bool is_news = flaw_.set(now, look.flaw);
  const bool is_there = look.flaw.empty();
  if (is_lost) {
    log_.write(
        LogLevel::kError, what_ + " " + look.loss,
        {{"file", path_},
         {"now", is_there ? "it is in its place again" + made_good : not_made_good + look.flaw}});
  } else if (is_news && is_there) {
    log_.write(LogLevel::kInfo, what_ + " is in its place again", {{"file", path_}});
  } else if (is_news) {
    log_.write(LogLevel::kError, what_ + " is still not in its place",
               {{"file", path_}, {"now", not_made_good + look.flaw}});
  }
  return is_lost;
}

}  // namespace bellwether::daemon
