// What a start makes of the files it finds, and what a running process writes.
#include "io/state/state_store.hh"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <boost/uuid/random_generator.hpp>
#include <cerrno>
#include <utility>

#include "base/check.hh"
#include "base/file_turn.hh"
#include "core/lease.hh"
#include "io/state/found_state.hh"
#include "io/state/remade_folder.hh"
#include "io/wire/codec.hh"

namespace bellwether::io {
namespace {

constexpr const char* kMembersFile = "members";

// From the system's random source.
Uuid random_identity() { return boost::uuids::random_generator()(); }

// Why the memory is lost; nullptr: it is not.
const char* flaw_of(const FoundState& found) {
  const StateFileContents& contents = found.contents;
  if (!found.has_state_file) return "is missing, though this process has run before";
  if (!contents.newest) return "is damaged in both of its slots";
  if (!contents.is_whole) return "has not the length it was written with";
  if (contents.has_damaged_slot) return "is damaged in one of its slots, perhaps in the newer one";
  if (found.identity && *found.identity != contents.newest->identity) {
    return "is another process's than the file identity beside it";
  }
  return nullptr;
}

}  // namespace

StateStore::StateStore(const StateSettings& settings, FileCalls& calls)
    : calls_(calls), voters_(settings.voters) {
  check(is_valid_name(settings.group), "a group's name keeps its limits");
  if (settings.folder.empty()) {
    identity_ = random_identity();
    is_vote_lost_ = voters_ != kNotAVoter;
    return;
  }
  const FileTurn turn(settings.folder.string());
  folder_ = std::make_unique<LockedFolder>(settings.folder, calls);
  home_ = folder_->home();
  if (const std::string weakness = folder_->weakness(); !weakness.empty()) {
    warnings_.push_back(fmt::format(
        "{} {}: who can put an older state there can make two leaders; give it to user {}, with "
        "mode 0700",
        settings.folder.string(), weakness, ::geteuid()));
  }
  open(settings);
  judge_votes(settings);
  read_members();
  // What was read may have reached the memory only, by a write of an earlier process that failed.
  // And a disk that cannot be written to shall be known before an election depends on it.
  if (const auto error = store(record_, is_vote_lost_)) throw FileError(*error);
}

// An epoch that was heard of without a vote, or among other voters, says nothing of what was
// granted among these.  Nor is it lost: so the operator has to say that those others are gone.
void StateStore::judge_votes(const StateSettings& settings) {
  if (voters_ == kNotAVoter || newest_.voters == voters_) return;
  const std::string path = folder_->path_of(kStateFile);
  const bool was_no_voter = newest_.voters == kNotAVoter;
  if (settings.forget_promises) {
    warnings_.push_back(path + ": does not know what this voter has granted; it votes all the " +
                        "same, as ordered");
    // What was promised is over by then.
    record_ = {.max_epoch = record_.max_epoch, .lease_seen = kMaxLease};
  } else if (is_vote_of_others(newest_.voters, record_.max_epoch, voters_)) {
    throw FileError(path,
                    was_no_voter ? "was written when this process had no vote"
                                 : "was written under another name or among other [voters]",
                    "if the folder was copied from another voter, empty it; otherwise, once no "
                    "sidecar with that configuration runs any more, start each voter once with "
                    "--forget-promises");
  } else {
    is_vote_lost_ = true;
  }
}

std::optional<FileError> StateStore::store(const Record& record, bool is_vote_lost) {
  if (!folder_) return std::nullopt;
  check(record.max_epoch >= newest_.record.max_epoch, "the highest epoch never falls");
  Slot next = newest_;
  ++next.sequence;
  next.record = record;
  next.voters = is_vote_lost ? kVotesForgotten : voters_;
  if (has_failed_) return make_anew(next);
  const size_t place = (newest_place_ + 1) % kSlots;
  const auto bytes = pack(next);
  const std::string path = folder_->path_of(kStateFile);
  const ssize_t count = calls_.write(state_file_.get(), bytes, place * kSlotStride);
  has_failed_ = true;
  if (count < 0) return state_error(path, "cannot be written", errno);
  if (static_cast<size_t>(count) != bytes.size()) {
    return FileError(path, "was written in part only", "check the disk", true);
  }
  if (calls_.sync_data(state_file_.get()) != 0) {
    return state_error(path, "cannot be written to the disk", errno);
  }
  has_failed_ = false;
  newest_ = std::move(next);
  newest_place_ = place;
  return std::nullopt;
}

// A whole new file under the same name; nothing that the old one may or may not have counts any
// more.  Where the folder is gone too, a new one first, with all that was in it.
std::optional<FileError> StateStore::make_anew(const Slot& first) {
  if (overtaken_) return overtaken_;
  is_folder_refused_ = false;
  try {
    if (!folder_->is_in_place()) move_to(remake(*folder_, first, calls_));
    folder_->replace(kStateFile, new_state_file(first));
    if (is_identity_missing_) {
      write_identity();
      write_members();
    }
    state_file_ = opened_state();
  } catch (const FolderRefused& refused) {
    is_folder_refused_ = true;
    return refused;
  } catch (const Overtaken& overtaken) {
    overtaken_ = overtaken;
    return overtaken;
  } catch (const FileError& error) {
    return error;
  }
  newest_ = first;
  ++newest_.sequence;
  newest_place_ = 1;
  has_failed_ = false;
  return std::nullopt;
}

// Before anything is in it: what a failure leaves there is this process's, and is written over the
// next time.
void StateStore::move_to(std::unique_ptr<LockedFolder> made) {
  const std::lock_guard turn(members_turn_);
  auto old = std::exchange(folder_, std::move(made));
  if (!first_folder_) first_folder_ = std::move(old);
  is_identity_missing_ = true;
}

FileLook StateStore::look() {
  if (!folder_) return {};
  const bool is_folder_there = folder_->is_in_place();
  if (is_folder_there && folder_->holds(kStateFile, state_file_)) return {};
  has_failed_ = true;
  const auto error = make_anew(newest_);
  return {.loss = is_folder_there
                      ? "was removed, or replaced by another file"
                      : "was taken away: its folder, or the lock in it, was removed or moved",
          .flaw = error ? error->what() : ""};
}

std::optional<FileError> StateStore::store_members(const MemberView& view) {
  const std::lock_guard turn(members_turn_);
  if (!folder_) return std::nullopt;
  kept_members_ = pack_members(view);
  try {
    folder_->replace(kMembersFile, kept_members_);
  } catch (const FileError& error) {
    return error;
  }
  return std::nullopt;
}

void StateStore::open(const StateSettings& settings) {
  const FoundState found = find_state(*folder_);
  if (found.is_empty()) return begin(settings.group);
  const StateFileContents& contents = found.contents;
  const std::optional<Slot>& newest = contents.newest;
  const std::string path = folder_->path_of(kStateFile);
  if (newest && newest->group != settings.group) {
    throw FileError(path,
                    fmt::format("belongs to group \"{}\", this process to \"{}\"", newest->group,
                                settings.group),
                    "give each group a state_dir of its own");
  }
  if (contents.is_of_another_format) {
    throw FileError(path, "was written by a later release of Bellwether",
                    "run that release, or empty the folder to start without its memory");
  }
  if (const char* flaw = flaw_of(found)) {
    warnings_.push_back(path + ": " + flaw + "; starting without it, under a new id");
    return begin(settings.group);
  }
  newest_ = *newest;
  newest_place_ = contents.newest_place;
  identity_ = newest_.identity;
  record_ = newest_.record;
  if (!found.identity) {
    if (found.has_identity_file) {
      warnings_.push_back(folder_->path_of(kIdentityFile) +
                          ": is not a UUID of version 4; repaired from the file state");
    }
    write_identity();
  }
  state_file_ = opened_state();
}

// Makes `state` and `identity` anew, in the order that a first start is recognised by: without
// memory, and under a new id, for peers may still hold the old one to what it has said.
void StateStore::begin(const std::string& group) {
  const Slot first{
      .sequence = 1, .identity = random_identity(), .group = group, .voters = kVotesForgotten};
  identity_ = first.identity;
  record_ = {};
  is_identity_missing_ = true;
  if (const auto error = make_anew(first)) throw FileError(*error);
}

// Throws FileError.
FileDescriptor StateStore::opened_state() const {
  std::optional<FileDescriptor> file = folder_->open(kStateFile, O_RDWR);
  if (!file) {
    throw FileError(folder_->path_of(kStateFile), "was removed at this moment",
                    "nobody but this sidecar is to write there", true);
  }
  return std::move(*file);
}

void StateStore::write_identity() {
  folder_->replace(kIdentityFile, bytes_of(to_string(identity_) + "\n"));
  is_identity_missing_ = false;
}

// The list is a hint, which a folder may be without.
void StateStore::write_members() {
  const std::lock_guard turn(members_turn_);
  if (kept_members_.empty()) return;
  try {
    folder_->replace(kMembersFile, kept_members_);
  } catch (const FileError&) {
    // It is stored again when it changes.
  }
}

void StateStore::read_members() {
  try {
    const auto bytes = folder_->read(kMembersFile, kMaxMembersFileBytes);
    if (!bytes) return;
    auto view = unpack_members(bytes_of(*bytes));
    if (auto* good = std::get_if<MemberView>(&view)) {
      members_ = std::move(*good);
      kept_members_.assign(bytes->begin(), bytes->end());
      return;
    }
    warnings_.push_back(folder_->path_of(kMembersFile) + ": " + std::get<const char*>(view) +
                        "; ignored, the list is learnt again");
  } catch (const FileError& error) {
    warnings_.emplace_back(error.what());
  }
}

}  // namespace bellwether::io
