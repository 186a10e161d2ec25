// One file of the flag, held by a thread of its own that does nothing else, so the flag is off as
// soon as the kernel ends this process (robust_futex.hh).  The order of writes is what counts: the
// flag is off before a new process takes it over, and off before it is let go.
//
// This is the writing half of the flag's line; the reading half, and the layout, are in
// leader_flag.h.  There is one writer at a time; readers may look at any moment.
#pragma once

#include <bellwether/leader_flag.h>

#include <cstdint>
#include <latch>
#include <optional>
#include <string>
#include <thread>

#include "core/identity.hh"
#include "io/flag/flag_file.hh"

namespace bellwether::io {

// What the flag says, its validity aside.
struct FlagWord {
  uint8_t role = LEADER_FLAG_UNKNOWN;
  uint8_t guard = LEADER_FLAG_GUARD_NONE;
  uint64_t epoch = 0;
  Uuid leader{};  // zeros: none is known
  uint8_t flags = 0;

  friend bool operator==(const FlagWord&, const FlagWord&) = default;
};

// Replaces all that the line says.  What a writer that died in the middle has left is not a
// hindrance.
void write_flag_line(leader_flag_line& line, const FlagWord& word, uint64_t valid_until_ns,
                     uint64_t boot_id_hash);

// Moves the validity on; readers and waiters are not disturbed.
void renew_flag_line(leader_flag_line& line, uint64_t valid_until_ns);

class HeldFlag {
 public:
  // Makes the file or takes over what an earlier process has left, in both cases off, and holds it.
  // `seq_before`: of the file whose place it takes in this process; it counts on from there, so
  // that no reader who comes from the one to the other takes two states for the same.
  // Throws FileError and std::system_error, as FlagWriter does.
  explicit HeldFlag(const FlagFileSettings& settings, std::optional<uint32_t> seq_before = {});

  // Writes the flag off and lets it go.
  ~HeldFlag();

  HeldFlag(const HeldFlag&) = delete;
  HeldFlag& operator=(const HeldFlag&) = delete;

  const FlagFile& file() const { return file_; }
  // What somebody else has done to the file's contents, as in "was written over"; empty: nothing.
  std::string damage() const { return file_.damage(written_); }
  // As written last, whatever is in the file by now.
  uint32_t seq() const { return written_.line.seq; }

  // Replaces what the flag says, and wakes who waits for a change.
  void write(const FlagWord& word, uint64_t valid_until_ns);
  void renew(uint64_t valid_until_ns);

 private:
  void wake_waiters();
  void hold();

  FlagPage written_{};  // a copy, which nobody else can change
  FlagFile file_;
  leader_flag_line& line_;
  const uint64_t boot_id_hash_;
  const uint8_t guard_;
  std::latch is_held_{1};
  std::latch is_over_{1};
  std::thread holder_;
};

}  // namespace bellwether::io
