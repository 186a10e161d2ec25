// The shared-memory flag as the sidecar sees it: what applications read with leader_flag.h.
//
// A thread of its own holds the flag's robust futex and does nothing else, so the flag is off as
// soon as the kernel ends this process (robust_futex.hh).  The order of writes is what counts: the
// flag is off before a new process takes it over, and off before it is let go.
#pragma once

#include <cstdint>
#include <filesystem>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "core/effects.hh"
#include "io/flag_file.hh"
#include "io/flag_line.hh"

namespace bellwether {

struct FlagWriterSettings {
  std::filesystem::path path;  // on a tmpfs
  mode_t mode = 0640;          // readers need no more than to read
  uint8_t guard = LEADER_FLAG_GUARD_NONE;
};

class FlagWriter {
 public:
  // Makes the file or takes over what an earlier process has left, in both cases off, and holds it.
  // Throws FlagError when the file cannot be used (flag_file.hh says when), and std::system_error
  // when no thread can be started.  Where robust_futex_flaw() finds one, it works but for one
  // thing: after this process is killed, the flag stays on until its validity has run out.
  explicit FlagWriter(const FlagWriterSettings& settings);

  // Writes the flag off and lets it go.
  ~FlagWriter();

  FlagWriter(const FlagWriter&) = delete;
  FlagWriter& operator=(const FlagWriter&) = delete;

  // For the log, each one line that names the file.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // What applications see from now on.  Costs one store when only `valid_until` has moved on, and
  // otherwise wakes who waits for a change.  One call at a time; does not fail, allocate or block.
  void publish(const Publish& publication);

 private:
  void write(const FlagWord& word, uint64_t valid_until_ns);
  void wake_waiters();
  void hold();

  FlagFile file_;
  leader_flag_line& line_;
  std::vector<std::string> warnings_{};
  uint64_t boot_id_hash_ = 0;
  FlagWord word_;  // as in the line
  std::latch is_held_{1};
  std::latch is_over_{1};
  std::thread holder_;
};

}  // namespace bellwether
