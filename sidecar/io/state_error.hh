// Why the state folder cannot be used, in words for the operator.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

namespace bellwether {

class StateError : public std::runtime_error {
 public:
  // what() is one line of all three: "/var/lib/bellwether/state: is damaged; start with ...".
  StateError(std::string path, std::string flaw, std::string remedy);

  // A system call failed with `error` (an errno); `failure` says what could not be done ("cannot be
  // opened").  The remedy follows from the error.
  static StateError from_errno(std::string path, const std::string& failure, int error);

  const std::string& path() const { return parts_->path; }      // the file or folder in question
  const std::string& flaw() const { return parts_->flaw; }      // what is wrong with it
  const std::string& remedy() const { return parts_->remedy; }  // what the operator can do

 private:
  struct Parts {
    std::string path;
    std::string flaw;
    std::string remedy;
  };
  // The copies of an exception share it, because copying one must not throw.
  std::shared_ptr<const Parts> parts_;
};

}  // namespace bellwether
