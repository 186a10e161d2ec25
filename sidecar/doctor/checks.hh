// The checks, one function each.  diagnosis.cc has the table that names them and says what each
// needs; a check is only called when that is there.
#pragma once

#include "doctor/diagnosis.hh"

namespace bellwether::doctor {

// setup_checks.cc
Diagnoses check_configuration(const Facts& facts);
Diagnoses check_plugin(const Facts& facts);
Diagnoses check_sidecar(const Facts& facts);
Diagnoses check_metrics(const Facts& facts);

// storage_checks.cc
Diagnoses check_state(const Facts& facts);
Diagnoses check_flag(const Facts& facts);

// host_checks.cc
Diagnoses check_futex(const Facts& facts);
Diagnoses check_clock(const Facts& facts);
Diagnoses check_open_files(const Facts& facts);
Diagnoses check_processor(const Facts& facts);

// network_checks.cc
Diagnoses check_names(const Facts& facts);
Diagnoses check_own_address(const Facts& facts);
Diagnoses check_reach(const Facts& facts);
Diagnoses check_both_ways(const Facts& facts);
Diagnoses check_proxies(const Facts& facts);

// agreement_checks.cc
Diagnoses check_identities(const Facts& facts);
Diagnoses check_versions(const Facts& facts);
Diagnoses check_plugins(const Facts& facts);
Diagnoses check_variants(const Facts& facts);
Diagnoses check_voters(const Facts& facts);
Diagnoses check_leader(const Facts& facts);

}  // namespace bellwether::doctor
