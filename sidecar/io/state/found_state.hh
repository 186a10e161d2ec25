// What the files of a state folder say of the process that has written them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/identity.hh"
#include "io/state/locked_folder.hh"
#include "io/state/state_files.hh"

namespace bellwether::io {

inline constexpr const char* kStateFile = "state";
inline constexpr const char* kIdentityFile = "identity";

struct FoundState {
  bool has_identity_file = false;
  std::optional<Uuid> identity{};  // nothing: there is none in it
  bool has_state_file = false;
  StateFileContents contents{};

  bool is_empty() const { return !has_identity_file && !has_state_file; }
};

// Throws FileError.
FoundState find_state(const LockedFolder& folder);

inline std::span<const uint8_t> bytes_of(const std::string& text) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): any object may be read as bytes
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace bellwether::io
