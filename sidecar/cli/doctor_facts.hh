// Gathers all that the doctor judges, one source after the other, each with its bound on time.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "doctor/facts.hh"

namespace bellwether::cli {

// `file` is the configuration; root becomes `user`, or else the sidecar's; `tell` is called with
// what is being done.  Takes less than ten seconds, and changes nothing, here or elsewhere.  Forks
// once, so no thread may run yet; what cannot be had is part of the facts, and nothing is thrown
// for it.
doctor::Facts gather_facts(const std::string& file, const std::string& user,
                           const std::function<void(std::string_view)>& tell);

}  // namespace bellwether::cli
