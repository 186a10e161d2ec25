// What a process must find again after a restart: who it is, its record, and, as a mere hint, the
// list of members.  Blocking; the shell calls it in the thread pool.
//
// The state folder, which one process at a time uses:
//   lock      locked while a process uses the folder
//   state     two checksummed slots (state_files.hh), written in place; both name the identity
//   identity  the process's UUID as text, made on the first start
//   members   the last list of members (state_files.hh)
// A first start makes `state` before `identity`, each at once and whole.  So `state` alone is a
// first start that was cut short and goes on; `identity` alone says that the memory was lost.
//
// A folder that is deleted or emptied under a running process is made anew with all that was in it,
// for the process remembers.  One that was only moved away is not: it is still locked, and can be
// put back.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/identity.hh"
#include "core/member_view.hh"
#include "core/record.hh"
#include "io/loop/files.hh"
#include "io/state/locked_folder.hh"
#include "io/state/state_files.hh"

namespace bellwether::io {

struct StateSettings {
  std::filesystem::path folder;  // empty: nothing is kept, every start is the first
  std::string group;             // the folder is this group's alone; is_valid_name() (codec.hh)
  // As which voter and among whom this process votes: a hash of their names; or kNotAVoter.
  uint64_t voters = kNotAVoter;
  // The operator knows that no vote which this voter has given among others, or may have
  // forgotten, matters any more: it need not ask anybody.  Dangerous (an epoch may get a second
  // leader); of no effect on a voter that remembers.
  bool forget_promises = false;
};

class StateStore {
 public:
  // Locks and reads the folder; on the first start makes it.  Throws FileError:
  //   - the folder or a file in it cannot be used, or another process uses it;
  //   - it is another group's, or of a later release;
  //   - it was written among other voters; see settings.forget_promises.
  // Where its memory is lost (`state` is missing beside `identity`, is not whole, or a slot of it
  // is damaged, or its files name different processes) the process goes on as another one, with an
  // identity of its own: is_vote_lost(), and a warning.  A damaged list of members is only worth a
  // warning, too.
  // `calls` must outlive this object.
  explicit StateStore(const StateSettings& settings, FileCalls& calls = system_calls());

  // What was found (or made), and no later call changes.
  const Uuid& identity() const { return identity_; }
  const Record& record() const { return record_; }
  // LockedFolder::home() of the folder that was found; 0 without one, as well.
  uint64_t home() const { return home_; }
  const std::optional<MemberView>& members() const { return members_; }
  // This voter does not know what it has granted: its memory was lost or never there; or was lost
  // before, and what it held was not found out since.  Never without a vote, nor with
  // settings.forget_promises.
  bool is_vote_lost() const { return is_vote_lost_; }
  // For the log, each one line that names the file.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Makes the record durable, and whether the votes in it are still those of a voter that has
  // forgotten others (then the next start finds is_vote_lost() again): when this returns nothing,
  // it will be found after any crash.  After an error it cannot be known what reached the disk, and
  // to ask for the same file again would give a false yes: so the next call makes the file anew.
  // The process may promise nothing more until a call succeeds.  One call at a time, from any
  // thread; the record's max_epoch never falls.
  [[nodiscard]] std::optional<FileError> store(const Record& record, bool is_vote_lost = false);

  // Whether a process that starts next would find the record, in case somebody has removed the
  // file, or deleted the folder: then it is made anew, or has_failed().  Blocks; not while store()
  // runs.
  FileLook look();

  // It is not sure that a next start finds what was stored last.
  bool has_failed() const { return has_failed_; }
  // What that was, as store() takes it.  None of these while a call of store() runs.
  const Record& last_record() const { return newest_.record; }
  bool is_last_lost() const { return newest_.voters == kVotesForgotten; }
  // The folder was deleted, this process may not make it anew, and nothing is in its place: a start
  // that may make it finds no memory there, and so none that is older.
  bool is_folder_refused() const { return is_folder_refused_; }

  // Keeps the list of members; after an error the next call tries again.  One call at a time, from
  // any thread, also while store() runs.
  [[nodiscard]] std::optional<FileError> store_members(const MemberView& view);

 private:
  void open(const StateSettings& settings);
  void judge_votes(const StateSettings& settings);
  void begin(const std::string& group);
  std::optional<FileError> make_anew(const Slot& first);
  void move_to(std::unique_ptr<LockedFolder> made);
  FileDescriptor opened_state() const;
  void write_identity();
  void write_members();
  void read_members();

  FileCalls& calls_;
  // store() and look() replace it, under `members_turn_`; nothing: nothing is kept.
  std::unique_ptr<LockedFolder> folder_;
  // The one that was found, once it was deleted: while its lock is open, home() is nobody else's.
  std::unique_ptr<LockedFolder> first_folder_;
  uint64_t home_ = 0;
  Uuid identity_{};
  Record record_{};
  uint64_t voters_ = 0;
  bool is_vote_lost_ = false;
  std::optional<MemberView> members_{};
  std::vector<std::string> warnings_{};

  // store_members() runs beside all others.
  std::mutex members_turn_;
  std::vector<uint8_t> kept_members_;  // the file's contents, as they were found or are to be

  // store() and look() alone use these.
  FileDescriptor state_file_{};
  Slot newest_{};
  size_t newest_place_ = 0;
  bool has_failed_ = false;
  bool is_folder_refused_ = false;
  std::optional<FileError> overtaken_{};  // for good, by another process under its id
  bool is_identity_missing_ = false;      // in the folder, or another's is there
};

}  // namespace bellwether::io
