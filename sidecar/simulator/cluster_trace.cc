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
  if (!publish.leader) return trace(process, std::string("knows no leader: ") + publish.reason);
  trace(process, "follows " + name_of(index_of(*publish.leader)) + " in epoch " + epoch);
}

void Cluster::trace(uint32_t process, const Report& report) {
  if (!trace_) return;
  const std::string peer = report.peer ? name_of(index_of(*report.peer)) : "";
  switch (report.kind) {
    case Report::Kind::kElection:
      return trace(process, std::string("(") + report.text + ")");
    case Report::Kind::kTimeout:
      return trace(process, std::string("timeout: ") + report.text);
    case Report::Kind::kStale:
      return trace(process, std::string("ignores a stale ") + report.text + " of " + peer);
    case Report::Kind::kRejected:
      return trace(process, "rejects " + peer + ": " + report.text);
    case Report::Kind::kMember:
      return trace(process, "sees " + peer + " " + report.text);
    case Report::Kind::kNote:
      return trace(process, std::string(report.text) + (peer.empty() ? "" : ": " + peer));
  }
}

}  // namespace bellwether::simulator
