// The shared-memory flag as the sidecar sees it: what applications read with leader_flag.h.
//
// It has one file at a time (held_flag.hh): the one that applications find at its path.  When
// somebody has removed, replaced or spoiled that, another is made, and only then the old one is let
// go, off; whoever has that mapped finds the new one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/effects.hh"
#include "io/flag/held_flag.hh"
#include "io/loop/files.hh"

namespace bellwether::io {

class FlagWriter {
 public:
  // Makes the file or takes over what an earlier process has left, in both cases off, and holds it.
  // Throws FileError when the file cannot be used (flag_file.hh says when), and std::system_error
  // when no thread can be started.  Where robust_futex_flaw() finds one, it works but for one
  // thing: after this process is killed, the flag stays on until its validity has run out.
  explicit FlagWriter(const FlagFileSettings& settings);

  // For the log, each one line that names the file.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // What applications see from now on.  Costs one store when only `valid_until` has moved on, and
  // otherwise wakes who waits for a change.  One call at a time; does not fail, allocate or block.
  void publish(const Publish& publication);

  // Looks whether applications that open the path now find this flag, and makes them find it.  Not
  // during publish().  A few system calls while all is well.
  FileLook look();

 private:
  // True when the folder is another one, too.
  bool make_again();

  FlagFileSettings settings_;
  FlagWord word_;                // as in the line
  uint64_t valid_until_ns_ = 0;  // the same
  std::unique_ptr<HeldFlag> held_;
  std::vector<std::string> warnings_{};
};

}  // namespace bellwether::io
