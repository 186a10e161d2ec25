// How ids are written.
#include "core/identity.hh"

#include <boost/uuid/uuid_io.hpp>

namespace bellwether {

std::string to_string(const Uuid& id) { return boost::uuids::to_string(id); }

}  // namespace bellwether
