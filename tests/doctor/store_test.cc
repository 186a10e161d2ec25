// The check of the store that decides who leads.
#include "expectations.hh"

namespace bellwether::doctor {
namespace {

using std::chrono::seconds;
using Holder = StoreRecord::Holder;

struct GroupWithStore : HealthyGroup {
  GroupWithStore() {
    KubernetesSettings& kubernetes = facts.config.config->kubernetes;
    kubernetes.is_used = true;
    kubernetes.namespace_name = "shop";
    kubernetes.lease_name = "orders";
    const Uuid holder{{0x11}};
    facts.sidecar->members[1].id = to_string(holder);
    facts.store = StoreFacts{.server = "https://10.96.0.1:443",
                             .has_record = true,
                             .record = {.holder = Holder::kMember,
                                        .id = holder,
                                        .name = "orders-1",
                                        .epoch = 7,
                                        .lease = seconds(10)}};
  }

  void expect(const std::string& start) { expect_one(facts, "store", start); }
};

BOOST_AUTO_TEST_SUITE(diagnosis_of_the_store)

BOOST_FIXTURE_TEST_CASE(without_one_says_which_guard_there_is, HealthyGroup) {
  expect_one(facts, "store", "ok: none decides: guard \"none\"");
}

BOOST_FIXTURE_TEST_CASE(names_who_holds_its_record, GroupWithStore) {
  expect("ok: kubernetes shop/orders is held by orders-1, epoch 7, at https://10.96.0.1:443");
  facts.store->record.holder = Holder::kReleased;
  expect("ok: kubernetes shop/orders is released: ");
  facts.store->record = {.holder = Holder::kUnknown, .lease = seconds(10)};
  expect("ok: kubernetes shop/orders has no holder that is known");
  facts.store->has_record = false;
  expect("ok: kubernetes shop/orders does not exist yet");
}

BOOST_FIXTURE_TEST_CASE(that_another_client_holds_is_a_warning, GroupWithStore) {
  facts.store->record = {.holder = Holder::kStranger, .name = "other_1", .lease = seconds(15)};
  expect(
      "warning: kubernetes shop/orders is held by other_1, which is not a member; its lease is "
      "waited "
      "for -> end that client");
}

BOOST_FIXTURE_TEST_CASE(that_an_unknown_member_holds_is_a_warning, GroupWithStore) {
  facts.sidecar->members[1].id = "another";
  expect(
      "warning: kubernetes shop/orders is held by orders-1, whom the sidecar here does not know");
  facts.sidecar->silence = "nobody answers";  // who is a member then nobody knows
  expect("ok: ");
}

BOOST_FIXTURE_TEST_CASE(with_a_long_lease_is_a_warning, GroupWithStore) {
  facts.store->record.lease = seconds(60);
  expect("ok: ");
  facts.store->record.lease = seconds(61);
  expect("warning: kubernetes shop/orders is for 61s: so long everybody waits");
}

BOOST_FIXTURE_TEST_CASE(that_cannot_be_read_is_a_problem_of_the_one_who_reads, GroupWithStore) {
  facts.store->trouble = "it does not let us get Lease orders";
  facts.store->failure = StoreFailure::kForbidden;
  expect("problem: it does not let us get Lease orders -> grant what it names");
  for (uint8_t kind = 0; kind <= static_cast<uint8_t>(StoreFailure::kLast); ++kind) {
    facts.store->failure = static_cast<StoreFailure>(kind);
    expect("problem: it does not let us get Lease orders -> ");
  }
}

BOOST_FIXTURE_TEST_CASE(that_the_sidecar_has_trouble_with_is_a_problem, GroupWithStore) {
  facts.sidecar->store_trouble = "it does not let us patch";
  expect("problem: the sidecar says: it does not let us patch -> do what it says");
  facts.store->trouble = facts.sidecar->store_trouble;  // said once
  expect("problem: it does not let us patch -> ");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace bellwether::doctor
