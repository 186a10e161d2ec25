// What goes with each value of an enum, once, in a table beside it: a name, or anything else.
// A table that is too short or too long does not compile.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace bellwether {

// How many values an enum has; its last enumerator is called kLast, too.
template <typename Enum>
inline constexpr size_t kValues = static_cast<size_t>(Enum::kLast) + 1;

// One entry for each enumerator, in their order.
template <typename Enum, typename Entry>
class PerValue {
 public:
  template <size_t kEntries>
  constexpr explicit PerValue(const Entry (&entries)[kEntries]) {
    static_assert(kEntries == kValues<Enum>);
    std::copy(std::begin(entries), std::end(entries), entries_.begin());
  }

  constexpr const Entry& operator[](Enum value) const {
    return entries_[static_cast<size_t>(value)];
  }

 private:
  std::array<Entry, kValues<Enum>> entries_{};
};

template <typename Enum>
using Names = PerValue<Enum, const char*>;

}  // namespace bellwether
