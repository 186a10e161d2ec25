// Who votes under guard "majority".  Voters are named slots, the same in everybody's configuration;
// a process votes for the slot whose name it bears.  Counting slots rather than ids, a voter that
// comes back with a new id does not count twice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fnv1a.hh"

namespace bellwether {

// More would make every change wait for many disks.
inline constexpr size_t kMaxVoters = 9;

class Electorate {
 public:
  // `names` in any order; none of them twice.
  explicit Electorate(std::vector<std::string> names) : names_(std::move(names)) {
    std::sort(names_.begin(), names_.end());
  }

  size_t size() const { return names_.size(); }
  // The smallest number of which any two share a voter.
  size_t quorum() const { return names_.size() / 2 + 1; }

  // The slot of the member with this name; nothing when it has no vote.
  std::optional<size_t> slot_of(const std::string& name) const {
    const auto found = std::lower_bound(names_.begin(), names_.end(), name);
    if (found == names_.end() || *found != name) return std::nullopt;
    return static_cast<size_t>(found - names_.begin());
  }

  // The same for the same voters, whatever their order in the configuration.
  uint64_t hash() const {
    uint64_t hash = fnv1a("");
    for (const std::string& name : names_) hash = fnv1a("\n", fnv1a(name, hash));
    return hash;
  }

 private:
  std::vector<std::string> names_;  // sorted
};

// A set of slots.
class Votes {
 public:
  void add(size_t slot) { bits_ |= 1u << slot; }
  void remove(size_t slot) { bits_ &= ~(1u << slot); }
  bool contains(size_t slot) const { return (bits_ >> slot & 1u) != 0; }
  Votes without(const Votes& others) const {
    Votes rest = *this;
    rest.bits_ &= ~others.bits_;
    return rest;
  }
  size_t count() const { return static_cast<size_t>(__builtin_popcount(bits_)); }
  void clear() { bits_ = 0; }

 private:
  uint32_t bits_ = 0;
};
static_assert(kMaxVoters <= 32);

}  // namespace bellwether
