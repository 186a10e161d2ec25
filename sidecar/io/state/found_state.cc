// Reads both files; what they mean together is for others to say.
#include "io/state/found_state.hh"

#include <utility>

namespace bellwether::io {
namespace {

constexpr size_t kUuidTextBytes = 36;

// The canonical form of a version 4 UUID, with or without a line feed.
std::optional<Uuid> parse_identity(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  const std::optional<Uuid> id = parse_uuid(text);
  const bool is_random = id && id->version() == Uuid::version_random_number_based &&
                         id->variant() == Uuid::variant_rfc_4122;
  return is_random ? id : std::nullopt;
}

}  // namespace

FoundState find_state(const LockedFolder& folder) {
  FoundState found;
  if (auto text = folder.read(kIdentityFile, kUuidTextBytes + 1)) {
    found.has_identity_file = true;
    found.identity = parse_identity(std::move(*text));
  }
  if (const auto file = folder.read(kStateFile, kStateFileBytes)) {
    found.has_state_file = true;
    found.contents = read_state_file(bytes_of(*file));
  }
  return found;
}

}  // namespace bellwether::io
