// Beside nothing else, so that no compiler sees through the replacement and takes it for a mistake.
#include "allocation_count.hh"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<size_t> count{0};

}  // namespace

namespace bellwether::test {

size_t allocation_count() { return count; }

}  // namespace bellwether::test

void* operator new(size_t size) {
  ++count;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
