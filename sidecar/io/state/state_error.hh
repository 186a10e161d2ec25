// Why the state folder cannot be used, in words for the operator.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

namespace bellwether {

class StateError : public std::runtime_error {
 public:
  // what() is one line of all three: "/var/lib/bellwether/state: belongs to group ...; give ...".
  // `may_pass`: it may be over at another start, though nobody has done anything about it.
  StateError(std::string path, std::string flaw, std::string remedy, bool may_pass = false);

  // A system call failed with `error` (an errno); `failure` says what could not be done ("cannot be
  // opened").  The remedy follows from the error.
  static StateError from_errno(std::string path, const std::string& failure, int error);

  const std::string& path() const { return parts_->path; }      // the file or folder in question
  const std::string& flaw() const { return parts_->flaw; }      // what is wrong with it
  const std::string& remedy() const { return parts_->remedy; }  // what the operator can do
  bool may_pass() const { return parts_->may_pass; }

 private:
  struct Parts {
    std::string path;
    std::string flaw;
    std::string remedy;
    bool may_pass = false;
  };
  // The copies of an exception share it, because copying one must not throw.
  std::shared_ptr<const Parts> parts_;
};

}  // namespace bellwether
