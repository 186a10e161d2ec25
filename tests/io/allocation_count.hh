// How many times this program has asked for memory; links a counting operator new in.
#pragma once

#include <cstddef>

namespace bellwether::io::test {

size_t allocation_count();

}  // namespace bellwether::io::test
