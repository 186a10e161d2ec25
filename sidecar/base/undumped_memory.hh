// Memory that no core dump shows, for keys, tokens and all that they pass through.
//
// The kernel leaves pages that are marked with MADV_DONTDUMP out of core dumps, and debuggers do so
// too unless they are told otherwise.  What was once here stays here, to be used again by the next
// that asks and never by others; only what is larger than 32 KiB goes back to the kernel.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bellwether {

// At least `bytes`, aligned for anything, until free_undumped() with the same number.  From any
// thread, and until the very end of the process.  Throws std::bad_alloc.
void* allocate_undumped(size_t bytes);
void free_undumped(void* memory, size_t bytes);

// For containers of the standard library.
template <typename Value>
struct UndumpedAllocator {
  using value_type = Value;  // NOLINT(readability-identifier-naming): the standard's name

  UndumpedAllocator() = default;
  template <typename Other>
  // NOLINTNEXTLINE(google-explicit-constructor): containers convert it without saying so
  UndumpedAllocator(const UndumpedAllocator<Other>& /*other*/) {}

  Value* allocate(size_t count) {
    return static_cast<Value*>(allocate_undumped(count * sizeof(Value)));
  }
  void deallocate(Value* values, size_t count) { free_undumped(values, count * sizeof(Value)); }

  template <typename Other>
  bool operator==(const UndumpedAllocator<Other>& /*other*/) const {
    return true;
  }
};

template <typename Value>
using UndumpedVector = std::vector<Value, UndumpedAllocator<Value>>;

// A few bytes of one are kept in the object itself: no key and no token is that short.
using SecretText = std::basic_string<char, std::char_traits<char>, UndumpedAllocator<char>>;

// A text that may be as short as a password.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string_view text) : bytes_(text.begin(), text.end()) {}

  std::string_view text() const { return {bytes_.data(), bytes_.size()}; }
  bool empty() const { return bytes_.empty(); }
  friend bool operator==(const Secret&, const Secret&) = default;

 private:
  UndumpedVector<char> bytes_;
};

}  // namespace bellwether
