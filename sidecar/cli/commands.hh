// The subcommands: each file of them adds its own to the program, with their options and their
// help.
#pragma once

#include <functional>

#include "cli/exit_code.hh"

namespace CLI {
class App;
}

namespace bellwether::cli {

// Where the configuration lies unless the user says otherwise.
inline constexpr const char* kUsualConfig = "/etc/bellwether/bellwether.toml";

// What a subcommand does once the command line is understood.  Throws UsageError, ConfigErrors,
// PluginError, and others that mean a failure.
using Subcommand = std::function<ExitCode()>;

// Parsing puts the command that was called into `chosen`, which must outlive `program`.
void add_run(CLI::App& program, Subcommand& chosen);
void add_check(CLI::App& program, Subcommand& chosen);
void add_doctor(CLI::App& program, Subcommand& chosen);
// Those that talk to the sidecar which runs on this machine: status, explain, watch, step-down,
// transfer, elect, reload, forget.
void add_sidecar_commands(CLI::App& program, Subcommand& chosen);
void add_keygen(CLI::App& program, Subcommand& chosen);
void add_simulate(CLI::App& program, Subcommand& chosen);

}  // namespace bellwether::cli
