// One node of the virtual cluster: it is stepped, its effects are carried out in order and judged;
// and what it has beside it, a disk and an application.  All of it in words, one event a line.
#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "simulator/cluster.hh"

namespace bellwether::simulator {

void Cluster::step(uint32_t process, const Input& input) {
  Process& stepped = processes_[process];
  if (!stepped.node || referee_.violation()) return;
  if (stepped.is_paused) {
    stepped.inbox.emplace_back(input);
    return;
  }
  ++steps_;
  if (const auto* told = std::get_if<Application>(&input)) stepped.told = *told;
  const Instant local_now = stepped.clock.local(now());
  referee_.before_step(process, local_now, input);
  const Effects& effects = stepped.node->step(local_now, input);
  referee_.on_step(process, *stepped.node, effects);
  // A new configuration may shorten a drain that is under way.
  if (const Drain* drain = stepped.node->drain()) stepped.drains_until = drain->until;
  carry_out(process, effects);
  judge_memory(process);
  judge_flags();
  if (!stepped.node) return;
  if (stepped.node->has_left()) return kill(process);
  wake_in_time(process);
}

void Cluster::carry_out(uint32_t process, const Effects& effects) {
  Process& acting = processes_[process];
  bool has_failed = false;
  std::vector<uint32_t> refused;
  std::vector<uint32_t> unwanted;
  for (const Effect& effect : effects) {
    if (const auto* sent = std::get_if<Send>(&effect)) {
      send(process, *sent);
    } else if (const auto* refuse = std::get_if<RefuseLink>(&effect)) {
      refused.push_back(index_of(refuse->peer));
    } else if (const auto* unlinked = std::get_if<EndLink>(&effect)) {
      unwanted.push_back(index_of(unlinked->peer));
    } else if (const auto* store = std::get_if<Persist>(&effect)) {
      // What stands behind the write in the list is never done.
      if (acting.dies_at == AtStore::kBefore) return kill(process);
      const Majority* const majority = acting.node->majority();
      acting.disk.newest = {store->record, majority != nullptr && majority->voter.recall.is_lost()};
      write(process);
    } else if (const auto* members = std::get_if<PersistMembers>(&effect)) {
      if (!acting.disk.is_failing) acting.disk.members = members->view;
    } else if (const auto* read = std::get_if<StoreRead>(&effect)) {
      ask_store(process, *read);
    } else if (const auto* wanted = std::get_if<StoreWrite>(&effect)) {
      ask_store(process, *wanted);
    } else if (const auto* watch = std::get_if<StoreWatch>(&effect)) {
      acting.is_watching = watch->is_wanted;
      tell_watcher(process);
    } else if (const auto* publish = std::get_if<Publish>(&effect)) {
      referee_.on_publish(process, *publish);
      if (publish->is_leader) judge_reign(process, publish->epoch);
      if (!publish->why) continue;
      last_interest_ = now();
      trace(process, *publish);
    } else if (const auto* begun = std::get_if<DrainBegun>(&effect)) {
      ask_to_finish(process, begun->drain);
    } else if (const auto* ended = std::get_if<DrainEnded>(&effect)) {
      trace(process, std::string("has drained: ") + name(ended->end));
      judge_drain(process, *ended);
    } else if (std::holds_alternative<MembersChanged>(effect)) {
      follow_members(process);
    } else if (const auto* failed = std::get_if<Failed>(&effect)) {
      trace(process, "stops: " + failed->text);
      referee_.blame(process, failed->text);
      has_failed = true;
    } else if (trace_) {
      const std::string words = words_of(effect);
      if (!words.empty()) trace(process, words);
    }
  }
  if (has_failed) kill(process);
  for (const uint32_t peer : refused) refuse_link(process, peer);
  for (const uint32_t peer : unwanted) close_link(process, peer);
}

// [S1, I2] But for guard "none" no epoch is led twice, nor without a majority of voters; [I16]
// under none by who was told that its application cannot work.
void Cluster::judge_reign(uint32_t process, uint64_t epoch) {
  const auto& told = processes_[process].told;
  if (told && !told->is_able()) referee_.blame(process, "its application cannot work");
  if (!is_guarded()) return;
  const Process& leading = processes_[process];
  const auto broken = audit_.broken_by_reign(process, leading.life, epoch, *leading.node);
  if (broken) referee_.blame(process, *broken);
}

// [I15] If the voter crashed now, its next life would wait for all that it has promised.
void Cluster::judge_memory(uint32_t process) {
  const Process& judged = processes_[process];
  const bool is_voter = judged.node && judged.node->majority() && judged.node->majority()->slot;
  if (!is_voter) return;
  const Voter voter{judged.node.get(), judged.clock.local(now())};
  const auto broken = audit_.broken_by_memory(process, voter, judged.disk.boot_wait());
  if (broken) referee_.blame(process, *broken);
}

// [S2, I3, I9] But for guard "none" the times in which two flags are on never meet: from when a
// flag goes on until it goes off, its time is over, or its process dies.  Flags go on in steps
// only, so it is enough to look after each.  And whosever flag is on has a majority behind it.
void Cluster::judge_flags() {
  if (!(is_guarded() || is_calm_) || referee_.violation()) return;
  std::optional<uint32_t> leader;
  for (uint32_t process = 0; process < size(); ++process) {
    if (!is_flag_on(process)) continue;
    if (foreigner_.leads(now())) {
      return referee_.blame(process, "its flag is on while a stranger has the record");
    }
    if (leader) {
      return referee_.blame(process,
                            "its flag and that of " + name_of(*leader) + " are on together");
    }
    leader = process;
  }
  if (!leader || !is_running(*leader) || !has_voters()) return;
  std::array<Voter, kMaxVoters> voters;
  const size_t count = options_.node.voters.size();
  for (size_t slot = 0; slot < count; ++slot) {
    const Process& voter = processes_[slot];
    voters[slot] = {voter.node.get(), voter.clock.local(now())};
  }
  const auto broken = broken_by_backing(node(*leader), {voters.data(), count});
  if (broken) referee_.blame(*leader, *broken);
}

void Cluster::send(uint32_t process, const Send& send) {
  const uint32_t to = index_of(send.to);
  const FrameType type = type_of(send.frame);
  ++messages_[static_cast<size_t>(type)];
  const bool is_beat = type == FrameType::kHeartbeat || type == FrameType::kHeartbeatAck;
  if (!is_beat) last_interest_ = now();
  const bool is_sent = linked_id(process, to) == send.to &&
                       network_.send(now(), {.from = process,
                                             .to = to,
                                             .content = send.frame,
                                             .sender = processes_[process].self.id});
  if (!is_beat && trace_) {
    trace(process, "-> " + name_of(to) + " " + name(type) + (is_sent ? "" : " (no connection)"));
  }
  watch_for_stall(process, to);
}

// --- its disk: writes end, or fail and are tried again ---

void Cluster::on(const DiskDone& done) {
  if (!lives(done)) return;  // it crashed before the disk had it
  Process& process = processes_[done.process];
  Disk& disk = process.disk;
  if (done.is_ok) {
    const auto broken = audit_.broken_by_write(done.process, disk.record, done.kept.record);
    if (broken) referee_.blame(done.process, *broken);
    const auto voted_twice = audit_.broken_by_vote(process.self.id, done.kept.record);
    if (has_voters() && voted_twice) referee_.blame(done.process, *voted_twice);
    if (holds(Assumption::kDurableDisk)) disk.record = done.kept.record;
    disk.is_vote_lost = done.kept.is_vote_lost;
    disk.is_written = true;
    judge_memory(done.process);
    disk.rest = Disk::kFirstRest;
  } else if (!std::exchange(disk.is_resting, true)) {
    queue_.push(now() + disk.rest, DiskAgain{life_of(done.process)});
    disk.rest = std::min(2 * disk.rest, Disk::kLastRest);
  }
  if (process.dies_at == AtStore::kAfter) return kill(done.process);
  step(done.process, Persisted{done.kept.record, done.is_ok});
}

void Cluster::on(const DiskAgain& again) {
  if (!lives(again)) return;
  processes_[again.process].disk.is_resting = false;
  write(again.process);
}

void Cluster::write(uint32_t process) {
  Disk& disk = processes_[process].disk;
  if (disk.is_resting) return;
  queue_.push(disk.write(now()), DiskDone{life_of(process), disk.newest, !disk.is_failing});
}

// --- its application, which is asked to finish, and does, or does not ---

void Cluster::ask_to_finish(uint32_t process, const Drain& drain) {
  Process& asked = processes_[process];
  last_interest_ = now();
  trace(process, std::string("asks its application to finish: ") + name(drain.reason));
  asked.drain = drain.number;
  asked.has_finished = false;
  if (!asked.drain_takes) return;
  queue_.push(now() + *asked.drain_takes, Finished{life_of(process), drain.number});
}

// It says so if it still lives, and works.
void Cluster::on(const Finished& finished) {
  const Application application = application_of(finished.process);
  if (!lives(finished) || !application.is_attached || !application.is_able()) return;
  Process& process = processes_[finished.process];
  if (finished.drain == process.drain) process.has_finished = true;
  trace(finished.process, "has an application that has finished");
  step(finished.process, Drained{finished.drain});
}

// [I17] A drain ends for the reason that is given.
void Cluster::judge_drain(uint32_t process, const DrainEnded& ended) {
  const Process& drained = processes_[process];
  last_interest_ = now();
  const bool is_early =
      ended.end == DrainEnd::kTimeout && drained.clock.local(now()) < drained.drains_until;
  const bool is_wrong = (ended.end == DrainEnd::kDrained && !drained.has_finished) ||
                        (ended.end == DrainEnd::kDetached && drained.told->is_attached);
  if (is_early || is_wrong) {
    referee_.blame(process, std::string("does not wait for its application: ") + name(ended.end));
  }
}

// --- in words ---

void Cluster::trace(uint32_t process, const std::string& text) {
  if (!trace_) return;
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now() - trace_origin_);
  char time[32];
  std::snprintf(time, sizeof time, "%10.3f", static_cast<double>(us.count()) / 1000);
  trace_(std::string(time) + "  " + name_of(process) + " " + text);
}

void Cluster::trace(uint32_t process, const Publish& publish) {
  if (!trace_) return;
  const std::string epoch = std::to_string(publish.epoch);
  if (publish.is_leader) return trace(process, "LEADS epoch " + epoch);
  if (!publish.leader)
    return trace(process, std::string("knows no leader: ") + words(*publish.why));
  trace(process, "follows " + name_of(index_of(*publish.leader)) + " in epoch " + epoch);
}

std::string Cluster::words_of(const Effect& effect) const {
  const auto called = [&](const Uuid& id) { return name_of(index_of(id)); };
  if (const auto* progress = std::get_if<Progress>(&effect))
    return std::string("(") + progress->text + ")";
  if (const auto* timeout = std::get_if<TimedOut>(&effect))
    return std::string("timeout: ") + name(timeout->what);
  if (const auto* stale = std::get_if<Stale>(&effect))
    return std::string("ignores a stale ") + name(stale->type) + " of " + called(stale->from);
  if (const auto* rejected = std::get_if<Rejected>(&effect))
    return "rejects " + called(rejected->peer) + ": " + words(rejected->why);
  if (const auto* sighting = std::get_if<Sighting>(&effect))
    return "sees " + called(sighting->peer) + " " + name(sighting->liveness);
  if (const auto* remark = std::get_if<Remark>(&effect))
    return remark->text + (remark->peer ? ": " + called(*remark->peer) : "");
  return "";
}

}  // namespace bellwether::simulator
