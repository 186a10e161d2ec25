// The rules; what is there lstat(2) says, which anybody may ask: so all who ask get the same
// answer.
#include "io/flag/flag_folder.hh"

#include <fmt/core.h>

#include <optional>

namespace bellwether::io {
namespace {

constexpr mode_t kOthersWrite = 0022;
constexpr mode_t kModeBits = 07777;

std::optional<struct stat> look_at(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  return status;
}

bool may_make_files_in(const struct stat& folder, uid_t user, bool is_shared) {
  if (!S_ISDIR(folder.st_mode) || !flag_folder_flaw(folder, user, is_shared).empty()) return false;
  if (user == 0) return true;
  const mode_t as_owner = folder.st_uid == user ? S_IWUSR : 0;
  return (folder.st_mode & (as_owner | S_IWGRP | S_IWOTH)) != 0;
}

}  // namespace

std::string flag_folder_flaw(const struct stat& folder, uid_t user, bool is_shared) {
  if (folder.st_uid != 0 && folder.st_uid != user) {
    return fmt::format(
        "its folder belongs to user {}, neither to root nor to user {} of the sidecar",
        folder.st_uid, user);
  }
  // In a sticky folder others may put files, but replace none of ours.
  if (is_shared || (folder.st_mode & S_ISVTX) != 0) return "";
  if ((folder.st_mode & kOthersWrite) == 0) return "";
  return fmt::format(
      "its folder can be written by others (mode {}), who could put another flag in its place",
      mode_text(folder.st_mode));
}

std::string mode_text(mode_t mode) { return fmt::format("0{:o}", mode & kModeBits); }

std::string default_flag_folder(const std::string& group, uid_t user, bool is_shared,
                                const FlagFolders& folders) {
  const auto is_fit = [&](const std::string& path) {
    const auto folder = look_at(path);
    return folder && may_make_files_in(*folder, user, is_shared);
  };
  const auto is_in = [&](const std::string& path) {
    const auto flag = look_at(path + "/" + group);
    return flag && flag->st_uid == user;
  };
  if (is_in(folders.shm) && is_fit(folders.shm)) return folders.shm;
  return is_in(folders.run) || is_fit(folders.run) ? folders.run : folders.shm;
}

uid_t user_of_sidecar(const std::string& group, uid_t self, const FlagFolders& folders) {
  for (const std::string& folder : {folders.run, folders.shm}) {
    if (const auto flag = look_at(folder + "/" + group)) return flag->st_uid;
  }
  // Root looks for somebody else.
  const auto run = look_at(folders.run);
  return self == 0 && run ? run->st_uid : self;
}

}  // namespace bellwether::io
