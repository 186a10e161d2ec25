// Pools of the standard library above pages of the kernel's.
#include "base/undumped_memory.hh"

#include <sys/mman.h>

#include <memory_resource>
#include <mutex>
#include <new>

namespace bellwether {
namespace {

// What is larger has pages of its own, and gives them back: TLS has no buffer of this size.
constexpr size_t kLargestInPools = size_t{32} * 1024;
// How much the pools take at first; then half as much again each time.  Only pages that are written
// to count.
constexpr size_t kFirstPages = size_t{256} * 1024;

class UndumpedPages final : public std::pmr::memory_resource {
  void* do_allocate(size_t bytes, size_t /*alignment: a page's is enough*/) override {
    void* const pages =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    if (::madvise(pages, bytes, MADV_DONTDUMP) == 0) return pages;
    ::munmap(pages, bytes);
    throw std::bad_alloc();
  }
  void do_deallocate(void* pages, size_t bytes, size_t /*alignment*/) override {
    ::munmap(pages, bytes);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

struct UndumpedHeap {
  UndumpedPages pages;
  // The pools never give anything back, so what they take may be put side by side.
  std::pmr::monotonic_buffer_resource side_by_side{kFirstPages, &pages};
  std::pmr::unsynchronized_pool_resource pools{
      {.max_blocks_per_chunk = 0, .largest_required_pool_block = kLargestInPools}, &side_by_side};
  std::mutex mutex;  // of the pools
};

// Never destroyed: OpenSSL frees what it has when the process ends.
UndumpedHeap& heap() {
  static auto* const kHeap = new UndumpedHeap;
  return *kHeap;
}

// Blocks of other sizes, which libstdc++ 12 has, stand side by side without a look at alignment.
size_t aligned_size(size_t bytes) {
  constexpr size_t kUnit = alignof(std::max_align_t);
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

}  // namespace

void* allocate_undumped(size_t bytes) {
  UndumpedHeap& all = heap();
  bytes = aligned_size(bytes);
  if (bytes > kLargestInPools) return all.pages.allocate(bytes);
  const std::scoped_lock lock(all.mutex);
  return all.pools.allocate(bytes);
}

void free_undumped(void* memory, size_t bytes) {
  UndumpedHeap& all = heap();
  bytes = aligned_size(bytes);
  if (bytes > kLargestInPools) return all.pages.deallocate(memory, bytes);
  const std::scoped_lock lock(all.mutex);
  all.pools.deallocate(memory, bytes);
}

}  // namespace bellwether
