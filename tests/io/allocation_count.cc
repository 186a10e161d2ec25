// Beside nothing else, so that no compiler sees through the replacement and takes it for a mistake.
#include "allocation_count.hh"

#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#include <sanitizer/allocator_interface.h>
#endif

namespace {

std::atomic<size_t> count{0};

#ifdef IS_SANITIZED
// A sanitizer has an operator new of its own, and says when it is called.
[[maybe_unused]] const int kHooks = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, size_t) { ++count; }, [](const volatile void*) {});
#endif

}  // namespace

namespace bellwether::io::test {

size_t allocation_count() { return count; }

}  // namespace bellwether::io::test

#ifndef IS_SANITIZED
void* operator new(size_t size) {
  ++count;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif
