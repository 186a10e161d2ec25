// What goes with each value of an enum, once, in a table beside it: a name, or anything else.
// A table that is too short or too long does not compile.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string_view>

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

// Each value is found by its name: an empty one, or two that are equal, do not compile.
template <typename Enum>
class Names : public PerValue<Enum, const char*> {
 public:
  template <size_t kEntries>
  constexpr explicit Names(const char* const (&names)[kEntries])
      : PerValue<Enum, const char*>(names) {
    for (size_t i = 0; i < kEntries; ++i) {
      const auto* const same = std::find(names, names + i, std::string_view(names[i]));
      if (same != names + i || *names[i] == 0) throw std::logic_error("not a name of its own");
    }
  }
};

template <typename Enum>
constexpr std::array<Enum, kValues<Enum>> all_values() {
  std::array<Enum, kValues<Enum>> values{};
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Enum>(i);
  return values;
}

// The value whose name() this is; nothing if none has it.
template <typename Enum>
std::optional<Enum> value_named(std::string_view word) {
  for (const Enum value : all_values<Enum>()) {
    if (word == name(value)) return value;
  }
  return std::nullopt;
}

}  // namespace bellwether
