// The virtual cluster's disks: writes end, or fail and are tried again.
#include <algorithm>
#include <utility>

#include "simulator/cluster.hh"

namespace bellwether::simulator {

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
    disk.rest = Disk::kFirstRest;
  } else if (!std::exchange(disk.is_resting, true)) {
    queue_.push(now() + disk.rest, DiskAgain{done});
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

}  // namespace bellwether::simulator
