// What must not be in a core dump: that the kernel was told so of each page, and that it is memory
// like any other.  tests/system/secrets_test.py looks into a real dump.
#include "base/undumped_memory.hh"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace bellwether {
namespace {

// Whether the mapping with this address has the flag "dd" (proc(5), smaps).
bool is_left_out_of_dumps(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool is_it = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      const auto place = reinterpret_cast<uintptr_t>(address);
      is_it = begin <= place && place < end;
    } else if (is_it && line.starts_with("VmFlags:")) {
      return line.find(" dd") != std::string::npos;
    }
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(undumped_memory)

BOOST_AUTO_TEST_CASE(small_and_large_are_left_out_of_dumps_and_apart) {
  std::vector<std::pair<void*, size_t>> all;
  for (const size_t bytes : {1UL, 7UL, 48UL, 1000UL, 20'000UL, 32'768UL, 32'769UL, 1'000'000UL}) {
    all.emplace_back(allocate_undumped(bytes), bytes);
    std::memset(all.back().first, static_cast<int>(all.size()), bytes);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [memory, bytes] = all[i];
    BOOST_TEST(is_left_out_of_dumps(memory));
    BOOST_TEST(reinterpret_cast<uintptr_t>(memory) % alignof(std::max_align_t) == 0U);
    const auto* const chars = static_cast<const char*>(memory);
    BOOST_TEST(std::string(chars, bytes) == std::string(bytes, static_cast<char>(i + 1)));
  }
  for (const auto& [memory, bytes] : all) free_undumped(memory, bytes);
  const std::string ordinary(100, 'x');
  BOOST_TEST(!is_left_out_of_dumps(ordinary.data()));
}

// Those that are short as well, which a string would keep in the object itself.
BOOST_AUTO_TEST_CASE(secrets_and_their_copies_are_left_out_of_dumps) {
  for (const char* text : {"p", "fifteen letters", "more than sixteen letters"}) {
    const Secret secret(text);
    const Secret copy = secret;  // NOLINT(*-copy-initialization): the copy is judged
    BOOST_TEST(copy.text() == text);
    BOOST_TEST(is_left_out_of_dumps(secret.text().data()));
    BOOST_TEST(is_left_out_of_dumps(copy.text().data()));
  }
}

BOOST_AUTO_TEST_CASE(it_is_used_again_by_the_next_that_asks) {
  void* const first = allocate_undumped(100);
  free_undumped(first, 100);
  void* const second = allocate_undumped(100);
  BOOST_TEST(second == first);
  free_undumped(second, 100);
}

BOOST_AUTO_TEST_CASE(it_is_aligned_for_anything) {
  for (size_t bytes = 1; bytes <= 300; ++bytes) {
    void* const first = allocate_undumped(bytes);
    void* const second = allocate_undumped(bytes);
    for (const void* memory : {first, second}) {
      BOOST_TEST(reinterpret_cast<uintptr_t>(memory) % alignof(std::max_align_t) == 0U);
    }
    free_undumped(second, bytes);
    free_undumped(first, bytes);
  }
}

BOOST_AUTO_TEST_CASE(threads_share_it) {
  std::vector<std::thread> threads;
  std::vector<int> spoilt(4);
  for (size_t i = 0; i < spoilt.size(); ++i) {
    threads.emplace_back([&spoilt, i] {
      for (size_t round = 0; round < 2000; ++round) {
        SecretText text(16 + (round * 37) % 3000, static_cast<char>('a' + i));
        const UndumpedVector<char> copy(text.begin(), text.end());
        spoilt[i] += std::equal(copy.begin(), copy.end(), text.begin()) ? 0 : 1;
        spoilt[i] += copy.front() == static_cast<char>('a' + i) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(spoilt == std::vector<int>(4), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether
