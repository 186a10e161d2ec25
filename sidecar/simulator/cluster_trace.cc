// The virtual cluster in words, one event a line.
#include <cstdio>

#include "simulator/cluster.hh"

namespace bellwether::simulator {

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
