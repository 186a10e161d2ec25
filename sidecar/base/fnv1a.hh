// Names as numbers: 64-bit FNV-1a.  Two texts may share one.
#pragma once

#include <cstdint>
#include <string_view>

namespace bellwether {

// A hash of "ab" is fnv1a("b", fnv1a("a")).
constexpr uint64_t fnv1a(std::string_view text, uint64_t hash = 0xcbf29ce484222325) {
  for (const char letter : text) hash = (hash ^ static_cast<uint8_t>(letter)) * 0x100000001b3;
  return hash;
}

}  // namespace bellwether
