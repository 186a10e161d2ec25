// read(2) and getrlimit(2), and what an operator can do about each failed call.  Hosts give 1,024
// open files for the sake of select(2), which nobody here uses.
#include "io/loop/files.hh"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace bellwether::io {
namespace {

std::string remedy_for(int error, const std::string& key, const std::string& otherwise) {
  switch (error) {
    case EACCES:
    case EPERM:
      return fmt::format("let user {} read and write it, or set {} to another place", ::geteuid(),
                         key);
    case EROFS:
      return fmt::format("mount it for writing, or set {} to another place", key);
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
      return "free some space on this file system";
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
      return fmt::format("make the folders that its path names, or set {} to another place", key);
    default:
      return otherwise;
  }
}

}  // namespace

bool read_to_end(const FileDescriptor& file, size_t limit, std::string& text) {
  text.resize(limit);
  size_t done = 0;
  while (done < limit) {
    const ssize_t count = ::read(file.get(), text.data() + done, limit - done);
    if (count < 0 && errno != EINTR) return false;
    if (count == 0) break;
    if (count > 0) done += static_cast<size_t>(count);
  }
  text.resize(done);
  return true;
}

bool may_pass(int error) {
  constexpr int kLasting[] = {EACCES,       EPERM,  ENOTDIR, ELOOP,
                              ENAMETOOLONG, EINVAL, ENOSYS,  EOPNOTSUPP};
  return std::ranges::find(kLasting, error) == std::end(kLasting);
}

FileError::FileError(std::string path, std::string flaw, std::string remedy, bool may_pass)
    : std::runtime_error(path + ": " + flaw + "; " + remedy),
      parts_(std::make_shared<const Parts>(
          Parts{std::move(path), std::move(flaw), std::move(remedy), may_pass})) {}

FileError FileError::from_errno(std::string path, const std::string& failure, int error,
                                const std::string& key, const std::string& otherwise) {
  return {std::move(path), failure + ": " + std::generic_category().message(error),
          remedy_for(error, key, otherwise), io::may_pass(error)};
}

uint64_t raised_open_files(uint64_t soft, uint64_t hard) {
  return std::max(soft, std::min(hard, kEnoughOpenFiles));
}

uint64_t raise_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return kEnoughOpenFiles;  // it is not known to be low
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = raised_open_files(limit.rlim_cur, limit.rlim_max);
  const bool is_raised = limit.rlim_cur == before || ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
  const rlim_t now = is_raised ? limit.rlim_cur : before;
  if (now >= kFewestOpenFiles) return now;
  throw std::runtime_error(
      fmt::format("only {} files may be open; raise that to {} (LimitNOFILE=, ulimit -n)", now,
                  kEnoughOpenFiles));
}

bool is_spare(int fd) {
  constexpr rlim_t kSpare = 64;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  return static_cast<rlim_t>(fd) >= limit.rlim_cur - std::min(kSpare, limit.rlim_cur / 8);
}

}  // namespace bellwether::io
