// Another folder in the place of one that was deleted while its process runs, but never over what
// somebody else has put there.
#pragma once

#include <memory>

#include "io/state/locked_folder.hh"
#include "io/state/state_files.hh"

namespace bellwether::io {

// Another process has run under this one's id, and has granted what nobody here knows.
class Overtaken : public FileError {
 public:
  explicit Overtaken(const FileError& error) : FileError(error) {}
};

// Makes the folder where `gone` was, or takes the one that is there, and locks it; nothing in it is
// changed yet.  `own` is what this process is about to write into it.  Throws FileError when
//   - `gone` was not deleted, and can be put back;
//   - what is in its place is not this process's; Overtaken where it knows more than `own`;
//   - it cannot be made or used: FolderRefused where that does not pass by itself, and nothing is
//     in its place, or an empty folder.
// `calls` must outlive the folder.
std::unique_ptr<LockedFolder> remake(const LockedFolder& gone, const Slot& own, FileCalls& calls);

}  // namespace bellwether::io
