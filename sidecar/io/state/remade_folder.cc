// Who may be written over: nobody but an older life of this very process.
#include "io/state/remade_folder.hh"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "io/state/found_state.hh"

namespace bellwether::io {
namespace {

namespace fs = std::filesystem;

// Nothing is there that a start would take for this process's memory.
bool is_vacant(const fs::path& path) {
  std::error_code unused;
  return fs::status(path, unused).type() == fs::file_type::not_found || fs::is_empty(path, unused);
}

// Neither empty, as a new folder or volume is, nor a state folder.
bool is_somebodys(const fs::path& path) {
  std::error_code error;
  bool is_somebodys = false;
  for (fs::directory_iterator file(path, error); !error && file != fs::directory_iterator();
       file.increment(error)) {
    const fs::path name = file->path().filename();
    if (name == kStateFile || name == kIdentityFile) return false;
    is_somebodys = is_somebodys || (name != kLockFile && name != "lost+found");
  }
  return is_somebodys;
}

std::unique_ptr<LockedFolder> make(const std::string& path, FileCalls& calls) {
  try {
    return std::make_unique<LockedFolder>(path, calls);
  } catch (const FolderRefused& refused) {
    const std::string because = " (" + refused.path() + " " + refused.flaw() + ")";
    if (!is_vacant(path)) {
      throw FileError(path,
                      "was deleted, and this process cannot use what is in its place" + because,
                      "empty it, or delete that one as well", true);
    }
    throw FolderRefused(FileError(
        path, "was deleted, and this process cannot make it anew" + because,
        fmt::format("make it for user {}, with mode 0700; if the state is not stored there within "
                    "ten seconds, start this sidecar again while the others run",
                    ::geteuid()),
        true));
  }
}

bool is_of_this_process(const FoundState& found, const Slot& own) {
  const bool is_own_identity = !found.has_identity_file || found.identity == own.identity;
  const StateFileContents& contents = found.contents;
  const bool is_own_state =
      !found.has_state_file || (contents.is_good() && contents.newest->identity == own.identity &&
                                contents.newest->group == own.group);
  return is_own_identity && is_own_state;
}

// How often it was stored says nothing: a write of this process that failed may be in a copy.
bool knows_more(const FoundState& found, const Record& own) {
  if (!found.contents.newest) return false;
  const Record& there = found.contents.newest->record;
  const bool has_another_vote = there.granted_to != Uuid{} && there.granted_to != own.granted_to;
  return there.max_epoch > own.max_epoch || (there.max_epoch == own.max_epoch && has_another_vote);
}

}  // namespace

std::unique_ptr<LockedFolder> remake(const LockedFolder& gone, const Slot& own, FileCalls& calls) {
  const std::string path = gone.path();
  if (!gone.is_deleted()) {
    throw FileError(path, "is not in its place",
                    "put it back; or leave nothing there, and start this sidecar again while the "
                    "others run",
                    true);
  }
  const FileError strange(path, "was deleted, and the one in its place is not this process's",
                          "delete that one as well; this sidecar then makes its own anew", true);
  if (!gone.is_at_its_path() && is_somebodys(path)) throw FileError(strange);
  std::unique_ptr<LockedFolder> made = make(path, calls);
  const FoundState found = find_state(*made);
  if (!is_of_this_process(found, own)) throw FileError(strange);
  if (knows_more(found, own.record)) {
    throw Overtaken(
        FileError(made->path_of(kStateFile),
                  "is newer than what this process remembers: another one has run under its id",
                  "stop this sidecar, empty the folder, and start it while the others run", true));
  }
  return made;
}

}  // namespace bellwether::io
