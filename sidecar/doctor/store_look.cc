// One read of the record by which a store decides who leads, as the sidecar would read it, and one
// write that changes nothing.
#include <functional>
#include <utility>

#include "doctor/looks.hh"
#include "io/loop/signals_blocked.hh"
#include "io/names/resolver.hh"
#include "io/store/store_client.hh"

namespace bellwether::doctor {
namespace {

class Reader final : public io::StoreListener {
 public:
  Reader(io::Loop& loop, StoreFacts& facts) : loop_(loop), facts_(facts) {}

  // What is to be done once the record was read.
  void then(std::function<void()> next) { next_ = std::move(next); }

 private:
  void on_store_seen(uint64_t /*number*/, const StoreSight& sight) override {
    facts_.has_record = !sight.version.empty();
    facts_.record = sight.record;
    next_();
  }
  void on_store_failed(uint64_t /*number*/, StoreFailure failure,
                       Duration /*retry_after*/) override {
    facts_.failure = failure;
    loop_.stop();
  }
  void on_store_written(uint64_t /*number*/, const StoreVersion& /*version*/) override {
    loop_.stop();
  }
  void on_store_conflict(uint64_t /*number*/, const std::optional<StoreSight>& /*found*/) override {
    loop_.stop();
  }

  io::Loop& loop_;
  StoreFacts& facts_;
  std::function<void()> next_;
};

}  // namespace

StoreFacts look_at_store(std::unique_ptr<io::StoreDialect> dialect, io::StoreSecurity security,
                         Duration limit) {
  StoreFacts facts;
  const io::BrokenPipesIgnored while_it_writes;
  io::Loop loop;
  io::Resolver resolver(loop);
  Reader reader(loop, facts);
  constexpr uint64_t kNoJitter = 0;
  io::StoreClient client(loop, resolver, std::move(dialect), reader, kNoJitter);
  client.secure(std::move(security));
  reader.then([&] { client.rehearse(2, limit); });
  client.read(1, limit);
  loop.run();
  facts.server = client.condition().server;
  facts.trouble = client.condition().trouble;
  return facts;
}

}  // namespace bellwether::doctor
