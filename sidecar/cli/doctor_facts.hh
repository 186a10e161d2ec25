// Gathers all that the doctor judges, one source after the other, each with its bound on time.
#pragma once

#include <string>

#include "cli/progress.hh"
#include "doctor/facts.hh"

namespace bellwether::cli {

// `file` is the configuration.  Forks once, so no thread may run yet; what cannot be had is part of
// the facts, and nothing is thrown for it.
doctor::Facts gather_facts(const std::string& file, const std::string& version, Progress& progress);

}  // namespace bellwether::cli
