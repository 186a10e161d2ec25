// Fields by the API's names.  Of times only whether two are the same text is asked.
#include "io/store/lease_object.hh"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/ascii.hh"
#include "base/check.hh"
#include "io/store/json_fields.hh"

namespace bellwether::io {
namespace {

using std::chrono::seconds;
using Holder = StoreRecord::Holder;

// What an annotation says of the write that made it.
struct Bound {
  uint64_t epoch = 0;
  std::string identity;  // of the holder, or of who has released it
  std::string time;      // renewTime
  uint64_t home = 0;     // of that process
  uint64_t boot = 0;
};

std::string to_text(const Bound& bound) {
  return fmt::format("{} {} {} {:016x} {:016x}", bound.epoch, bound.identity, bound.time,
                     bound.home, bound.boot);
}

// The last word; the identity before the others may have blanks.
std::string_view take_word(std::string_view& text) {
  const size_t parting = text.rfind(' ');
  if (parting == std::string_view::npos) return std::exchange(text, {});
  const std::string_view word = text.substr(parting + 1);
  text = text.substr(0, parting);
  return word;
}

std::optional<Bound> parse_bound(std::string_view text) {
  const auto boot = parse_number<uint64_t>(take_word(text), 16);
  const auto home = parse_number<uint64_t>(take_word(text), 16);
  const std::string_view time = take_word(text);
  const size_t first = text.find(' ');
  const auto epoch = parse_number<uint64_t>(text.substr(0, first));
  if (!epoch || !home || !boot || first == std::string_view::npos) return std::nullopt;
  return Bound{*epoch, std::string(text.substr(first + 1)), std::string(time), *home, *boot};
}

void set_holder(StoreRecord& record, const std::string& holder, const Json& json) {
  const std::string time = json_text(member(json, {"spec", "renewTime"}));
  const auto annotation = [&](const char* key) {
    return parse_bound(json_text(member(json, {"metadata", "annotations", key})));
  };
  const auto bound = annotation(holder.empty() ? kReleasedAnnotation : kEpochAnnotation);
  const bool counts = bound && !time.empty() && bound->time == time &&
                      (holder.empty() || bound->identity == holder);
  const auto who = counts ? parse_holder(bound->identity) : std::nullopt;
  if (who) {
    record.holder = holder.empty() ? Holder::kReleased : Holder::kMember;
    record.id = who->id;
    record.name = who->name;
    record.home = bound->home;
    record.boot = bound->boot;
    record.epoch = bound->epoch;
  } else if (!holder.empty()) {
    record.holder = Holder::kStranger;
    record.name = shown(holder, kMaxStrangerName);
  }
}

std::string to_holder(const StoreRecord& record) {
  return record.name + "_" + to_string(record.id);
}

int64_t to_seconds(Duration lease) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return std::clamp<int64_t>(std::chrono::ceil<seconds>(lease).count(), 1, kMost);
}

std::string holder_of(const StoreRecord& record) {
  return record.holder == Holder::kMember ? to_holder(record) : "";
}

Json spec_of(const StoreRecord& record, const std::string& time) {
  return {{"holderIdentity", holder_of(record)},
          {"leaseDurationSeconds", to_seconds(record.lease)},
          {"renewTime", time}};
}

// null removes what is there.
Json annotations_of(const StoreRecord& record, const std::string& time) {
  const std::string text =
      to_text({record.epoch, to_holder(record), time, record.home, record.boot});
  Json annotations{{kEpochAnnotation, nullptr}, {kReleasedAnnotation, nullptr}};
  if (record.holder == Holder::kMember) annotations[kEpochAnnotation] = text;
  if (record.holder == Holder::kReleased) annotations[kReleasedAnnotation] = text;
  return annotations;
}

void check_ours(const StoreRecord& record) {
  check(record.holder != Holder::kStranger, "a record is written by a member");
}

}  // namespace

// A name may have the character that parts it from the id; an id has not.
std::optional<HolderIdentity> parse_holder(std::string_view text) {
  const size_t parting = text.rfind('_');
  if (parting == std::string_view::npos || parting == 0) return std::nullopt;
  const auto id = parse_uuid(std::string(text.substr(parting + 1)));
  if (!id) return std::nullopt;
  return HolderIdentity{std::string(text.substr(0, parting)), *id};
}

std::optional<LeaseObject> parse_lease(const Json& json) {
  const std::string version = json_text(member(json, {"metadata", "resourceVersion"}));
  if (json_text(member(json, "kind")) != "Lease" || version.empty() ||
      version.size() > kMaxStoreVersion) {
    return std::nullopt;
  }
  LeaseObject lease{.sight = {.version = version},
                    .holder = json_text(member(json, {"spec", "holderIdentity"})),
                    .time = json_text(member(json, {"spec", "renewTime"}))};
  set_holder(lease.sight.record, lease.holder, json);
  // As an int32 it cannot overflow a Duration; a server of another mind is cut.
  lease.sight.record.lease = seconds(
      std::clamp<int64_t>(json_whole(member(json, {"spec", "leaseDurationSeconds"})).value_or(0), 0,
                          std::numeric_limits<int32_t>::max()));
  lease.transitions =
      std::clamp<int64_t>(json_whole(member(json, {"spec", "leaseTransitions"})).value_or(0), 0,
                          std::numeric_limits<int32_t>::max() - 1);
  return lease;
}

bool is_written(const LeaseObject& lease, const StoreRecord& record, WallTime now) {
  return lease.time == rfc3339_micro(now) && lease.holder == holder_of(record) &&
         lease.sight.record.holder == record.holder && lease.sight.record.epoch == record.epoch;
}

Json new_lease(const std::string& lease_name, const StoreRecord& record, WallTime now) {
  check_ours(record);
  const std::string time = rfc3339_micro(now);
  Json json{{"apiVersion", "coordination.k8s.io/v1"},
            {"kind", "Lease"},
            {"metadata", {{"name", lease_name}}},
            {"spec", spec_of(record, time)}};
  Json annotations = annotations_of(record, time);
  for (const auto& [key, value] : annotations.items()) {
    if (!value.is_null()) json["metadata"]["annotations"][key] = value;
  }
  if (record.holder == Holder::kMember) json["spec"]["acquireTime"] = time;
  json["spec"]["leaseTransitions"] = 0;
  return json;
}

Json lease_patch(const StoreVersion& expected, const StoreRecord& record,
                 const std::optional<LeaseObject>& last, WallTime now) {
  check_ours(record);
  const std::string time = rfc3339_micro(now);
  const std::string holder = holder_of(record);
  Json spec = spec_of(record, time);
  const bool is_last = last && last->sight.version == expected;
  const bool is_renewal = last && last->holder == holder &&
                          last->sight.record.holder == Holder::kMember &&
                          last->sight.record.epoch == record.epoch;
  if (!holder.empty() && !is_renewal) spec["acquireTime"] = time;
  if (!holder.empty() && is_last && last->holder != holder) {
    spec["leaseTransitions"] = last->transitions + 1;
  }
  return {
      {"metadata", {{"resourceVersion", expected}, {"annotations", annotations_of(record, time)}}},
      {"spec", std::move(spec)}};
}

}  // namespace bellwether::io
