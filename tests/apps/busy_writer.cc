// A sidecar's flag at full speed, for the readers of other languages: holds the flag as the sidecar
// does, and replaces the whole line again and again until it is killed.
//
//   busy_writer FLAG_FILE PAUSE_NS
//
// Odd epochs are led, even ones are followed, and an epoch's leader has an id that belongs to this
// epoch alone, so a torn state gives itself away.  Between two updates it spins for a time between
// nothing and PAUSE_NS, so that slow readers get a word in.  Prints "busy" when it has begun.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <stdexcept>

#include "io/flag/flag_writer.hh"
#include "io/loop/files.hh"

namespace {

using namespace bellwether;

constexpr uint64_t kHourNs = 3'600'000'000'000;

Uuid id_of(uint64_t epoch) {
  const std::array<uint64_t, 2> words{epoch * 0x9e3779b97f4a7c15, ~epoch};
  Uuid id{};
  std::memcpy(id.data, words.data(), sizeof words);
  return id;
}

// The file's line, once more, and for writing: without FlagWriter's system calls.
leader_flag_line& map_line(const char* path) {
  const io::FileDescriptor file(::open(path, O_RDWR | O_CLOEXEC));
  void* const mapping =
      ::mmap(nullptr, sizeof(leader_flag_line), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapping == MAP_FAILED) throw std::runtime_error("the flag cannot be mapped");
  return *static_cast<leader_flag_line*>(mapping);
}

void spin(uint64_t duration_ns) {
  const uint64_t end_ns = leader_flag_now_ns() + duration_ns;
  while (leader_flag_now_ns() < end_ns) {
  }
}

[[noreturn]] void write_for_ever(leader_flag_line& line, uint64_t pause_ns) {
  uint64_t boot_id_hash = 0;
  leader_flag_boot_id_hash(&boot_id_hash);
  std::minstd_rand random(1);
  const uint64_t valid_until_ns = leader_flag_now_ns() + kHourNs;
  for (uint64_t epoch = 1;; ++epoch) {
    const bool leads = epoch % 2 == 1;
    const auto role = static_cast<uint8_t>(leads ? LEADER_FLAG_LEADER : LEADER_FLAG_FOLLOWER);
    io::write_flag_line(line, {.role = role, .epoch = epoch, .leader = id_of(epoch)},
                        leads ? valid_until_ns : 0, boot_id_hash);
    if (pause_ns != 0) spin(random() % pause_ns);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: busy_writer FLAG_FILE PAUSE_NS\n";
    return 2;
  }
  // Whoever watches may be killed, and this would go on for ever.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    const io::FlagWriter holder({.path = argv[1]});
    leader_flag_line& line = map_line(argv[1]);
    std::cout << "busy" << std::endl;
    write_for_ever(line, std::strtoull(argv[2], nullptr, 10));
  } catch (const std::exception& error) {
    std::cerr << "busy_writer: " << error.what() << "\n";
    return 1;
  }
}
