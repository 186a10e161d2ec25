// `bellwether doctor`: what may be wrong with this sidecar, its host, its network and its group.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/exit_code.hh"
#include "cli/styled_text.hh"
#include "doctor/facts.hh"

namespace CLI {
class App;
}

namespace bellwether::cli {

struct DoctorOptions {
  std::string file = "/etc/bellwether/bellwether.toml";
  bool is_json = false;
  ColourChoice colour = ColourChoice::kAuto;
};

// Adds the subcommand to `program`.  Parsing fills `options`, which must outlive `program`.
CLI::App* add_doctor(CLI::App& program, DoctorOptions& options);

// Looks, prints the report, and returns what follows from it.  Changes nothing, here or elsewhere;
// takes less than ten seconds.  `version` is this program's.
ExitCode run_doctor(const DoctorOptions& options, const std::string& version);

// `file` is the configuration; `tell` is called with what is being done.  Forks once, so no thread
// may run yet; what cannot be had is part of the facts, and nothing is thrown for it.
doctor::Facts gather_facts(const std::string& file, const std::string& version,
                           const std::function<void(std::string_view)>& tell);

}  // namespace bellwether::cli
