// `bellwether run`: the sidecar itself.
#pragma once

#include <string>

#include "cli/exit_code.hh"

namespace CLI {
class App;
}

namespace bellwether::cli {

struct RunOptions {
  std::string file = "/etc/bellwether/bellwether.toml";
  bool forget_promises = false;
  bool is_first_start = false;
};

// Adds the subcommand to `program`.  Parsing fills `options`, which must outlive `program`.
CLI::App* add_run(CLI::App& program, RunOptions& options);

// Runs until a signal ends it.
ExitCode run_sidecar(const RunOptions& options, const std::string& version);

}  // namespace bellwether::cli
