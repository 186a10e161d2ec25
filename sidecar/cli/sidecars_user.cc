// The C library gives the new rights to all threads.
#include "cli/sidecars_user.hh"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <system_error>

#include "base/ascii.hh"
#include "cli/exit_code.hh"

namespace bellwether::cli {
namespace {

struct User {
  uid_t id = 0;
  gid_t group = 0;
  std::string name;
};

User user_of(uid_t id, gid_t group) {
  const passwd* entry = ::getpwuid(id);
  if (entry == nullptr) return {id, group, std::to_string(id)};
  return {id, entry->pw_gid, entry->pw_name};
}

User user_named(const std::string& name) {
  const auto number = parse_number<uid_t>(name);
  if (number) return user_of(*number, *number);
  const passwd* entry = ::getpwnam(name.c_str());
  if (entry == nullptr) throw UsageError("--user: there is no user " + name);
  return {entry->pw_uid, entry->pw_gid, name};
}

// Before the first start there is no folder, but the user that the package has made.
std::optional<User> owner_of(const std::string& folder) {
  struct stat status {};
  if (!folder.empty() && ::stat(folder.c_str(), &status) == 0) {
    return user_of(status.st_uid, status.st_gid);
  }
  const passwd* entry = ::getpwnam("bellwether");
  if (entry == nullptr) return std::nullopt;
  return User{entry->pw_uid, entry->pw_gid, entry->pw_name};
}

}  // namespace

std::string become_sidecars_user(const std::string& name, const std::string& state_dir) {
  const bool is_root = ::geteuid() == 0;
  if (name.empty() && !is_root) return "";
  const std::optional<User> user = name.empty() ? owner_of(state_dir) : user_named(name);
  if (!user || user->id == ::geteuid()) return "";
  if (!is_root) throw UsageError("--user: only root can judge with the rights of " + user->name);
  if (::initgroups(user->name.c_str(), user->group) != 0 || ::setgid(user->group) != 0 ||
      ::setuid(user->id) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot become user " + user->name);
  }
  return user->name;
}

}  // namespace bellwether::cli
