// The checks, one function each.  diagnosis.cc has the table that names them and says what each
// needs; a check is only called when that is there.
#pragma once

#include "doctor/diagnosis.hh"

namespace bellwether::doctor {

// Why a check that needs probes is skipped where Facts::is_tls_unusable().
inline constexpr const char* kNotProbed = "[tls] cannot be used here; see the check tls";

// setup_checks.cc
void check_configuration(const Facts& facts, Findings& found);
void check_plugin(const Facts& facts, Findings& found);
void check_sidecar(const Facts& facts, Findings& found);
void check_ports(const Facts& facts, Findings& found);
void check_metrics(const Facts& facts, Findings& found);
void check_tls(const Facts& facts, Findings& found);

// storage_checks.cc
void check_state(const Facts& facts, Findings& found);
void check_flag(const Facts& facts, Findings& found);

// application_checks.cc
void check_application(const Facts& facts, Findings& found);

// store_checks.cc
void check_store(const Facts& facts, Findings& found);

// host_checks.cc
void check_futex(const Facts& facts, Findings& found);
void check_confinement(const Facts& facts, Findings& found);
void check_clock(const Facts& facts, Findings& found);
void check_open_files(const Facts& facts, Findings& found);
void check_processor(const Facts& facts, Findings& found);

// network_checks.cc
void check_names(const Facts& facts, Findings& found);
void check_own_address(const Facts& facts, Findings& found);
void check_reach(const Facts& facts, Findings& found);
void check_both_ways(const Facts& facts, Findings& found);
void check_proxies(const Facts& facts, Findings& found);

// agreement_checks.cc
void check_identities(const Facts& facts, Findings& found);
void check_versions(const Facts& facts, Findings& found);
void check_plugins(const Facts& facts, Findings& found);
void check_variants(const Facts& facts, Findings& found);
void check_voters(const Facts& facts, Findings& found);
void check_leader(const Facts& facts, Findings& found);

}  // namespace bellwether::doctor
