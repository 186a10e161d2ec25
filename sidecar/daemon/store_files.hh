// The store that decides who leads, as the configuration names it: whom to ask, whom to believe,
// and what to show; files are read again when they change (tls_reading.hh).
#pragma once

#include <memory>

#include "base/undumped_memory.hh"
#include "config/config.hh"
#include "daemon/tls_reading.hh"
#include "io/store/store_client.hh"
#include "io/store/store_dialect.hh"

namespace bellwether::daemon {

struct StoreReading {
  TlsReading files;  // its error is of any of them
  Secret secret{};   // token or password; "": there is none

  friend bool operator==(const StoreReading& one, const StoreReading& other) {
    return one.files == other.files;
  }
};

// Of a configuration with a store as its guard.  Blocks; throws nothing.
StoreReading read_store_files(const Config& config, const StoreReading& last = {});

// What a client can do with it; without words about what is wrong only if nothing is.
io::StoreSecurity to_security(const StoreReading& reading);

// Of a configuration with a store as its guard.
std::unique_ptr<io::StoreDialect> make_store_dialect(const Config& config);

}  // namespace bellwether::daemon
