// A record of the core as a Lease of Kubernetes (coordination.k8s.io/v1), which other clients read
// and write, too.  Pure.
//
// A Lease names its holder in words only, and has no place for an epoch.  Both stand in
// annotations, and annotations stay when another client writes the object that it has read.  So
// each is bound to the write that made it: it names holder and renewTime of that write, and counts
// only as long as the Lease has exactly these.  Whoever takes the Lease over writes a renewTime of
// its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hh"
#include "base/wall_time.hh"
#include "core/store_record.hh"

namespace bellwether::io {

inline constexpr const char* kEpochAnnotation = "bellwether.io/epoch";
inline constexpr const char* kReleasedAnnotation = "bellwether.io/released";

// A member as holderIdentity names it: NAME_UUID, as client-go's users name themselves.
struct HolderIdentity {
  std::string name;
  Uuid id{};
};
std::optional<HolderIdentity> parse_holder(std::string_view text);

struct LeaseObject {
  StoreSight sight{};
  std::string holder;       // holderIdentity as it stands there
  std::string time;         // renewTime
  int64_t transitions = 0;  // leaseTransitions
};

// Nothing when it is no Lease, or its version is none that a hand-over could carry.
std::optional<LeaseObject> parse_lease(const Json& json);

// A Lease that is made where there was none.  `record` is of no stranger.
Json new_lease(const std::string& lease_name, const StoreRecord& record, WallTime now);

// The merge patch (RFC 7386) that writes `record` over `expected` and leaves all that is not ours
// as it is.  It names the version, so the server refuses it over any other.  `last`: the Lease as
// it was seen last, if it was; what only people read (acquireTime, leaseTransitions) follows from
// it.
Json lease_patch(const StoreVersion& expected, const StoreRecord& record,
                 const std::optional<LeaseObject>& last, WallTime now);

// Whether it is as this very write has made it.
bool is_written(const LeaseObject& lease, const StoreRecord& record, WallTime now);

}  // namespace bellwether::io
