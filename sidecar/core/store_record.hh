// What a group's record in a store says: a Kubernetes Lease, or a key of etcd, that decides who may
// lead (the guards "kubernetes" and "etcd").  The store itself is the shell's business; here are
// the values in which the core speaks of it.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hh"
#include "core/identity.hh"

namespace bellwether {

// Of a record: changes with each write, and never comes again.  Opaque, compared for equality only;
// empty: there is no record.
using StoreVersion = std::string;
// Longer ones are refused: a hand-over carries one.
inline constexpr size_t kMaxStoreVersion = 64;

struct StoreRecord {
  enum class Holder : uint8_t {
    kUnknown,   // made anew, or emptied by somebody else: who held it may still believe in it
    kReleased,  // its holder has said in it that it leads no longer
    kMember,    // one of Bellwether, by id
    kStranger,  // another client of the same record
    kLast = kStranger,
  };

  Holder holder = Holder::kUnknown;
  Uuid id{};           // of the holder, or of who has released it; nil otherwise
  std::string name;    // what people call the holder
  uint64_t home = 0;   // MemberEntry::home of that process
  uint64_t boot = 0;   // and MemberEntry::boot: which life of it; of a successor, which is named
  uint64_t epoch = 0;  // of that member's reign; 0: the record has none that belongs to its holder
  Duration lease{};    // for how long its holder may believe in it after a write

  bool is_held_by(const Uuid& process) const { return holder == Holder::kMember && id == process; }
  // And by one of this home.
  bool is_held_by(const Uuid& process, uint64_t its_home) const {
    return is_held_by(process) && home == its_home;
  }

  friend bool operator==(const StoreRecord&, const StoreRecord&) = default;
};
// As /v1/status says it.
const char* name(StoreRecord::Holder holder);

// A record as an answer or an event has shown it.
struct StoreSight {
  StoreVersion version{};  // empty: there is none
  StoreRecord record{};

  friend bool operator==(const StoreSight&, const StoreSight&) = default;
};

}  // namespace bellwether
