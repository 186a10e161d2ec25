// The node's way to the store that decides who leads: its requests go out, answers and events come
// back as inputs, and the files that prove who asks are read again when they change.
#pragma once

#include <functional>
#include <string>

#include "config/config.hh"
#include "core/effects.hh"
#include "daemon/line_limit.hh"
#include "daemon/log.hh"
#include "daemon/reread.hh"
#include "daemon/store_files.hh"
#include "io/names/resolver.hh"
#include "io/store/store_client.hh"
#include "metrics/metrics.hh"

namespace bellwether::daemon {

// The wall clock, in milliseconds: epochs are tokens that outlive the disks of all voters and a
// store's record, so after a loss of those they begin beyond all that they were ever counted up to.
// Records tell no times that are compared.
uint64_t epoch_seed();

class StoreLink final : private io::StoreListener {
 public:
  // Of a configuration with a store as its guard.  Reads its files, which blocks.  `tell` gets what
  // the node is to be told, from within the loop.  All but `config` outlive this.
  StoreLink(io::Loop& loop, io::Resolver& resolver, const Config& config, uint64_t seed, Log& log,
            metrics::Metrics& metrics, std::function<void(const Input&)> tell);

  void carry_out(const StoreRead& read) { client_.read(read.number, read.patience); }
  void carry_out(const StoreWrite& write) {
    client_.write(write.number, write.patience, write.expected, write.record);
  }
  void carry_out(const StoreWatch& watch) { client_.watch(watch.is_wanted); }

  // For people.
  const io::StoreCondition& condition() const { return client_.condition(); }

 private:
  // StoreListener
  void on_store_seen(uint64_t number, const StoreSight& sight) override;
  void on_store_written(uint64_t number, const StoreVersion& version) override;
  void on_store_conflict(uint64_t number, const std::optional<StoreSight>& found) override;
  void on_store_failed(uint64_t number, StoreFailure failure, Duration retry_after) override;
  void on_store_request(const io::StoreRequestReport& report) override;
  void on_store_condition() override;
  void on_store_secret_refused() override;

  void secure(const StoreReading& reading);

  Log& log_;
  metrics::Metrics& metrics_;
  std::function<void(const Input&)> tell_;
  LineLimit conditions_{10, std::chrono::minutes(1)};
  io::StoreClient client_;
  std::string flaw_;  // of the files, as it was logged last; empty: none
  Reread<StoreReading> files_;
};

}  // namespace bellwether::daemon
