// The rule, and nothing that looks at a file system: the doctor asks it, too.
#include "io/flag/flag_folder.hh"

#include <array>
#include <cstdio>

namespace bellwether {
namespace {

constexpr mode_t kOthersWrite = 0022;
constexpr mode_t kPermissions = 07777;

}  // namespace

std::string flag_folder_flaw(const struct stat& folder, uid_t user, bool is_shared) {
  if (folder.st_uid != 0 && folder.st_uid != user) {
    return "its folder belongs to user " + std::to_string(folder.st_uid) +
           ", neither to root nor to user " + std::to_string(user) + " of the sidecar";
  }
  // In a sticky folder others may put files, but replace none of ours.
  if (is_shared || (folder.st_mode & S_ISVTX) != 0) return "";
  if ((folder.st_mode & kOthersWrite) == 0) return "";
  return "its folder can be written by others (mode " + mode_text(folder.st_mode) +
         "), who could put another flag in its place";
}

std::string mode_text(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "0%o", static_cast<unsigned>(mode & kPermissions));
  return text.data();
}

}  // namespace bellwether
