// How the program ends: its exit code, the error that says the user asked for something impossible,
// and its last words.
#pragma once

#include <stdexcept>
#include <string_view>

namespace bellwether::cli {

// Scripts and service managers rely on these numbers; they never change their meaning.
enum class ExitCode : int {
  kOk = 0,
  kFailure = 1,  // the work was done or begun, and the result is bad
  kUsage = 2,    // nothing was done: the command line is wrong
  kConfigInvalid = 3,
  kDoubtful = 4,  // nothing is wrong, but there are warnings (`check` and `doctor` only)
  kPluginRefused = 5,
  kAddressUnusable = 6,
  kStateUnusable = 7,     // the state or the flag
  kInvariantBroken = 8,   // `run` was wrong about itself: a bug; the log has the evidence
  kStateUnavailable = 9,  // the state or the flag, for now: another start may succeed
};

// A wrong command line; what() says what is wrong and what would be right.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Writes the text, unless the reader of stderr has come to a halt for a second: an end must not
// wait for somebody who listens.  One thread at a time.
void write_to_stderr(std::string_view text);

}  // namespace bellwether::cli
