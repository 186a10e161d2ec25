// lstat(2), which anybody may: so all who ask get the same answer.
#include "io/flag/flag_default.hh"

#include <sys/stat.h>

#include <optional>

#include "io/flag/flag_folder.hh"

namespace bellwether {
namespace {

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

}  // namespace bellwether
