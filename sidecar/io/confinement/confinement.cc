// Each part is tried by itself, and what it lacks is noted.
#include "io/confinement/confinement.hh"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "base/file_turn.hh"

namespace bellwether::io {
namespace {

// A sanitizer looks at its own process from a second one at the end, and gcov then writes files.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || BELLWETHER_IS_INSTRUMENTED
constexpr bool kIsInstrumented = true;
#else
constexpr bool kIsInstrumented = false;
#endif

void note(std::string& lack, const std::string& what, int error) {
  if (!lack.empty()) lack += "; ";
  lack += what + ": " + std::generic_category().message(error);
}

// What is mounted cannot be removed.
bool is_mount_point(const std::filesystem::path& folder) {
  const FileTurn turn(folder.string());
  struct statx status {};
  return ::statx(AT_FDCWD, folder.c_str(), 0, 0, &status) == 0 &&
         (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

}  // namespace

Confinement confine(const ConfinementSettings& settings) {
  Confinement done;
  if (kIsInstrumented) {
    done.lack = "the program was built to look at itself (sanitizer, coverage)";
    return done;
  }
  std::string& lack = done.lack;
  done.has_no_new_privileges = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
  if (!done.has_no_new_privileges) note(lack, "PR_SET_NO_NEW_PRIVS", errno);
  if (!settings.why_writing_is_free.empty()) {
    lack += settings.why_writing_is_free;
  } else if (forbid_writing_outside(settings.writable)) {
    done.landlock_abi = landlock_abi();
  } else {
    note(lack, "the kernel has no Landlock for this process", errno);
  }
  done.has_system_call_filter = refuse_system_calls();
  if (!done.has_system_call_filter) note(lack, "seccomp", errno);
  return done;
}

std::vector<std::filesystem::path> folders_of(const std::vector<std::filesystem::path>& files) {
  std::vector<std::filesystem::path> folders;
  for (const std::filesystem::path& file : files) {
    const std::filesystem::path folder = file.parent_path();
    folders.push_back(folder);
    const std::filesystem::path above = folder.parent_path();
    if (above != folder.root_path() && !is_mount_point(folder)) folders.push_back(above);
  }
  return folders;
}

}  // namespace bellwether::io
