// The harness of guard "majority": the answers of others, and the way to the top.
#include "guard_harness.hh"

#include <boost/test/unit_test.hpp>

namespace bellwether::tests {

Options guarded(Options options, uint32_t voters) {
  for (uint32_t number = 1; number <= voters; ++number) {
    options.voters.push_back(member_entry(number).name);
  }
  return options;
}

std::optional<Record> find_stored(const Effects& effects) {
  for (const Effect& effect : effects) {
    if (const auto* store = std::get_if<Persist>(&effect)) return store->record;
  }
  return std::nullopt;
}

Effects GuardHarness::receive_opinion(uint32_t from, bool is_yes, uint64_t epoch) {
  return receive(from, epoch, CanvassReply{.number = node().majority()->number, .is_yes = is_yes},
                 epoch);
}

Effects GuardHarness::receive_grant(uint32_t from, std::vector<Wait> waits, Duration boot_wait) {
  return receive(from, max_epoch(),
                 Grant{.epoch = max_epoch(),
                       .is_granted = true,
                       .sequence = node().sequence(),
                       .waits = std::move(waits),
                       .boot_wait = boot_wait},
                 max_epoch());
}

Effects GuardHarness::receive_no(uint32_t from, uint64_t epoch) {
  return receive(from, epoch, Grant{.epoch = max_epoch()}, epoch);
}

Effects GuardHarness::receive_promise(uint32_t from, std::optional<uint64_t> sequence) {
  return receive(from, max_epoch(),
                 HeartbeatAck{.sequence = sequence.value_or(node().sequence()),
                              .promised_epoch = max_epoch(),
                              .view = node().members().version(),
                              .is_electable = true},
                 max_epoch());
}

GuardHarness& GuardHarness::grant(uint32_t leader, uint64_t epoch) {
  join();
  receive_claim(leader, epoch);
  disk_has_it();
  return *this;
}

GuardHarness& GuardHarness::follow(uint32_t leader, uint64_t epoch) {
  grant(leader, epoch);
  receive_beat(leader, epoch);
  return *this;
}

GuardHarness& GuardHarness::canvass() {
  join();
  step(Joined{});
  run_for(Duration::zero());
  return *this;
}

GuardHarness& GuardHarness::vote_for_self() {
  canvass();
  receive_opinion(1, true);
  receive_opinion(2, true);
  return *this;
}

GuardHarness& GuardHarness::claim() {
  vote_for_self();
  disk_has_it();
  return *this;
}

GuardHarness& GuardHarness::lead() {
  claim();
  receive_grant(1);
  receive_grant(2);
  return *this;
}

bool is_granted(const Effects& effects) {
  const auto grant = find_sent<Grant>(effects);
  BOOST_REQUIRE(grant.has_value());
  return grant->is_granted;
}

}  // namespace bellwether::tests
