// Boost reads braces and capitals as well, which would make two texts of one id.
#include "io/store/holder_identity.hh"

#include <boost/uuid/string_generator.hpp>
#include <stdexcept>

namespace bellwether::io {

std::optional<Uuid> parse_uuid(const std::string& text) {
  constexpr size_t kLength = 36;
  if (text.size() != kLength) return std::nullopt;
  try {
    const Uuid id = boost::uuids::string_generator()(text);
    return to_string(id) == text ? std::optional(id) : std::nullopt;
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

std::string to_holder(const std::string& name, const Uuid& id) {
  return name + "_" + to_string(id);
}

// A name may have the character that parts it from the id; an id has not.
std::optional<HolderIdentity> parse_holder(std::string_view text) {
  const size_t parting = text.rfind('_');
  if (parting == std::string_view::npos || parting == 0) return std::nullopt;
  const auto id = parse_uuid(std::string(text.substr(parting + 1)));
  if (!id) return std::nullopt;
  return HolderIdentity{std::string(text.substr(0, parting)), *id};
}

}  // namespace bellwether::io
