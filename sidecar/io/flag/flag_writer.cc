// From the core's publications to the flag's line, in the file that is to be found at its path.
#include "io/flag/flag_writer.hh"

#include <sys/statvfs.h>

#include <algorithm>
#include <exception>
#include <system_error>

#include "base/check.hh"

namespace bellwether::io {
namespace {

// A folder that systemd, or a container, had mounted for this process alone is gone for good when
// somebody removes it outside; what is made there then is another one.
bool is_out_of_reach(const std::filesystem::path& folder) {
  struct statvfs status {};
  return ::statvfs(folder.c_str(), &status) != 0 || (status.f_flag & ST_RDONLY) != 0;
}

}  // namespace

FlagWriter::FlagWriter(const FlagFileSettings& settings)
    : settings_(settings),
      word_{.guard = settings.guard},
      held_(std::make_unique<HeldFlag>(settings)) {
  const std::string name = settings.path.string();
  if (!held_->file().is_in_memory()) {
    warnings_.push_back(name +
                        ": lies on a disk, which may stop this process for as long as it "
                        "takes to write; set flag.path to a file on a tmpfs");
  }
  if (const int error = held_->file().lock_flaw(); error != 0) {
    warnings_.push_back(name + ": its page cannot be locked in memory (" +
                        std::generic_category().message(error) +
                        "): on a host that swaps, a killed sidecar's flag may stay on until its "
                        "validity ends; allow 4096 bytes more (ulimit -l, LimitMEMLOCK=)");
  }
}

void FlagWriter::publish(const Publish& publication) {
  check(!publication.is_leader || publication.leader, "who leads has an id");
  valid_until_ns_ =
      publication.is_leader
          ? static_cast<uint64_t>(
                std::max(publication.valid_until, Instant{}).time_since_epoch().count())
          : 0;
  const FlagWord word{
      .role = static_cast<uint8_t>(publication.is_leader ? LEADER_FLAG_LEADER
                                   : publication.leader  ? LEADER_FLAG_FOLLOWER
                                                         : LEADER_FLAG_UNKNOWN),
      .guard = word_.guard,
      .epoch = publication.leader ? publication.epoch : 0,
      .leader = publication.leader.value_or(Uuid{}),
      .flags = static_cast<uint8_t>(publication.is_draining ? LEADER_FLAG_DRAINING : 0),
  };
  if (word == word_) {
    held_->renew(valid_until_ns_);
  } else {
    word_ = word;
    held_->write(word_, valid_until_ns_);
  }
}

FileLook FlagWriter::look() {
  const FlagFile& file = held_->file();
  FileLook look{.loss = file.loss()};
  const bool is_in_its_place = look.loss.empty();
  if (is_in_its_place) look.loss = held_->damage();
  try {
    if (look.loss.empty()) {
      look.loss = file.restore_mode();
      look.flaw = file.folder_flaw();
      if (!look.flaw.empty()) look.loss = "cannot be opened, or trusted, by all who could";
      return look;
    }
    if (is_in_its_place) file.remove();
    look.is_folder_new = make_again();
  } catch (const std::exception& error) {
    look.flaw = error.what();
    if (is_out_of_reach(settings_.path.parent_path())) {
      look.flaw += "; if its folder was mounted, by systemd or in a container, restart the sidecar";
    }
  }
  return look;
}

// The new file says nothing before the old one is off: nobody must see both say "leader", of which
// one would stay as it is.
bool FlagWriter::make_again() {
  auto again = std::make_unique<HeldFlag>(settings_, held_->seq());
  const bool is_folder_new = !again->file().is_in_folder_of(held_->file());
  held_ = std::move(again);
  held_->write(word_, valid_until_ns_);
  return is_folder_new;
}

}  // namespace bellwether::io
