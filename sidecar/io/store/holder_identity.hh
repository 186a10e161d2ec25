// Who a record is of, as stores have it in words.  Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/identity.hh"

namespace bellwether::io {

// What is kept of the name of a holder that is not a member.
inline constexpr size_t kMaxStrangerName = 64;

struct HolderIdentity {
  std::string name;
  Uuid id{};
};

// Of the forms that a UUID may have, the one that is written here.
std::optional<Uuid> parse_uuid(const std::string& text);

// NAME_UUID, as client-go's users name themselves.
std::string to_holder(const std::string& name, const Uuid& id);
std::optional<HolderIdentity> parse_holder(std::string_view text);

}  // namespace bellwether::io
