// What an operator can do about each failed system call.
#include "io/state/state_error.hh"

#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "io/loop/passing_error.hh"

namespace bellwether {
namespace {

std::string remedy_for(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "let user " + std::to_string(::geteuid()) +
             " read and write it, or set state_dir to another folder";
    case EROFS:
      return "mount it for writing, or set state_dir to a folder that can be written to";
    case ENOSPC:
    case EDQUOT:
      return "free some space on this disk";
    case ENOTDIR:
    case ELOOP:
      return "set state_dir to a folder";
    default:
      return "check the disk, or set state_dir to a folder on another one";
  }
}

}  // namespace

StateError::StateError(std::string path, std::string flaw, std::string remedy, bool may_pass)
    : std::runtime_error(path + ": " + flaw + "; " + remedy),
      parts_(std::make_shared<const Parts>(
          Parts{std::move(path), std::move(flaw), std::move(remedy), may_pass})) {}

StateError StateError::from_errno(std::string path, const std::string& failure, int error) {
  return {std::move(path), failure + ": " + std::generic_category().message(error),
          remedy_for(error), bellwether::may_pass(error)};
}

}  // namespace bellwether
