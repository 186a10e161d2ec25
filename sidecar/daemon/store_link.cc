// What becomes of each answer, and of the files.
#include "daemon/store_link.hh"

#include <algorithm>
#include <chrono>
#include <utility>

namespace bellwether::daemon {
namespace {

metrics::StoreResult result_of(const io::StoreRequestReport& report) {
  if (report.is_conflict) return metrics::StoreResult::kConflict;
  return report.failure ? metrics::StoreResult::kFailed : metrics::StoreResult::kDone;
}

}  // namespace

uint64_t epoch_seed() {
  using std::chrono::milliseconds;
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::floor<milliseconds>(since_1970).count();
  return std::min(ms > 0 ? static_cast<uint64_t>(ms) : 0, kLatestEpochSeed);
}

StoreLink::StoreLink(io::Loop& loop, io::Resolver& resolver, const Config& config, uint64_t seed,
                     Log& log, metrics::Metrics& metrics, std::function<void(const Input&)> tell)
    : log_(log),
      metrics_(metrics),
      tell_(std::move(tell)),
      client_(loop, resolver, make_store_dialect(config), *this, seed),
      files_(
          loop, read_store_files(config),
          [config](const StoreReading& last) { return read_store_files(config, last); },
          [](const StoreReading& last, const Unread& unread) {
            StoreReading reading = last;
            reading.files = unread_files(last.files, unread);
            return reading;
          },
          [this](const StoreReading& reading) { secure(reading); }) {
  secure(files_.last());
}

// A token that another one takes the place of every hour is not worth a line; nor is a flaw that is
// met again at each try.
void StoreLink::secure(const StoreReading& reading) {
  const std::string& error = reading.files.error;
  if (!error.empty() && error != flaw_) {
    log_.write(LogLevel::kError, "the files for the store cannot be used", {{"error", error}});
  }
  flaw_ = error;
  client_.secure(to_security(reading));
}

void StoreLink::on_store_seen(uint64_t number, const StoreSight& sight) {
  tell_(StoreSeen{.number = number, .sight = sight, .clock_ms = epoch_seed()});
}

void StoreLink::on_store_written(uint64_t number, const StoreVersion& version) {
  tell_(StoreAnswered{
      .number = number, .is_written = true, .version = version, .clock_ms = epoch_seed()});
}

// What is there instead the node asks for by itself: it may have changed again.
void StoreLink::on_store_conflict(uint64_t number, const std::optional<StoreSight>&) {
  tell_(StoreAnswered{.number = number, .clock_ms = epoch_seed()});
}

void StoreLink::on_store_failed(uint64_t number, StoreFailure failure, Duration retry_after) {
  tell_(StoreFailed{.number = number, .why = failure, .retry_after = retry_after});
}

void StoreLink::on_store_request(const io::StoreRequestReport& report) {
  metrics_.store->requests.count(report.verb, result_of(report));
  if (report.failure) metrics_.store->failures.count(*report.failure);
  // A watch lasts as long as it likes.
  if (report.verb != StoreVerb::kWatch) metrics_.store->request_duration.observe(report.took);
}

// One that answers now and then, or endpoints of which each has a trouble of its own, are not worth
// a line each time.
void StoreLink::on_store_condition() {
  const io::StoreCondition& condition = client_.condition();
  const bool is_well = condition.trouble.empty();
  const auto left_out = conditions_.admit(io::Loop::now(), "");
  if (!left_out) return;
  log_.write(is_well ? LogLevel::kInfo : LogLevel::kWarn,
             is_well ? "the store answers" : "the store is in trouble",
             {{is_well ? "server" : "because", is_well ? condition.server : condition.trouble},
              {"more_since_last_line", std::to_string(*left_out)}});
}

void StoreLink::on_store_secret_refused() {
  files_.read([] {});
}

}  // namespace bellwether::daemon
