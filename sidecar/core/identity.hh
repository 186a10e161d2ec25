// Who is who: a process is a UUID version 4, and ranks order all processes of a group.
#pragma once

#include <boost/uuid/uuid.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace bellwether {

// 16 unsigned bytes; compares byte by byte.
using Uuid = boost::uuids::uuid;

// Ids are random as they are.  Those that somebody chose so that all collide cost a search among
// kMaxMembers at most.
struct UuidHash {
  size_t operator()(const Uuid& id) const {
    uint64_t halves[2];
    std::memcpy(halves, id.data, sizeof halves);
    return static_cast<size_t>((halves[0] ^ (halves[1] >> 32)) * 0x9e3779b97f4a7c15 ^ halves[1]);
  }
};

// The canonical form, 36 characters.
std::string to_string(const Uuid& id);
// Of that form alone.
std::optional<Uuid> parse_uuid(const std::string& text);

// Higher leads.  Total as long as ids are unique, so there are no ties.
struct Rank {
  uint32_t priority = 0;
  int64_t score = 0;  // of the application
  Uuid id{};

  friend bool operator==(const Rank&, const Rank&) = default;
  friend bool operator<(const Rank& left, const Rank& right) {
    if (left.priority != right.priority) return left.priority < right.priority;
    return left.score != right.score ? left.score < right.score : left.id < right.id;
  }
};

}  // namespace bellwether
