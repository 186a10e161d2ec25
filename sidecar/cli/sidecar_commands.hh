// The subcommands that talk to the sidecar which runs on this machine: status, watch, step-down,
// transfer, elect, reload, forget.
#pragma once

#include <cstdint>
#include <string>

#include "cli/api_address.hh"
#include "cli/exit_code.hh"
#include "cli/styled_text.hh"

namespace CLI {
class App;
}

namespace bellwether::cli {

enum class SidecarCommand : uint8_t {
  kNone,  // the program was called for something else
  kStatus,
  kWatch,
  kStepDown,
  kTransfer,
  kElect,
  kReload,
  kForget,
};

struct SidecarOptions {
  SidecarCommand command = SidecarCommand::kNone;
  ApiOptions api;
  bool is_json = false;                       // status, watch
  ColourChoice colour = ColourChoice::kAuto;  // status, watch
  bool is_once = false;                       // watch
  std::string hold;                           // step-down; empty: the sidecar's default
  std::string member;                         // transfer, forget: its name
};

// Adds the subcommands to `program`.  Parsing fills `options`, which must outlive `program`.
void add_sidecar_commands(CLI::App& program, SidecarOptions& options);

// Does what `options` say; throws UsageError, ConfigErrors, ApiError and std::system_error.
ExitCode run_sidecar_command(const SidecarOptions& options);

}  // namespace bellwether::cli
