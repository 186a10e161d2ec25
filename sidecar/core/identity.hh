// Who is who: a process is a UUID version 4, and ranks order all processes of a group.
#pragma once

#include <boost/functional/hash.hpp>
#include <boost/uuid/uuid.hpp>
#include <cstdint>
#include <string>

namespace bellwether {

// 16 unsigned bytes; compares byte by byte.
using Uuid = boost::uuids::uuid;
using UuidHash = boost::hash<Uuid>;

// The canonical form, 36 characters.
std::string to_string(const Uuid& id);

// Higher leads.  Total as long as ids are unique, so there are no ties.
struct Rank {
  uint32_t priority = 0;
  Uuid id{};

  friend bool operator==(const Rank&, const Rank&) = default;
  friend bool operator<(const Rank& left, const Rank& right) {
    return left.priority != right.priority ? left.priority < right.priority : left.id < right.id;
  }
};

}  // namespace bellwether
