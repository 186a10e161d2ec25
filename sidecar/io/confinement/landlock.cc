// The three system calls, which the C library does not have.
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/file_turn.hh"
#include "io/confinement/confinement.hh"
#include "io/loop/files.hh"

namespace bellwether::io {
namespace {

// Debian 12's headers are of ABI 2.
constexpr uint64_t kTruncate = uint64_t{1} << 14;  // since ABI 3

// What is allowed in folders where the sidecar has something to write.
constexpr uint64_t kWriting = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                              LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                              LANDLOCK_ACCESS_FS_MAKE_DIR;
// What is allowed nowhere.
constexpr uint64_t kNowhere = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                              LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                              LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM;
// Moving a file to another folder; a kernel that does not know it never allows that.
constexpr int kAbiWithRefer = 2;
constexpr int kAbiWithTruncate = 3;

FileDescriptor open_nearest(std::filesystem::path folder) {
  const FileTurn turn(folder.string());
  FileDescriptor place;
  while (!place.is_open()) {
    place = FileDescriptor(::open(folder.c_str(), O_PATH | O_CLOEXEC));
    if (place.is_open() || errno != ENOENT || !folder.has_relative_path()) break;
    folder = folder.parent_path();
  }
  return place;
}

bool allow_writing(const FileDescriptor& rules, const std::filesystem::path& folder,
                   uint64_t rights) {
  const FileDescriptor place = open_nearest(folder);
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights;
  rule.parent_fd = place.get();
  return ::syscall(SYS_landlock_add_rule, rules.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

}  // namespace

int landlock_abi() {
  const long abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

bool forbid_writing_outside(const std::vector<std::filesystem::path>& writable) {
  const int abi = landlock_abi();
  if (abi == 0) return false;
  const uint64_t truncate = abi >= kAbiWithTruncate ? kTruncate : 0;
  landlock_ruleset_attr handled{};
  handled.handled_access_fs = kWriting | kNowhere | truncate;
  if (abi >= kAbiWithRefer) handled.handled_access_fs |= LANDLOCK_ACCESS_FS_REFER;
  const FileDescriptor rules(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0)));
  if (!rules.is_open()) return false;
  for (const std::filesystem::path& folder : writable) {
    if (!allow_writing(rules, folder, kWriting | truncate)) return false;
  }
  return ::syscall(SYS_landlock_restrict_self, rules.get(), 0) == 0;
}

}  // namespace bellwether::io
