// The files of one [[hook]]: whom it believes, what it shows to its receiver, and what it signs
// with; read again when they change (tls_reading.hh).
#pragma once

#include <string>

#include "api/webhook_signature.hh"
#include "config/config.hh"
#include "daemon/tls_reading.hh"

namespace bellwether::daemon {

struct HookReading {
  TlsReading files;            // its error is of any of them
  api::SigningKeysPtr keys{};  // shared with the webhook

  friend bool operator==(const HookReading& one, const HookReading& other) {
    return one.files == other.files;
  }
};

// `path` names the hook: "hook[1]".  Blocks; throws nothing.
HookReading read_hook_files(const HookSettings& hook, const std::string& path,
                            const HookReading& last = {});

}  // namespace bellwether::daemon
