// What a variant sees of the group: the host's event, with the questions the papers ask of it.
// Members come in ascending rank, so "has a higher rank" is simply "has a larger index".
#pragma once

#include <bellwether/election_plugin.h>

#include <cstdint>
#include <cstring>

namespace bellwether::bully {

inline bool operator==(const election_id& left, const election_id& right) {
  return std::memcmp(left.bytes, right.bytes, sizeof left.bytes) == 0;
}

inline bool is_before(const election_id& left, const election_id& right) {
  return std::memcmp(left.bytes, right.bytes, sizeof left.bytes) < 0;
}

class View {
 public:
  explicit View(const election_event& event) : event_(event) {}

  uint64_t now_ns() const { return event_.now_ns; }
  uint32_t self() const { return event_.self; }
  uint32_t count() const { return event_.member_count; }
  const election_id& id(uint32_t member) const { return event_.members[member].id; }

  bool is_suspect(uint32_t member) const { return has_mark(member, ELECTION_MEMBER_SUSPECT); }
  bool may_lead(uint32_t member) const { return has_mark(member, ELECTION_MEMBER_ELECTABLE); }

  bool has_leader() const { return event_.leader != ELECTION_NOBODY; }
  bool leads() const { return event_.leader == event_.self; }

  // The index of the member with this id, or ELECTION_NOBODY when it has left.
  uint32_t find(const election_id& id) const {
    for (uint32_t member = 0; member < count(); ++member) {
      if (this->id(member) == id) return member;
    }
    return ELECTION_NOBODY;
  }

  // True when it makes no sense to wait for this process: it has left, or is suspected.
  bool is_gone(const election_id& id) const {
    const uint32_t member = find(id);
    return member == ELECTION_NOBODY || is_suspect(member);
  }

  // How many living members outrank this one: 0 means that it is next in line.
  uint32_t living_higher() const {
    uint32_t living = 0;
    for (uint32_t member = self() + 1; member < count(); ++member) {
      if (!is_suspect(member)) ++living;
    }
    return living;
  }

 private:
  bool has_mark(uint32_t member, uint32_t mark) const {
    return (event_.members[member].marks & mark) != 0;
  }

  const election_event& event_;
};

}  // namespace bellwether::bully
