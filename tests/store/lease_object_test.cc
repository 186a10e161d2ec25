// A record as a Lease, and what other clients of it make of ours.
#include "io/store/lease_object.hh"

#include <boost/test/unit_test.hpp>
#include <boost/uuid/string_generator.hpp>

#include "io/store/json_fields.hh"

namespace bellwether::io::test {

BOOST_AUTO_TEST_SUITE(store_lease_object)

namespace {

using Holder = StoreRecord::Holder;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kIdText = "6f1c0f0e-8f5b-4b7e-9d59-0a1b2c3d4e5f";
const Uuid kId = boost::uuids::string_generator()(kIdText);
const std::string kIdentity = "orders-0_" + kIdText;
const WallTime kNow = WallTime(std::chrono::microseconds(1'769'850'300'250'001));
constexpr const char* kNowText = "2026-01-31T09:05:00.250001Z";
const WallTime kLater = kNow + seconds(2);
constexpr const char* kLaterText = "2026-01-31T09:05:02.250001Z";

StoreRecord ours(Holder holder = Holder::kMember) {
  return {.holder = holder,
          .id = kId,
          .name = "orders-0",
          .home = 0xabc,
          .boot = 0xdef,
          .epoch = 77,
          .lease = seconds(10)};
}

// What a server makes of a merge patch.
Json merged(Json object, const Json& patch) {
  object.merge_patch(patch);
  return object;
}

// As a server has it, with version 1.
Json lease_with(const StoreRecord& record, WallTime now = kNow) {
  Json made = new_lease("orders", {}, kNow);
  made["metadata"]["resourceVersion"] = "1";
  return merged(made, lease_patch("1", record, parse_lease(made), now));
}

StoreRecord record_of(const Json& json) {
  const auto lease = parse_lease(json);
  BOOST_REQUIRE(lease);
  return lease->sight.record;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  for (const Holder holder : {Holder::kMember, Holder::kReleased}) {
    BOOST_TEST((record_of(lease_with(ours(holder))) == ours(holder)));
  }
  BOOST_TEST((record_of(lease_with({.lease = seconds(3)})) == StoreRecord{.lease = seconds(3)}));
}

BOOST_AUTO_TEST_CASE(it_looks_as_client_go_makes_it) {
  const Json lease = lease_with(ours());
  const Json spec{{"holderIdentity", kIdentity},
                  {"leaseDurationSeconds", 10},
                  {"renewTime", kNowText},
                  {"leaseTransitions", 1},
                  {"acquireTime", kNowText}};
  BOOST_TEST(Json(nlohmann::json(lease["spec"])).dump() == Json(nlohmann::json(spec)).dump());
  BOOST_TEST(json_text(member(lease, {"metadata", "annotations", "bellwether.io/epoch"})) ==
             "77 " + kIdentity + " " + kNowText + " 0000000000000abc 0000000000000def");
}

BOOST_AUTO_TEST_CASE(an_annotation_that_lacks_a_word_is_none) {
  for (const char* text : {"", "77", "77 a b", "77 a b 0abc"}) {
    Json lease = lease_with(ours());
    lease["metadata"]["annotations"][kEpochAnnotation] = text;
    BOOST_TEST((record_of(lease).holder == Holder::kStranger), text);
  }
}

BOOST_AUTO_TEST_CASE(a_lease_is_rounded_up_to_seconds) {
  StoreRecord record = ours();
  record.lease = milliseconds(2001);
  BOOST_TEST((record_of(lease_with(record)).lease == seconds(3)));
  record.lease = {};
  BOOST_TEST((record_of(lease_with(record)).lease == seconds(1)));  // the API refuses 0
}

BOOST_AUTO_TEST_CASE(a_new_lease_has_no_holder) {
  const Json made = new_lease("orders", {.lease = seconds(10)}, kNow);
  BOOST_TEST(json_text(member(made, {"metadata", "name"})) == "orders");
  BOOST_TEST(member(made, {"spec", "holderIdentity"})->get<std::string>() == "");
  BOOST_TEST(member(made, {"metadata", "annotations"}) == nullptr);
  BOOST_TEST(member(made, {"metadata", "resourceVersion"}) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_renewal_changes_neither_the_beginning_nor_the_number_of_reigns) {
  const Json before = lease_with(ours());
  const Json patch = lease_patch("1", ours(), parse_lease(before), kLater);
  BOOST_TEST(member(patch, {"spec", "acquireTime"}) == nullptr);
  BOOST_TEST(member(patch, {"spec", "leaseTransitions"}) == nullptr);
  BOOST_TEST(json_text(member(patch, {"spec", "renewTime"})) == kLaterText);
  BOOST_TEST((record_of(merged(before, patch)) == ours()));
}

BOOST_AUTO_TEST_CASE(a_new_epoch_of_the_same_holder_begins_anew_and_is_no_other_holder) {
  StoreRecord next = ours();
  next.epoch = 78;
  const Json patch = lease_patch("1", next, parse_lease(lease_with(ours())), kLater);
  BOOST_TEST(json_text(member(patch, {"spec", "acquireTime"})) == kLaterText);
  BOOST_TEST(member(patch, {"spec", "leaseTransitions"}) == nullptr);
}

BOOST_AUTO_TEST_CASE(over_a_version_that_was_not_seen_the_number_of_reigns_stays) {
  StoreRecord other = ours();
  other.name = "orders-1";
  const auto last = parse_lease(lease_with(ours()));
  const Json seen = lease_patch("1", other, last, kLater);
  BOOST_TEST(json_whole(member(seen, {"spec", "leaseTransitions"})).value_or(0) == 2);
  for (const Json& patch :
       {lease_patch("2", other, last, kLater), lease_patch("2", other, {}, kLater)}) {
    BOOST_TEST(member(patch, {"spec", "leaseTransitions"}) == nullptr);
    BOOST_TEST(json_text(member(patch, {"metadata", "resourceVersion"})) == "2");
  }
}

BOOST_AUTO_TEST_CASE(what_others_have_attached_stays) {
  Json lease = lease_with(ours());
  lease["metadata"]["labels"]["app"] = "orders";
  lease["metadata"]["annotations"]["other.io/x"] = "y";
  lease["metadata"]["ownerReferences"] = Json::array({{{"name", "orders"}}});
  const Json after = merged(lease, lease_patch("1", ours(Holder::kReleased), {}, kLater));
  BOOST_TEST(json_text(member(after, {"metadata", "labels", "app"})) == "orders");
  BOOST_TEST(json_text(member(after, {"metadata", "annotations", "other.io/x"})) == "y");
  BOOST_TEST(member(after, {"metadata", "ownerReferences"})->size() == 1u);
  BOOST_TEST(member(after, {"metadata", "annotations", kEpochAnnotation}) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_successor_may_be_named_with_the_epoch_of_the_one_before) {
  StoreRecord named = ours();
  named.name = "orders_1";  // a name may have what parts it from the id
  BOOST_TEST((record_of(lease_with(named)) == named));
}

// client-go writes the object that it has read, with all annotations.
BOOST_AUTO_TEST_CASE(client_go_takes_over_and_its_identity_may_look_like_ours) {
  for (const std::string& identity : {std::string("orders-7f9c_0b51d3c4"), kIdentity}) {
    Json lease = lease_with(ours());
    lease["spec"]["holderIdentity"] = identity;
    lease["spec"]["renewTime"] = kLaterText;
    const StoreRecord record = record_of(lease);
    BOOST_TEST((record.holder == Holder::kStranger));
    BOOST_TEST(record.name == identity);
    BOOST_TEST(record.epoch == 0u);
    BOOST_TEST(record.id.is_nil());
  }
}

// ReleaseOnCancel.
BOOST_AUTO_TEST_CASE(what_client_go_releases_is_unknown) {
  for (const Holder before : {Holder::kMember, Holder::kReleased}) {
    Json lease = lease_with(ours(before));
    lease["spec"]["holderIdentity"] = "";
    lease["spec"]["leaseDurationSeconds"] = 1;
    lease["spec"]["renewTime"] = kLaterText;
    lease["spec"]["acquireTime"] = kLaterText;
    BOOST_TEST((record_of(lease) == StoreRecord{.lease = seconds(1)}));
  }
}

BOOST_AUTO_TEST_CASE(what_kubectl_edits_of_the_holder_belongs_to_nobody_we_know) {
  Json lease = lease_with(ours());
  lease["spec"]["holderIdentity"] = "";
  BOOST_TEST((record_of(lease).holder == Holder::kUnknown));
  lease["spec"].erase("holderIdentity");
  BOOST_TEST((record_of(lease).holder == Holder::kUnknown));
  lease["spec"]["holderIdentity"] = "orders-1_" + kIdText;
  BOOST_TEST((record_of(lease).holder == Holder::kStranger));
  lease = lease_with(ours(Holder::kReleased));
  lease["spec"]["holderIdentity"] = kIdentity;
  BOOST_TEST((record_of(lease).holder == Holder::kStranger));
}

BOOST_AUTO_TEST_CASE(what_kubectl_edits_of_the_duration_is_read_as_it_stands) {
  Json lease = lease_with(ours());
  StoreRecord expected = ours();
  for (const int wanted : {1, 86400}) {
    lease["spec"]["leaseDurationSeconds"] = wanted;
    expected.lease = seconds(wanted);
    BOOST_TEST((record_of(lease) == expected));
  }
  lease["spec"].erase("leaseDurationSeconds");
  expected.lease = {};
  BOOST_TEST((record_of(lease) == expected));
}

BOOST_AUTO_TEST_CASE(an_annotation_of_another_write_does_not_count) {
  const Json lease = lease_with(ours());
  for (const std::string& text :
       {std::string("99"), "99 " + kIdentity, "99 " + kIdentity + " " + kLaterText,
        "99 orders-1_" + kIdText + " " + kNowText, "-1 " + kIdentity + " " + kNowText,
        "1x " + kIdentity + " " + kNowText, std::string(), std::string("  "),
        "18446744073709551616 " + kIdentity + " " + kNowText}) {
    Json edited = lease;
    edited["metadata"]["annotations"][kEpochAnnotation] = text;
    BOOST_TEST((record_of(edited).holder == Holder::kStranger), text);
  }
  Json released = lease_with({});
  released["metadata"]["annotations"][kReleasedAnnotation] =
      "77 " + kIdentity + " " + std::string(kLaterText);
  BOOST_TEST((record_of(released).holder == Holder::kUnknown));
}

BOOST_AUTO_TEST_CASE(a_lease_without_times_or_spec_is_one) {
  const Json bare{{"kind", "Lease"}, {"metadata", {{"resourceVersion", "5"}}}};
  const auto lease = parse_lease(bare);
  BOOST_REQUIRE(lease);
  BOOST_TEST((lease->sight == StoreSight{.version = "5"}));
}

BOOST_AUTO_TEST_CASE(types_are_not_believed) {
  for (const Json& strange : std::vector<Json>{nullptr, 5, -1, 1.5, "x", true, Json::array({1}),
                                               Json::object(), uint64_t(-1)}) {
    Json lease = lease_with(ours());
    for (const char* key :
         {"holderIdentity", "leaseDurationSeconds", "renewTime", "leaseTransitions"}) {
      lease["spec"][key] = strange;
      BOOST_TEST(parse_lease(lease).has_value());
    }
    lease["metadata"]["annotations"] = strange;
    BOOST_TEST(parse_lease(lease).has_value());
    lease["metadata"]["resourceVersion"] = strange;
    BOOST_TEST(parse_lease(lease).has_value() == (strange == "x"));
    lease["metadata"] = strange;
    BOOST_TEST(!parse_lease(lease).has_value());
  }
  Json lease = lease_with(ours());
  lease["metadata"]["resourceVersion"] = std::string(65, '1');
  BOOST_TEST(!parse_lease(lease).has_value());
}

BOOST_AUTO_TEST_CASE(a_strangers_name_is_cut_between_characters_and_cannot_end_a_line) {
  Json lease = lease_with(ours());
  lease["spec"]["holderIdentity"] = std::string(63, 'a') + "\xC3\xA9" + "b";
  BOOST_TEST(record_of(lease).name == std::string(63, 'a'));
  lease["spec"]["holderIdentity"] = "a\nb\x7F";
  BOOST_TEST(record_of(lease).name == "a b ");
}

BOOST_AUTO_TEST_CASE(a_holder_is_a_name_and_an_id) {
  const auto found = parse_holder("a_b_" + kIdText);
  BOOST_REQUIRE(found);
  BOOST_TEST(found->name == "a_b");
  BOOST_TEST((found->id == kId));
  for (const std::string& text : {std::string(), kIdText, "_" + kIdText, "a_" + kIdText + "0",
                                  std::string("a_6F1C0F0E-8F5B-4B7E-9D59-0A1B2C3D4E5F"),
                                  std::string("a_{6f1c0f0e-8f5b-4b7e-9d59-0a1b2c3d4e}"),
                                  std::string("a_6f1c0f0e8f5b4b7e9d590a1b2c3d4e5f0000")}) {
    BOOST_TEST(!parse_holder(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
