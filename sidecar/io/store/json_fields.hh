// What an answer of a store may or may not have, asked for without believing that it has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hh"

namespace bellwether::io {

// The member of this name; nullptr when `json` is not an object, or has none.  A chain of names
// leads inwards: member(json, {"metadata", "name"}).
const Json* member(const Json& json, std::string_view key);
const Json* member(const Json& json, std::initializer_list<std::string_view> keys);

// The text there; "" when there is none.
std::string json_text(const Json* json);

// The whole number there, as a number or, as protobuf has those of 64 bits, as a text of digits;
// nothing when there is none, or when it does not fit.
std::optional<int64_t> json_whole(const Json* json);

// For people: at most `max_bytes` of it, without control characters, and no part of a character.
std::string shown(std::string_view text, size_t max_bytes);
// So much of the name of a holder that is not a member.
inline constexpr size_t kMaxStrangerName = 64;

}  // namespace bellwether::io
