// The files of one use of TLS while the process runs: read again when they change, and what was in
// force stays while they are of no use.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "daemon/reread.hh"
#include "daemon/tls_reading.hh"

namespace bellwether::daemon {

class TlsFiles {
 public:
  using Read = Reread<TlsReading>::Read;

  // Reads the files at once, which blocks.  Calls `on_change` from the loop when something that the
  // functions below tell has changed.
  TlsFiles(io::Loop& loop, const Read& read, std::function<void()> on_change)
      : TlsFiles(loop, read, std::move(on_change), read({})) {}

  // From now on those; they are read soon.
  void set_read(Read read) {
    files_.set_read(std::move(read));
    files_.read([] {});
  }

  // They have been of use once.
  bool have_been_of_use() const { return in_force_.has_value(); }
  // What is in force; nullptr: TLS is off, or they have been of no use yet.
  io::TlsContextPtr in_force() const { return in_force_.value_or(nullptr); }
  // Why the files as they are now are not in force; "": they are.
  const std::string& flaw() const { return flaw_; }

 private:
  TlsFiles(io::Loop& loop, const Read& read, std::function<void()> on_change,
           const TlsReading& first)
      : on_change_(std::move(on_change)),
        files_(loop, first, read, unread_files, [this](const TlsReading& reading) {
          take(reading);
          on_change_();
        }) {
    take(first);
  }

  void take(const TlsReading& reading) {
    flaw_ = reading.error;
    if (flaw_.empty()) in_force_ = reading.tls;
  }

  std::function<void()> on_change_;
  std::optional<io::TlsContextPtr> in_force_;  // shared with all connections that were made with it
  std::string flaw_;
  Reread<TlsReading> files_;
};

}  // namespace bellwether::daemon
